"""Reduction of the rows of a chart to what its pixels can show (M4: Jugel et al., VLDB 2014).

Of each column of pixels the first row, the last, and those with the least and the greatest value are kept: a line
through them covers the same pixels. There are two columns for each device pixel, since a line is drawn with soft edges.
Nothing is averaged: each row that is kept is one of the query's.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from math import isfinite
from operator import itemgetter, le
from typing import Any, Final
from weakref import WeakKeyDictionary

from tenantry.results import Result

COLUMNS_PER_PIXEL: Final = 2
_NUMBERS: Final = (int, float, Decimal)


@dataclass(frozen=True, slots=True)
class Plot:
    """What is drawn of some rows: the columns ``measures`` over ``by``, with a series for each value of ``color``, in
    ``width`` device pixels."""

    by: str
    measures: tuple[str, ...]
    color: str | None
    width: int

    @property
    def columns(self) -> int:
        """So many parts of its width are looked at."""
        return COLUMNS_PER_PIXEL * self.width


_KEPT: Final = 16
"""Plots of one result: viewers have windows of many widths, and a width is what a request says."""
_reductions: WeakKeyDictionary[Result, dict[Plot, Result | None]] = WeakKeyDictionary()
"""What was made of results that are still in a cache; of each the last ``_KEPT``."""


async def reduced_rows(result: Result, plot: Plot) -> Result | None:
    """``reduce_rows``, which is made once for each plot while somebody keeps the result; in a thread."""
    known = _reductions.setdefault(result, {})
    if plot not in known:
        made = await asyncio.to_thread(reduce_rows, result, plot)
        known[plot] = made
        while len(known) > _KEPT:
            del known[next(iter(known))]
        return made
    return known[plot]


def reduce_rows(result: Result, plot: Plot) -> Result | None:
    """The rows that the plot shows, in their order. ``by`` is a number, a date or a time, also as ISO 8601 text.

    None where the rows stay as they are: they are few, a column is not there, or a series is not in the order of
    ``by``, which is the query's to give.
    """
    wanted = {plot.by, *plot.measures} | ({plot.color} if plot.color is not None else set())
    if len(result) <= plot.columns or not wanted <= set(result.names):
        return None
    try:
        kept = _kept_of_all(result, plot)
    except (TypeError, ValueError, ArithmeticError):  # values of several types; a text that is no time; a huge number
        return None
    return None if kept is None else replace(result, rows=[result.rows[index] for index in sorted(kept)])


def _kept_of_all(result: Result, plot: Plot) -> set[int] | None:
    """The indexes of the rows of all series; None for rows without an order. Raises TypeError."""
    position = result.names.index
    axis = _column(result, position(plot.by))
    series = _series(result, None if plot.color is None else position(plot.color))
    ordered = [_chosen(axis, each) for each in series]
    if not all(all(map(le, each, each[1:])) for each in ordered):
        return None
    column_of = _columns(min(each[0] for each in ordered), max(each[-1] for each in ordered), plot.columns)
    if column_of is None:
        return None
    parts = [[*_parts(each, column_of)] for each in ordered]
    kept: set[int] = set()
    for name in plot.measures:
        values = _column(result, position(name))
        for indexes, own in zip(series, parts, strict=True):
            found = _kept(own, _chosen(values, indexes))
            kept.update(found if indexes is None else map(indexes.__getitem__, found))
    return kept


def _column(result: Result, position: int) -> list[Any]:
    return list(map(itemgetter(position), result.rows))


def _chosen(values: list[Any], indexes: Sequence[int] | None) -> list[Any]:
    return values if indexes is None else [values[index] for index in indexes]


def _series(result: Result, color: int | None) -> list[Sequence[int] | None]:
    """The indexes of the rows of each series; None: all rows are one."""
    if color is None:
        return [None]
    found: dict[Any, list[int]] = {}
    for index, row in enumerate(result.rows):
        found.setdefault(row[color], []).append(index)
    return [*found.values()]


def _columns(first: Any, last: Any, count: int) -> Callable[[Any], int] | None:
    """In which column of the plot a value of the axis lies; None for values that have no position on one.

    The steps and their order are those of ``datasources/reduced_rows.py``: an engine finds the same columns.
    """
    position_of = _position_finder(first)
    if position_of is None:
        return None
    low, span = position_of(first), position_of(last) - position_of(first)
    if not isfinite(span * count):
        return None
    if not span:
        return lambda _: 0
    return lambda value: min(int((position_of(value) - low) * count / span), count - 1)


def _position_finder(value: Any) -> Callable[[Any], float] | None:
    """What says where values like this one lie on an axis: numbers as they are, times in seconds, dates in days."""
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


def _parts(axis: Sequence[Any], column_of: Callable[[Any], int]) -> Iterator[tuple[int, int]]:
    """Where each column's rows begin and end, of one series. Columns without a row are none."""
    start, count = 0, len(axis)
    while start < count:
        column, step = column_of(axis[start]), 1
        while start + step < count and column_of(axis[start + step]) == column:
            step *= 2
        end = bisect_right(axis, column, start + step // 2, min(start + step, count), key=column_of)
        yield start, end
        start = end


def _kept(parts: Sequence[tuple[int, int]], values: Sequence[Any]) -> Iterator[int]:
    """The indexes of the rows that are kept of one series and measure."""
    find = _plain_extremes if _is_plain(values) else _extremes_and_gap
    for start, end in parts:
        yield start
        yield end - 1
        yield from (start + index for index in find(values[start:end]))


def _is_plain(values: Sequence[Any]) -> bool:
    """Whether all are numbers, none of them NaN."""
    try:
        total = sum(values)
    except TypeError:
        return False
    return not _is_gap(total)


def _is_gap(value: Any) -> bool:
    return value is None or value != value  # NaN is not equal to itself


def _plain_extremes(column: Sequence[Any]) -> tuple[int, int]:
    return column.index(min(column)), column.index(max(column))


def _extremes_and_gap(column: Sequence[Any]) -> Iterator[int]:
    """The least and the greatest of those that are there, and the first that is not: there the line is broken."""
    there = [index for index, value in enumerate(column) if not _is_gap(value)]
    if there:
        yield min(there, key=column.__getitem__)
        yield max(there, key=column.__getitem__)
    if len(there) < len(column):
        yield next(index for index, value in enumerate(column) if _is_gap(value))
