from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime
from itertools import chain
from typing import Any, Final, Generic

from tenantry.datasources.driver import Answer, Found
from tenantry.datasources.pool.connection_pool import ConnectionPool
from tenantry.datasources.pool.fair_queue import Turn
from tenantry.datasources.pool.query_limits import Limits, count_bytes
from tenantry.datasources.results import Result
from tenantry.errors import TooManyBytes
from tenantry.sql import BoundSQL

_VALUE_BYTES: Final = 32
_FIXED_SIZE: Final = frozenset({int, float, bool, type(None), datetime, date})
_STEP_ENDS: Final = b"."
"""``_RowCollector.write`` returns this output to end the current call in the thread, which otherwise continues to read
rows."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """Reduces rows while they are read, so that the source may return more than ``row_limit`` rows. The functions run
    in a thread."""

    key: str
    """Part of the cache key: reductions with equal keys must give equal results."""
    thin: Callable[[Result], Result]
    """Drops rows that ``make`` does not need. Called whenever the collected rows exceed ``max_bytes``."""
    make: Callable[[Result], Result]
    """Makes the result from the rows that ``thin`` kept, after all rows were read."""


async def fetch_reduced(
    pool: ConnectionPool[Any],
    reduction: Reduction,
    limits: Limits,
    shape: Callable[[Answer], Found],
    bound: BoundSQL,
    turn: Turn,
    session: BoundSQL | None,
) -> Found:
    """Like ``ConnectionPool.fetch``, but reduce the rows as they arrive, within the limits of streams. Raises the
    errors of ``ConnectionPool.stream`` and of the reduction. Raises TooManyBytes if the rows left by ``Reduction.thin``
    take more than three quarters of ``max_bytes``."""
    collector = _RowCollector(reduction, shape, limits.max_bytes)
    try:
        with closing(await pool.stream(collector.begin, bound, turn, session, _ignore)) as stream:
            while await stream.next() is not None:
                pass
        return collector.found[0]
    finally:
        collector.drop()


def _ignore(outcome: str, rows: int, size: int) -> None:
    pass


class _RowCollector(Generic[Found]):
    def __init__(self, reduction: Reduction, shape: Callable[[Answer], Found], max_bytes: int) -> None:
        self.found: list[Found] = []
        self._reduction = reduction
        self._shape = shape
        self._max_bytes = max_bytes
        self._held = 0
        self._names: Sequence[str] = ()
        self._types: Sequence[str | None] | None = None
        self._rows: list[tuple[Any, ...]] = []
        self._is_dropped = False

    def begin(
        self, names: Sequence[str], types: Sequence[str | None] | None, _: Sequence[str | None] | None = None
    ) -> _RowCollector[Found]:
        self._names, self._types = names, types
        self._rows, self._held = [], 0
        return self

    def write(self, rows: Sequence[tuple[Any, ...]]) -> bytes:
        if self._is_dropped:  # the viewer has left, so this step should end
            return _STEP_ENDS
        self._rows += rows
        self._held += _count(rows)
        if self._held > self._max_bytes:
            self._rows = [*self._reduction.thin(self._result()).rows]
            self._held = _count(self._rows)
            if self._held > self._max_bytes * 3 // 4:  # otherwise the next few rows would cause another thinning
                raise TooManyBytes(
                    f"the rows of this query take more than {self._max_bytes * 3 // 4} bytes, even after all rows that "
                    "the result does not need were dropped: aggregate in the query, or select fewer rows"
                )
        return b""

    def end(self) -> bytes:
        if not self._is_dropped:
            self.found = [self._shape(self._reduction.make(self._result()))]
        return b""

    def _result(self) -> Result:
        return Result(self._names, self._rows, self._types)

    def drop(self) -> None:
        self._is_dropped, self._rows, self.found = True, [], []


def _count(rows: Sequence[tuple[Any, ...]]) -> int:
    if not rows:
        return 0
    fixed = _VALUE_BYTES * len(rows) * len(rows[0])
    return fixed if _FIXED_SIZE.issuperset(map(type, chain.from_iterable(rows))) else fixed + count_bytes(rows)
