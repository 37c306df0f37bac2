"""A server that gives a source fewer connections than ``pool_size``: queries wait for those that there are."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy.engine import make_url

from engines.mariadb import MariaDB
from engines.pgbouncer import pooled
from engines.postgres import Postgres
from tenantry.datasources import DataSources, Driver, Limits
from tenantry.datasources.driver import says_no_connection
from tenantry.errors import SourceUnavailable
from tenantry.groups import RegisteredSource
from tests.datasources.conftest import Directory, group
from tests.datasources.streamed_rows import ROWS
from tests.datasources.test_engines import EchoDriver

SLEEP = {"postgresql": "select {} as n from pg_sleep(0.2)", "mariadb": "select {} as n from (select sleep(0.2)) s"}


@pytest.fixture(params=list(SLEEP))
def engine(request: pytest.FixtureRequest) -> tuple[str, str]:
    """The engine's name, and a URL whose user may have one connection."""
    if request.param == "postgresql":
        postgres: Postgres = request.getfixturevalue("postgres")
        url = postgres.create_database()
        for sql in ("drop role if exists one_connection", "create role one_connection login connection limit 1"):
            postgres.execute(sql)
        return request.param, str(make_url(url).set(username="one_connection"))
    mariadb: MariaDB = request.getfixturevalue("mariadb")
    url = mariadb.create_user(mariadb.create_database(), "select")
    mariadb.execute(f"alter user `{make_url(url).username}`@`127.0.0.1` with max_user_connections 1")
    return request.param, url.replace("mysql://", "mariadb://")


async def test_queries_wait_for_the_one_connection(
    engine: tuple[str, str],
    directory: Directory,
    open_sources: Callable[..., DataSources],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Ten of two groups at once, and a stream between them. The operator is told once. Red without ``refuse``: all but
    one of the first five are 503."""
    name, url = engine
    directory.add(1, url)
    sources = open_sources(timeout=120, pool_size=5, group_pool_size=5)
    groups = [group("acme", main="ds_1"), replace(group("globex", main="ds_1"), handle=b"87654321")]

    async def stream() -> int:
        body = await sources.stream(groups[1], "main", ROWS[name].format(5_000), {})
        return sum([piece.count(b"\n") async for piece in body])

    *rows, lines = await asyncio.gather(
        *(sources.fetch(groups[n % 2], "main", SLEEP[name].format(n), {}) for n in range(10)), stream()
    )
    assert rows == [[{"n": n}] for n in range(10)]
    assert lines == 5_000
    assert sources.activity.sources["ds_1"].executions["ok"] == 11
    assert [record.message for record in caplog.records if "fewer connections" in record.message] == [
        (
            "the server of data source ds_1 allows fewer connections than pool_size: queries wait until one of the "
            "allowed connections is free"
        )
    ]


async def test_without_any_connection_it_fails(
    engine: tuple[str, str], directory: Directory, open_sources: Callable[..., DataSources]
) -> None:
    """Another program has the one that the user may have: there is none to wait for."""
    name, url = engine
    directory.add(1, url)
    sources, others = open_sources(pool_size=3), open_sources(pool_size=1)
    asking = group(main="ds_1")
    body = await others.stream(asking, "main", ROWS[name].format(2_000_000), {})
    outcomes = await asyncio.gather(
        *(sources.fetch(asking, "main", SLEEP[name].format(n), {}) for n in range(4)), return_exceptions=True
    )
    assert all(isinstance(each, SourceUnavailable) and "cannot be reached" in str(each) for each in outcomes)
    await body.aclose()


async def test_a_pooler_that_lets_fewer_in(
    postgres: Postgres, directory: Directory, open_sources: Callable[..., DataSources]
) -> None:
    """PgBouncer's ``max_client_conn``. Red when only PostgreSQL's own words are known."""
    database = postgres.create_database()
    with pooled(postgres.url, "transaction", "max_client_conn = 2") as pooler:
        directory.add(1, pooler.url(database))
        sources = open_sources(timeout=120, pool_size=5, group_pool_size=5)
        sql = SLEEP["postgresql"]
        rows = await asyncio.gather(*(sources.fetch(group(main="ds_1"), "main", sql.format(n), {}) for n in range(8)))
        assert rows == [[{"n": n}] for n in range(8)]


class TwoConnections(EchoDriver):
    """A driver of the host's own whose server has two connections, and says so in words of another engine."""

    opened = 0

    def open(self) -> str:
        if self.opened == 2:
            raise OSError("ORA-02391: exceeded simultaneous SESSIONS_PER_USER limit")
        self.opened += 1
        return self.url


async def test_a_driver_of_the_hosts_own(directory: Directory, open_sources: Callable[..., DataSources]) -> None:
    """Its own error is enough, for queries and for streams."""
    directory.add(1, "echo://host/name")
    make: Callable[[RegisteredSource, Limits], Driver[Any]] = TwoConnections
    sources = open_sources(engines={"echo": make}, pool_size=8, group_pool_size=8)
    rows = await asyncio.gather(
        *(sources.fetch(group(main="ds_1"), "main", f"select {n}", {}) for n in range(20)),
        *(_read(sources, f"select {n}") for n in range(20, 30)),
    )
    assert len(rows) == 30


async def _read(sources: DataSources, sql: str) -> bytes:
    return b"".join([piece async for piece in await sources.stream(group(main="ds_1"), "main", sql, {})])


@pytest.mark.parametrize(
    "words",
    [
        'FATAL:  too many connections for role "reader"',
        "FATAL:  sorry, too many clients already",
        "FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute",
        'FATAL:  too many connections for database "sales"',
        "FATAL:  no more connections allowed (max_client_conn)",
        'FATAL: connection limit "500" exceeded for non-bootstrap users',
        "FATAL:  Max client connections reached",
        "(1040, 'Too many connections')",
        "(1203, \"User reader already has more than 'max_user_connections' active connections\")",
        "(1226, \"User 'reader' has exceeded the 'max_user_connections' resource (current value: 1)\")",
        "Code: 202. DB::Exception: Too many simultaneous queries. Maximum: 100",
        "ORA-00018: maximum number of sessions exceeded",
        "Resource ID : 1. The session limit for the database is 30 and has been reached.",
    ],
)
def test_words_of_a_full_server(words: str) -> None:
    """Of those that are in use."""
    assert says_no_connection(words)


@pytest.mark.parametrize(
    "words",
    [
        'FATAL:  password authentication failed for user "reader"',
        "connection refused",
        "too many arguments",
        "(1226, \"User 'reader' has exceeded the 'max_questions' resource (current value: 1)\")",
        "server closed the connection unexpectedly",
    ],
)
def test_words_of_other_failures(words: str) -> None:
    """There is nothing to wait for."""
    assert not says_no_connection(words)
