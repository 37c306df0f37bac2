"""Reduces a line chart's rows to the visible ones, by the algorithm M4 (Jugel et al., VLDB 2014)."""

# In each pixel column, the first, last, lowest and highest row give the same pixels as all rows. Because of
# anti-aliasing, a device pixel counts as two columns.

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from math import floor, isfinite, log2
from operator import itemgetter, le
from typing import Any, Final, TypeAlias

from tenantry.datasources.results import Result

COLUMNS_PER_PIXEL: Final = 2
_NUMBERS: Final = (int, float, Decimal)


@dataclass(frozen=True, slots=True)
class Plot:
    """The lines of a chart: one for each of ``measures`` and each value of ``color``."""

    by: str
    """The column of the axis."""
    measures: tuple[str, ...]
    color: str | None
    """Each value of this column gets its own line."""
    width: int
    """Device pixels."""
    filled: bool = False
    """Whether the page draws 0 for a time bucket, such as a day, without a row. To find these gaps, it needs every
    row."""

    @property
    def columns(self) -> int:
        return COLUMNS_PER_PIXEL * self.width


def reduce_rows(result: Result, plot: Plot) -> Result | None:
    """Return the rows that make a visible difference. Also return all rows whose ``by`` is NULL.

    Returns None if:
    - ``result`` has at most ``plot.columns`` rows, or lacks a column of the plot;
    - ``by`` is not sorted, or has values other than numbers, dates, datetimes or ISO 8601 strings;
    - a measure has values that cannot be compared."""
    return _reduced(result, plot, _pixel_columns) if len(result) > plot.columns else None


def thin_rows(result: Result, plot: Plot) -> Result | None:
    """Return only the rows that a later ``reduce_rows`` may need. Returns None if ``reduce_rows`` cannot reduce these
    rows. The caller may append further rows to the returned ones, and call this again."""
    # No needed row is lost, because the widths of pixel columns are powers of two: as the axis grows, columns merge but
    # never split.
    return _reduced(result, plot, _nested_columns)


_ColumnOf: TypeAlias = Callable[[Any], int]
_MakeColumns: TypeAlias = Callable[[Callable[[Any], float], Any, Any, int], _ColumnOf | None]
"""Takes a function that finds a value's position on the axis, the first and the last value, and the number of pixel
columns. Returns a function that finds a value's pixel column."""


def _reduced(result: Result, plot: Plot, make_columns: _MakeColumns) -> Result | None:
    wanted = {plot.by, *plot.measures, *(() if plot.color is None else (plot.color,))}
    if not result or not wanted <= set(result.names):
        return None
    try:
        kept = _kept_rows(result, plot, make_columns)
    except (TypeError, ValueError, ArithmeticError):  # mixed types, a string that is not a time, or a huge number
        return None
    return None if kept is None else replace(result, rows=[result.rows[index] for index in sorted(kept)])


def _kept_rows(result: Result, plot: Plot, make_columns: _MakeColumns) -> set[int] | None:
    position = result.names.index
    axis = _column(result, position(plot.by))
    absent = {index for index, value in enumerate(axis) if value is None} if None in axis else set[int]()
    if len(absent) == len(axis):
        return None
    series = _series(result, None if plot.color is None else position(plot.color), absent)
    ordered = [_chosen(axis, each) for each in series]
    position_of = _position_finder(ordered[0][0])
    if position_of is None or not all(all(map(le, each, each[1:])) for each in ordered):
        return None
    column_of = make_columns(
        position_of, min(each[0] for each in ordered), max(each[-1] for each in ordered), plot.columns
    )
    if column_of is None:
        return None
    parts = [[*_column_parts(each, column_of)] for each in ordered]
    kept = set(absent)  # the page counts rows without `by`
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


def _series(result: Result, color: int | None, absent: set[int]) -> list[Sequence[int] | None]:
    if color is None and not absent:
        return [None]
    found: dict[Any, list[int]] = {}
    for index, row in enumerate(result.rows):
        if index not in absent:
            found.setdefault(None if color is None else row[color], []).append(index)
    return [*found.values()]


# --- columns of the plot ----------------------------------------------------------------------------------------------


def _pixel_columns(position_of: Callable[[Any], float], first: Any, last: Any, count: int) -> _ColumnOf | None:
    low, span = position_of(first), position_of(last) - position_of(first)
    if not isfinite(span * count):
        return None
    if not span:
        return lambda _: 0
    return lambda value: min(int((position_of(value) - low) * count / span), count - 1)


def _nested_columns(position_of: Callable[[Any], float], first: Any, last: Any, count: int) -> _ColumnOf | None:
    span = position_of(last) - position_of(first)
    if not isfinite(span * count):
        return None
    width = 2.0 ** floor(log2(span / count)) if span else 1.0
    return lambda value: floor(position_of(value) / width)


def _position_finder(value: Any) -> Callable[[Any], float] | None:
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


def _column_parts(axis: Sequence[Any], column_of: _ColumnOf) -> Iterator[tuple[int, int]]:
    start, count, length = 0, len(axis), 1
    while start < count:
        # Neighbouring columns have about the same number of rows.
        column, low, step = column_of(axis[start]), start, length
        while (high := low + step) < count and column_of(axis[high]) == column:
            low, step = high, 2 * step
        end = bisect_right(axis, column, low, min(high, count), key=column_of)
        yield start, end
        start, length = end, max(1, end - start - 1)


# --- rows of a column -------------------------------------------------------------------------------------------------


def _kept(parts: Sequence[tuple[int, int]], values: Sequence[Any]) -> Iterator[int]:
    find = _plain_extremes if _is_plain(values) else _extremes_and_gap
    for start, end in parts:
        yield start
        yield end - 1
        yield from (start + index for index in find(values[start:end]))


def _is_plain(values: Sequence[Any]) -> bool:
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
    there = [index for index, value in enumerate(column) if not _is_gap(value)]
    if there:
        yield min(there, key=column.__getitem__)
        yield max(there, key=column.__getitem__)
    if len(there) < len(column):
        yield next(index for index, value in enumerate(column) if _is_gap(value))
