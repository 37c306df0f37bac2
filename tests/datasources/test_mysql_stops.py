"""Queries on MariaDB that are stopped: on the server, at once, and no other in their place."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from pymysql import OperationalError

from engines.mariadb import MariaDB
from tenantry.datasources import DataSources, Limits
from tenantry.datasources.engines.mysql import MySQLDriver
from tenantry.datasources.engines.mysql_connection import Session
from tenantry.errors import DataSourceError, QueryTimeout, TooManyRows
from tenantry.sql import SQLTemplate
from tests.datasources.conftest import Directory, group
from tests.datasources.mysql_server import without_tag

SOON = 60.0
"""Seconds within which something happens on a busy machine. What is stopped would run for much longer."""
SLOW = "select sleep(600) as slept"
BUSY = "select benchmark(2000000000, md5('a')) as nothing"


class Source:
    """A source on a server for a user of its own, and the list of what runs there for that user."""

    def __init__(self, server: MariaDB, directory: Directory, sources: DataSources) -> None:
        self.database = server.create_database()
        self.server, self.sources = server, sources
        self.url = server.create_user(self.database, "select")
        self._user = self.url.removeprefix("mysql://").partition(":")[0]
        directory.add(1, self.url)

    async def fetch(self, sql: str, name: str = "acme") -> list[dict[str, object]]:
        return await self.sources.fetch(group(name, main="ds_1"), "main", sql, {})

    def running(self, kind: str = "Query") -> list[object]:
        return [
            without_tag(str(each[0]))
            for each in self.server.execute(
                "select info from information_schema.processlist where user = %s and command = %s", (self._user, kind)
            )
        ]

    async def wait(self, count: int, kind: str = "Query") -> None:
        """Until so many queries run on the server."""
        async with asyncio.timeout(SOON):
            while len(await asyncio.to_thread(self.running, kind)) != count:
                await asyncio.sleep(0.02)

    async def wait_for(self, sql: str) -> None:
        """Until this query runs on the server, and not what sets its session up."""
        async with asyncio.timeout(SOON):
            while await asyncio.to_thread(self.running) != [sql]:
                await asyncio.sleep(0.02)


@pytest.fixture
def make(mariadb: MariaDB, directory: Directory, open_sources) -> Callable[..., Source]:
    usual = {"timeout": 600, "connect_timeout": SOON}
    return lambda **limits: Source(mariadb, directory, open_sources(**(usual | limits)))


async def test_cancelled_queries_keep_nobody_waiting(make) -> None:
    """Five viewers leave. Another group is served at once, and nothing is left in the process list.

    Red when ``interrupt`` did nothing: the other group got 503 until the queries ended by themselves.
    """
    source = make(pool_size=5, group_pool_size=5)
    leaving = [asyncio.create_task(source.fetch(f"{SLOW}{n}")) for n in range(5)]
    await source.wait(5)
    for task in leaving:
        task.cancel()
    await asyncio.gather(*leaving, return_exceptions=True)
    assert await source.fetch("select 1 as one", "globex") == [{"one": 1}]
    await source.wait(0)


async def test_a_query_that_the_servers_timeout_ends_without_an_error(make) -> None:
    """``benchmark()`` then gives 0. That is no answer, also for one who does not watch the time as the pool does.

    Red when the driver did not look at the time: the answer was 0.
    """
    source = make()
    driver = MySQLDriver(Directory().add(1, source.url), Limits(timeout=0.5))
    connection = driver.open()
    with pytest.raises(QueryTimeout):
        driver.fetch(connection, SQLTemplate(BUSY).bind({}, "format", dialect="mysql"))
    driver.close(connection)


async def test_a_late_stop_meets_no_other_query(make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query ends by itself while it is being stopped. Its connection is closed before another query can have it.

    Red when such a connection went back to the pool: the next query on it was killed.
    """
    source = make(pool_size=1)
    may_stop, stopped, stop = threading.Event(), threading.Event(), MySQLDriver._stop

    def late(*given: Any) -> None:
        may_stop.wait(SOON)
        stop(*given)
        stopped.set()

    monkeypatch.setattr(MySQLDriver, "_stop", late)
    texts = [f"select count(*) as n from t{number}" for number in range(2)]
    with source.server.connect(source.database) as first, source.server.connect(source.database) as second:
        for number, holder in enumerate((first, second)):
            holder.query(f"create table t{number} (id int)")
            holder.query(f"lock tables t{number} write")
        leaving = asyncio.create_task(source.fetch(texts[0]))
        await source.wait_for(texts[0])
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)
        first.query("unlock tables")
        following = asyncio.create_task(source.fetch(texts[1]))
        await source.wait_for(texts[1])
        may_stop.set()
        assert await asyncio.to_thread(stopped.wait, SOON)
        second.query("unlock tables")
        assert await following == [{"n": 0}]


async def test_a_stop_does_not_reach_another_server(
    make, mariadb_with_tls: MariaDB, directory: Directory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind a balancer the second connection may lead elsewhere, where the number is that of another query.

    Red when the servers were not compared: the other one was told to kill.
    """
    asked, kill = threading.Event(), MySQLDriver._kill

    def counted(*given: Any) -> bool:
        done = kill(*given)
        asked.set()
        return done

    source = make()
    await source.fetch("select 1 as one")
    kills = "select variable_value from information_schema.global_status where variable_name = 'Com_kill'"
    before = mariadb_with_tls.execute(kills)
    driver = source.sources._open_sources._open[(1, "ds_1")].pool.driver
    login = dict(driver._address._login)
    elsewhere = {"port": mariadb_with_tls.port, "user": "root", "password": "", "database": "mysql"}
    monkeypatch.setattr(MySQLDriver, "_kill", counted)
    leaving = asyncio.create_task(source.fetch(SLOW))
    await source.wait_for(SLOW)
    driver._address._login |= elsewhere
    leaving.cancel()
    try:
        assert await asyncio.to_thread(asked.wait, SOON)
        assert mariadb_with_tls.execute(kills) == before
    finally:
        driver._address._login |= login
    await source.wait(0)  # a later attempt came to the right one


TOO_MANY = "select seq, if(seq < 250, repeat('x', 100), benchmark(2000000000, md5('a'))) as s from seq_1_to_250"


async def test_too_many_rows_end_the_query(make) -> None:
    """A server notices that nobody reads when it next sends, and it collects 16 KiB for that: here it would be at the
    last row, which takes minutes. Red when the connection was only closed."""
    source = make(row_limit=10)
    with pytest.raises(TooManyRows):
        await source.fetch(TOO_MANY)
    await source.wait(0)


async def test_a_stop_that_fails_is_tried_again(make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that has no connection left for the stop may have one a moment later. Nobody else asks again when the
    query's own thread gave up on it. Red when there was one attempt: the query ran until the server's own timeout."""
    source, refused, connect = make(row_limit=10), [1040, 1226], MySQLDriver._connect

    def refuse(driver: MySQLDriver, timeout: float) -> Session:
        if threading.current_thread().name.startswith("tenantry-stop") and refused:
            raise OperationalError(refused.pop(), "too many connections")
        return connect(driver, timeout)

    monkeypatch.setattr(MySQLDriver, "_connect", refuse)
    with pytest.raises(TooManyRows):
        await source.fetch(TOO_MANY)
    await source.wait(0)
    assert not refused


async def test_closing_stops_what_runs(make) -> None:
    """``aclose`` waits for no query, and leaves no connection."""
    source = make(pool_size=2, group_pool_size=2)
    running = [asyncio.create_task(source.fetch(f"{SLOW}{n}")) for n in range(2)]
    await source.wait(2)
    async with asyncio.timeout(SOON):
        await source.sources.aclose()
    await asyncio.gather(*running, return_exceptions=True)
    await source.wait(0)
    await source.wait(0, "Sleep")


async def test_a_server_that_cannot_be_asked_to_stop(make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller is free at the timeout all the same, and no thread hangs for longer than the server's own timeout."""
    source, create_connection = make(timeout=0.5, pool_size=1), socket.create_connection

    def refuse(*given: Any, **named: Any) -> socket.socket:
        if threading.current_thread().name.startswith("tenantry-stop"):
            raise OSError("refused")
        return create_connection(*given, **named)

    monkeypatch.setattr(socket, "create_connection", refuse)
    async with asyncio.timeout(SOON):
        with pytest.raises(QueryTimeout):
            await source.fetch(SLOW)
        rows: list[dict[str, object]] = []
        while not rows:  # half a second may be too short for the first ones
            with suppress(DataSourceError):
                rows = await source.fetch("select 2 as two")
    assert rows == [{"two": 2}]
