"""Charts of many rows of SQLite are read one after the other, and a slow one holds up nobody."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tenantry.datasources import many_rows
from tenantry.datasources.driver import DataSource, as_result
from tenantry.errors import QueryFailed
from tenantry.results import Result
from tenantry.sql import BoundSQL


class Reads:
    """A source whose reads end when the test says so."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.ends: list[asyncio.Future[None]] = []

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
            many_rows.fetch_many(
                cast("DataSource", self), lambda result: result, as_result, cast("BoundSQL", None), None
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
