"""Charts of many rows: those of SQLite are read one after the other, and all of a process hold so much memory."""

from __future__ import annotations

import asyncio
import threading
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tenantry.datasources import DataSources, Limits, StreamLimits
from tenantry.datasources.driver import as_result
from tenantry.datasources.pool import many_rows
from tenantry.datasources.pool.connection_pool import ConnectionPool
from tenantry.datasources.pool.fair_queue import Turn
from tenantry.datasources.pool.many_rows import ANSWERS, ManyRows, Reduction
from tenantry.datasources.results import Result
from tenantry.errors import QueryFailed, SourceUnavailable, TooManyBytes
from tenantry.sql import BoundSQL
from tests.datasources.conftest import Directory, group, sqlite_file

MIB = 1024 * 1024
TEXT = (
    "with recursive n(i) as (select 1 union all select i + 1 from n where i < 12000) "
    "select i, hex(zeroblob(512)) as text from n"
)
"""13 MB."""


class Reads:
    """A source whose reads end when the test says so."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.many_rows = ManyRows(Limits())
        self.ends: list[asyncio.Future[Any]] = []
        self.make: Callable[[Result], Result] = lambda result: result

    async def stream(self, make_writer: Any, *_: object) -> SimpleNamespace:
        writer = make_writer(("n",), None)
        end = asyncio.get_running_loop().create_future()
        self.ends.append(end)

        async def following() -> None:
            await end
            writer.write([(1,)])

        return SimpleNamespace(next=following, close=lambda: None)

    def read(self) -> asyncio.Task[Result]:
        return asyncio.create_task(
            self.many_rows.fetch(
                cast("ConnectionPool[Any]", self),
                self.make,
                as_result,
                cast("BoundSQL", None),
                cast("Turn", None),
                None,
            )
        )

    async def begun(self, count: int) -> None:
        """Waits until so many have begun, and looks that no other one does."""
        async with asyncio.timeout(60):
            while len(self.ends) < count:
                await asyncio.sleep(0)
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(self.ends) == count


async def test_one_read_of_sqlite_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also after one that failed, and one whose viewer has left. Red when they begin at once."""
    monkeypatch.setattr(many_rows, "_TURN_SECONDS", 600)
    source = Reads("sqlite")
    first, second, third, fourth = (source.read() for _ in range(4))
    await source.begun(1)
    source.ends[0].set_result(None)
    assert (await first).rows == [(1,)]
    await source.begun(2)
    source.ends[1].set_exception(QueryFailed("no"))
    with pytest.raises(QueryFailed):
        await second
    await source.begun(3)
    third.cancel()
    await source.begun(4)
    source.ends[3].set_result(None)
    assert (await fourth).rows == [(1,)]


async def test_a_viewer_who_leaves_while_waiting_has_no_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when the wait for a turn goes on without its viewer."""
    monkeypatch.setattr(many_rows, "_TURN_SECONDS", 600)
    source = Reads("sqlite")
    first, second, third = (source.read() for _ in range(3))
    await source.begun(1)
    second.cancel()
    source.ends[0].set_result(None)
    await source.begun(2)
    source.ends[1].set_result(None)
    assert [(await each).rows for each in (first, third)] == [[(1,)], [(1,)]]
    assert second.cancelled()


async def test_a_slow_read_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when a turn lasts until its read has ended, and when the end of a turn that was over ends another one's."""
    monkeypatch.setattr(many_rows, "_TURN_SECONDS", 0.01)
    source = Reads("sqlite")
    slow, quick = source.read(), source.read()
    async with asyncio.timeout(60):
        while len(source.ends) < 2:
            await asyncio.sleep(0.01)
    source.ends[1].set_result(None)
    assert (await quick).rows == [(1,)]
    monkeypatch.setattr(many_rows, "_TURN_SECONDS", 600)
    held, waiting = source.read(), source.read()
    await source.begun(3)
    source.ends[0].set_result(None)
    assert (await slow).rows == [(1,)]
    await source.begun(3)
    source.ends[2].set_result(None)
    await source.begun(4)
    source.ends[3].set_result(None)
    assert [(await each).rows for each in (held, waiting)] == [[(1,)], [(1,)]]


async def test_other_engines_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when every source has turns."""
    monkeypatch.setattr(many_rows, "_TURN_SECONDS", 600)
    source = Reads("postgresql")
    reads = [source.read() for _ in range(3)]
    await source.begun(3)
    for end in source.ends:
        end.set_result(None)
    assert [(await each).rows for each in reads] == [[(1,)]] * 3


# --- memory -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def sources(
    tmp_path: Path, directory: Directory, open_sources: Callable[..., DataSources], monkeypatch: pytest.MonkeyPatch
) -> DataSources:
    """Many rows may take 16 MiB. Without turns, so that reads of SQLite meet as those of other engines do."""
    monkeypatch.setattr(many_rows, "_IN_TURNS", frozenset())
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    return open_sources(max_bytes=16 * MIB // ANSWERS, pool_size=6, stream=StreamLimits(reader_timeout=600))


async def test_charts_together_hold_so_much_memory(sources: DataSources) -> None:
    """Six of 13 MB at once, whose plots take their time: never more than twice 16 MiB, and each gets its rows. Red when
    no step ends because of it."""

    def make(result: Result) -> Result:
        time.sleep(0.2)
        return Result(("rows",), [(len(result),)])

    tracemalloc.start()
    try:
        found = await asyncio.gather(*(
            sources.query(group(main="ds_1"), "main", f"{TEXT} where i > -{number}", reduction=Reduction("count", make))
            for number in range(6)
        ))  # fmt: skip
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [[*each.rows] for each in found] == [[(12000,)]] * 6
    assert peak < 45 * MIB


async def test_one_chart_may_hold_so_much(sources: DataSources) -> None:
    """Red without the limit; and who comes after the refused ones has all the memory."""
    every = Reduction("every row", lambda result: result)
    for _ in range(3):
        with pytest.raises(TooManyBytes, match=f"take more than {16 * MIB} bytes"):
            await sources.query(group(main="ds_1"), "main", TEXT.replace("12000", "24000"), reduction=every)
    assert len(await sources.query(group(main="ds_1"), "main", TEXT, reduction=every)) == 12000


class Steps(Reads):
    """Of which many rows may take the memory of two. Each step gives as many as the test says, and whether they are the
    last ones."""

    def __init__(self, wait_seconds: float = 600) -> None:
        super().__init__("postgresql")
        self.many_rows = ManyRows(Limits(max_bytes=8, stream=StreamLimits(reader_timeout=2 * wait_seconds)))
        self.begin_again: list[Callable[[], object]] = []
        self.writers: list[Any] = []

    async def stream(self, make_writer: Any, *_: object) -> SimpleNamespace:
        writer = make_writer(("n",), None)
        self.begin_again.append(lambda: make_writer(("n",), None))
        self.writers.append(writer)
        ended: list[bytes] = []

        async def following() -> bytes | None:
            if ended:
                return None
            end = asyncio.get_running_loop().create_future()
            self.ends.append(end)
            rows, is_last = await end
            content: bytes = writer.write([(1,)] * rows)
            if is_last:
                ended.append(writer.end())
            return content

        return SimpleNamespace(next=following, close=lambda: None)


@pytest.fixture
def looks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits for memory looks in each round of the loop: only where no thread reads, for it would get no time."""
    monkeypatch.setattr(many_rows, "_LOOK_SECONDS", 0)


async def _largest_of_three(source: Steps) -> list[asyncio.Task[Result]]:
    """Three reads, of which the first holds two rows and goes on, and the others wait with one."""
    reads = [source.read() for _ in range(3)]
    await source.begun(3)
    for read, rows in enumerate((2, 1, 1)):
        source.ends[read].set_result((rows, False))
    await source.begun(4)
    return reads


@pytest.mark.usefixtures("looks_at_once")
@pytest.mark.parametrize("end", ["ends", "fails", "leaves", "begins again"])
async def test_who_waits_for_memory_goes_on_when_another_one_lets_go(end: str) -> None:
    """Red when nobody waits, and when a failure, a viewer who leaves or a lost connection keeps what was held."""
    source = Steps()
    largest, *others = await _largest_of_three(source)
    if end == "ends":
        source.ends[3].set_result((0, True))
    elif end == "fails":
        source.ends[3].set_exception(QueryFailed("no"))
    elif end == "leaves":
        largest.cancel()
    else:
        source.begin_again[0]()
    await source.begun(6)
    for waited in source.ends[4:]:
        waited.set_result((0, True))
    assert [(await each).rows for each in others] == [[(1,)]] * 2
    if end == "begins again":
        source.ends[3].set_result((0, True))
        assert (await largest).rows == []
    elif end == "ends":
        assert (await largest).rows == [(1,), (1,)]
    else:
        with pytest.raises(QueryFailed if end == "fails" else asyncio.CancelledError):
            await largest


@pytest.mark.usefixtures("looks_at_once")
@pytest.mark.parametrize("leaves", [False, True])
async def test_rows_count_until_the_plot_is_made(leaves: bool) -> None:
    """Also when its viewer has left, for the thread goes on. Red when they count no more once all of them are there
    or once nobody waits for the plot."""
    source, begun, made = Steps(), threading.Event(), threading.Event()

    def make(result: Result) -> Result:
        if len(result) == 2:
            begun.set()
            made.wait(60)
        return result

    source.make = make
    largest, *others = await _largest_of_three(source)
    source.ends[3].set_result((0, True))
    await asyncio.to_thread(begun.wait, 60)
    if leaves:
        largest.cancel()
    await source.begun(4)
    made.set()
    await source.begun(6)
    for waited in source.ends[4:]:
        waited.set_result((0, True))
    assert [(await each).rows for each in others] == [[(1,)]] * 2
    if leaves:
        assert largest.cancelled()
    else:
        assert (await largest).rows == [(1,), (1,)]


async def test_nobody_waits_for_memory_without_end() -> None:
    """The others are told to try again, and hold their connections no longer. Red when they wait without a limit."""
    source = Steps(wait_seconds=0.01)
    largest, *others = await _largest_of_three(source)
    for each in others:
        with pytest.raises(SourceUnavailable, match="take 64 bytes already"):
            async with asyncio.timeout(60):
                await each
    source.ends[3].set_result((0, True))
    assert (await largest).rows == [(1,), (1,)]


@pytest.mark.usefixtures("looks_at_once")
async def test_who_has_all_rows_waits_for_nobody() -> None:
    """It will hold no more, and lets go what it has once it is made. Red when it waits for the largest as others do."""
    source = Steps()
    largest, small = source.read(), source.read()
    await source.begun(2)
    source.ends[0].set_result((2, False))
    await source.begun(3)
    source.ends[1].set_result((1, True))
    async with asyncio.timeout(60):
        assert (await small).rows == [(1,)]
    source.ends[2].set_result((0, True))
    assert (await largest).rows == [(1,), (1,)]


async def test_a_step_that_goes_on_when_its_viewer_has_left_keeps_no_rows() -> None:
    """Nobody counts them. Red when they are kept."""
    source = Steps()
    read = source.read()
    await source.begun(1)
    read.cancel()
    with pytest.raises(asyncio.CancelledError):
        await read
    (writer,) = source.writers
    assert writer.write([(1,)] * 5)  # and the step ends
    assert (writer.held, list(writer.result().rows)) == (0, [])
