"""Reduction of the rows of a chart to what its pixels can show (M4: Jugel et al., VLDB 2014).

Of each column of pixels the first row, the last, and those with the least and the greatest value are kept: a line
through them covers the same pixels. There are two columns for each device pixel, since a line is drawn with soft edges.
Nothing is averaged: each row that is kept is one of the query's.

Areas on top of one another and points are no lines: what is kept of them say ``layer_reduction.py`` and
``point_reduction.py``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter, le
from typing import Any, Final, Literal
from weakref import WeakKeyDictionary

from tenantry.dashboards.charts.axis_columns import column_finder, column_parts
from tenantry.dashboards.charts.layer_reduction import kept_of_layers
from tenantry.dashboards.charts.point_reduction import kept_of_points
from tenantry.datasources.results import Result

COLUMNS_PER_PIXEL: Final = 2


@dataclass(frozen=True, slots=True)
class Plot:
    """What is drawn of some rows: the columns ``measures`` over ``by``, with a series for each value of ``color``, in
    ``width`` device pixels. ``stack``: the series stand on one another, for "share" as parts of the whole. ``points``:
    nothing is between the rows; ``size`` is a column too."""

    by: str
    measures: tuple[str, ...]
    color: str | None
    width: int
    stack: Literal["", "sum", "share"] = ""
    points: bool = False
    size: str | None = None

    @property
    def columns(self) -> int:
        """So many parts of its width are looked at."""
        return COLUMNS_PER_PIXEL * self.width

    @property
    def is_of_lines(self) -> bool:
        """Whether each series is a line of its own."""
        return not self.stack and not self.points


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

    None where the rows stay as they are: they are few, a column is not there, or a line is not in the order of ``by``,
    which is the query's to give.
    """
    wanted = {plot.by, *plot.measures, *(name for name in (plot.color, plot.size) if name is not None)}
    if len(result) <= plot.columns or not wanted <= set(result.names):
        return None
    try:
        kept = _kept_of_all(result, plot)
    except (TypeError, ValueError, ArithmeticError):  # values of several types; a text that is no time; a huge number
        return None
    return None if kept is None else replace(result, rows=[result.rows[index] for index in sorted(kept)])


def _kept_of_all(result: Result, plot: Plot) -> set[int] | None:
    """The indexes of the rows; None for those that stay as they are. Raises TypeError, ValueError, ArithmeticError."""
    position = result.names.index
    axis = _column(result, position(plot.by))
    if not plot.is_of_lines:
        measures = [_column(result, position(name)) for name in plot.measures]
        colors = None if plot.color is None else _column(result, position(plot.color))
        if plot.points:
            sizes = None if plot.size is None else _column(result, position(plot.size))
            return kept_of_points(axis, measures[0], colors, sizes, plot.width)
        return kept_of_layers(axis, measures, colors, plot.columns, as_share=plot.stack == "share")
    return _kept_of_lines(result, plot, axis)


def _kept_of_lines(result: Result, plot: Plot, axis: list[Any]) -> set[int] | None:
    """None for rows without an order."""
    position = result.names.index
    series = _series(result, None if plot.color is None else position(plot.color))
    ordered = [_chosen(axis, each) for each in series]
    if not all(all(map(le, each, each[1:])) for each in ordered):
        return None
    column_of = column_finder(min(each[0] for each in ordered), max(each[-1] for each in ordered), plot.columns)
    if column_of is None:
        return None
    parts = [[*column_parts(each, column_of)] for each in ordered]
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
