"""MySQL without a MySQL: what is sent, and in which order, and what becomes of MySQL's own types and errors.

A scripted server stands in for it: what a real one does with these statements is not shown here. MariaDB shows it.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from datetime import UTC, time

import pytest
from pymysql.constants import CLIENT, FIELD_TYPE

from engines.ports import free_port
from tenantry.datasources.engines.mysql_connection import Session
from tenantry.errors import (
    InvalidSource,
    NotOneStatement,
    QueryFailed,
    QueryTimeout,
    SourceUnavailable,
    TooManyBytes,
    TooManyRows,
    UnbindableValue,
)
from tests.datasources.conftest import Directory, group
from tests.datasources.mysql_server import ScriptedMySQL, scripted_mysql

READ_ONLY = "set session transaction read only"


@pytest.fixture
def server() -> Iterator[ScriptedMySQL]:
    with scripted_mysql() as script:
        yield script


@pytest.fixture
def fetch(server: ScriptedMySQL, directory: Directory, open_sources):
    directory.add(1, f"mysql://u:k3y-c4n4ry@127.0.0.1:{server.port}/shop")
    sources = open_sources(timeout=60, row_limit=3, max_bytes=700, pool_size=1, connect_timeout=50)

    async def run(sql: str, **variables: object):
        return await sources.fetch(group(main="ds_1"), "main", sql, variables)

    return run


async def test_a_query_is_one_send_and_what_it_leaves_is_wiped_in_one_more(fetch, server: ScriptedMySQL) -> None:
    """A session that is set up once: read-only, with a server-side timeout. After each query it is reset and set up
    again, in one write. Red when the set-up followed in writes of its own."""
    assert await fetch("select n from t where a = {{ a }}", a="x") == [{"n": 1}]
    await fetch("select n from t where a = {{ a }}", a="x")
    await server.wiped()
    settings = server.log[3]
    assert server.log[:3] == ["connect", "SET NAMES utf8mb4", READ_ONLY]
    assert ", session max_execution_time = 60000" in settings
    query = "select n from t where a = concat('x')"
    assert server.sends[-4:] == [[query], ["reset", READ_ONLY, settings]] * 2


async def test_a_server_that_takes_one_command_at_a_time(server: ScriptedMySQL, directory, open_sources) -> None:
    """``pipelining=off``: each command of the wipe waits for the answer to the one before, and all precede the query.

    Red when the rest of the wipe was not sent: the query then ran in a session that was not read-only.
    """
    directory.add(1, f"mysql://u@127.0.0.1:{server.port}/shop?pipelining=off")
    sources = open_sources(pool_size=1)
    for _ in range(2):
        assert await sources.fetch(group(main="ds_1"), "main", "select n from t", {}) == [{"n": 1}]
    await server.wiped()
    settings = server.log[3]
    assert server.sends[-5:] == [["reset"], [READ_ONLY], [settings], ["select n from t"], ["reset"]]


async def test_the_connection_is_bound_to_one_reading_of_its_text(
    fetch, server: ScriptedMySQL, monkeypatch: pytest.MonkeyPatch
) -> None:
    """utf8mb4, a set sql_mode, no multiple statements, no local files, bounded times."""
    times = []
    set_up = Session.set_up
    monkeypatch.setattr(Session, "set_up", lambda it, given: (times.append(vars(it)), set_up(it, given)))
    await fetch("select n from t")
    settings = server.log[3]
    assert settings.startswith("set names utf8mb4, ")
    assert "sql_mode = 'STRICT_TRANS_TABLES" in settings
    assert "NO_BACKSLASH_ESCAPES" not in settings
    assert "ANSI_QUOTES" not in settings
    assert not server.flags & (CLIENT.MULTI_STATEMENTS | CLIENT.LOCAL_FILES)
    assert [(each["connect_timeout"], each["_read_timeout"], each["_write_timeout"]) for each in times] == [
        (50, 62, 62)
    ]


async def test_mariadb_is_told_in_its_own_words(fetch, server: ScriptedMySQL) -> None:
    """MariaDB does not know max_execution_time: its max_statement_time is set, in seconds."""
    server.errors["max_execution_time"] = 1193
    await fetch("select n from t")
    await server.wiped()
    assert "max_statement_time = 60.0" in server.sends[-1][-1]


@pytest.mark.parametrize("sql", ["delete from t", "select 1 into outfile '/tmp/x'", "select 1; select 2", "set @a = 1"])
async def test_only_one_reading_statement_is_sent(sql: str, fetch, server: ScriptedMySQL) -> None:
    """What is no reading statement is never sent."""
    with pytest.raises(NotOneStatement):
        await fetch(sql)
    assert server.queries == []


@pytest.mark.parametrize(
    ("number", "kind", "closed"),
    [
        (1064, QueryFailed, False),
        (1792, NotOneStatement, False),
        (3024, QueryTimeout, False),
        (1969, QueryTimeout, False),
        (3141, UnbindableValue, False),
        (3691, UnbindableValue, False),
        (1317, QueryFailed, False),
        (1053, SourceUnavailable, True),
        (2013, SourceUnavailable, True),
    ],
)
async def test_errors_keep_their_number_and_lose_their_words(
    number: int, kind: type[Exception], closed: bool, fetch, server: ScriptedMySQL
) -> None:
    """A query that was refused costs no connection: it is wiped as after any other. One whose state nobody knows is
    closed. Red when every error closed it, and when the numbers of bad values were missing."""
    server.errors["select n"] = number
    with pytest.raises(kind) as caught:
        await fetch("select n from t where a = {{ a }}", a="x")
    assert "k3y-c4n4ry" not in str(caught.value)
    assert await fetch("select 1") == [{"n": 1}]
    await server.wiped()
    assert server.log.count("connect") == (2 if closed else 1)
    assert server.log.count("reset") == (1 if closed else 2)


async def test_without_values_no_value_is_to_blame(fetch, server: ScriptedMySQL) -> None:
    """A bad regular expression of the author's own is no bad value."""
    server.errors["select n"] = 3691
    with pytest.raises(QueryFailed, match="3691"):
        await fetch("select n from t where a regexp '('")


async def test_a_refused_text_costs_no_connection(fetch, server: ScriptedMySQL) -> None:
    """Neither one that is never sent. Red when every error closed the connection."""
    await fetch("select n from t")
    for sql in ("delete from t", "select @a := 1"):
        with pytest.raises(NotOneStatement):
            await fetch(sql)
    await fetch("select n from t")
    assert server.log.count("connect") == 1


async def test_a_value_that_is_never_sent_costs_no_connection(fetch, server: ScriptedMySQL) -> None:
    """Red when a session counts as used before its query is sent."""
    await fetch("select n from t")
    with pytest.raises(UnbindableValue):
        await fetch("select n from t where a = {{ a }}", a=time(1, tzinfo=UTC))
    await fetch("select n from t")
    assert server.log.count("connect") == 1


async def test_an_idle_connection_that_the_server_closed_is_replaced(fetch, server: ScriptedMySQL) -> None:
    """The viewer sees rows. Red when the error of the old connection was the answer; a new one gets no second try."""
    server.hang_up_after.add("reset")
    await fetch("select n from t")
    assert await fetch("select n from t") == [{"n": 1}]
    assert server.log.count("connect") == 2
    server.hang_up_after.add("select m from t")
    with pytest.raises(SourceUnavailable):
        await fetch("select m from t")
    assert server.log.count("select m from t") == 1


@pytest.mark.parametrize("refused", ["reset", READ_ONLY, "set names"])
async def test_a_session_that_cannot_be_wiped_is_not_used_again(refused: str, fetch, server: ScriptedMySQL) -> None:
    """The next query gets a new connection, and is sent nothing before. Red when the answers were not looked at."""
    server.wipe_errors[refused] = 1047
    assert await fetch("select n from t") == [{"n": 1}]
    assert await fetch("select m from t") == [{"n": 1}]
    assert server.log.count("connect") == 2
    assert server.queries == ["select n from t", "select m from t"]


async def test_a_refused_connection(directory: Directory, open_sources) -> None:
    """It is SourceUnavailable with the address and the number, without database, user or password."""
    port = free_port()
    directory.add(1, f"mysql://us3r:k3y-c4n4ry@127.0.0.1:{port}/sh0p")
    with pytest.raises(SourceUnavailable, match=rf"connection refused by 127\.0\.0\.1:{port}: .*\(2003\)$") as caught:
        await open_sources().fetch(group(main="ds_1"), "main", "select 1 as one", {})
    assert not any(word in str(caught.value) for word in ("us3r", "k3y", "sh0p"))


async def test_a_session_that_cannot_be_made_read_only_is_not_used(fetch, server: ScriptedMySQL) -> None:
    """Fail closed: no query runs on a connection whose session was not set up. Red when that error was ignored."""
    server.errors["set session transaction"] = 1227
    with pytest.raises(SourceUnavailable):
        await fetch("select n from t")
    async with asyncio.timeout(60):
        while server.log[-1:] != ["quit"]:
            await asyncio.sleep(0.001)
    assert server.log == ["connect", "SET NAMES utf8mb4", READ_ONLY, "quit"]


@pytest.mark.parametrize(("rows", "kind"), [([("1",)] * 4, TooManyRows), ([("x" * 240,)] * 3, TooManyBytes)])
async def test_too_much(rows: list[tuple[str]], kind: type[Exception], fetch, server: ScriptedMySQL) -> None:
    """One row above the limit is an error. The connection is closed instead of reading all others, and nothing is left
    for the collector to complain of: red with "Exception ignored in MySQLResult.__del__", an error in these tests."""
    server.columns, server.rows = [("n", FIELD_TYPE.VAR_STRING)], rows
    with pytest.raises(kind):
        await fetch("select n from t")
    gc.collect()
    assert "reset" not in server.log
    server.rows = [("1",)]
    assert await fetch("select n from t") == [{"n": "1"}]


async def test_columns_of_the_type_json_are_objects(fetch, server: ScriptedMySQL) -> None:
    """As MySQL has it. MariaDB's JSON is a text with a check, and comes as one."""
    server.columns = [("a", FIELD_TYPE.JSON), ("b", FIELD_TYPE.JSON), ("c", FIELD_TYPE.VAR_STRING)]
    server.rows = [('{"x": [1, 2.5, null, "é"]}', None, '{"x": 1}')]
    assert await fetch("select a, b, c from t") == [{"a": {"x": [1, 2.5, None, "é"]}, "b": None, "c": '{"x": 1}'}]


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (FIELD_TYPE.DATE, "0000-00-00", None),
        (FIELD_TYPE.DATE, "2026-02-31", None),
        (FIELD_TYPE.DATETIME, "0000-00-00 00:00:00", None),
        (FIELD_TYPE.TIMESTAMP, "0000-00-00 00:00:00.000000", None),
        (FIELD_TYPE.DATETIME, "2026-00-15 10:00:00", None),
    ],
)
async def test_dates_that_no_calendar_has(kind: int, text: str, value: object, fetch, server: ScriptedMySQL) -> None:
    """They are None. Red with PyMySQL's own conversions: they came as text, in a column of dates."""
    server.columns, server.rows = [("d", kind)], [(text,)]
    assert await fetch("select d from t") == [{"d": value}]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("local_infile=1&init_command=x", "init_command, local_infile"),
        ("ssl_verify_cert=false", "unknown options: ssl_verify_cert"),
        ("ssl_mode=none", "ssl_mode of a MySQL URL must be one of disabled, required, verify"),
        ("ssl_mode=disabled&ssl_ca=/k3y-c4n4ry", "ssl_mode=disabled contradicts ssl_ca"),
        ("ssl_mode=required&ssl_ca=/k3y-c4n4ry", "ssl_mode=required checks no certificate"),
        ("ssl_mode=verify&ssl_mode=disabled", "an option more than once"),
        ("ssl_key=/k3y-c4n4ry", "ssl_key needs ssl_cert"),
        ("ssl_ca=/k3y-c4n4ry", "TLS cannot use ssl_ca: use PEM files"),
        ("ssl_cert=/k3y-c4n4ry", "TLS cannot use ssl_cert: use PEM files"),
        ("pipelining=no", "pipelining of a MySQL URL must be one of on, off"),
    ],
)
async def test_an_option_that_is_unknown_or_contradicts_is_refused(
    options: str, message: str, directory: Directory, open_sources, server: ScriptedMySQL
) -> None:
    """``local_infile=1`` or ``init_command`` in a URL never reaches the driver, and no path is in a message."""
    directory.add(1, f"mysql://u@127.0.0.1:{server.port}/db?{options}")
    with pytest.raises(InvalidSource, match=message) as caught:
        await open_sources().fetch(group(main="ds_1"), "main", "select 1 as one", {})
    assert "k3y-c4n4ry" not in str(caught.value)
    assert server.log == []
