"""Which rows of a scatter plot can be seen: of points that lie on one another the first few.

The plot is a field of cells, each as wide as a point. A point is drawn half transparent: three of one series on one
another look as many do. So of each cell and series the first three are kept; where points have a size, the two
smallest, which are drawn above the others, and the two largest. What lies alone is kept, wherever it is.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Final

from tenantry.dashboards.charts.axis_columns import column_finder, position_finder

CELL: Final = 6
"""Of the pixels that a page asks for, which are half more than it has (``FINER`` of panels.js): four on its screen, as
the radius of a point."""
LINES: Final = 65
"""Cells on top of one another: a plot is 260 px tall (``HEIGHT`` of chart_view.js)."""
TOGETHER: Final = 3
MOST_POINTS: Final = 60_000
"""As many as the cells of a full plot take. Beyond it, for many series, cells are larger."""

_Cell = tuple[int, int, Hashable]


def kept_of_points(
    axis: Sequence[Any],
    values: Sequence[Any],
    colors: Sequence[Hashable] | None,
    sizes: Sequence[Any] | None,
    width: int,
) -> set[int] | None:
    """The indexes of the rows; None where the axis has no positions. The rows may be in any order. The outermost points
    are kept, and the largest, by which the axes and the sizes are drawn; and of each column of cells the least and the
    greatest. Raises TypeError, ValueError and ArithmeticError for values that are none of an axis."""
    there = [index for index, value in enumerate(values) if _is_value(axis[index]) and _is_value(value)]
    position_of = position_finder(axis[there[0]]) if there else None
    if position_of is None:
        return None
    across = {index: position_of(axis[index]) for index in there}
    ends = min(there, key=across.__getitem__), max(there, key=across.__getitem__)
    lowest, highest = min(there, key=values.__getitem__), max(there, key=values.__getitem__)
    kept = {*ends, lowest, highest}
    if sizes is not None:
        kept.add(max(there, key=lambda index: sizes[index] or 0))
    cell = CELL
    while True:
        count = max(1, width // cell)
        column_of = column_finder(across[ends[0]], across[ends[1]], count)
        line_of = column_finder(values[lowest], values[highest], max(1, LINES * CELL // cell))
        if column_of is None or line_of is None:
            return None
        cells: dict[_Cell, list[int]] = {}
        for index in there:
            color = None if colors is None else colors[index]
            cells.setdefault((column_of(across[index]), line_of(values[index]), color), []).append(index)
        found = {index for each in cells.values() for index in _visible(each, sizes)}
        if len(found) <= MOST_POINTS or count == 1:
            return kept | found | {*_extremes(cells, values)}
        cell *= 2


def _is_value(value: Any) -> bool:
    return value is not None and value == value  # NaN is not equal to itself


def _visible(cell: list[int], sizes: Sequence[Any] | None) -> list[int]:
    if sizes is None or len(cell) <= TOGETHER:
        return cell[:TOGETHER]
    ordered = sorted(cell, key=lambda index: sizes[index] or 0)
    return [*ordered[:2], *ordered[-2:]]


def _extremes(cells: dict[_Cell, list[int]], values: Sequence[Any]) -> Iterator[int]:
    """Of each series and column of cells."""
    columns: dict[tuple[int, Hashable], list[int]] = {}
    for (column, _, color), indexes in cells.items():
        columns.setdefault((column, color), []).extend(indexes)
    for indexes in columns.values():
        yield min(indexes, key=values.__getitem__)
        yield max(indexes, key=values.__getitem__)
