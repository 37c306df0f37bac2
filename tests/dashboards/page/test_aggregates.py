"""What several values become: a sum only where they add up, else the author's mean or largest, or nothing."""

from __future__ import annotations

import pytest

from tests.dashboards.page.conftest import Visit
from tests.dashboards.page.marks import Drawn, drawn, faults, panels_of
from tests.dashboards.page.stand_in import Message, StandIn, rows

pytestmark = pytest.mark.slow

SHARES = rows({"k": "text", "v": "float"}, ["a", 0.4], ["b", 0.45], ["c", 0.5], ["d", 0.55], ["e", 0.6])
TWICE = rows({"k": "text", "v": "float"}, ["a", 1], ["a", 2], ["b", 3], ["a", 9], ["b", None])
PARTS = rows({"x": "text", "k": "text", "v": "float"}, *[[x, k, v] for x in "pq" for k, v in (("a", 0.2), ("b", 0.7))])
LIMITED: Message = {"kind": "bar", "bar": ["v"], "by": "k", "horizontal": True, "sort": "largest", "limit": 2}
ALONE: Message = {"kind": "bar", "bar": ["v"], "by": "k"}


async def shown(stand_in: StandIn, visit: Visit, answer: Message, *views: Message) -> list[Drawn]:
    """The same rows in several panels, below one another."""
    first, *_ = await panels_of(stand_in, visit, *[view | {"answer": answer} for view in views])
    panels = await drawn(first.page)
    assert [fault for each in panels.values() for fault in faults(each)] == []
    return [panels[f"{line}-1"] for line in range(1, len(views) + 1)]


async def test_what_is_beyond_the_limit(stand_in: StandIn, visit: Visit) -> None:
    """Red when shares are summed up unless somebody forbids it: "Other (3)" had 135 %."""
    expected = {
        "sum": (["e", "d", "Other (3)"], ["60.0%", "55.0%", "135.0%"], ""),
        "none": (["e", "d"], ["60.0%", "55.0%"], "And 3 more."),
        "mean": (["e", "d", "Mean of others (3)"], ["60.0%", "55.0%", "45.0%"], ""),
        "max": (["e", "d", "Largest of others (3)"], ["60.0%", "55.0%", "50.0%"], ""),
    }
    views = [LIMITED | {"format": "percent", "aggregate": aggregate} for aggregate in expected]
    panels = zip(expected, await shown(stand_in, visit, SHARES, *views), strict=True)
    assert {aggregate: (panel.names, panel.amounts, panel.notes) for aggregate, panel in panels} == expected


async def test_rows_of_one_bar(stand_in: StandIn, visit: Visit) -> None:
    """A row without a value counts in no mean. Red when each bar is the sum of its rows."""
    expected = {"sum": [12, 3], "mean": [4, 3], "max": [9, 3], "none": [1, 3]}
    panels = await shown(stand_in, visit, TWICE, *[ALONE | {"aggregate": aggregate} for aggregate in expected])
    for (aggregate, values), panel in zip(expected.items(), panels, strict=True):
        tops = [panel.axis.value(mark.box.y) for mark in panel.of("bar")]
        assert tops == pytest.approx(values, abs=0.05), aggregate
        assert panel.notes.startswith("3 values share their bar" if aggregate == "none" else ""), aggregate
        assert bool(panel.notes) is (aggregate == "none"), aggregate


async def test_averages_stand_on_nothing(stand_in: StandIn, visit: Visit) -> None:
    """Side by side, each from zero to its value, with a reason. Red when a share of means is drawn."""
    common = {"by": "x", "color": "k", "aggregate": "none"}
    kinds: list[Message] = [{"kind": kind, kind: ["v"], **common} for kind in ("bar", "area")]
    views = [view | {"stack": stack} for view in kinds for stack in ("sum", "share")]
    for view, panel in zip(views, await shown(stand_in, visit, PARTS, *views), strict=True):
        tops = {round(panel.axis.value(mark.box.y), 2) for mark in panel.of("bar", "area")}
        assert tops == {0.2, 0.7}, view
        assert {round(panel.axis.value(mark.box.bottom), 2) for mark in panel.of("bar", "area")} == {0}, view
        assert panel.notes == "These values do not add up, so they are not stacked.", view


async def test_averages_are_no_parts_of_a_whole(stand_in: StandIn, visit: Visit) -> None:
    """The reason, and the values as a table. Red when a donut is drawn of shares that make 250 %."""
    seen = await visit(
        stand_in.show([{"kind": "donut", "donut": "v", "by": "k", "aggregate": "none", "answer": SHARES}])
    )
    panel = (await drawn(seen.page))["1-1"]
    assert panel.sentence == "These values do not add up, so they are not parts of a whole."
    await seen.page.get_by_role("button", name="Menu of V by k").click()
    assert await seen.page.get_by_role("menuitem").all_inner_texts() == ["Show as table", "Download CSV"]
    await seen.page.get_by_role("menuitem", name="Show as table").click()
    await seen.page.locator(".twin").wait_for()
    assert len((await drawn(seen.page))["1-1"].cells) == 5


async def test_more_series_than_eyes_can_follow(stand_in: StandIn, visit: Visit) -> None:
    """Those of averages are left out and counted. Red when they become a sum."""
    answer = rows({"x": "text", "k": "text", "v": "float"}, *[["p", f"series {n}", n + 1] for n in range(20)])
    expected = {"sum": "Other (", "none": " more, not shown"}
    views = [ALONE | {"by": "x", "color": "k", "aggregate": aggregate} for aggregate in expected]
    panels = await shown(stand_in, visit, answer, *views)
    for (aggregate, last), panel in zip(expected.items(), panels, strict=True):
        assert last in panel.legend[-1][0]
        assert len(panel.of("bar")) == len(panel.legend) - (aggregate == "none")


async def test_series_of_two_measures_are_not_one(stand_in: StandIn, visit: Visit) -> None:
    """Flights and minutes have no sum. Red without ``measures.length`` in series.js."""
    values = [["p", f"series {n}", n + 1, 10 * n] for n in range(9)]
    answer = rows({"x": "text", "k": "text", "v": "float", "w": "float"}, *values)
    (panel,) = await shown(stand_in, visit, answer, ALONE | {"bar": ["v", "w"], "by": "x", "color": "k"})
    assert panel.legend[-1][0] == "11 more, not shown"


async def test_a_column_that_is_not_there(stand_in: StandIn, visit: Visit) -> None:
    """The check finds it before; a viewer reads a sentence. Red when empty axes are drawn, or one series of all."""
    cases: list[tuple[Message, str, str]] = [
        ({"kind": "bar", "bar": ["w"], "by": "x"}, "The rows have no w.", ""),
        ({"kind": "bar", "bar": ["v"], "by": "y"}, "The rows have no y.", ""),
        ({"kind": "line", "line": ["v"], "by": "x", "color": "z"}, "The rows have no z.", ""),
        ({"kind": "area", "area": ["v", "w"], "by": "x"}, "", "The rows have no w."),
        ({"kind": "heatmap", "heatmap": "v", "by": "x", "rows": "z"}, "The rows have no z.", ""),
    ]
    one_series = rows({"x": "text", "v": "float"}, ["p", 1], ["q", 2])
    panels = await shown(stand_in, visit, one_series, *[view for view, *_ in cases])
    assert [(panel.sentence, panel.notes) for panel in panels] == [(sentence, note) for _, sentence, note in cases]
