"""More rows than one query may give, for a program that makes few of them at once.

They come as a stream does, piece by piece and within its limits, so a source is held no longer than its reader takes.
What was made of them is an answer like any other: it is shared and kept by its key.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

from tenantry.datasources.driver import Answer, DataSource, Found
from tenantry.datasources.limits import count_bytes
from tenantry.errors import TooManyBytes
from tenantry.results import Result
from tenantry.sql import BoundSQL

ANSWERS: Final = 8
"""Many rows may take the memory of so many answers: 256 MiB by default, a million rows of a few numbers."""
_VALUE_BYTES: Final = 32
_IN_TURNS: Final = frozenset({"sqlite"})
"""Dialects whose rows are read one after the other: their drivers give the interpreter's lock up and take it again for
each row, so threads that read at once wake each other a million times. Twelve charts of 100,000 rows took 1.9 s."""
_TURN_SECONDS: Final = 0.25
"""Whoever reads for longer holds up the next one no more: it may be the query itself that takes its time."""
_STEP_ENDS: Final = b"."
"""What is written so that a step of reading ends."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """``make`` makes few rows of many, in a thread. ``key`` says how: of the same query and with equal keys it makes
    the same rows."""

    key: str
    make: Callable[[Result], Result]


class ManyRows:
    """The reads of many rows that are under way in one event loop. ``max_bytes``: the memory of a query's answer.

    Each may hold ``ANSWERS`` times as much. When all together hold that, only the one that holds the most reads on: it
    ends first, and no other one waits for it with more than it has. So never more than twice as much is held, until
    what is made of the rows is there.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = ANSWERS * max_bytes
        self._reads: dict[_Collected, None] = {}
        self._waiting: list[asyncio.Future[None]] = []
        self._turns: WeakKeyDictionary[DataSource, asyncio.Lock] = WeakKeyDictionary()

    async def fetch(
        self,
        source: DataSource,
        make: Callable[[Result], Result],
        shape: Callable[[Answer], Found],
        bound: BoundSQL,
        session: BoundSQL | None,
    ) -> Found:
        """As ``DataSource.fetch``, of what is made of the rows. They are within the limits of streams
        (``StreamLimits``). Raises as ``DataSource.stream`` does, and TooManyBytes."""
        collected = _Collected(self._max_bytes, self._must_wait)
        self._reads[collected] = None
        try:
            async with self._turn(source):
                pieces = await source.stream(collected.begin, bound, session, _ignore)
                try:
                    await self._memory(collected)
                    while await pieces.next() is not None:
                        await self._memory(collected)
                finally:
                    pieces.close()
            return await asyncio.to_thread(collected.shaped, make, shape)
        finally:
            del self._reads[collected]
            collected.drop()
            self._wake()

    def _must_wait(self, collected: _Collected) -> bool:
        """Asked from the threads of the reads, too."""
        reads = tuple(self._reads)
        held = sum(each.held for each in reads)
        return held > self._max_bytes and max(reads, key=lambda each: each.held) is not collected

    async def _memory(self, collected: _Collected) -> None:
        """Waits until this read may hold more."""
        while self._must_wait(collected):
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            await waiter

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():  # else its viewer has left
                waiter.set_result(None)

    @asynccontextmanager
    async def _turn(self, source: DataSource) -> AsyncIterator[None]:
        """Begins when no other read of the source has a turn. A turn ends with the read, or after ``_TURN_SECONDS``."""
        if source.dialect not in _IN_TURNS:
            yield
            return
        lock = self._turns.setdefault(source, asyncio.Lock())
        await lock.acquire()
        with ExitStack() as turn:
            turn.callback(lock.release)
            turn.callback(asyncio.get_running_loop().call_later(_TURN_SECONDS, turn.close).cancel)
            yield


def _ignore(outcome: str, rows: int, size: int) -> None:
    """Whoever waits for the answer hears of the end by it."""


class _Collected:
    """A PieceWriter that keeps the rows and writes nothing. ``held``: the bytes that they take. ``must_wait`` says
    whether others are to end first."""

    def __init__(self, max_bytes: int, must_wait: Callable[[_Collected], bool]) -> None:
        self.held: int = 0
        self._names: Sequence[str] = ()
        self._types: Sequence[str | None] | None = None
        self._rows: list[tuple[Any, ...]] = []
        self._max_bytes = max_bytes
        self._must_wait = must_wait

    def begin(self, names: Sequence[str], types: Sequence[str | None] | None) -> _Collected:
        """Once, or again where a connection was lost before its first rows."""
        self._names, self._types, self.held = names, types, 0
        self._rows.clear()
        return self

    def write(self, rows: Sequence[tuple[Any, ...]]) -> bytes:
        self.held += count_bytes(rows) + _VALUE_BYTES * len(rows) * len(self._names)
        if self.held > self._max_bytes:
            raise TooManyBytes(
                f"the rows of this query take more than {self._max_bytes} bytes: aggregate, or select less"
            )
        self._rows += rows
        return _STEP_ENDS if self._must_wait(self) else b""

    def end(self) -> bytes:
        return b""

    def shaped(self, make: Callable[[Result], Result], shape: Callable[[Answer], Found]) -> Found:
        """What is made of the rows."""
        return shape(make(Result(self._names, self._rows, self._types)))

    def drop(self) -> None:
        """Lets the rows go now: the stream that they came in may be in memory for longer."""
        self._rows = []
