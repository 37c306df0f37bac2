"""What must hold for the bars of a generated data set, standing and lying."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from tests.dashboards.page.generated.data import Case
from tests.dashboards.page.generated.groups import MOST_SERIES, Groups, groups_of, of_series, stack_of
from tests.dashboards.page.generated.written import moment
from tests.dashboards.page.marks import NEAR, Axis, Box, Drawn

THINNEST = 0.5
"""Pixels that a bar has at least."""


def bars(case: Case, panel: Drawn, axis: Axis) -> Iterator[str]:
    groups = groups_of(case)
    if len(groups.series) > MOST_SERIES:
        return
    if case.view.get("stack"):
        yield from _stacks(case, panel, axis, groups)
        return
    for series in groups.series:
        drawn = sorted(of_series(panel, groups, series), key=lambda mark: mark.box.x)
        yield from _heights(case.view, [mark.box for mark in drawn], groups, series, axis)


def _heights(view: dict[str, Any], boxes: list[Box], groups: Groups, series: Any, axis: Axis) -> Iterator[str]:
    """Bars from nought to their values, in the order of the rows or of the times."""
    order = list(groups.amounts)
    if all(moment(str(key)) for key in order):
        order.sort()
    if {"sort", "limit"} & view.keys():
        if "limit" not in view and len(boxes) != sum(1 for value in groups.row(series) if value and float(value)):
            yield f"{len(boxes)} bars for {groups.row(series)}"
        return
    values = [float(value) for key in order if (value := groups.amounts[key].get(series)) and float(value)]
    yield from list(_each_height(boxes, values, axis))[:2]


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


def lying(case: Case, panel: Drawn) -> Iterator[str]:
    """All bars are drawn by one scale: the same number of pixels for one more."""
    groups = groups_of(case)
    if len(groups.series) > MOST_SERIES or case.view.keys() & {"stack", "sort", "limit"}:
        return
    pairs: list[tuple[float, float]] = []
    for series in groups.series:
        drawn = sorted(of_series(panel, groups, series), key=lambda mark: mark.box.y)
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
