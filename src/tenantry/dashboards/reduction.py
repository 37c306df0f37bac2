"""Reduction of the rows of a chart to what its pixels can show (M4: Jugel et al., VLDB 2014).

Of each column of pixels the first row, the last, and those with the least and the greatest value are kept: a line
through them covers the same pixels. There are two columns for each device pixel, since a line is drawn with soft edges.
Nothing is averaged: each row that is kept is one of the query's.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
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


_reductions: WeakKeyDictionary[Result, dict[Plot, Result | None]] = WeakKeyDictionary()
"""What was made of results that are still in a cache."""


async def reduced_rows(result: Result, plot: Plot) -> Result | None:
    """``reduce_rows``, which is made once for each plot while somebody keeps the result; in a thread."""
    known = _reductions.setdefault(result, {})
    if plot not in known:
        known[plot] = await asyncio.to_thread(reduce_rows, result, plot)
    return known[plot]


def reduce_rows(result: Result, plot: Plot) -> Result | None:
    """The rows that the plot shows, in their order. ``by`` is a number, a date or a time, also as ISO 8601 text.

    None where the rows stay as they are: they are few, a column is not there, or a series is not in the order of
    ``by``, which is the query's to give.
    """
    wanted = {plot.by, *plot.measures} | ({plot.color} if plot.color is not None else set())
    if len(result) <= COLUMNS_PER_PIXEL * plot.width or not wanted <= set(result.names):
        return None
    try:
        kept = _kept_of_all(result, plot)
    except TypeError:  # values of several types, which have no order
        return None
    return None if kept is None else replace(result, rows=[result.rows[index] for index in sorted(kept)])


def _kept_of_all(result: Result, plot: Plot) -> set[int] | None:
    """The indexes of the rows of all series; None for rows without an order. Raises TypeError."""
    position = result.names.index
    places = _column(result, position(plot.by))
    series = _series(result, None if plot.color is None else position(plot.color))
    ordered = [_chosen(places, each) for each in series]
    if not all(all(map(le, each, each[1:])) for each in ordered):
        return None
    edges = _edges(min(each[0] for each in ordered), max(each[-1] for each in ordered), COLUMNS_PER_PIXEL * plot.width)
    if edges is None:
        return None
    kept: set[int] = set()
    for name in plot.measures:
        values = _column(result, position(name))
        for indexes, own in zip(series, ordered, strict=True):
            found = _kept(own, _chosen(values, indexes), edges)
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


def _edges(first: Any, last: Any, columns: int) -> list[Any] | None:
    """Where each column after the first begins; None for values between which there are no others."""
    if isinstance(first, str) and isinstance(last, str):
        return _text_edges(first, last, columns)
    if isinstance(first, datetime) or (isinstance(first, _NUMBERS) and not isinstance(first, bool)):
        span = last - first
        return [first + span * number / columns for number in range(1, columns)]
    if isinstance(first, date):
        days = (last - first).days
        return [first + timedelta(days=-(-days * number // columns)) for number in range(1, columns)]
    return None


def _text_edges(first: str, last: str, columns: int) -> list[str] | None:
    """Of times in ISO 8601, whose texts are in the order of time while all of them are written in one way."""
    try:
        start, end = datetime.fromisoformat(first), datetime.fromisoformat(last)
    except ValueError:
        return None
    times = _edges(start, end, columns)
    separator = first[10] if len(first) > 10 else "T"
    return None if times is None else [each.replace(tzinfo=None).isoformat(separator) for each in times]


def _kept(places: Sequence[Any], values: Sequence[Any], edges: Sequence[Any]) -> Iterator[int]:
    """The indexes of the rows that are kept of one series and measure."""
    find = _plain_extremes if _is_plain(values) else _extremes_and_gap
    start = 0
    for edge in (*edges, None):
        end = len(places) if edge is None else bisect_left(places, edge, start)
        if end > start:
            yield start
            yield end - 1
            yield from (start + index for index in find(values[start:end]))
        start = end


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
