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

MAX_BYTES: Final = 256 * 1024 * 1024
"""Memory that the values may take: a million rows of a few numbers."""
_VALUE_BYTES: Final = 32
_IN_TURNS: Final = frozenset({"sqlite"})
"""Dialects whose rows are read one after the other: their drivers give the interpreter's lock up and take it again for
each row, so threads that read at once wake each other a million times. Twelve charts of 100,000 rows took 1.9 s."""
_TURN_SECONDS: Final = 0.25
"""Whoever reads for longer holds up the next one no more: it may be the query itself that takes its time."""
_turns: WeakKeyDictionary[DataSource, asyncio.Lock] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Reduction:
    """``make`` makes few rows of many, in a thread. ``key`` says how: of the same query and with equal keys it makes
    the same rows."""

    key: str
    make: Callable[[Result], Result]


async def fetch_many(
    source: DataSource,
    make: Callable[[Result], Result],
    shape: Callable[[Answer], Found],
    bound: BoundSQL,
    session: BoundSQL | None,
) -> Found:
    """As ``DataSource.fetch``, of what is made of the rows. They are within the limits of streams (``StreamLimits``).
    Raises as ``DataSource.stream`` does, and TooManyBytes."""
    collected = _Collected()
    async with _turn(source):
        pieces = await source.stream(collected.begin, bound, session, _ignore)
        try:
            while await pieces.next() is not None:
                pass
        finally:
            pieces.close()
    return await asyncio.to_thread(lambda: shape(make(Result(collected.names, collected.rows, collected.types))))


@asynccontextmanager
async def _turn(source: DataSource) -> AsyncIterator[None]:
    """Begins when no other read of the source has a turn. A turn ends with the read, or after ``_TURN_SECONDS``."""
    if source.dialect not in _IN_TURNS:
        yield
        return
    lock = _turns.setdefault(source, asyncio.Lock())
    await lock.acquire()
    with ExitStack() as turn:
        turn.callback(lock.release)
        turn.callback(asyncio.get_running_loop().call_later(_TURN_SECONDS, turn.close).cancel)
        yield


def _ignore(outcome: str, rows: int, size: int) -> None:
    """Whoever waits for the answer hears of the end by it."""


class _Collected:
    """A PieceWriter that keeps the rows and writes nothing."""

    def __init__(self) -> None:
        self.names: Sequence[str] = ()
        self.types: Sequence[str | None] | None = None
        self.rows: list[tuple[Any, ...]] = []
        self._left = MAX_BYTES

    def begin(self, names: Sequence[str], types: Sequence[str | None] | None) -> _Collected:
        """Once, or again where a connection was lost before its first rows."""
        self.names, self.types, self._left = names, types, MAX_BYTES
        self.rows.clear()
        return self

    def write(self, rows: Sequence[tuple[Any, ...]]) -> bytes:
        self._left -= count_bytes(rows) + _VALUE_BYTES * len(rows) * len(self.names)
        if self._left < 0:
            raise TooManyBytes(f"the rows of this query take more than {MAX_BYTES} bytes: aggregate, or select less")
        self.rows += rows
        return b""

    def end(self) -> bytes:
        return b""
