"""One send for a guarded query, direct and behind PgBouncer as it comes; what is stopped, reused and cut off."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from engines.debian_packages import require
from engines.pgbouncer import PACKAGES, pooled
from engines.relay import Relay, relayed
from engines.sends import sends_to
from tenantry.datasources import DataSources, Limits
from tenantry.datasources.engines import postgresql_connection
from tenantry.datasources.engines.postgresql import PostgreSQLDriver
from tenantry.datasources.pool import connection_pool, source_stream
from tenantry.errors import (
    DataSourceError,
    InvalidSource,
    NotOneStatement,
    QueryFailed,
    QueryTimeout,
    TemplateError,
    TenantryError,
    TooManyBytes,
    TooManyRows,
    UnbindableValue,
)
from tenantry.sql import BoundSQL
from tests.datasources.conftest import Directory, group
from tests.datasources.settings import data_sources

pytestmark = pytest.mark.slow

Fetch = Callable[..., Awaitable[list[dict[str, Any]]]]
PID = (
    "select pg_backend_pid() as pid, "
    "(select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks"
)


@pytest.fixture(scope="module")
def database(postgres) -> str:
    url = postgres.create_database()
    postgres.execute(
        "create table orders (id integer); insert into orders values (1); create sequence numbers", url=url
    )
    return url


@pytest.fixture(params=["direct", "session", "transaction"])
def url(request: pytest.FixtureRequest, database: str, postgres) -> Iterator[str]:
    """The database, itself and behind a pooler in two modes."""
    if request.param == "direct":
        yield database
        return
    require(*PACKAGES)
    with pooled(postgres.url, request.param, "default_pool_size = 1") as pooler:
        yield pooler.url(database)


@pytest.fixture
async def open_at(directory: Directory) -> AsyncIterator[Callable[..., Fetch]]:
    opened: list[DataSources] = []

    def make(url: str, **limits: Any) -> Fetch:
        directory.registered.clear()
        directory.add(1, url)
        sources = data_sources(directory, **{"pool_size": 1, "connect_timeout": 120, **limits})
        opened.append(sources)

        async def run(sql: str, **variables: object) -> list[dict[str, Any]]:
            rows: list[dict[str, Any]] = await sources.fetch(group(main="ds_1"), "main", sql, variables)
            return rows

        return run

    yield make
    for sources in opened:
        await sources.aclose()


async def test_a_warm_query_is_one_send(database: str, open_at) -> None:
    """What a proxy counts: one send and one answer, with the transaction, its settings, the values and the locks; two
    where the server refused something. Red when the rollback waited for the rows."""
    async with sends_to(database) as (sends, url):
        fetch = open_at(url)
        await fetch("select 1 as one")
        del sends.log[:]
        assert await fetch("select {{ v }}::integer as x, repeat('y', 3) as y", v="7") == [{"x": 7, "y": "yyy"}]
        (sent, answered) = sends.log
        assert answered is None
        assert sent is not None
        assert [word in sent for word in (b"begin read only", b"statement_timeout", b"rollback", b"unlock_all")]
        del sends.log[:]
        with pytest.raises(UnbindableValue):
            await fetch("select {{ v }}::integer as x", v="a")
        assert len([each for each in sends.log if each is not None]) == 2


@pytest.fixture
def servers_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server's timeout is what ends a query, however slow the machine."""
    monkeypatch.setattr(source_stream, "GRACE", 60.0)
    monkeypatch.setattr(postgresql_connection, "_CANCEL_SECONDS", 60.0)


def patient(fetch: Fetch) -> Fetch:
    """Asks again where the server's timeout, short as it is, ends what takes no time but on a busy machine."""

    async def run(sql: str, **variables: object) -> list[dict[str, Any]]:
        async with asyncio.timeout(60):
            while True:
                with suppress(QueryTimeout):
                    return await fetch(sql, **variables)

    return run


@pytest.mark.usefixtures("servers_timeout")
async def test_a_query_is_guarded_behind_a_pooler_too(url: str, open_at, postgres, database: str) -> None:
    """PgBouncer with its default settings takes the connection, and the server itself refuses what writes, stops what
    takes too long, and keeps nothing for the next query. Red on asyncpg: PgBouncer refused its start-up parameters.
    Red without `begin read only`, the timeout or the rollback in the one send."""
    hurried = open_at(url, timeout=1)
    fetch = patient(hurried)
    assert await fetch("select id from orders where id = {{ id }}", id="1") == [{"id": 1}]
    with pytest.raises(NotOneStatement):
        await fetch("select nextval('numbers') as n")
    with pytest.raises((NotOneStatement, QueryFailed)):
        await fetch("select set_config('transaction_read_only', 'off', false) as a, nextval('numbers') as n")
    with pytest.raises(NotOneStatement, match="several statements"):
        await fetch("select 1 as a; select 2 as b")
    before = await fetch("select pg_backend_pid() as pid")
    with pytest.raises(QueryTimeout):
        await hurried("select pg_sleep(60)")
    await fetch("select set_config('statement_timeout', '0', false) as a, pg_advisory_lock(7)::text as b")
    with pytest.raises(QueryTimeout):
        await hurried("select pg_sleep(60)")
    rows = await fetch(
        "select current_setting('statement_timeout') as timeout, pg_backend_pid() as pid, "
        "(select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks"
    )
    assert rows == [{"timeout": "1s", "pid": before[0]["pid"], "locks": 0}]
    assert postgres.execute("select is_called from numbers", url=database).strip() == "f"


@pytest.mark.usefixtures("servers_timeout")
async def test_an_error_leaves_the_connection_usable(database: str, open_at) -> None:
    """Whatever is refused, the same server process runs the next query, in a transaction of its own, without locks.
    Red when an error closed the connection, and when a lock was taken before the error and not given back."""
    hurried = open_at(database, row_limit=100, max_bytes=100_000, timeout=2)
    fetch = patient(hurried)
    first = await fetch(PID)
    assert first[0]["locks"] == 0
    refused: list[tuple[str, type[TenantryError]]] = [
        ("select absent", QueryFailed),
        ("select {{ v }}::integer as x", UnbindableValue),
        ("select nextval('numbers')", NotOneStatement),
        ("select from orders", NotOneStatement),
        ("select pg_advisory_lock(7)::text || (1 / (id - 1))::text as x from orders", QueryFailed),
        ("select pg_advisory_lock(8)::text || pg_sleep(60)::text as x", QueryTimeout),
        ("select 1 as a, 2 as a", QueryFailed),
    ]
    for sql, kind in refused:
        with pytest.raises(kind):
            await (hurried if kind is QueryTimeout else fetch)(sql, v="a")
        assert await fetch(PID) == first, sql


@pytest.mark.usefixtures("servers_timeout")
@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("select generate_series(1, 2000000000) as n", TooManyRows),
        ("select repeat('x', 20000) as x, generate_series(1, 2000000000) as n", TooManyBytes),
    ],
)
async def test_a_stopped_query_leaves_the_connection_usable(
    sql: str, kind: type[TenantryError], database: str, open_at, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Red when a stop closed the connection. How much has come is not looked at here: while this process waits for a
    busy machine the system receives megabytes, and an answer that is too long closes the connection. One of ten: in
    doubt whether the stop may reach the next query, it is closed too."""
    monkeypatch.setattr(postgresql_connection, "_UNCOUNTED", sys.maxsize)
    fetch = open_at(database, row_limit=100, max_bytes=100_000, timeout=20)
    for _ in range(10):
        before = await fetch(PID)
        with pytest.raises(kind):
            await fetch(sql)
        if await fetch(PID) == before:
            return
    raise AssertionError("each stop closed its connection")


async def test_a_viewer_who_leaves_stops_the_query(url: str, open_at, postgres, database: str) -> None:
    """The server runs it no more at once, and the next query of the one connection is not delayed. Red when nothing was
    sent to the server: the query ran on."""
    fetch = open_at(url, timeout=600)
    running = "select count(*) from pg_stat_activity where query like 'select pg_sleep(593)%' and state = 'active'"

    async def count() -> int:
        return int(await asyncio.to_thread(postgres.execute, running, url=database))

    for _ in range(3):
        await fetch("select 1 as one")
        task = asyncio.create_task(fetch("select pg_sleep(593)"))
        async with asyncio.timeout(60):
            while await count() != 1:
                await asyncio.sleep(0.01)
        task.cancel()
        started = time.monotonic()
        with suppress(asyncio.CancelledError):
            await task
        assert await fetch("select 1 as one") == [{"one": 1}]
        assert time.monotonic() - started < 60
        async with asyncio.timeout(60):
            while await count():
                await asyncio.sleep(0.01)


async def test_a_query_that_is_stopped_before_the_server_began_it(database: str, open_at) -> None:
    """A stop at any moment frees the one connection: also one that comes before the query has reached the server, where
    a cancel is lost. Red when it was sent once: the slot stayed taken for the whole query."""
    fetch = open_at(database, timeout=600)
    await fetch("select 1 as one")
    started = time.monotonic()
    for delay in [0, 0, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.02] * 3:
        task = asyncio.create_task(fetch("select pg_sleep(593)"))
        await asyncio.sleep(delay)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        assert await fetch("select 1 as one") == [{"one": 1}]
    assert time.monotonic() - started < 240


class Faulty(Relay):
    """Of what ``break_down`` is told: with ``silent`` nothing passes in either direction on any connection, with
    ``deaf`` nothing comes back on those that are there by then, and with ``slow`` what is sent on them is late."""

    broken = ""
    connections = there = 0

    def break_down(self, how: str) -> None:
        self.broken, self.there = how, self.connections

    async def connect(
        self,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        server: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        self.connections += 1
        number = self.connections

        async def forth() -> None:
            while data := await client[0].read(65_536):
                if self.broken == "slow" and number <= self.there:
                    await asyncio.sleep(0.4)
                if self.broken != "silent":
                    server[1].write(data)
            server[1].close()

        async def back() -> None:
            while data := await server[0].read(65_536):
                if self.broken != "silent" and not (self.broken == "deaf" and number <= self.there):
                    client[1].write(data)
            client[1].close()

        with suppress(OSError):
            await asyncio.gather(forth(), back())


@pytest.mark.parametrize("fault", ["silent", "deaf"])
async def test_a_server_that_falls_silent_frees_the_connection(fault: str, database: str, open_at) -> None:
    """Nothing comes any more, not even an answer to the stop: the caller is freed at the timeout, and the slot soon
    after. Red (deaf) when the thread waited for the answer without an end."""
    async with relayed(database, Faulty) as (relay, url):
        fetch = open_at(url, timeout=1.5, connect_timeout=30)
        await patient(fetch)("select 1 as one")
        relay.break_down(fault)
        with pytest.raises(QueryTimeout):
            await fetch("select 1 as one")
        await asyncio.sleep(0.5)
        relay.broken = ""
        rows: list[dict[str, Any]] = []
        async with asyncio.timeout(60):
            while not rows:  # on a busy machine the timeout may be too short for any query
                with suppress(DataSourceError):
                    rows = await fetch("select 1 as one")
        assert rows == [{"one": 1}]


async def test_a_stop_that_comes_before_the_query_is_repeated(database: str, open_at, postgres) -> None:
    """The query is late on its way, and the server forgets a cancel for a process that does nothing. Red when the
    server was told once: it ran the query to its end."""
    running = "select count(*) from pg_stat_activity where query like 'select pg_sleep(594)%' and state = 'active'"
    async with relayed(database, Faulty) as (relay, url):
        fetch = open_at(url, timeout=600)
        await fetch("select 1 as one")
        relay.break_down("slow")
        task = asyncio.create_task(fetch("select pg_sleep(594)"))
        await asyncio.sleep(0.1)
        task.cancel()
        await asyncio.sleep(0.5)
        async with asyncio.timeout(60):
            while int(await asyncio.to_thread(postgres.execute, running, url=database)):
                await asyncio.sleep(0.05)


async def test_a_row_is_cut_off_on_the_way_in(database: str, open_at) -> None:
    """Of one row of 150 MB hardly more than twice the limit is received. Red when only whole rows were counted: all of
    it was in memory before anyone looked."""
    async with relayed(database, Counting) as (relay, url):
        fetch = open_at(url, max_bytes=1_000_000, timeout=100)
        await fetch("select 1 as one")
        with pytest.raises(TooManyBytes):
            await fetch("select repeat('x', 150000000) as x")
        assert relay.passed < 60_000_000
        assert (await fetch("select repeat('x', 900000) as x"))[0]["x"] == "x" * 900_000


class Counting(Relay):
    """``passed``: bytes that the server's answers had."""

    passed = 0

    async def connect(
        self,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        server: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        async def back() -> None:
            while data := await server[0].read(65_536):
                self.passed += len(data)
                client[1].write(data)
                await client[1].drain()

        async def forth() -> None:
            while data := await client[0].read(65_536):
                server[1].write(data)
                await server[1].drain()

        await asyncio.gather(back(), forth())


@pytest.mark.parametrize("given", ["select 1 as one\0 where 1 = 2", "select '\0' as one"])
def test_a_nul_does_not_end_the_text(given: str, database: str) -> None:
    """libpq's text would end there, and with it a condition. Red when the text was sent as it is: it gave a row."""
    driver = PostgreSQLDriver(Directory().add(1, database), Limits())
    connection = driver.open()
    with pytest.raises(NotOneStatement, match="NUL"):
        driver.fetch(connection, BoundSQL(given, (), driver.paramstyle, driver.dialect))
    driver.close(connection)


async def test_parallel_workers_are_there(postgres, open_at) -> None:
    """A limit on the rows of a portal would forbid them."""
    url = postgres.create_database()
    postgres.execute(
        "create table big as select n, n % 7 as m from generate_series(1, 300000) n; analyze big;"
        "alter table big set (parallel_workers = 2)",
        url=url,
    )
    fetch = open_at(url)
    plan = await fetch("explain (analyze, format json) select m, count(*) from big group by m")
    assert '"Workers Launched": 2' in str(plan).replace("'", '"')


class EarlyServer(Relay):
    """Says that the server is of version 8.0.2, as Redshift does."""

    sent = b""

    async def connect(
        self,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        server: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        async def back() -> None:
            while data := await server[0].read(65_536):
                client[1].write(_as_redshift(data))

        async def forth() -> None:
            while data := await client[0].read(65_536):
                self.sent += data
                server[1].write(data)

        await asyncio.gather(back(), forth())


@pytest.mark.usefixtures("servers_timeout")
@pytest.mark.parametrize("scheme", ["postgresql", "redshift"])
async def test_redshift_gets_what_it_knows(scheme: str, database: str, open_at) -> None:
    """By its version. It has no advisory locks, and none of the settings but the timeout. Not run on Redshift: here a
    server says that it is one."""
    async with relayed(database, EarlyServer) as (relay, url):
        hurried = open_at(url.replace("postgresql", scheme, 1), timeout=1)
        fetch = patient(hurried)
        assert await fetch("select {{ v }}::integer as x", v="7") == [{"x": 7}]
        with pytest.raises(NotOneStatement, match="only reads"):
            await fetch("insert into x values (1)")
        with pytest.raises(QueryTimeout):
            await hurried("select pg_sleep(60)")
        assert b"begin read only" in relay.sent
        assert b"set local statement_timeout = 1000" in relay.sent
        assert not any(word in relay.sent for word in (b"advisory", b"set_config", b"pg_has_role"))


async def test_strings_of_redshift_have_escapes(database: str, open_at) -> None:
    """Under postgresql:// a text with a backslash is refused; redshift:// is bound for the dialect that knows them.
    Red when redshift:// was bound as PostgreSQL."""
    async with relayed(database, EarlyServer) as (_, url):
        with pytest.raises(NotOneStatement, match="backslash"):
            await open_at(url)(r"select '\' as x")
        fetch = open_at(url.replace("postgresql", "redshift", 1))
        assert await fetch(r"select 'a\\b' as x, {{ v }}::text as y", v="it's") == [{"x": r"a\\b", "y": "it's"}]
        with pytest.raises(TemplateError):
            await fetch(r"select '\' as x, {{ v }}::text as y", v="1")


async def test_a_redshift_url_leads_to_no_postgresql(database: str, open_at) -> None:
    """It would read strings in another way than the template was bound for. Red without the check."""
    with pytest.raises(InvalidSource, match="is PostgreSQL, not Redshift"):
        await open_at(database.replace("postgresql", "redshift", 1))("select 1 as x")


def _as_redshift(data: bytes) -> bytes:
    """The message with the server's version says 8.0.2."""
    name = b"server_version\0"
    start = data.find(name)
    if start < 0:
        return data
    end = data.index(b"\0", start + len(name))
    content = name + b"8.0.2\0"
    return data[: start - 4] + (len(content) + 4).to_bytes(4, "big") + content + data[end + 1 :]


async def test_a_connection_that_nobody_uses_is_closed(
    database: str, open_at, postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After five minutes; here after half a second. Red when the connections of a quiet source stayed for good."""
    monkeypatch.setattr(connection_pool, "IDLE_SECONDS", 0.5)
    fetch = open_at(database, pool_size=3)
    await asyncio.gather(*(fetch(f"select pg_sleep(0.2) as s{n}") for n in range(3)))
    mine = (
        "select count(*) from pg_stat_activity where application_name = 'tenantry' and datname = current_database() "
        "and pid <> pg_backend_pid() and query like '%pg_advisory_unlock_all%'"
    )
    async with asyncio.timeout(60):
        while int(await asyncio.to_thread(postgres.execute, mine, url=database)):
            await asyncio.sleep(0.05)
    assert await fetch("select 1 as one") == [{"one": 1}]
