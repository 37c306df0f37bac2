"""MySQL without a MySQL: what is sent, and in which order. No MySQL server runs in these tests.

What a server does with these statements is not shown here; a recording connection stands in for PyMySQL's.
"""

from __future__ import annotations

from typing import Any

import pymysql
import pytest
from pymysql.constants import CLIENT

from tenantry.errors import InvalidSource, NotOneStatement, QueryFailed, QueryTimeout, SourceUnavailable, TooManyRows
from tests.datasources.conftest import Directory, group


class Server:
    """Records what would be sent, and answers with the rows or the error that a test sets."""

    def __init__(self) -> None:
        self.log: list[Any] = []
        self.options: dict[str, Any] = {}
        self.rows: list[tuple[Any, ...]] = [(1,)]
        self.errors: dict[str, Exception] = {}

    def connect(self, **options: Any) -> Connection:
        self.options = options
        self.log.append("connect")
        if "connect" in self.errors:
            raise self.errors["connect"]
        return Connection(self)


class Connection:
    def __init__(self, server: Server) -> None:
        self.server = server

    def cursor(self, kind: type | None = None) -> Cursor:
        return Cursor(self)

    def ping(self, *, reconnect: bool) -> None:
        assert reconnect is False
        if "ping" in self.server.errors:
            raise self.server.errors.pop("ping")

    def close(self) -> None:
        self.server.log.append("close")


class Cursor:
    description = (("n",),)

    def __init__(self, connection: Connection) -> None:
        self.connection: Connection | None = connection
        self.server = connection.server
        self.taken = 0

    def execute(self, sql: str, params: object = None) -> None:
        self.server.log.append((sql, params) if params is not None else sql)
        for start, error in self.server.errors.items():
            if sql.startswith(start):
                raise error

    def fetchone(self) -> tuple[Any, ...] | None:
        self.taken += 1
        return self.server.rows[self.taken - 1] if self.taken <= len(self.server.rows) else None

    def close(self) -> None: ...

    def __enter__(self) -> Cursor:
        return self

    def __exit__(self, *_: object) -> None: ...


SETUP = ["connect", "set session transaction read only", "set session max_execution_time = 2000"]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()
    monkeypatch.setattr(pymysql, "connect", server.connect)
    return server


@pytest.fixture
def fetch(server: Server, directory: Directory, open_sources):
    directory.add(1, "mysql://u:k3y-c4n4ry@db.example/shop?ssl_ca=/ca.pem")
    sources = open_sources(timeout=2, row_limit=3)

    async def run(sql: str, **variables: object):
        return await sources.fetch(group(main="ds_1"), "main", sql, variables)

    return run


async def test_a_query_runs_inside_a_read_only_transaction(fetch, server: Server) -> None:
    """A read-only session, a server-side timeout, then each query between START TRANSACTION READ ONLY and ROLLBACK."""
    assert await fetch("select n from t where a = {{ a }}", a="x") == [{"n": 1}]
    query = ["start transaction read only", ("select n from t where a = %s", ("x",)), "rollback"]
    assert server.log == SETUP + query
    await fetch("select n from t where a = {{ a }}", a="x")
    assert server.log == SETUP + query + query


async def test_the_connection_is_bound_to_one_reading_of_its_text(fetch, server: Server) -> None:
    """utf8mb4, a set sql_mode, no multiple statements, no local files, bounded times, TLS as the URL says."""
    await fetch("select n from t")
    options = server.options
    assert options["charset"] == "utf8mb4"
    assert "NO_BACKSLASH_ESCAPES" not in options["sql_mode"]
    assert "ANSI_QUOTES" not in options["sql_mode"]
    assert options["local_infile"] is False
    assert not options["client_flag"] & CLIENT.MULTI_STATEMENTS
    assert not CLIENT.CAPABILITIES & (CLIENT.MULTI_STATEMENTS | CLIENT.LOCAL_FILES)
    assert (options["connect_timeout"], options["read_timeout"]) == (5, 4.0)
    assert (options["ssl_ca"], options["database"]) == ("/ca.pem", "shop")


async def test_mariadb_is_told_in_its_own_words(fetch, server: Server) -> None:
    """MariaDB does not know max_execution_time: its max_statement_time is set, in seconds."""
    server.errors["set session max_execution_time"] = pymysql.err.OperationalError(1193, "Unknown system variable")
    await fetch("select n from t")
    assert server.log[3] == "set session max_statement_time = 2.0"


@pytest.mark.parametrize("sql", ["delete from t", "select 1 into outfile '/tmp/x'", "select 1; select 2", "set @a = 1"])
async def test_only_one_reading_statement_is_sent(sql: str, fetch, server: Server) -> None:
    """What is no reading statement is never sent."""
    with pytest.raises(NotOneStatement):
        await fetch(sql)
    assert sql not in server.log


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (1064, QueryFailed),
        (1792, NotOneStatement),
        (3024, QueryTimeout),
        (1969, QueryTimeout),
        (2013, SourceUnavailable),
    ],
)
async def test_errors_keep_their_number_and_lose_their_words(number: int, kind: type, fetch, server: Server) -> None:
    """A connection that saw an error is closed and not used again."""
    server.errors["select"] = pymysql.err.OperationalError(number, "near 'k3y-c4n4ry'")
    with pytest.raises(kind) as caught:
        await fetch("select n from t")
    assert "k3y-c4n4ry" not in str(caught.value)
    assert server.log[-1] == "close"


async def test_an_idle_connection_that_the_server_closed_is_replaced(fetch, server: Server) -> None:
    """The viewer sees rows. Red when the error of the old connection was the answer; a new one gets no second try."""
    await fetch("select n from t")
    server.errors["ping"] = pymysql.err.OperationalError(2006, "gone")
    assert await fetch("select n from t") == [{"n": 1}]
    assert server.log.count("connect") == 2
    assert server.log.count("close") == 1
    server.errors["select"] = pymysql.err.OperationalError(2013, "gone")
    with pytest.raises(SourceUnavailable):
        await fetch("select n from t")
    assert server.log.count("connect") == 3


async def test_a_refused_connection(fetch, server: Server) -> None:
    """It is SourceUnavailable with the number, without host, user or password."""
    server.errors["connect"] = pymysql.err.OperationalError(2003, "Can't connect to 'db.example' k3y-c4n4ry")
    with pytest.raises(SourceUnavailable, match=r"OperationalError \(2003\)$"):
        await fetch("select n from t")


async def test_a_session_that_cannot_be_made_read_only_is_not_used(fetch, server: Server) -> None:
    """Fail closed: no query runs on a connection whose session was not set up. Red when that error was ignored."""
    server.errors["set session transaction"] = pymysql.err.OperationalError(1227, "Access denied")
    with pytest.raises(SourceUnavailable):
        await fetch("select n from t")
    assert server.log == ["connect", "set session transaction read only", "close"]


async def test_too_many_rows(fetch, server: Server) -> None:
    """One row above the limit is an error, and the connection is closed instead of reading all others."""
    server.rows = [(number,) for number in range(4)]
    with pytest.raises(TooManyRows):
        await fetch("select n from t")
    assert server.log[-1] == "close"


async def test_an_unknown_option_is_refused(directory: Directory, open_sources, server: Server) -> None:
    """``local_infile=1`` or ``init_command`` in a URL never reaches the driver."""
    directory.add(1, "mysql://u@h/db?local_infile=1&init_command=x")
    with pytest.raises(InvalidSource, match="init_command, local_infile"):
        await open_sources().fetch(group(main="ds_1"), "main", "select 1 as one", {})
    assert server.log == []
