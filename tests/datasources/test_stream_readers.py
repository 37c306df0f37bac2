"""A stream that is read slowly ends, and so does one that keeps others from the only connection."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tenantry.datasources import DataSources, OpenRows, StreamLimits
from tenantry.datasources.pool import fair_queue, source_stream
from tenantry.datasources.pool.source_stream import SLOWEST, WINDOW, ReaderPace
from tenantry.errors import QueryTimeout
from tenantry.sql import BoundSQL
from tests.datasources.conftest import Directory, group, sqlite_file
from tests.datasources.streamed_rows import ENDLESS, ROWS
from tests.datasources.test_engines import EchoDriver

SOON = 60.0
ACME = group("acme", main="ds_1")
GLOBEX = replace(group("globex", main="ds_1"), handle=b"87654321")
UNREAD = ROWS["sqlite"].format(ENDLESS)


def read(pace: ReaderPace, seconds: float, rate: float, step: float = 1.0) -> float:
    """Reads so many bytes in each second; when it was too slow, or ``seconds``."""
    at = 0.0
    while at < seconds:
        at += step
        if pace.is_slow(step):
            return at
        pace.take(step, round(rate * step))
    return seconds


@pytest.mark.parametrize("step", [0.1, 1.0, 10.0])
def test_less_than_64_kb_a_minute_is_too_slow(step: float) -> None:
    """From the first minute on, and after hours of faster reading. Red when what was read before counts for ever."""
    per_second = SLOWEST / WINDOW
    assert read(ReaderPace(), 36_000, 0, step) == pytest.approx(WINDOW, abs=2 * step)
    assert read(ReaderPace(), 36_000, 0.8 * per_second, step) == pytest.approx(WINDOW, abs=2 * step)
    assert read(ReaderPace(), 36_000, 1.3 * per_second, step) == 36_000
    pace = ReaderPace()
    assert read(pace, 3_600, 100 * per_second, step) == 3_600
    assert read(pace, 36_000, 0.5 * per_second, step) <= WINDOW + 2 * step


def test_a_burst_is_good_for_a_minute() -> None:
    """A reader that takes 64 KB each 50 s is fast enough; one that takes a gigabyte and then nothing is not."""
    pace = ReaderPace()
    for _ in range(100):
        assert not pace.is_slow(50.0)
        pace.take(50.0, SLOWEST)
    pace.take(0.0, 1_000_000_000)
    assert not pace.is_slow(59.0)
    assert pace.is_slow(60.0)


@pytest.fixture
def make(directory: Directory, open_sources: Callable[..., DataSources], tmp_path: Path) -> Callable[..., DataSources]:
    """DataSources of one file of SQLite, whose unread streams end for no other reason."""
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    limits = StreamLimits(row_limit=ENDLESS, reader_timeout=600.0)
    return lambda **given: open_sources(**{"timeout": 600.0, "stream": limits, **given})


@pytest.mark.parametrize("read", [False, True])
async def test_a_slow_reader_loses_the_stream_and_gains_nothing_by_asking_again(
    read: bool, make: Callable[..., DataSources], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads nothing, or some. The body is not whole, and says so. Then the group has no stream, while another group
    has one. Red without ``_look``; red without ``bar``: the next stream of the group is there at once."""
    monkeypatch.setattr(source_stream, "WINDOW", 1.0)
    monkeypatch.setattr(source_stream, "SLOWEST", 1024 * 1024 * 1024)
    sources = make(pool_size=2)
    with pytest.raises(QueryTimeout, match="the stream of data source ds_1 was read too slowly: less than"):  # noqa: PT012
        stream = await sources.stream(ACME, "main", UNREAD, {})
        async with asyncio.timeout(SOON):
            if not read:
                counters = sources.activity.sources["ds_1"]
                while counters.running:
                    await asyncio.sleep(0.01)
            async for _ in stream:
                await asyncio.sleep(0.01)
    again = asyncio.create_task(sources.stream(ACME, "main", UNREAD, {}))
    async with asyncio.timeout(SOON):
        assert await sources.fetch(ACME, "main", "select 1 as one", {}) == [{"one": 1}]
        other = await sources.stream(GLOBEX, "main", ROWS["sqlite"].format(10), {})
        assert [piece async for piece in other]
    assert not again.done()
    again.cancel()
    await asyncio.gather(again, return_exceptions=True)


class SlowDriver(EchoDriver):
    """Its rows are few and come slowly."""

    def open_rows(self, connection: str, bound: BoundSQL, session: BoundSQL | None) -> OpenRows:
        return OpenRows(["n"], self._rows())

    def _rows(self) -> Iterator[tuple[int]]:
        for number in range(40):
            time.sleep(0.1)
            yield (number,)


async def test_the_time_of_the_engine_is_not_the_readers(
    directory: Directory, open_sources: Callable[..., DataSources], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four seconds for 40 rows, with a window of one second, and a reader that takes each piece at once. Red when the
    time counts in which nothing waits for the reader."""
    monkeypatch.setattr(source_stream, "WINDOW", 1.0)
    directory.add(1, "echo://host/name")
    sources = open_sources(engines={"echo": SlowDriver}, pool_size=1)
    stream = await sources.stream(ACME, "main", "select 1", {})
    lines = sum([piece.count(b"\n") async for piece in stream])
    assert lines == 40


@pytest.mark.parametrize("sql", [UNREAD, f"{UNREAD} where i < 0"], ids=["unread", "without a row"])
async def test_a_stream_gives_the_only_connection_up(
    sql: str, make: Callable[..., DataSources], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To a query of another group, after its slice; also one that has not given its first row. Its own group's queries
    wait for it. Red without ``must_yield`` in ``_look``: the other group waits for the stream's own end."""
    for module in (fair_queue, source_stream):
        monkeypatch.setattr(module, "SLICE", 0.5)
    sources = make(pool_size=1)
    opening: asyncio.Task[Any] = asyncio.create_task(sources.stream(ACME, "main", sql, {}))
    counters = sources.activity.sources["ds_1"]
    async with asyncio.timeout(SOON):
        while not counters.running:
            await asyncio.sleep(0.001)
        own = asyncio.create_task(sources.fetch(ACME, "main", "select 1 as own", {}))
        await asyncio.sleep(1.5)
        assert (counters.running, own.done()) == (1, False)
        assert await sources.fetch(GLOBEX, "main", "select 1 as one", {}) == [{"one": 1}]
        assert await own == [{"own": 1}]
        with pytest.raises(QueryTimeout, match=r"used the only connection for 0\.5 s, and another user group"):
            async for _ in await opening:
                pass
