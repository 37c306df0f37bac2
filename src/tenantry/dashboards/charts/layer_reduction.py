"""Which rows of areas on top of one another a plot shows.

What is drawn are the sums of the layers below, not the values of the rows. So of each column the first place on the
axis is kept, the last, and those where one of the sums is least or greatest; and of each place the rows of all series,
for a series without a value there would fall to nought. A pixel between the least and the greatest edge has as much of
a colour as the layer has of its column: narrower columns show it, and places between the first and the last.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Final

from tenantry.dashboards.charts.axis_columns import column_finder, column_parts, position_finder

_MOST: Final = 12
"""Series that the page draws: beyond it sums up the smallest as the last one (``MOST`` of charts/series.js)."""
_FINER: Final = 2
"""Columns for each one of the plot. Of three layers of noise with 333,333 places each, 2 in a thousand inked pixels
look different, and of shares too; with 1 here and 8 steps 6 and 4, with 16 steps 5 and 4. Of each column up to 3 places
are kept and 2 for each layer, half as many rows again as with 1 here and 5 steps."""
_STEPS: Final = 2
"""From the first place of a column to the last. With 1, so no place between, 7 in a thousand of shares differ."""


def kept_of_layers(
    axis: Sequence[Any],
    measures: Sequence[Sequence[Any]],
    colors: Sequence[Hashable] | None,
    columns: int,
    *,
    as_share: bool,
) -> set[int] | None:
    """The indexes of the rows; None where the axis has no positions. The rows may be in any order, as the page puts
    places in theirs. Raises TypeError, ValueError and ArithmeticError for values that are none of an axis."""
    position_of = position_finder(axis[0])
    if position_of is None:
        return None
    places = sorted(set(axis), key=position_of)
    column_of = column_finder(places[0], places[-1], columns * _FINER)
    if column_of is None:
        return None
    parts = [*column_parts(places, column_of)]
    found = {start + (end - 1 - start) * step // _STEPS for start, end in parts for step in range(_STEPS + 1)}
    for sums in _sums(places, _layers(axis, measures, colors), as_share=as_share):
        for start, end in parts:
            column = sums[start:end]
            found.update((start + column.index(min(column)), start + column.index(max(column))))
    kept = {places[number] for number in found}
    return {index for index, place in enumerate(axis) if place in kept}


def _layers(
    axis: Sequence[Any], measures: Sequence[Sequence[Any]], colors: Sequence[Hashable] | None
) -> list[dict[Any, float]]:
    """The values of each series by their place, from the lowest layer to the highest."""
    found: dict[Hashable, dict[Any, float]] = {}
    for number, values in enumerate(measures):
        for index, place in enumerate(axis):
            layer = found.setdefault((number, None if colors is None else colors[index]), {})
            value = values[index]
            layer[place] = layer.get(place, 0.0) + (0.0 if value is None else float(value))
    layers = [*found.values()]
    if len(layers) <= _MOST:
        return layers
    largest = sorted(layers, key=lambda layer: -sum(map(abs, layer.values())))[: _MOST - 1]
    chosen = {id(layer) for layer in largest}
    rest: dict[Any, float] = {}
    for layer in layers:
        if id(layer) not in chosen:
            for place, value in layer.items():
                rest[place] = rest.get(place, 0.0) + value
    return [*(layer for layer in layers if id(layer) in chosen), rest]


def _sums(places: Sequence[Any], layers: Sequence[dict[Any, float]], *, as_share: bool) -> Iterator[list[float]]:
    """The upper edge of each layer, over the places. What is below nought, or no number, is drawn as nought."""
    values = [[value if (value := layer.get(place, 0.0)) > 0 else 0.0 for place in places] for layer in layers]
    edges = [*accumulate(values, lambda below, above: [*map(float.__add__, below, above)])]
    if not as_share:
        yield from edges
        return
    for edge in edges[:-1]:
        yield [part / whole if whole else 0.0 for part, whole in zip(edge, edges[-1], strict=True)]
