"""What must hold for a panel of a generated data set: where its marks lie, and what its texts say."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from itertools import pairwise
from typing import Any

from tests.dashboards.page.generated.data import Case
from tests.dashboards.page.generated.written import EXACT, Shown, exact, moment, number_fault, read, texts_of
from tests.dashboards.page.marks import NEAR, Axis, Box, Drawn, Mark

MOST_SERIES = 12
THINNEST = 0.5
"""Pixels that a bar has at least."""
Labels = dict[str, Any]


@dataclass(frozen=True)
class Groups:
    """The amounts of a chart by place and series, in the order of the rows. A float where rows have doubles."""

    amounts: dict[Any, dict[Any, Any]]
    series: list[Any]

    def row(self, series: Any) -> list[Any]:
        return [each.get(series) for each in self.amounts.values()]


def groups_of(case: Case) -> Groups:
    measures = case.view[case.view["kind"]]
    found: dict[Any, dict[Any, Any]] = {}
    series: dict[Any, None] = {}
    for measure in [measures] if isinstance(measures, str) else measures:
        for x, kind, value in zip(case.values("x"), _kinds(case, measure), case.values(measure), strict=True):
            group = found.setdefault(moment(x) or x, {})
            series[kind] = None
            group[kind] = total([group.get(kind), value])
    return Groups(found, list(series))


def _kinds(case: Case, measure: str) -> list[Any]:
    return case.values(case.view["color"]) if "color" in case.view else [measure] * len(case.lines)


def total(values: Sequence[Any]) -> Any:
    """Of those that are there; None where none is."""
    there = [value for value in values if value is not None]
    if not there or len(there) == 1:
        return there[0] if there else None
    if any(isinstance(value, float) for value in there):
        return math.fsum(float(value) for value in there)
    with localcontext(EXACT):
        return str(sum((exact(value) for value in there), Decimal(0)))


def stack_of(case: Case) -> str | None:
    """How it is drawn: parts of a whole that has something below nought are drawn as amounts."""
    stack: str | None = case.view.get("stack")
    if stack == "share" and any(float(value) < 0 for value in case.values("v") if value is not None):
        return "sum"
    return stack


def check(case: Case, panel: Drawn, labels: Labels) -> Iterator[str]:
    """Each fault in a sentence."""
    if panel.drawing is None or not case.lines:
        return
    kind = case.view["kind"]
    if kind in {"line", "area", "bar", "scatter"} and not case.view.get("horizontal"):
        axis = yield from axis_of(case, panel)
        if axis is None:
            return
        yield from _along(labels)
        if kind == "scatter":
            yield from _points(case, panel, axis)
        elif kind == "bar":
            yield from _bars(case, panel, axis)
        elif case.view.get("stack"):
            yield from _layers(case, panel, axis)
        else:
            yield from _lines(case, panel, axis, labels)
    elif kind == "bar":
        yield from _lying(case, panel)
    elif kind == "donut":
        yield from _slices(case, panel, labels)
    elif kind == "heatmap":
        yield from _cells(case, panel)


# --- axes -------------------------------------------------------------------------------------------------------------


def axis_of(case: Case, panel: Drawn) -> Iterator[str]:  # the axis is returned
    """The axis of numbers by its lowest and highest label; the others lie between them where they say."""
    view = {"format": "percent"} if stack_of(case) == "share" else without_unit(case.view)
    found: list[tuple[float, float]] = []
    for y, text in sorted(panel.ticks):
        shown = read(text, view)
        if isinstance(shown, Shown):
            found.append((y, float(shown.amount)))
        else:
            yield f"on the axis {shown}"
    if len(found) < 2:
        yield f"an axis of {len(found)} labels"
        return None
    axis = Axis(found[-1], found[0])
    for (y, value), (_, below) in pairwise(found):
        if value <= below:
            yield f"labels of an axis that do not rise: {[text for _, text in sorted(panel.ticks)]}"
            return None
        if abs(axis.height(value) - y) > NEAR + 0.5:
            yield f"the label {value} of the axis is not at its place"
    return axis


def without_unit(view: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in view.items() if key != "unit"}


def _along(labels: Labels) -> Iterator[str]:
    places = labels["bottom"]
    if not places:
        yield "an axis without any label below"
    if [x for x, _ in places] != sorted(x for x, _ in places):
        yield f"labels below that do not go to the right: {places}"
    for (_, one), (_, other) in pairwise(places):
        if one == other and "…" not in one:
            yield f"two labels below that say {one!r}"


# --- kinds ------------------------------------------------------------------------------------------------------------


def _bars(case: Case, panel: Drawn, axis: Axis) -> Iterator[str]:
    groups = groups_of(case)
    if len(groups.series) > MOST_SERIES:
        return
    if case.view.get("stack"):
        yield from _stacks(case, panel, axis, groups)
        return
    for series in groups.series:
        drawn = sorted(_of_series(panel, groups, series), key=lambda mark: mark.box.x)
        yield from _heights(case.view, [mark.box for mark in drawn], groups, series, axis)


def _of_series(panel: Drawn, groups: Groups, series: Any, *kinds: str) -> list[Mark]:
    """The marks of a series, by its key: its name, or of None the one that no name has."""
    others = {str(each) for each in groups.series if each is not None}
    return [
        mark
        for mark in panel.of(*(kinds or ("bar",)))
        if (mark.series == str(series) if series is not None else mark.series not in others)
    ]


def _heights(view: dict[str, Any], boxes: list[Box], groups: Groups, series: Any, axis: Axis) -> Iterator[str]:
    """Bars from nought to their values, in the order of the rows or of the times."""
    orders = [list(groups.amounts)]
    if all(moment(str(key)) for key in orders[0]):
        orders.append(sorted(orders[0]))
    if {"sort", "limit"} & view.keys():
        if "limit" not in view and len(boxes) != sum(1 for value in groups.row(series) if value and float(value)):
            yield f"{len(boxes)} bars for {groups.row(series)}"
        return
    for order in orders:
        values = [float(value) for key in order if (value := groups.amounts[key].get(series)) and float(value)]
        faults = list(_each_height(boxes, values, axis))
        if not faults:
            return
    yield from faults[:2]


def _each_height(boxes: list[Box], values: list[float], axis: Axis) -> Iterator[str]:
    if len(boxes) != len(values):
        yield f"{len(boxes)} bars for {len(values)} values"
        return
    for box, value in zip(boxes, values, strict=True):
        top, bottom = sorted((axis.height(value), axis.height(0)))
        if abs(box.y - top) > NEAR + 0.5 or abs(box.bottom - bottom) > NEAR + THINNEST + 0.5:
            yield f"a bar from {box.y} to {box.bottom} for {value}, which is from {top:.1f} to {bottom:.1f}"


def _stacks(case: Case, panel: Drawn, axis: Axis, groups: Groups) -> Iterator[str]:
    """What stands above nought is as tall as the sum of what is more, and the same below it; shares fill the whole."""
    columns: dict[float, list[Box]] = {}
    for mark in panel.of("bar"):
        columns.setdefault(round(mark.box.x, 1), []).append(mark.box)
    zero = axis.height(0)
    above = sorted(_tall(box for box in each if box.bottom <= zero + NEAR) for each in columns.values())
    below = sorted(_tall(box for box in each if box.y >= zero - NEAR) for each in columns.values())
    every = [[float(value) for value in group.values() if value is not None] for group in groups.amounts.values()]
    slack = NEAR + THINNEST * len(groups.series) + 0.5
    if stack_of(case) == "share":
        if all(value >= 0 for each in every for value in each):
            full = abs(axis.height(1) - zero)
            yield from (f"shares are {tall} of {full}" for tall in above if abs(tall - full) > slack)
        return
    for sign, drawn in ((1, above), (-1, below)):
        sums = [math.fsum(value for value in each if value * sign > 0) for each in every]
        expected = sorted(abs(axis.height(each) - zero) for each in sums)
        missing = len(expected) - len(drawn)
        if any(abs(one - other) > slack for one, other in zip(expected[missing:], drawn, strict=False)):
            yield f"stacks of {drawn} for {expected[missing:]}"


def _tall(boxes: Iterator[Box]) -> float:
    return math.fsum(box.height for box in boxes)


def _lying(case: Case, panel: Drawn) -> Iterator[str]:
    """All bars are drawn by one scale: the same number of pixels for one more."""
    groups = groups_of(case)
    if len(groups.series) > MOST_SERIES or case.view.keys() & {"stack", "sort", "limit"}:
        return
    pairs: list[tuple[float, float]] = []
    for series in groups.series:
        drawn = sorted(_of_series(panel, groups, series), key=lambda mark: mark.box.y)
        values = [float(value) for value in groups.row(series) if value and float(value)]
        if len(drawn) != len(values):
            yield f"{len(drawn)} bars for {len(values)} values"
            return
        pairs += [(abs(value), mark.box.width) for value, mark in zip(values, drawn, strict=True)]
    if not pairs:
        return
    largest, widest = max(pairs)
    for value, width in pairs:
        if abs(width - max(THINNEST, value / largest * widest)) > NEAR:
            yield f"a bar of {width} for {value}, where {largest} has {widest}"


def _points_of(panel: Drawn, groups: Groups, series: Any) -> list[tuple[float, float]]:
    found = {point for mark in _of_series(panel, groups, series, "line") for part in mark.parts for point in part}
    dots = {
        (mark.box.x + mark.box.width / 2, mark.box.y + mark.box.height / 2)
        for mark in _of_series(panel, groups, series, "dot")
    }
    lone = {dot for dot in dots if not any(math.dist(dot, point) < NEAR for point in found)}
    return sorted(found | lone)


def _lines(case: Case, panel: Drawn, axis: Axis, labels: Labels) -> Iterator[str]:
    """Each value is a corner of its line, along the axis by how far it lies, and as high as it is."""
    groups = groups_of(case)
    places = _positions(case, list(groups.amounts))
    if len(groups.series) > MOST_SERIES or len(places) != len(case.values("x")) // max(1, _per_place(case)):
        return
    along = _across(places, labels)
    for series in groups.series:
        expected = sorted(
            (along[key], axis.height(float(value)))
            for key, group in groups.amounts.items()
            if key in along and (value := group.get(series)) is not None
        )
        drawn = _points_of(panel, groups, series)
        if len(drawn) < len({(round(x), round(y)) for x, y in expected}):
            yield f"{len(drawn)} points for {len(expected)} values of {series!r}"
            continue
        for x, y in expected:
            if not any(abs(x - px) < NEAR and abs(y - py) < NEAR + 0.5 for px, py in drawn):
                yield f"no point of {series!r} at {x:.1f}, {y:.1f}"
                break


def _per_place(case: Case) -> int:
    """Rows of a place, where each series has one there; else the places are not compared."""
    return max(1, round(len(case.lines) / max(1, len(set(map(str, case.values("x")))))))


def _positions(case: Case, keys: list[Any]) -> dict[Any, float]:
    found = {}
    for place, key in enumerate(keys):
        if case.columns["x"] in {"text", "boolean"}:
            found[key] = float(place)
        elif key is not None:
            found[key] = key.timestamp() if hasattr(key, "timestamp") else float(key)
    return found


def _across(places: dict[Any, float], labels: Labels) -> dict[Any, float]:
    start, end = labels["grid"]
    low, high = min(places.values()), max(places.values())
    if low == high:
        return dict.fromkeys(places, (start + end) / 2)
    return {key: start + (place - low) / (high - low) * (end - start) for key, place in places.items()}


def _layers(case: Case, panel: Drawn, axis: Axis) -> Iterator[str]:
    """Areas on one another reach, all together, as high as the largest sum of what is more than nought, and as low as
    that of what is less; shares fill the whole."""
    groups = groups_of(case)
    corners = [y for mark in panel.of("layer") for part in mark.parts for _, y in part]
    if not corners or len(groups.series) > MOST_SERIES:
        return
    every = [[float(value) for value in group.values() if value is not None] for group in groups.amounts.values()]
    sums = [math.fsum(value for value in each if value * sign > 0) for sign in (1, -1) for each in every]
    ends = (0, 1) if stack_of(case) == "share" else (min(sums), max(sums))
    low, high = (axis.height(end) for end in ends)
    if abs(min(corners) - high) > NEAR + 0.5 or abs(max(corners) - low) > NEAR + 0.5:
        yield f"areas from {min(corners)} to {max(corners)}, not from {high:.1f} to {low:.1f}"


def _points(case: Case, panel: Drawn, axis: Axis) -> Iterator[str]:
    known = [(x, y) for x, y in zip(case.values("x"), case.values("v"), strict=True) if y is not None]
    if "color" in case.view and len(set(case.values(case.view["color"]))) > MOST_SERIES:
        return
    if case.columns["x"] not in {"text", "boolean"}:
        known = [(x, y) for x, y in known if x is not None]
    heights = sorted(axis.height(float(y)) for _, y in known)
    drawn = sorted(mark.box.y + mark.box.height / 2 for mark in panel.of("point"))
    if len(heights) != len(drawn):
        yield f"{len(drawn)} points for {len(heights)} values"
    elif any(abs(one - other) > NEAR + 0.5 for one, other in zip(heights, drawn, strict=True)):
        yield f"points at {drawn}, not at {heights}"


ROUND = 6.2
"""Of a slice that is nearly the ring, whose ends cannot be told apart."""
ARC = re.compile(r"M(-?[\d.]+),(-?[\d.]+)A[\d.]+,[\d.]+,0,([01]),1,(-?[\d.]+),(-?[\d.]+)")


def _slices(case: Case, panel: Drawn, labels: Labels) -> Iterator[str]:
    """Each slice is as large a part of the ring as its amount of the whole."""
    groups = groups_of(case)
    known = {key: value for key, group in groups.amounts.items() if (value := group["v"]) is not None}
    if any(float(value) < 0 for value in known.values()):
        return
    whole = total(list(known.values())) or 0
    if labels["total"]:
        fault = number_fault(labels["total"]["whole"], whole, without_unit(case.view))
        yield from [fault] if fault else []
    angles = []
    for mark in panel.of("slice"):
        if found := ARC.search(mark.written):
            x0, y0, _, x1, y1 = map(float, found.groups())
            angles.append((math.atan2(x1, -y1) - math.atan2(x0, -y0)) % math.tau)
    if (
        len(angles) != len(panel.of("slice"))
        or max(angles, default=0) > ROUND
        or len(known) > len(angles)
        or len(angles) < 2
    ):
        return
    shares = sorted(float(value) / float(whole) * math.tau for value in known.values())
    if any(abs(one - other) > 0.02 for one, other in zip(shares, sorted(angles)[-len(shares) :], strict=True)):
        yield f"slices of {sorted(angles)}, not of {shares}"


def _cells(case: Case, panel: Drawn) -> Iterator[str]:
    """A cell for each pair with a value, and a stronger shade for what is more."""
    cells = panel.of("cell")
    values = [float(value) for value in case.values("v") if value is not None]
    if len(cells) != len(values):
        yield f"{len(cells)} cells for {len(values)} values"
        return
    if case.view["diverging"]:
        return
    steps = [_shade(mark.written) for mark in cells]
    for (one, first), (other, second) in pairwise(sorted(zip(values, steps, strict=True))):
        if one < other and first > second + 0.2:
            yield f"{other} has a weaker shade than {one}"
            return


def _shade(written: str) -> float:
    found = re.search(r"var\(--([\w-]+)\), var\(--[\w-]+\) ([\d.]+)%", written)
    if found is None:
        return math.nan
    return float(found[2]) + (100 if found[1].endswith("middle") else 0)
