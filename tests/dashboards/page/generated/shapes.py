"""What must hold for the lines, areas, points, slices and cells of a generated data set."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from tests.dashboards.page.generated.data import Case
from tests.dashboards.page.generated.groups import (
    MOST_SERIES,
    Groups,
    Labels,
    groups_of,
    of_series,
    stack_of,
    total,
    without_unit,
)
from tests.dashboards.page.generated.written import number_fault
from tests.dashboards.page.marks import NEAR, Axis, Box, Drawn


def _middle(box: Box) -> tuple[float, float]:
    return box.x + box.width / 2, box.y + box.height / 2


def _points_of(panel: Drawn, groups: Groups, series: Any) -> list[tuple[float, float]]:
    found = {point for mark in of_series(panel, groups, series, "line") for part in mark.parts for point in part}
    dots = {_middle(mark.box) for mark in of_series(panel, groups, series, "dot")}
    lone = {dot for dot in dots if not any(math.dist(dot, point) < NEAR for point in found)}
    return sorted(found | lone)


def lines(case: Case, panel: Drawn, axis: Axis, labels: Labels) -> Iterator[str]:
    """Each value is a corner of its line, along the axis by how far it lies, and as high as it is."""
    groups = groups_of(case)
    places = _positions(case, list(groups.amounts))
    if len(groups.series) > MOST_SERIES or len(places) != len(case.values("x")) // max(1, _per_place(case)):
        return
    drawn_at = sorted(x for series in groups.series for x, _ in _points_of(panel, groups, series))
    if "periods" in case.more and drawn_at:  # the axis is as long as the period
        there = {
            key: at for key, at in places.items() if any(each is not None for each in groups.amounts[key].values())
        }
        along = _across(there, (drawn_at[0], drawn_at[-1]))
    else:
        along = _across(places, labels["grid"])
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
        near = NEAR + 0.5
        if extra := [
            (px, py) for px, py in drawn if not any(abs(px - x) < NEAR and abs(py - y) < near for x, y in expected)
        ]:
            yield f"points of {series!r} for no value: {extra[:3]}"
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


def _across(places: dict[Any, float], ends: tuple[float, float]) -> dict[Any, float]:
    start, end = ends
    low, high = min(places.values()), max(places.values())
    if low == high:
        return dict.fromkeys(places, (start + end) / 2)
    return {key: start + (place - low) / (high - low) * (end - start) for key, place in places.items()}


def layers(case: Case, panel: Drawn, axis: Axis) -> Iterator[str]:
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


def points(case: Case, panel: Drawn, axis: Axis) -> Iterator[str]:
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


REST = "\x02"
"""Of the slice that sums up what is left."""
PLACE = r"(-?[\d.]+),(-?[\d.]+)"
OUTER = re.compile(rf"(?:M|A[\d.]+,[\d.]+,0,0,1,){PLACE}")
"""A place on the outer edge of a slice. An arc between two of them is never longer than half of the ring."""


def slices(case: Case, panel: Drawn, labels: Labels) -> Iterator[str]:
    """Each slice is as large a part of the ring as its amount of the whole."""
    groups = groups_of(case)
    known = {key: value for key, group in groups.amounts.items() if (value := group["v"]) is not None}
    if any(float(value) < 0 for value in known.values()):
        return
    whole = total(list(known.values())) or 0
    if labels["total"]:
        fault = number_fault(labels["total"]["whole"], whole, without_unit(case.view))
        yield from [fault] if fault else []
    marks = panel.of("slice")
    if not marks:
        return
    angles = sorted(_angle(mark.written) for mark in marks if mark.series != REST)
    shares = [float(value) / float(whole) * math.tau for value in known.values()]
    if len(angles) == len(marks):  # no slice sums up others; what is absent has one of no size
        shares += [0.0] * (len(angles) - len(shares))
        wrong = any(abs(one - other) > 0.02 for one, other in zip(sorted(shares), angles, strict=True))
    else:
        wrong = any(all(abs(one - other) > 0.02 for other in [0.0, *shares]) for one in angles)
    if wrong or abs(math.fsum(_angle(mark.written) for mark in marks) - math.tau) > 0.02:
        yield f"slices of {angles}, not of {sorted(shares)}"


def _angle(written: str) -> float:
    turns = [math.atan2(float(x), -float(y)) for x, y in OUTER.findall(written)]
    return math.fsum((end - start) % math.tau for start, end in pairwise(turns))


def cells(case: Case, panel: Drawn) -> Iterator[str]:
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
