"""Every kind of chart: its marks lie where the data say, by the chart's own axis."""

from __future__ import annotations

import math
import re
from datetime import date, timedelta

import pytest
from playwright.async_api import Locator

from tests.dashboards.page.conftest import Visit, box_of
from tests.dashboards.page.marks import NEAR, axis, boxes, panel_of, panels_of, path
from tests.dashboards.page.stand_in import Message, StandIn, rows

pytestmark = pytest.mark.slow

MONTHS = [f"2013-{month:02}-01" for month in range(1, 13)]


async def test_a_line_goes_through_every_value(stand_in: StandIn, visit: Visit) -> None:
    """A value that is missing is a gap, and one between two gaps a dot. Red when null counts as 0."""
    delays = [10.2, 8.4, -2.9, None, 20.8, None, 12.6, 7, 6.2, 5.4, 16.6, 11]
    answer = rows({"month": "date", "delay": "float"}, *map(list, zip(MONTHS, delays, strict=True)))
    panel = await panel_of(stand_in, visit, {"kind": "line", "line": ["delay"], "by": "month", "answer": answer})
    scale = await axis(panel)
    parts = await path(panel, ".line")
    drawn = [point for part in parts for point in part]
    present = [each for each in delays if each is not None]
    assert [len(part) for part in parts] == [3, 1, 6]
    assert [abs(y - scale.height(value)) < NEAR for (_, y), value in zip(drawn, present, strict=True)] == [True] * 10
    assert await panel.locator(".series circle").count() == 1


async def test_time_is_as_long_as_it_is(stand_in: StandIn, visit: Visit) -> None:
    """Days, not rows. Red when a row's place counts."""
    days = ["2013-01-01", "2013-01-02", "2013-01-11"]
    answer = rows({"day": "date", "n": "integer"}, *[[day, 5] for day in days], ["2013-01-12", 5])
    panel = await panel_of(stand_in, visit, {"kind": "line", "line": ["n"], "by": "day", "answer": answer})
    (first, second), (third, _) = await path(panel, ".line")
    assert (third[0] - first[0]) / (second[0] - first[0]) == pytest.approx(10, abs=0.01)


@pytest.mark.parametrize("share", [False, True])
async def test_areas_stand_on_one_another(stand_in: StandIn, visit: Visit, share: bool) -> None:
    """Each begins where the one below ends; as shares they end at 100 %."""
    given = [("a", 10), ("b", 30)]
    answer = rows(
        {"x": "integer", "kind": "text", "n": "integer"}, *[[x, kind, n * x] for x in (1, 2) for kind, n in given]
    )
    view = {
        "kind": "area",
        "area": ["n"],
        "by": "x",
        "color": "kind",
        "stack": "share" if share else "sum",
        "answer": answer,
    }
    panel = await panel_of(stand_in, visit, view)
    scale = await axis(panel)
    below, above = await path(panel, ".layer")
    tops = [0.25, 0.25, 1, 1] if share else [10, 20, 40, 80]
    expected = [scale.height(top) for top in tops]
    assert [y for _, y in (*below[:2], *above[:2])] == pytest.approx(expected, abs=NEAR)
    assert below[:2] == above[2:][::-1]


async def test_bars_are_as_tall_as_their_values(stand_in: StandIn, visit: Visit) -> None:
    """Below nought they hang. Red when a bar begins anywhere but at nought."""
    values = [120, 45.5, -30, 80]
    answer = rows({"name": "text", "n": "float"}, *[[f"n{n}", value] for n, value in enumerate(values)])
    panel = await panel_of(stand_in, visit, {"kind": "bar", "bar": ["n"], "by": "name", "answer": answer})
    scale = await axis(panel)
    zero = scale.height(0)
    for box, value in zip(await boxes(panel), values, strict=True):
        ends = sorted((scale.height(value), zero))
        assert [box["y"], box["y"] + box["height"]] == pytest.approx(ends, abs=NEAR)


async def test_stacked_bars_part_above_and_below_nought(stand_in: StandIn, visit: Visit) -> None:
    """Gains stand on nought, losses hang from it. Red with d3's plain offset: a loss is drawn over the gain."""
    answer = rows({"m": "text", "gain": "integer", "loss": "integer"}, ["a", 40, -10], ["b", 20, -30])
    view = {"kind": "bar", "bar": ["gain", "loss"], "by": "m", "stack": "sum", "answer": answer}
    panel = await panel_of(stand_in, visit, view)
    scale = await axis(panel)
    spans = [(each["y"], each["y"] + each["height"]) for each in await boxes(panel)]
    expected = [(scale.height(max(0, value)), scale.height(min(0, value))) for value in (40, -10, 20, -30)]
    assert spans == [pytest.approx(each, abs=NEAR) for each in expected]


async def test_lying_bars_are_sorted_limited_and_labelled(stand_in: StandIn, visit: Visit) -> None:
    """The largest first, the others as one, numbers at their ends."""
    values = {"a": 10, "b": 400, "c": 30, "d": 20, "e": 5}
    answer = rows({"name": "text", "n": "integer"}, *map(list, values.items()))
    view = {
        "kind": "bar",
        "bar": ["n"],
        "by": "name",
        "horizontal": True,
        "sort": "largest",
        "limit": 2,
        "answer": answer,
    }
    panel = await panel_of(stand_in, visit, view)
    assert await panel.locator("text.name").all_text_contents() == ["b", "c", "Other (3)"]
    assert await panel.locator("text.value").all_text_contents() == ["400", "30", "35"]
    widths = [each["width"] for each in await boxes(panel)]
    assert [width / widths[0] for width in widths] == pytest.approx([1, 30 / 400, 35 / 400], abs=0.005)


async def test_slices_are_as_large_as_their_shares(stand_in: StandIn, visit: Visit) -> None:
    """By the area that the browser fills: the length around the ring's middle."""
    answer = rows({"name": "text", "n": "integer"}, ["a", 10], ["b", 60], ["c", 30])
    panel = await panel_of(stand_in, visit, {"kind": "donut", "donut": "n", "by": "name", "answer": answer})
    lengths = await panel.locator("path.slice").evaluate_all(
        "all => all.map((each) => [...each.getAttribute('d').matchAll(/A[^AL]*/g)].length && each.getTotalLength())"
    )
    box = await box_of(panel.locator("svg.plot"))
    outer, inner = box["width"] / 2 - 3, box["width"] * 0.32
    angles = [(length - 2 * (outer - inner)) / (outer + inner) for length in lengths]
    assert [angle / (2 * math.pi) for angle in angles] == pytest.approx([0.6, 0.3, 0.1], abs=0.005)
    assert await panel.locator(".legend-note").all_inner_texts() == ["60%", "30%", "10%"]
    assert await panel.locator(".total").text_content() == "100"


async def test_a_share_below_the_whole_is_not_the_whole(stand_in: StandIn, visit: Visit) -> None:
    """Red when the first slice of 99.8% had 100% in the legend, next to two others."""
    answer = rows({"name": "text", "n": "integer"}, ["a", 9_980], ["b", 15], ["c", 5])
    panel = await panel_of(stand_in, visit, {"kind": "donut", "donut": "n", "by": "name", "answer": answer})
    assert await panel.locator(".legend-note").all_inner_texts() == ["99.8%", "0.15%", "0.05%"]


async def test_points_lie_at_both_numbers_and_their_area_is_the_third(stand_in: StandIn, visit: Visit) -> None:
    """Red when the radius grows with the number: one that is 4 times as large would look 16 times as large."""
    answer = rows({"x": "float", "y": "float", "n": "integer"}, [0, 10, 100], [50, 20, 25], [100, 40, 0])
    panel = await panel_of(
        stand_in, visit, {"kind": "scatter", "scatter": "y", "by": "x", "size": "n", "answer": answer}
    )
    scale = await axis(panel)
    circles = await panel.locator("circle.point").evaluate_all(
        "all => all.map((each) => ['cx', 'cy', 'r'].map((name) => Number(each.getAttribute(name))))"
    )
    across = sorted(circles)
    assert [y for _, y, _ in across] == pytest.approx([scale.height(value) for value in (10, 20, 40)], abs=NEAR)
    assert across[1][0] - across[0][0] == pytest.approx(across[2][0] - across[1][0], abs=0.02)
    assert [r for _, _, r in across][:2] == [14, 7]


async def test_points_of_one_size_are_as_small_as_without_it(stand_in: StandIn, visit: Visit) -> None:
    """And the day that is both axis and label is written as on the axis. Red when hundreds of the largest points were
    one band, and when a tooltip had a day in two forms."""
    days = [[f"2026-11-{day:02}", day % 7, 1] for day in range(1, 29)]
    answer = rows({"day": "text", "y": "float", "n": "integer"}, *days)
    view = {"kind": "scatter", "scatter": "y", "by": "day", "size": "n", "label": "day", "answer": answer}
    panel = await panel_of(stand_in, visit, view)
    points = panel.locator("circle.point")
    assert set(await points.evaluate_all("all => all.map((each) => each.getAttribute('r'))")) == {"4.00"}
    await panel.locator(".chart").focus()
    await panel.page.keyboard.press("ArrowRight")
    tip = await panel.page.locator(".tip").inner_text()
    assert "Nov 1, 2026" in tip
    assert "2026-11" not in tip


async def test_points_that_are_not_as_they_seem_are_counted(stand_in: StandIn, visit: Visit) -> None:
    """A size below 0 looks like the smallest; a point without a place is not drawn. Red when nothing is said."""
    answer = rows({"x": "float", "y": "float", "n": "integer"}, [0, 10, -100], [50, 20, 25], [None, 40, 3])
    view = {"kind": "scatter", "scatter": "y", "by": "x", "size": "n", "answer": answer}
    panel = await panel_of(stand_in, visit, view)
    said = await panel.locator(".chart-note").inner_text()
    assert said == "1 value has no place on the axis and is not drawn. 1 size is below 0 and drawn as the smallest."


@pytest.mark.parametrize("diverging", [False, True])
async def test_a_heat_map_has_a_cell_for_each_pair(stand_in: StandIn, visit: Visit, diverging: bool) -> None:
    """Hours in order whatever that of the rows; no cell where there is no row; more is darker on a light page."""
    given = [["Mon", 2, 5], ["Mon", 1, -10], ["Tue", 2, 10]]
    answer = rows({"day": "text", "hour": "integer", "n": "integer"}, *given)
    view = {"kind": "heatmap", "heatmap": "n", "by": "hour", "rows": "day", "diverging": diverging, "answer": answer}
    panel = await panel_of(stand_in, visit, view)
    late, early, tuesday = await boxes(panel, "rect.cell")
    assert late["y"] == early["y"] < tuesday["y"]
    assert early["x"] < late["x"] == tuesday["x"]
    assert await panel.locator(".axis-bottom text").all_text_contents() == ["1", "2"]
    fills = await panel.locator("rect.cell").evaluate_all("all => all.map((each) => getComputedStyle(each).fill)")
    light = [float(re.findall(r"[\d.]+", fill)[0]) for fill in fills]
    assert light[2] < light[0]
    assert fills[1] != fills[2]
    assert not diverging or light[1] < light[0]


async def test_the_weeks_of_a_heat_map_are_in_order_and_their_labels_whole(stand_in: StandIn, visit: Visit) -> None:
    """Also where the engine has its days as texts. Red when only the type of a column makes a time of it, and when a
    label is cut to the width of its cell."""
    weeks = [(date(2026, 6, 1) + timedelta(days=7 * week)).isoformat() for week in range(26)]
    given = [[day, week, 1] for day in ("Mon", "Tue") for week in weeks if (day, week) != ("Mon", weeks[0])]
    answer = rows({"day": "text", "week": "text", "n": "integer"}, *given)
    view = {"kind": "heatmap", "heatmap": "n", "by": "week", "rows": "day", "answer": answer}
    panel = await panel_of(stand_in, visit, view)
    labels = await panel.locator(".axis-bottom text").all_text_contents()
    assert labels[0] == "Jun 1, 2026"
    assert "…" not in "".join(labels)
    assert len(labels) > 3


async def test_a_sparkline_ends_with_the_last_value(stand_in: StandIn, visit: Visit) -> None:
    """Its lowest value at the bottom, its highest at the top, whatever the order of the rows. Red with an area below it
    down to its lowest value, as if that were zero."""
    months = rows({"month": "date", "n": "integer"}, ["2013-02-01", 5], ["2013-01-01", 1], ["2013-03-01", 3])
    answer = rows({"n": "integer"}, [9], sparkline=months)
    panel = await panel_of(stand_in, visit, {"kind": "figure", "figure": "n", "answer": answer})
    ((first, second, third),) = await path(panel, ".sparkline .line")
    assert [first[1], second[1], third[1]] == [29, 3, 16]
    assert await panel.locator(".sparkline circle").get_attribute("cy") == "16"
    assert await panel.locator(".sparkline .area").count() == 0


async def test_a_sparkline_has_gaps(stand_in: StandIn, visit: Visit) -> None:
    """A month without a value parts the line, and a value alone is a dot. Red when the line goes on over the gap."""
    months = [[MONTHS[place], value] for place, value in enumerate([4, None, 1, 3, None])]
    answer = rows({"n": "integer"}, [9], sparkline=rows({"month": "date", "n": "integer"}, *months))
    panel = await panel_of(stand_in, visit, {"kind": "figure", "figure": "n", "answer": answer})
    assert [len(part) for part in await path(panel, ".sparkline .line")] == [1, 2]
    assert await panel.locator(".sparkline circle").count() == 2


async def test_a_reference_line_is_at_its_value_and_says_it(stand_in: StandIn, visit: Visit) -> None:
    """Its label stands beside the plot and within the panel. Red when the label has no margin of its own."""
    answer = rows({"x": "integer", "n": "integer"}, [1, 10], [2, 20])
    view = {
        "kind": "line",
        "line": ["n"],
        "by": "x",
        "reference": {"value": 15, "label": "what we promise"},
        "answer": answer,
    }
    panel = await panel_of(stand_in, visit, view, width=360)
    y = float(await panel.locator(".reference line").get_attribute("y1") or 0)
    assert y == pytest.approx((await axis(panel)).height(15), abs=NEAR)
    label = await box_of(panel.locator(".reference text"))
    around = await box_of(panel)
    assert await panel.locator(".reference text").text_content() == "what we promise 15"
    assert label["x"] + label["width"] < around["x"] + around["width"]
    # Red when the author's own number was rounded: "standard 1,013".
    exact = view | {"reference": {"value": 1013.25, "label": "standard"}}
    panel = await panel_of(stand_in, visit, exact)
    assert await panel.locator(".reference text").text_content() == "standard 1,013.25"


async def test_a_specification_of_vega_lite(stand_in: StandIn, visit: Visit) -> None:
    """Its data are the rows; its bundle comes from the same server, and only where it is needed; no violation."""
    marks = {
        "mark": "bar",
        "encoding": {"x": {"field": "name", "type": "nominal"}, "y": {"field": "n", "type": "quantitative"}},
    }
    answer = rows({"name": "text", "n": "integer"}, ["a", 10], ["b", 60])
    seen = await visit(stand_in.show([{"kind": "vega", "title": "Free", "vega": marks, "answer": answer}]))
    bars = seen.page.locator(".vega .mark-rect path")
    await bars.first.wait_for()
    assert await bars.count() == 2
    assert seen.console == []
    assert await seen.violations() == []
    usual = await visit(stand_in.show([{"kind": "bar", "bar": ["n"], "by": "name", "answer": answer}]))
    assert [request.url for request in usual.requests if "vega" in request.url] == []


async def test_labels_never_lie_over_one_another(stand_in: StandIn, visit: Visit) -> None:
    """Long names, at the width of a telephone. Red when labels are not measured."""
    names = [f"Terminal {n} of the northern airport" for n in range(14)]
    answer = rows({"name": "text", "n": "integer"}, *[[name, 7] for name in names])
    view = {"kind": "bar", "bar": ["n"], "by": "name", "answer": answer}
    for panel in await panels_of(stand_in, visit, view, view | {"horizontal": True}, width=360):
        labels = panel.locator("text.label:not(.value)")
        spots = [await box_of(each) for each in await labels.all()]
        assert len(spots) > 2
        for place, one in enumerate(spots):
            for other in spots[place + 1 :]:
                apart_x = one["x"] + one["width"] <= other["x"] + 0.5 or other["x"] + other["width"] <= one["x"] + 0.5
                apart_y = one["y"] + one["height"] <= other["y"] + 1 or other["y"] + other["height"] <= one["y"] + 1
                assert apart_x or apart_y


async def test_both_axes_of_a_scatter_chart_are_named(stand_in: StandIn, visit: Visit) -> None:
    """With the unit of the panel; within the drawing, and over no label. Red without the names."""
    answer = rows({"distance": "float", "mean_delay": "float"}, [200, 3], [900, 12.5], [2400, -4])
    view = {"kind": "scatter", "scatter": "mean_delay", "by": "distance", "unit": "min", "answer": answer}
    for width in (1440, 360):
        panel = await panel_of(stand_in, visit, view, width=width)
        assert await panel.locator(".axis-name").all_text_contents() == ["Mean delay, min", "Distance"]
        names = [await box_of(each) for each in await panel.locator(".axis-name").all()]
        labels = [await box_of(each) for each in await panel.locator(".axis .label").all()]
        around = await box_of(panel.locator("svg.plot"))
        assert not [1 for name in names for label in labels if _overlap(name, label)]
        for name in names:
            assert around["x"] - 1 <= name["x"]
            assert name["x"] + name["width"] <= around["x"] + around["width"] + 1
            assert around["y"] - 1 <= name["y"]
            assert name["y"] + name["height"] <= around["y"] + around["height"] + 1


def _overlap(one: dict[str, float], other: dict[str, float]) -> bool:
    def apart(start: str, length: str) -> bool:
        return one[start] + one[length] <= other[start] + 1 or other[start] + other[length] <= one[start] + 1

    return not apart("x", "width") and not apart("y", "height")


@pytest.mark.parametrize("kind", ["scatter", "line"])
async def test_a_single_value_is_drawn_where_the_axes_say(stand_in: StandIn, visit: Visit, kind: str) -> None:
    """One value on either axis: the mark lies within the plot, on the height of its value, and a point of a scatter
    chart on no edge. Red when the axis began at the value itself."""
    view: Message = {"kind": kind, kind: "n" if kind == "scatter" else ["n"], "by": "x"}
    values = [5, -5, 0, 1_000_000, 0.0003]
    answers = [rows({"x": "float", "n": "float"}, [value, value], [value, value]) for value in values]
    panels = await panels_of(stand_in, visit, *[view | {"answer": answer} for answer in answers])
    for value, panel in zip(values, panels, strict=True):
        await _is_within(panel, kind, value)


async def _is_within(panel: Locator, kind: str, value: float) -> None:
    low, high = await panel.locator(".axis-value .label").evaluate_all(
        "all => [all.at(0), all.at(-1)].map((each) => Number(each.getAttribute('y')))"
    )
    labels = await panel.locator(".axis-bottom .label").all_text_contents()
    assert labels, value
    assert await panel.locator(".axis-value .label").count() >= 2, value
    mark = panel.locator("circle.point" if kind == "scatter" else ".series circle, .series .line").first
    box, plot = await box_of(mark), await box_of(panel.locator("svg.plot"))
    middle = box["y"] + box["height"] / 2 - plot["y"]
    assert high - NEAR <= middle <= low + NEAR, value
    if kind == "scatter":
        assert high + 20 < middle < low - 20, value
        across = box["x"] + box["width"] / 2 - plot["x"]
        assert 0.2 * plot["width"] < across < 0.8 * plot["width"], value
