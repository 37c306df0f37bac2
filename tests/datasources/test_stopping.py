"""``sources.stop()`` and ``stop_on_signals``: a process that ends waits for no query and runs no new ones."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tenantry.datasources import DataSources, Limits, ResultCache, stop_on_signals
from tenantry.datasources.engines.sqlite import SQLiteDriver
from tenantry.errors import SourceUnavailable
from tenantry.groups import RegisteredSource
from tests.datasources.conftest import Directory, duckdb_file, group, sqlite_file
from tests.datasources.settings import data_sources

SOON = 60.0
ENDLESS = "with recursive n (i) as (select 1 union all select i + 1 from n where i <> {}) select count(*) as n from n"
OWNERS = "select distinct owner from orders"
GROUP = group(main="ds_1")


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(SOON):
        while not condition():
            await asyncio.sleep(0.005)


def ask(sources: DataSources, count: int) -> list[asyncio.Task[Any]]:
    """Different queries that never end."""
    return [asyncio.create_task(sources.fetch(GROUP, "main", ENDLESS.format(-each), {})) for each in range(count)]


@pytest.mark.parametrize("make", [sqlite_file, duckdb_file])
async def test_what_runs_and_what_waits_is_stopped(
    make: Any, directory: Directory, open_sources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two run and eighteen wait for their turn. All have their answer when ``stop`` returns, and no thread works on.
    Red when ``stop`` leaves out what waits, and when it does not wait for the threads."""
    monkeypatch.setattr("tenantry.datasources.sources._STOP_SECONDS", SOON / 2)
    directory.add(1, make(tmp_path / "a", "acme"))
    sources = open_sources(pool_size=2, group_pool_size=2, timeout=600, connect_timeout=600)
    asked = ask(sources, 20)
    counters = sources.activity.sources["ds_1"]
    await until(lambda: counters.running == 2 and counters.waiting == 18)
    source = next(iter(sources._open_sources._open.values())).pool
    await asyncio.wait_for(sources.stop(), SOON)
    assert not source.is_running
    outcomes = await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), SOON)
    assert {type(each) for each in outcomes} == {SourceUnavailable}
    assert {each.status for each in outcomes} == {503}


async def test_new_queries_are_refused(directory: Directory, open_sources, tmp_path: Path) -> None:
    """For good, also those that the cache could answer, and streams. Red when only open sources refuse."""
    directory.add(1, sqlite_file(tmp_path / "a", "acme"))
    directory.add(2, sqlite_file(tmp_path / "b", "acme"))
    sources = open_sources(cache=ResultCache(seconds=600))
    await sources.fetch(GROUP, "main", OWNERS, {})
    await sources.stop()
    await sources.stop()
    for asked in (
        sources.fetch(GROUP, "main", OWNERS, {}),
        sources.fetch(group(main="ds_2"), "main", OWNERS, {}),
        sources.stream(GROUP, "main", OWNERS, {}),
    ):
        with pytest.raises(SourceUnavailable, match="this process is stopping") as refused:
            await asked
        assert refused.value.retry_after == 1
    await sources.aclose()
    with pytest.raises(SourceUnavailable, match="this process is stopping"):
        await sources.fetch(GROUP, "main", OWNERS, {})


async def test_a_stream_ends(directory: Directory, open_sources, tmp_path: Path) -> None:
    """Its reader gets the error, and its connection is closed. Red when streams are left out."""
    directory.add(1, sqlite_file(tmp_path / "a", "acme"))
    sources = open_sources()
    stream = await sources.stream(GROUP, "main", ENDLESS.replace("count(*) as n", "i").format(-1), {})
    await sources.stop()
    with pytest.raises(SourceUnavailable):
        async for _ in stream:
            pass
    source = next(iter(sources._open_sources._open.values())).pool
    await until(lambda: not source.is_running)


@pytest.mark.parametrize("end", ["stop", "aclose"])
async def test_a_source_that_was_replaced_is_stopped_too(
    end: str, directory: Directory, open_sources, tmp_path: Path
) -> None:
    """It is open until its last query has ended, under no name. Red when only the sources of now are looked at."""
    directory.add(1, sqlite_file(tmp_path / "a", "acme"))
    sources = open_sources(timeout=600)
    asked = ask(sources, 1)
    await until(lambda: sources.activity.sources["ds_1"].running == 1)
    directory.registered.clear()
    directory.add(1, sqlite_file(tmp_path / "b", "acme"))
    await sources.fetch(GROUP, "main", OWNERS, {})
    await asyncio.wait_for(getattr(sources, end)(), SOON)
    (outcome,) = await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), SOON)
    assert isinstance(outcome, SourceUnavailable)


async def test_a_query_that_ends_while_its_pool_is_abandoned_closes_its_connection(
    directory: Directory, open_sources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Red when the thread looks whether it was stopped before it takes the lock: its connection then comes to the idle
    ones after the pool has closed them."""
    directory.add(1, sqlite_file(tmp_path / "a", "acme"))
    sources = open_sources()
    await sources.fetch(GROUP, "main", OWNERS, {})
    pool = next(iter(sources._open_sources._open.values())).pool
    connection = pool._idle[0][1]
    ends, may_end = threading.Event(), threading.Event()

    def now() -> float:
        ends.set()
        may_end.wait(SOON)
        return 0.0

    monkeypatch.setattr("tenantry.datasources.pool.pooled_query.monotonic", now)
    asked = asyncio.create_task(sources.fetch(GROUP, "main", "select 1 as n", {}))
    await asyncio.to_thread(ends.wait, SOON)
    threading.Timer(0.2, may_end.set).start()
    pool.abandon()  # waits for the query's thread, which keeps the connection first
    may_end.set()
    await asyncio.gather(asked, return_exceptions=True)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("select 1")


class UnstoppableDriver(SQLiteDriver):
    """Nothing interrupts it until it is released."""

    released = threading.Event()

    def fetch(self, connection: sqlite3.Connection, bound: Any) -> Any:
        self.released.wait(600)
        return super().fetch(connection, bound)

    def interrupt(self, connection: sqlite3.Connection) -> None:
        pass


def unstoppable(source: RegisteredSource, limits: Limits) -> UnstoppableDriver:
    return UnstoppableDriver(replace(source, url=source.url.replace("slow://", "sqlite://")), limits)


async def test_nobody_waits_for_an_engine_that_does_not_stop(
    directory: Directory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The viewers have their answer while the query goes on. Red when their answer is that of the thread."""
    monkeypatch.setattr("tenantry.datasources.sources._STOP_SECONDS", 0.05)
    directory.add(1, sqlite_file(tmp_path / "a", "acme").replace("sqlite://", "slow://"))
    sources = data_sources(directory, engines={"slow": unstoppable}, pool_size=1, timeout=600, connect_timeout=600)
    asked = [asyncio.create_task(sources.fetch(GROUP, "main", f"select {each} as n", {})) for each in range(3)]
    await until(lambda: sources.activity.sources["ds_1"].running == 1)
    try:
        await asyncio.wait_for(sources.stop(), SOON)
        outcomes = await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), SOON)
        assert [type(each) for each in outcomes] == [SourceUnavailable] * 3
        assert not UnstoppableDriver.released.is_set()
    finally:
        UnstoppableDriver.released.set()
        await sources.aclose()


# --- signals ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def handled() -> Iterator[list[int]]:
    """The signals that a server's own handler got."""
    numbers: list[int] = []

    def handler(number: int, _: FrameType | None) -> None:
        numbers.append(number)

    before = {number: signal.signal(number, handler) for number in (signal.SIGTERM, signal.SIGINT)}
    yield numbers
    for number, former in before.items():
        signal.signal(number, former)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_the_former_handler_acts_and_is_restored(
    number: signal.Signals, handled: list[int], directory: Directory, open_sources, tmp_path: Path
) -> None:
    """Each time the signal comes. Red when it is not called, and when it is not put back."""
    directory.add(1, sqlite_file(tmp_path / "a", "acme"))
    former, sources = signal.getsignal(number), open_sources(timeout=600)
    async with stop_on_signals(sources):
        (asked,) = ask(sources, 1)
        await until(lambda: sources.activity.sources["ds_1"].running == 1)
        signal.raise_signal(number)
        signal.raise_signal(number)
        assert handled == [number, number]
        with pytest.raises(SourceUnavailable):
            await asyncio.wait_for(asked, SOON)
    assert signal.getsignal(number) is former


async def test_a_handler_that_came_later_stays(handled: list[int], open_sources) -> None:
    """One of somebody who calls ours; which still calls the server's. Red when the former one replaces it."""
    async with stop_on_signals(open_sources()):
        ours = signal.getsignal(signal.SIGTERM)

        def later(number: int, frame: FrameType | None) -> None:
            assert callable(ours)
            ours(number, frame)

        signal.signal(signal.SIGTERM, later)
    assert signal.getsignal(signal.SIGTERM) is later
    signal.raise_signal(signal.SIGTERM)
    assert handled == [signal.SIGTERM]


async def test_an_ignored_signal_stays_ignored(handled: list[int], open_sources) -> None:
    """As SIGINT of a process in the background. Red without the question."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    async with stop_on_signals(open_sources()):
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_it_does_nothing_outside_of_the_main_thread(caplog: pytest.LogCaptureFixture) -> None:
    """So Starlette's TestClient runs an app that has it, in a thread. Red without the check: Python's ValueError."""
    caplog.set_level("INFO", "tenantry")
    before = signal.getsignal(signal.SIGTERM)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with DataSources(Directory()) as sources, stop_on_signals(sources):
            yield

    with TestClient(Starlette(lifespan=lifespan)):
        assert signal.getsignal(signal.SIGTERM) is before
    assert "only the main thread receives signals" in caplog.text


ALONE = """
import asyncio, signal, sys
from tenantry.datasources import stop_on_signals

class Sources:
    async def stop(self):
        await asyncio.sleep(0.05)
        print("stopped", flush=True)

async def main():
    async with stop_on_signals(Sources()):
        signal.raise_signal(signal.SIGTERM)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def test_a_process_without_a_handler_ends_after_its_queries() -> None:
    """By the signal, as it would have without. Red when the default acts at once, and when it does not at all."""
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (-signal.SIGTERM, "stopped\n"), done.stderr
