"""What each kind of drawing must show of its rows, by sums made here, compared with the marks that were measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from tests.dashboards.page.marks import NEAR, Axis, Box, Drawn

Value = float | None
Row = tuple[str | None, str | None, Value]
"""A place on the axis, a series, a value."""

NOTHING_HERE = "There is nothing here for this choice."
NEGATIVE_PART = "Some values are below 0, so they are not parts of a whole."
NEGATIVE_SHARE = "Some values are below 0, so these are the values and not their shares."
ALL_ZERO = "All values are 0, so there are no parts of a whole."


def sentence_of(kind: str, given: list[Row]) -> str:
    if kind == "sparkline":
        return ""
    values = [value for *_, value in given if value is not None]
    if not given or (not values and kind != "table"):
        return NOTHING_HERE
    if kind == "donut":
        return NEGATIVE_PART if min(values) < 0 else "" if max(values) > 0 else ALL_ZERO
    return ALL_ZERO if "shares" in kind and not any(values) else ""


def unlike(kind: str, panel: Drawn, given: list[Row]) -> Iterator[str]:
    """How the panel differs from its rows."""
    sentence = sentence_of(kind, given)
    if panel.sentence != sentence:
        yield f"it says {panel.sentence!r} and should say {sentence!r}"
    if sentence or panel.sentence:
        return
    negative = any(value is not None and value < 0 for *_, value in given)
    if (NEGATIVE_SHARE in panel.notes) != (negative and "shares" in kind):
        yield f"it notes {panel.notes!r}"
    yield from COMPARED[kind](panel, given, "shares" in kind and not negative)


def near(one: float, other: float, by: float = NEAR) -> bool:
    return abs(one - other) <= by


def spans(values: Sequence[Value], share: bool) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Of each part, from where to where it goes above zero and below it."""
    whole = sum(value or 0 for value in values) if share else 1
    found, up, down = [], 0.0, 0.0
    for value in values:
        part = (value or 0) / (whole or 1)
        above, below = (up, up + max(0, part)), (down + min(0, part), down)
        up, down = above[1], below[0]
        found.append((above, below))
    return found


def places(given: list[Row]) -> tuple[list[str | None], list[str | None], dict[tuple[str | None, str | None], Value]]:
    """The places of an axis and the series, each once, and the values by both."""
    return (
        list(dict.fromkeys(x for x, _, _ in given)),
        list(dict.fromkeys(key for _, key, _ in given)),
        {(x, key): value for x, key, value in given},
    )


def series_key(key: str | None) -> str:
    return "\u0001" if key is None else key


def compare_lines(panel: Drawn, given: list[Row], share: bool) -> Iterator[str]:
    xs, keys, values = places(given)
    for key in keys:
        of = series_key(key) if len({k for _, k, _ in given}) > 1 or panel.kind != "area" else "v"
        there = [value for (_, k), value in values.items() if k == key and value is not None]
        corners = [point for mark in panel.of("line", series=of) for part in mark.parts for point in part]
        if len(corners) != len(there):
            yield f"{key}: {len(corners)} corners of {len(there)} values"
        for (_, y), value in zip(corners, there, strict=False):
            if not near(y, panel.axis.height(value)):
                yield f"{key}: {value} at {panel.axis.value(y)}"
        runs = _runs([values.get((x, key)) for x in xs])
        if len(panel.of("dot", series=of)) != sum(len(run) == 1 for run in runs):
            yield f"{key}: dots of single values"


def _runs(values: Sequence[Value]) -> list[list[float]]:
    """The values that stand side by side, without those that are not there."""
    return [[v for v in group if v is not None] for there, group in groupby(values, lambda v: v is not None) if there]


def compare_layers(panel: Drawn, given: list[Row], share: bool) -> Iterator[str]:
    """Each layer has the thickness of its value and lies where those before it end; also one of zero."""
    xs, keys, values = places(given)
    axis = panel.axis
    layers = {x: spans([values.get((x, key)) for key in keys], share) for x in xs}
    there = {x: any(values.get((x, key)) is not None for key in keys) for x in xs}
    if share:
        there = {x: there[x] and sum(values.get((x, key)) or 0 for key in keys) != 0 for x in xs}
    runs = [[x for x, _ in group] for known, group in groupby(there.items(), lambda each: each[1]) if known]
    for layer, key in enumerate(keys):
        signs = (0, 1) if any((values.get((x, key)) or 0) < 0 for x in xs) else (0,)
        expected = [(sign, run) for sign in signs for run in runs]
        paths = [part for mark in panel.of("layer", series=series_key(key)) for part in mark.parts]
        if len(paths) != len(expected):
            yield f"{key}: {len(paths)} parts and not {len(expected)}"
        for (sign, run), path in zip(expected, paths, strict=False):
            top, bottom = path[: len(run)], path[len(run) :][::-1]
            for x, (_, upper), (_, lower) in zip(run, top, bottom, strict=True):
                low, high = layers[x][layer][sign]
                ends = sorted((upper, lower))
                if not (near(ends[0], axis.height(high)) and near(ends[1], axis.height(low))):
                    yield f"{key} at {x}: {axis.value(ends[1])} to {axis.value(ends[0])} and not {low} to {high}"
        alone = sum(len(run) == 1 for run in runs)
        bars = [mark for mark in panel.of("layer", series=series_key(key)) if not mark.parts and mark.box.width > 0]
        if len(bars) != alone:
            yield f"{key}: {len(bars)} bars of places that stand alone, and not {alone}"


def compare_bars(panel: Drawn, given: list[Row], share: bool) -> Iterator[str]:
    yield from _bars(panel, given, lambda value: (min(0, value), max(0, value)))


def compare_stacks(panel: Drawn, given: list[Row], share: bool) -> Iterator[str]:
    yield from _boxes(panel, [mark.box for mark in panel.of("bar")], stacks(given, share))


def stacks(given: list[Row], share: bool) -> list[tuple[float, float]]:
    """From where to where each part goes that has any length, place by place."""
    xs, keys, values = places(given)
    return [
        (low, high)
        for x in xs
        for both in spans([values.get((x, key)) for key in keys], share)
        for low, high in both
        if low < high
    ]


def _bars(panel: Drawn, given: list[Row], span: Callable[[float], tuple[float, float]]) -> Iterator[str]:
    xs, keys, values = places(given)
    shown = [values.get((x, key)) for x in xs for key in keys]
    yield from _boxes(panel, [mark.box for mark in panel.of("bar")], [span(value) for value in shown if value])
    tops = [mark.box.x for mark in panel.of("bar")]
    if tops != sorted(tops):
        yield "bars that are not in their order"


def _boxes(panel: Drawn, found: list[Box], expected: list[tuple[float, float]]) -> Iterator[str]:
    axis = panel.axis
    if len(found) != len(expected):
        yield f"{len(found)} bars of {len(expected)} values"
    for box, (low, high) in zip(found, expected, strict=False):
        if not (near(box.y, axis.height(high)) and near(box.bottom, axis.height(low))):
            yield f"a bar from {axis.value(box.bottom)} to {axis.value(box.y)} and not {low} to {high}"


def compare_lying(panel: Drawn, given: list[Row], share: bool) -> Iterator[str]:
    """Without an axis of numbers: all lengths by one scale from one zero, and each total beside its bar."""
    xs, keys, values = places(given)
    expected = stacks(given, share=False)
    found = [mark.box for mark in panel.of("bar")]
    if len(found) != len(expected):
        yield f"{len(found)} bars of {len(expected)} values"
    if found:
        scale = _scale(found, expected)
        for box, (low, high) in zip(found, expected, strict=False):
            if not (near(box.x, scale.height(low), 1) and near(box.right, scale.height(high), 1)):
                yield f"a bar from {scale.value(box.x)} to {scale.value(box.right)} and not {low} to {high}"
    if len(panel.amounts) != len(xs):
        yield f"{panel.amounts} beside {len(xs)} bars"
    nothing = [x for x in xs if all(values.get((x, key)) is None for key in keys)]
    if panel.amounts.count("–") != len(nothing):
        yield f"{panel.amounts} and {len(nothing)} places of nothing"
    yield from _names(panel, xs)


def _scale(found: list[Box], expected: list[tuple[float, float]]) -> Axis:
    ends = [(box.x, low) for box, (low, _) in zip(found, expected, strict=False)]
    ends += [(box.right, high) for box, (_, high) in zip(found, expected, strict=False)]
    least, most = min(ends, key=lambda end: end[1]), max(ends, key=lambda end: end[1])
    return Axis(least, most)


def _names(panel: Drawn, xs: list[str | None]) -> Iterator[str]:
    expected = ["(no value)" if x is None else x or "(empty)" for x in xs]
    if panel.names != expected:
        yield f"it names {panel.names} and not {expected}"


def compare_slices(panel: Drawn, given: list[Row], share: bool) -> Iterator[str]:
    """Names with their shares; "–" for a name without a value."""
    expected = {"(no value)" if x is None else x or "(empty)": value for x, _, value in given}
    whole = sum(value or 0 for value in expected.values())
    if len(panel.of("slice")) != len(expected):
        yield "not one slice for each name"
    if len(expected) > 1 and {name for name, _ in panel.legend} != {*expected}:
        yield f"its legend says {panel.legend}"
    for name, said in panel.legend:
        value = expected.get(name)
        if (said == "–") != (value is None) or (value and not near(float(said.rstrip("%")), 100 * value / whole, 0.51)):
            yield f"{name}: {said} of {value} in {whole}"


def compare_points(panel: Drawn, given: list[Row], share: bool) -> Iterator[str]:
    expected = sorted(panel.axis.height(value) for *_, value in given if value is not None)
    found = sorted(mark.box.y + mark.box.height / 2 for mark in panel.of("point"))
    if len(found) != len(expected) or not all(map(near, found, expected)):
        yield f"points at {found} and not at {expected}"


def compare_cells(panel: Drawn, given: list[Row], share: bool) -> Iterator[str]:
    there = [value for *_, value in given if value is not None]
    if len(panel.of("cell")) != len(there):
        yield f"{len(panel.of('cell'))} cells of {len(there)} values"


def compare_table(panel: Drawn, given: list[Row], share: bool) -> Iterator[str]:
    """Bars from one zero to both sides, within the cell, each as long as its value is large."""
    values = [value or 0 for *_, value in given]
    cells = [row[1] for row in panel.cells]
    low, high = min(0, 0, *values), max(0, 0, *values)
    for cell, value in zip(cells, values, strict=True):
        assert cell.bar is not None
        room = cell.width - 24
        start, size = ((min(0, value) - low) / ((high - low) or 1), abs(value) / ((high - low) or 1))
        if not (near(cell.bar.x - 12, start * room, 1) and near(cell.bar.width, size * room, 1)):
            yield f"{value}: a bar from {cell.bar.x - 12} with {cell.bar.width} of {room}"


def compare_sparkline(panel: Drawn, given: list[Row], share: bool) -> Iterator[str]:
    values = [value for *_, value in given]
    runs = _runs(values)
    if sum(map(len, runs)) < 2:
        if panel.sparkline:
            yield "a line of one point"
    elif [len(part) for part in panel.sparkline] != [len(run) for run in runs]:
        yield f"a small line of {panel.sparkline}"


COMPARED: dict[str, Callable[[Drawn, list[Row], bool], Iterator[str]]] = {
    "line": compare_lines,
    "area": compare_lines,
    "stacked area": compare_layers,
    "area of shares": compare_layers,
    "bar": compare_bars,
    "stacked bar": compare_stacks,
    "bar of shares": compare_stacks,
    "lying bar": compare_lying,
    "lying stacked bar": compare_lying,
    "donut": compare_slices,
    "scatter": compare_points,
    "heatmap": compare_cells,
    "table": compare_table,
    "sparkline": compare_sparkline,
}
