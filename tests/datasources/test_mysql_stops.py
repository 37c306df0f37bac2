"""Queries on MariaDB that are stopped: on the server, at once, and no other in their place."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable

import pytest

from engines.mariadb import MariaDB
from tenantry.datasources import DataSources, Limits
from tenantry.datasources.mysql import MySQLDriver
from tenantry.datasources.url import parse
from tenantry.errors import QueryTimeout, TooManyRows
from tenantry.sql import SQLTemplate
from tests.datasources.conftest import Directory, group

SLOW = "select sleep(20) as slept"
BUSY = "select benchmark(2000000000, md5('a')) as nothing"


class Source:
    """A source on a server for a user of its own, and the list of what runs there for that user."""

    def __init__(self, server: MariaDB, directory: Directory, sources: DataSources) -> None:
        database = server.create_database()
        self.server, self.sources = server, sources
        self.url = server.create_user(database, "select")
        self._user = self.url.removeprefix("mysql://").partition(":")[0]
        directory.add(1, self.url)

    async def fetch(self, sql: str, name: str = "acme") -> list[dict[str, object]]:
        return await self.sources.fetch(group(name, main="ds_1"), "main", sql, {})

    def running(self, kind: str = "Query") -> list[object]:
        return [
            each[0]
            for each in self.server.execute(
                "select info from information_schema.processlist where user = %s and command = %s", (self._user, kind)
            )
        ]

    async def wait(self, count: int, seconds: float = 10.0) -> None:
        """Until so many queries run on the server."""
        async with asyncio.timeout(seconds):
            while len(self.running()) != count:
                await asyncio.sleep(0.02)


@pytest.fixture
def make(mariadb: MariaDB, directory: Directory, open_sources) -> Callable[..., Source]:
    return lambda **limits: Source(mariadb, directory, open_sources(**{"timeout": 30, "connect_timeout": 5, **limits}))


async def test_cancelled_queries_keep_nobody_waiting(make) -> None:
    """Five viewers leave. Another group is served within a second, and nothing is left in the process list.

    Red when ``interrupt`` did nothing: the other group got 503 until the queries ended by themselves.
    """
    source = make(pool_size=5)
    leaving = [asyncio.create_task(source.fetch(SLOW)) for _ in range(5)]
    await source.wait(5)
    for task in leaving:
        task.cancel()
    await asyncio.gather(*leaving, return_exceptions=True)
    began = time.monotonic()
    assert await source.fetch("select 1 as one", "globex") == [{"one": 1}]
    assert time.monotonic() - began < 1
    await source.wait(0, 1)


async def test_a_query_that_the_servers_timeout_ends_without_an_error(make) -> None:
    """``benchmark()`` then gives 0. That is no answer, also for one who does not watch the time as the pool does.

    Red when the driver did not look at the time: the answer was 0.
    """
    source = make()
    driver = MySQLDriver("ds_1", parse(source.url), Limits(timeout=0.5))
    connection = driver.open()
    with pytest.raises(QueryTimeout):
        driver.fetch(connection, SQLTemplate(BUSY).bind({}, "format", dialect="mysql"))
    driver.close(connection)


async def test_a_late_stop_meets_no_other_query(make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query ends by itself while it is being stopped. Its connection is closed before another query can have it.

    Red when such a connection went back to the pool: the next query on it was killed.
    """
    source = make(pool_size=1)
    may_stop, stop = threading.Event(), MySQLDriver._stop
    monkeypatch.setattr(MySQLDriver, "_stop", lambda *given: may_stop.wait(10) and stop(*given))
    leaving = asyncio.create_task(source.fetch("select sleep(0.5) as slept"))
    await source.wait(1)
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    second = "select sleep(2) as slept"
    following = asyncio.create_task(source.fetch(second))
    async with asyncio.timeout(10):
        while source.running() != [second]:
            await asyncio.sleep(0.02)
    may_stop.set()
    assert await following == [{"slept": 0}], "1 is what sleep gives when it is interrupted"


async def test_a_stop_does_not_reach_another_server(make, mariadb_with_tls: MariaDB, directory: Directory) -> None:
    """Behind a balancer the second connection may lead elsewhere, where the number is that of another query.

    Red when the servers were not compared: the other one was told to kill.
    """
    source = make(timeout=0.7)
    await source.fetch("select 1 as one")
    kills = "select variable_value from information_schema.global_status where variable_name = 'Com_kill'"
    before = mariadb_with_tls.execute(kills)
    driver = source.sources._pools._open[(1, "ds_1")].source._driver
    driver._address._login |= {"port": mariadb_with_tls.port, "user": "root", "password": "", "database": "mysql"}
    with pytest.raises(QueryTimeout):
        await source.fetch("select sleep(2) as slept")
    await source.wait(0)
    driver._stoppers.shutdown(wait=True)
    assert mariadb_with_tls.execute(kills) == before


async def test_too_many_rows_end_the_query(make) -> None:
    """A server notices that nobody reads when it next sends, and it collects 16 KiB for that: here it would be at the
    last row, which takes minutes. Red when the connection was only closed."""
    source = make(row_limit=10)
    slow = "select seq, if(seq < 250, repeat('x', 100), benchmark(2000000000, md5('a'))) as s from seq_1_to_250"
    with pytest.raises(TooManyRows):
        await source.fetch(slow)
    await source.wait(0, 2)


async def test_closing_stops_what_runs(make) -> None:
    """``aclose`` waits for no query, and leaves no connection."""
    source = make(pool_size=2)
    running = [asyncio.create_task(source.fetch(SLOW)) for _ in range(2)]
    await source.wait(2)
    began = time.monotonic()
    await source.sources.aclose()
    assert time.monotonic() - began < 2
    await asyncio.gather(*running, return_exceptions=True)
    async with asyncio.timeout(2):
        while source.running() or source.running("Sleep"):
            await asyncio.sleep(0.02)


async def test_a_server_that_cannot_be_asked_to_stop(make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller is free at the timeout all the same, and no thread hangs for longer than the server's own timeout."""
    source = make(timeout=0.5, pool_size=1)
    await source.fetch("select 1 as one")

    def refuse(*_: object, **__: object) -> socket.socket:
        raise OSError("refused")

    monkeypatch.setattr(socket, "create_connection", refuse)
    began = time.monotonic()
    with pytest.raises(QueryTimeout):
        await source.fetch(SLOW)
    assert time.monotonic() - began < 2
    monkeypatch.undo()
    assert await source.fetch("select 2 as two") == [{"two": 2}]
