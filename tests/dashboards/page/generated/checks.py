"""What must hold for a panel of a generated data set: where its marks lie, by the axes that it shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator
from itertools import pairwise

from tests.dashboards.page.generated.bars import bars, lying
from tests.dashboards.page.generated.data import Case
from tests.dashboards.page.generated.groups import Labels, stack_of, without_unit
from tests.dashboards.page.generated.shapes import cells, layers, lines, points, slices
from tests.dashboards.page.generated.written import Shown, read
from tests.dashboards.page.marks import NEAR, Axis, Drawn

FEW_LETTERS = 4
"""Of a name that has no room at all."""


def check(case: Case, panel: Drawn, labels: Labels) -> Iterator[str]:
    """Each fault in a sentence."""
    if panel.drawing is None or not case.lines:
        return
    for name, count in Counter(panel.names).items():
        if count > 1 and "…" in name and len(name) > FEW_LETTERS:
            yield f"{count} names are cut to {name!r}"
    kind = case.view["kind"]
    if kind in {"line", "area", "bar", "scatter"} and not panel.lying:
        axis = yield from axis_of(case, panel)
        if axis is None:
            return
        yield from _along(labels)
        if kind == "scatter":
            yield from points(case, panel, axis)
        elif kind == "bar":
            yield from bars(case, panel, axis)
        elif case.view.get("stack"):
            yield from layers(case, panel, axis)
        else:
            yield from lines(case, panel, axis, labels)
    elif kind == "bar":
        yield from lying(case, panel)
    elif kind == "donut":
        yield from slices(case, panel, labels)
    elif kind == "heatmap":
        yield from _along(labels)
        yield from cells(case, panel)


# --- axes -------------------------------------------------------------------------------------------------------------


def axis_of(case: Case, panel: Drawn) -> Generator[str, None, Axis | None]:
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


def _along(labels: Labels) -> Iterator[str]:
    places = labels["bottom"]
    if not places:
        yield "an axis without any label below"
    if [x for x, _ in places] != sorted(x for x, _ in places):
        yield f"labels below that do not go to the right: {places}"
    for (_, one), (_, other) in pairwise(places):
        if one == other:
            yield f"two labels below that say {one!r}"
