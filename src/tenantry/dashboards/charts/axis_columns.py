"""Where values lie on the axis of a plot, and in which of its columns.

The steps and their order are those of ``datasources/wrapped/reduced_rows.py``: an engine finds the same columns.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from math import isfinite
from typing import Any, Final

_NUMBERS: Final = (int, float, Decimal)


def column_finder(first: Any, last: Any, count: int) -> Callable[[Any], int] | None:
    """In which of ``count`` columns between two values one lies; None for values that have no position on an axis.
    Raises TypeError, ValueError and ArithmeticError, as does what it gives, for values of several types, a text that is
    no time, and a number that is too large."""
    position_of = position_finder(first)
    if position_of is None:
        return None
    low, span = position_of(first), position_of(last) - position_of(first)
    if not isfinite(span * count):
        return None
    if not span:
        return lambda _: 0
    return lambda value: min(int((position_of(value) - low) * count / span), count - 1)


def position_finder(value: Any) -> Callable[[Any], float] | None:
    """What says where values like this one lie on an axis: numbers as they are, times in seconds, dates in days. None
    for others. Raises ValueError for a text that is no time."""
    if isinstance(value, str):
        zone = datetime.fromisoformat(value).tzinfo
        start = datetime(1970, 1, 1, tzinfo=None if zone is None else UTC)
        return lambda text: (datetime.fromisoformat(text) - start).total_seconds()
    if isinstance(value, datetime):
        begin = datetime(1970, 1, 1, tzinfo=None if value.tzinfo is None else UTC)
        return lambda time: (time - begin).total_seconds()
    if isinstance(value, date):
        return lambda day: float(day.toordinal())
    return float if isinstance(value, _NUMBERS) and not isinstance(value, bool) else None


def column_parts(axis: Sequence[Any], column_of: Callable[[Any], int]) -> Iterator[tuple[int, int]]:
    """Where each column's rows begin and end, of values in order. Columns without a row are none."""
    start, count = 0, len(axis)
    while start < count:
        column, step = column_of(axis[start]), 1
        while start + step < count and column_of(axis[start + step]) == column:
            step *= 2
        end = bisect_right(axis, column, start + step // 2, min(start + step, count), key=column_of)
        yield start, end
        start = end
