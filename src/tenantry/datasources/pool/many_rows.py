"""More rows than one query may give, for a program that makes few of them at once.

They come as a stream does, piece by piece and within its limits, so a source is held no longer than its reader takes.
What was made of them is an answer like any other: it is shared and kept by its key.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final
from weakref import WeakKeyDictionary

from tenantry.datasources.driver import Answer, Found
from tenantry.datasources.pool.connection_pool import ConnectionPool
from tenantry.datasources.pool.fair_queue import Turn
from tenantry.datasources.pool.limits import Limits, count_bytes
from tenantry.datasources.results import Result
from tenantry.errors import SourceUnavailable, TooManyBytes
from tenantry.sql import BoundSQL

ANSWERS: Final = 8
"""Many rows may take the memory of so many answers: 256 MiB by default, a million rows of a few numbers."""
_VALUE_BYTES: Final = 32
_IN_TURNS: Final = frozenset({"sqlite"})
"""Dialects whose rows are read one after the other: their drivers give the interpreter's lock up and take it again for
each row, so threads that read at once wake each other a million times. Twelve charts of 100,000 rows took 1.9 s."""
_TURN_SECONDS: Final = 0.25
"""Whoever reads for longer holds up the next one no more: it may be the query itself that takes its time."""
_LOOK_SECONDS: Final = 0.02
_STEP_ENDS: Final = b"."
"""What is written so that a step of reading ends."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """``make`` makes few rows of many, in a thread. ``key`` says how: of the same query and with equal keys it makes
    the same rows."""

    key: str
    make: Callable[[Result], Result]


class _State(Enum):
    """Of one read."""

    READING = auto()
    WHOLE = auto()
    """It has all its rows, and will hold no more."""
    TAKEN = auto()
    """A thread makes something of the rows."""
    FORGOTTEN = auto()


class ManyRows:
    """The reads of many rows that are under way in one event loop.

    Each may hold ``ANSWERS`` times the memory of a query's answer. When all together hold that, only the one that holds
    the most reads on: it ends first, and no other one waits for it with more than it has. So never more than twice as
    much is held, until what is made of the rows is there.
    """

    def __init__(self, limits: Limits) -> None:
        self._max_bytes = ANSWERS * limits.max_bytes
        self._wait_seconds = limits.stream.reader_timeout / 2  # a stream that nobody reads for longer has ended
        self._reads: dict[_Collected, None] = {}
        self._turns: WeakKeyDictionary[ConnectionPool[Any], asyncio.Lock] = WeakKeyDictionary()

    async def fetch(
        self,
        source: ConnectionPool[Any],
        make: Callable[[Result], Result],
        shape: Callable[[Answer], Found],
        bound: BoundSQL,
        turn: Turn,
        session: BoundSQL | None,
    ) -> Found:
        """As ``ConnectionPool.fetch``, of what is made of the rows. They are within the limits of streams
        (``StreamLimits``). Raises as ``ConnectionPool.stream`` does, TooManyBytes, and SourceUnavailable where the
        memory does not come free in time."""
        collected = _Collected(self._max_bytes, self._must_wait)
        self._reads[collected] = None
        try:
            async with self._turn(source):
                pieces = await source.stream(collected.begin, bound, turn, session, _ignore)
                try:
                    await self._wait_for_memory(collected)
                    while await pieces.next() is not None:
                        await self._wait_for_memory(collected)
                finally:
                    pieces.close()
            return await asyncio.to_thread(self._make, collected, make, shape)
        finally:
            if collected.state is not _State.TAKEN:  # that thread goes on also when its viewer has left
                self._forget(collected)

    def _make(self, collected: _Collected, make: Callable[[Result], Result], shape: Callable[[Answer], Found]) -> Found:
        """In a thread."""
        collected.state = _State.TAKEN
        try:
            return shape(make(collected.result()))
        finally:
            self._forget(collected)

    def _forget(self, collected: _Collected) -> None:
        collected.state = _State.FORGOTTEN
        collected.drop()
        self._reads.pop(collected, None)

    def _must_wait(self, collected: _Collected) -> bool:
        """Asked from the threads of the reads, too."""
        if collected.state is not _State.READING:
            return False
        reads = tuple(self._reads)
        held = sum(each.held for each in reads)
        return held > self._max_bytes and max(reads, key=lambda each: each.held) is not collected

    async def _wait_for_memory(self, collected: _Collected) -> None:
        """Until this read may hold more. It looks again and again: what the others hold changes in their threads."""
        clock = asyncio.get_running_loop().time
        late = clock() + self._wait_seconds
        while self._must_wait(collected):
            if clock() > late:
                raise SourceUnavailable(
                    f"charts of many rows take {self._max_bytes} bytes already, and no more may; try again",
                    retry_after=1,
                )
            await asyncio.sleep(_LOOK_SECONDS)

    @asynccontextmanager
    async def _turn(self, source: ConnectionPool[Any]) -> AsyncIterator[None]:
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
    """A ChunkWriter that keeps the rows and writes nothing. ``held``: the bytes that they take. ``must_wait`` says
    whether others are to end first."""

    def __init__(self, max_bytes: int, must_wait: Callable[[_Collected], bool]) -> None:
        self.held: int = 0
        self.state: _State = _State.READING
        self._names: Sequence[str] = ()
        self._types: Sequence[str | None] | None = None
        self._rows: list[tuple[Any, ...]] = []
        self._max_bytes = max_bytes
        self._must_wait = must_wait

    def begin(self, names: Sequence[str], types: Sequence[str | None] | None) -> _Collected:
        """Once, or again where a connection was lost before the first piece."""
        self._names, self._types = names, types
        self.drop()
        return self

    def write(self, rows: Sequence[tuple[Any, ...]]) -> bytes:
        if self.state is _State.FORGOTTEN:  # a step goes on for a while when its viewer has left
            return _STEP_ENDS
        self.held += count_bytes(rows) + _VALUE_BYTES * len(rows) * len(self._names)
        if self.held > self._max_bytes:
            raise TooManyBytes(
                f"the rows of this query take more than {self._max_bytes} bytes: aggregate, or select less"
            )
        self._rows += rows
        return _STEP_ENDS if self._must_wait(self) else b""

    def end(self) -> bytes:
        if self.state is _State.READING:
            self.state = _State.WHOLE
        return b""

    def result(self) -> Result:
        """All rows."""
        return Result(self._names, self._rows, self._types)

    def drop(self) -> None:
        """Lets the rows go now: the stream that they came in may be in memory for longer."""
        self._rows, self.held = [], 0
