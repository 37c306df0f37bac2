"""Each kind of drawing with each shape of data that is no plain row of amounts: zeros, gaps, values below zero, columns
of nothing, names that are not there, one point. What is drawn is measured against sums made here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import pytest

from tests.dashboards.page.conftest import Visit
from tests.dashboards.page.expected import Row, Value, unlike
from tests.dashboards.page.marks import Drawn, drawn, faults
from tests.dashboards.page.stand_in import Message, StandIn, rows

DAYS = ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"]
NAMES = ["north", "east", "south", "west"]


def grid(**series: Sequence[Value]) -> list[Row]:
    """A row for each value, by its place and its series."""
    count = max(len(values) for values in series.values())
    return [(DAYS[place], key, values[place]) for place in range(count) for key, values in series.items()]


SHAPES: dict[str, list[Row]] = {
    "plain": grid(a=[5, 6, 7, 6], b=[2, 3, 1, 2], c=[3, 3, 4, 4]),
    "a zero between values": grid(a=[10, 10, 10, 10], b=[20, 20, 0, 20], c=[30, 30, 30, 30]),
    "all zero": grid(a=[0, 0, 0], b=[0, 0, 0]),
    "one series below zero": grid(a=[5, 6, 7, 8], b=[-2, -3, -1, -9]),
    "from above to below zero": grid(a=[5, -6, 7, 4], b=[-2, 3, 0, 2], c=[1, 1, 1, -1]),
    "all below zero": grid(a=[-5, -6, -7], b=[-2, -3, -9]),
    "gaps": grid(a=[5, None, 7, 4], b=[2, 3, None, 1]),
    "a place of gaps alone": grid(a=[5, None, 7, 4], b=[2, None, 1, 1]),
    "a pair without a row": [row for row in grid(a=[5, 6, 7, 8], b=[2, 3, 4, 5]) if row[:2] != (DAYS[2], "b")],
    "all null": grid(a=[None, None], b=[None, None]),
    "null and empty names": [
        (day, key, value)
        for day, first in ((DAYS[0], 1), (DAYS[1], 4))
        for value, key in enumerate((None, "", "null", "–"), first)
    ],
    "one point": grid(a=[5]),
    "one point of two series": grid(a=[5], b=[2]),
    "all equal": grid(a=[7, 7, 7], b=[7, 7, 7]),
    "tiny beside huge": grid(a=[1e300, 2e300, 3e300], b=[1e-300, 2, 1]),
    "no rows": [],
}


def chart(kind: str, **view: object) -> Message:
    return {"kind": kind, kind: ["v"], "by": "x", **view}


KINDS: dict[str, Message] = {
    "line": chart("line", color="k"),
    "area": chart("area"),
    "stacked area": chart("area", color="k", stack="sum"),
    "area of shares": chart("area", color="k", stack="share"),
    "bar": chart("bar", color="k"),
    "stacked bar": chart("bar", color="k", stack="sum"),
    "bar of shares": chart("bar", color="k", stack="share"),
    "lying bar": chart("bar", horizontal=True),
    "lying stacked bar": chart("bar", color="k", stack="sum", horizontal=True),
    "donut": chart("donut") | {"donut": "v"},
    "scatter": chart("scatter", color="k") | {"scatter": "v"},
    "heatmap": chart("heatmap", rows="k") | {"heatmap": "v"},
    "table": {"kind": "table", "columns": [{"name": "x"}, {"name": "v", "bar": True}]},
    "sparkline": {"kind": "figure", "figure": "v"},
}
IN_TIME = {"line", "area", "stacked area", "area of shares", "scatter", "sparkline"}
OF_ONE_SERIES = {"area", "lying bar", "donut", "table", "sparkline"}
PANELS = {f"{place}-1": kind for place, kind in enumerate(KINDS, 1)}


def rows_of(kind: str, shape: list[Row]) -> list[Row]:
    """Its rows, as far as the kind draws them: by days or by names, of all series or of the first one. A shape of
    names that are not there has them as series, else on the axis."""
    if kind not in OF_ONE_SERIES:
        one = shape
    elif any(key is None for _, key, _ in shape):
        one = [(key, "a", value) for day, key, value in shape if day == DAYS[0]]
        return [(DAYS[place], key, value) for place, (_, key, value) in enumerate(one)] if kind in IN_TIME else one
    else:
        one = [row for row in shape if row[1] == "a"]
    return one if kind in IN_TIME else [(NAMES[DAYS.index(x or "")], key, value) for x, key, value in one]


def answer_of(kind: str, shape: list[Row]) -> Message:
    given = [[x, key, value] for x, key, value in rows_of(kind, shape)]
    columns = {"x": "date" if kind in IN_TIME else "text", "k": "text", "v": "float"}
    if kind == "sparkline":
        small = rows({"x": "date", "v": "float"}, *[[x, value] for x, _, value in given])
        return rows({"v": "float"}, [1], sparkline=small)
    return rows(columns, *given)


Measure = Callable[[list[Row], int], Awaitable[dict[str, Drawn]]]


@pytest.fixture
def measured(stand_in: StandIn, visit: Visit) -> Measure:
    async def measure(shape: list[Row], width: int) -> dict[str, Drawn]:
        views = [[view | {"title": kind, "answer": answer_of(kind, shape)}] for kind, view in KINDS.items()]
        seen = await visit(stand_in.show(*views), width=width)
        assert seen.console == []
        return {PANELS[panel]: each for panel, each in (await drawn(seen.page)).items()}

    return measure


@pytest.mark.parametrize("width", [1000, pytest.param(390, marks=pytest.mark.slow)])
@pytest.mark.parametrize("shape", SHAPES)
async def test_each_kind_draws_what_the_values_are(measured: Measure, shape: str, width: int) -> None:
    """Red for: an area that vanishes at 0, negative values of areas that are left out, shares of negative values above
    100 %, slices of negative values, bars of tables that end at a cell's edge, a NULL that has the name or the bar of
    an empty text, empty axes, a stack of one day that cannot be seen."""
    found = await measured(SHAPES[shape], width)
    given = {kind: rows_of(kind, SHAPES[shape]) for kind in KINDS}
    wrong = {kind: [*faults(panel), *unlike(kind, panel, given[kind])] for kind, panel in found.items()}
    assert {kind: each for kind, each in wrong.items() if each} == {}


@pytest.mark.parametrize("shape", ["one point", "one point of two series"])
async def test_a_day_alone_is_that_day(stand_in: StandIn, visit: Visit, shape: str) -> None:
    """On the axis and in a tooltip. Red when the first day of January, alone, is written as the year 2026."""
    kinds = ["line", "stacked area", "bar"]
    answer = rows({"x": "date", "k": "text", "v": "float"}, *map(list, SHAPES[shape]))
    seen = await visit(stand_in.show(*[[KINDS[kind] | {"title": kind, "answer": answer}] for kind in kinds]))
    assert {panel.names[0] for panel in (await drawn(seen.page)).values()} == {"Jan 1, 2026"}
    for chart in await seen.page.locator(".chart").all():
        await chart.focus()
        await seen.page.keyboard.press("Home")
        title = await chart.locator(".tip-title").inner_text()
        assert title == "Jan 1, 2026"


@pytest.mark.parametrize("width", [300, 240])
async def test_lying_bars_keep_their_direction(stand_in: StandIn, visit: Visit, width: int) -> None:
    """Between long names and large numbers of both signs. Red when these leave no room: bars went the other way."""
    answer = rows(
        {"x": "text", "v": "decimal"}, ["a name that goes on and on", "9.7e27"], ["another long name", "-8.9e27"]
    )
    seen = await visit(stand_in.show([chart("bar", horizontal=True) | {"answer": answer}]), width=width)
    panel = (await drawn(seen.page))["1-1"]
    assert [*faults(panel)] == []
    above, below = panel.of("bar")
    assert below.box.right == pytest.approx(above.box.x, abs=1)
    assert above.box.width > 5


async def test_lying_bars_leave_room_for_names(stand_in: StandIn, visit: Visit) -> None:
    """Next to amounts of both signs. Red when bars kept 60 pixels: "D…i" was a name."""
    names = ["(empty)", "Dr. O'Neill", "Dr. Li", "Dr. Achterberg-Mbeki"]
    answer = rows({"x": "text", "v": "decimal"}, *zip(names, ["410.24", "-4293", "-5463", "-10303"], strict=True))
    view = chart("bar", horizontal=True) | {"format": "currency", "answer": answer}
    seen = await visit(stand_in.show([view]), width=276)
    panel = (await drawn(seen.page))["1-1"]
    assert [*faults(panel)] == []
    assert all(len(text) >= min(len(name), 6) for name, text in zip(names, panel.names, strict=True)), panel.names
