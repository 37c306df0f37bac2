"""What stands beside marks: the labels of an axis, the legend of a ring."""

from __future__ import annotations

from itertools import pairwise

import pytest
from playwright.async_api import Locator

from tests.dashboards.page.conftest import Visit, box_of
from tests.dashboards.page.marks import drawn, faults, panel_of, panels_of
from tests.dashboards.page.stand_in import Message, StandIn, rows

pytestmark = pytest.mark.slow

KINDS: tuple[Message, ...] = ({"kind": "line", "line": ["n"]}, {"kind": "scatter", "scatter": "n"})


@pytest.mark.parametrize("view", KINDS, ids=["line", "scatter"])
async def test_a_year_is_written_as_a_year(stand_in: StandIn, visit: Visit, view: Message) -> None:
    """On the axis as in the tooltip, and no half of one. Larger numbers have thousands. Red when the axis wrote 2,013
    and 2,013.5."""
    years = rows({"x": "integer", "n": "integer"}, [2013, 1], [2014, 2], [2015, 3])
    large = rows({"x": "integer", "n": "integer"}, [20_000, 1], [20_400, 2])
    shown = [[view | {"by": "x", "answer": answer}] for answer in (years, large)]
    page = (await visit(stand_in.show(*shown))).page
    first = await page.locator("[data-panel='1-1'] .axis-bottom text").all_text_contents()
    assert {"2013", "2014", "2015"} <= set(first)
    assert all(text.isdigit() and len(text) == 4 for text in first)
    second = await page.locator("[data-panel='2-1'] .axis-bottom text").all_text_contents()
    assert second[0].startswith("20"), second
    assert "20000" not in second


@pytest.mark.parametrize("kind", ["text", "float"])
async def test_years_of_any_type_are_whole(stand_in: StandIn, visit: Visit, kind: str) -> None:
    """On both axes: SQLite's are texts, and other engines extract decimals. Red when only integers were: "2024.5"."""
    years = ["2024", "2025", "2026"] if kind == "text" else [2024.0, 2025.0, 2026.0]
    given = rows({"year": kind, "n": "integer"}, *[[year, 5] for year in years])
    above = rows({"n": "text", "year": kind}, *[["abc"[place], year] for place, year in enumerate(years)])
    area: Message = {"kind": "area", "area": ["n"], "by": "year", "answer": given}
    across = [each | {"by": "year", "answer": given} for each in KINDS] + [area, area | {"stack": "sum"}]
    up: list[Message] = [
        {"kind": kind, kind: year, "by": "n", "answer": above}
        for kind, year in (("line", ["year"]), ("scatter", "year"))
    ]
    page = (await visit(stand_in.show(across[:2], across[2:], up))).page
    for line in (1, 2, 3):
        for place in (1, 2):
            axis = "value" if line == 3 else "bottom"
            texts = await page.locator(f"[data-panel='{line}-{place}'] .axis-{axis} text").all_text_contents()
            assert set(texts) >= {"2024", "2025", "2026"}, (line, place)
            assert all(text.isdigit() and len(text) == 4 for text in texts), texts


async def test_a_ring_of_one_slice_has_a_name(stand_in: StandIn, visit: Visit) -> None:
    """Beside it and below it, as after a click on a slice, and no seam. Red when only several slices had a legend."""
    view = {"kind": "donut", "donut": "n", "by": "x", "answer": rows({"x": "text", "n": "integer"}, ["Damaged", 5])}
    for width in (900, 360):
        page = (await visit(stand_in.show([view]), width=width)).page
        assert await page.locator(".legend-item").inner_text() == "Damaged\n100%"
        assert await page.locator("path.slice").evaluate("(each) => getComputedStyle(each).stroke") == "none"
        await page.locator(".legend-item").click()
        assert await page.locator("path.slice").count() == 1


NAMED: tuple[Message, ...] = (
    {"kind": "bar", "bar": ["n"]},
    {"kind": "bar", "bar": ["n"], "stack": "share", "horizontal": True},
    {"kind": "line", "line": ["n"]},
    {"kind": "scatter", "scatter": "n"},
)


@pytest.mark.parametrize("view", NAMED, ids=["bar", "share", "line", "scatter"])
async def test_a_value_alone_has_a_name(stand_in: StandIn, visit: Visit, view: Message) -> None:
    """Where a filter leaves one series of several: no title says which one it is. A measure alone has none. Red when
    only several series had a legend: all bars were 100 % of nobody knew what."""
    answer = rows({"x": "integer", "kind": "text", "n": "integer"}, [1, "Weekend", 4], [2, "Weekend", 6])
    shown = [view | {"by": "x", "answer": answer} | more for more in ({"color": "kind"}, {})]
    page = (await visit(stand_in.show(shown))).page
    assert await page.locator("[data-panel='1-1'] .legend-item").all_inner_texts() == ["Weekend"]
    assert await page.locator("[data-panel='1-2'] .legend-item").count() == 0
    assert [fault for measured in (await drawn(page)).values() for fault in faults(measured)] == []


async def test_long_names_beside_a_ring_are_whole(stand_in: StandIn, visit: Visit) -> None:
    """On two lines. Red when they were cut beside an empty space: "Enterprise plus (with …"."""
    names = [f"Enterprise plus {number} (with dedicated support)" for number in range(3)]
    view = {"kind": "donut", "donut": "n", "by": "x", "width": 4}
    answer = rows({"x": "text", "n": "integer"}, *[[name, 5] for name in names])
    page = (await visit(stand_in.show([view | {"answer": answer}, KINDS[0] | {"by": "n", "answer": answer}]))).page
    script = "all => all.map((each) => each.scrollHeight <= each.clientHeight && each.scrollWidth <= each.clientWidth)"
    assert await page.locator(".legend-name").evaluate_all(script) == [True] * 3


@pytest.mark.parametrize(
    ("limit", "width"), [({"limit": 10}, 1440), ({"limit": 10}, 360), ({"limit": 3}, 1440), ({}, 1440)]
)
async def test_a_ring_has_as_many_slices_as_its_author_says(
    stand_in: StandIn, visit: Visit, limit: Message, width: int
) -> None:
    """Seven without a word, and the rest as one. The ring stays large enough to see. Red when more than seven were
    never drawn."""
    answer = rows({"name": "text", "n": "integer"}, *[[f"n{n}", 20 + n] for n in range(14)])
    view = {"kind": "donut", "donut": "n", "by": "name", "answer": answer}
    page = (await visit(stand_in.show([view | limit]), width=width)).page
    most = limit.get("limit", 7)
    assert await page.locator("path.slice").count() == most + 1
    assert (await page.locator(".legend-name").all_inner_texts())[-1] == f"Other ({14 - most})"
    assert (await box_of(page.locator("svg.plot")))["width"] >= 130


async def test_a_reference_leaves_the_numbers_of_bars_readable(stand_in: StandIn, visit: Visit) -> None:
    """The number has the panel's colour around it, and is drawn last. Red when the line went through "25.0%"."""
    answer = rows({"x": "text", "n": "float"}, ["a", 0.5], ["b", 0.25])
    view = {
        "kind": "bar",
        "bar": ["n"],
        "by": "x",
        "horizontal": True,
        "format": "percent",
        "reference": {"value": 0.27},
    }
    panel = await panel_of(stand_in, visit, view | {"answer": answer}, width=390)
    line, number = [await box_of(panel.locator(each)) for each in (".reference line", ".label.value >> text=25.0%")]
    assert number["x"] < line["x"] < number["x"] + number["width"]
    script = """([line, number]) => {
        const style = getComputedStyle(number);
        const panel = getComputedStyle(number.closest(".panel")).backgroundColor;
        const isAfter = line.compareDocumentPosition(number) & Node.DOCUMENT_POSITION_FOLLOWING;
        const isAround = style.paintOrder.startsWith("stroke") && parseFloat(style.strokeWidth) >= 3;
        return isAfter && isAround && style.stroke === panel;
    }"""
    both = [await panel.locator(each).element_handle() for each in (".reference line", ".label.value >> text=25.0%")]
    assert await panel.page.evaluate(script, both)


@pytest.mark.parametrize("more", [{}, {"size": "n"}])
async def test_points_keep_off_the_labels_of_axes(stand_in: StandIn, visit: Visit, more: Message) -> None:
    """Those at the ends of both axes. Red when one at the lowest number covered a year below it."""
    answer = rows({"x": "integer", "y": "integer", "n": "integer"}, *[[2015 + n, 10 * n, 5] for n in range(6)])
    view = {"kind": "scatter", "scatter": "y", "by": "x", "answer": answer} | more
    panel = await panel_of(stand_in, visit, view, width=390)
    (measured,) = (await drawn(panel.page)).values()
    over = [(text, mark.box) for text, box in measured.texts for mark in measured.of("point") if box.overlaps(mark.box)]
    assert over == []


async def test_names_at_the_ends_of_lines_leave_the_reference_readable(stand_in: StandIn, visit: Visit) -> None:
    """They are one above the other and keep off the label of the reference line. Red when only the names kept off one
    another: two lines that ended at 15 hid "late 15"."""
    answer = rows({"x": "integer", "a": "integer", "b": "integer", "c": "integer"}, [1, 0, 20, 5], [2, 15, 16, 14])
    view = {"kind": "line", "line": ["a", "b", "c"], "by": "x", "reference": {"value": 15, "label": "late"}}
    page = (await visit(stand_in.show([view | {"answer": answer}]))).page
    names = page.locator("[data-panel='1-1'] .legend-item")
    assert await names.count() == 3
    boxes = [await box_of(each) for each in await names.all()]
    boxes.append(await box_of(page.locator("[data-panel='1-1'] .reference text")))
    boxes.sort(key=lambda box: box["y"])
    for above, below in pairwise(boxes):
        assert above["y"] + above["height"] <= below["y"] + 1, boxes


ENDS: list[tuple[float, tuple[float, ...]]] = [
    (28, (29, 28.6, 28.3)),
    (28, (28.2, 28.1, 3)),
    (2, (2.5, 1, 0.5)),
    (15, (0, 0.1, 0.2)),
    (29, (28, 27, 26)),
]


async def test_names_at_the_ends_stand_on_their_side_of_the_reference(stand_in: StandIn, visit: Visit) -> None:
    """In the order in which the lines end, within the plot's height. Red when as many stood above the reference as had
    room there: a line that ended above it was named below it."""
    shown = []
    for level, last in ENDS:
        answer = rows({"x": "integer"} | dict.fromkeys("abc", "float"), [1, 0, 10, 20], [2, *last])
        view = {"kind": "line", "line": [*"abc"], "by": "x", "reference": {"value": level, "label": "goal"}}
        shown.append([view | {"answer": answer}, KINDS[0] | {"by": "x", "answer": answer}])
    page = (await visit(stand_in.show(*shown))).page
    for line, (level, last) in enumerate(ENDS, 1):
        await _ends_are_in_order(page.locator(f"[data-panel='{line}-1']"), level, last)


async def _ends_are_in_order(panel: Locator, level: float, last: tuple[float, ...]) -> None:
    names = ["a", "b", "c"]
    ends = {name: await box_of(panel.locator(f".legend-item[data-key={name}]")) for name in names}
    ends["goal"] = await box_of(panel.locator(".reference text"))
    values = dict(zip(names, last, strict=True)) | {"goal": level}
    assert sorted(ends, key=lambda name: ends[name]["y"]) == sorted(values, key=lambda name: -values[name])
    middles = sorted(each["y"] + each["height"] / 2 for each in ends.values())
    assert all(below - above > 15 for above, below in pairwise(middles)), middles
    frame, axis = [await box_of(panel.locator(each)) for each in ("svg.plot", ".axis-bottom")]
    assert frame["y"] <= middles[0]
    assert middles[-1] <= axis["y"]


@pytest.mark.parametrize("width", [1440, 390])
async def test_the_label_of_a_reference_leaves_room_for_the_marks(stand_in: StandIn, visit: Visit, width: int) -> None:
    """Beside the plot, or above it where it is long or the panel narrow; whole in both places. Red when it took almost
    half of the width and was cut, and when bars that lie had a line without a word."""
    answer = rows({"x": "text", "n": "integer"}, *[[f"name {n}", 9 * n] for n in range(1, 7)])
    common = {"by": "x", "reference": {"value": 30, "label": "Target of the region"}, "answer": answer}
    bar: Message = {"kind": "bar", "bar": ["n"]}
    views = [each | common for each in (KINDS[0], bar, bar | {"horizontal": True})]
    panels = await panels_of(stand_in, visit, *views, width=width)
    for panel in panels:
        assert await panel.locator(".reference text").text_content() == "Target of the region 30"
    assert [fault for each in (await drawn(panels[0].page)).values() for fault in faults(each)] == []
    for panel in panels[:2]:
        across = await panel.locator(".reference line").evaluate(
            "(each) => each.x2.baseVal.value - each.x1.baseVal.value"
        )
        assert across > 0.7 * (await box_of(panel.locator("svg.plot")))["width"]


@pytest.mark.parametrize(("width", "lines"), [(1440, 1), (820, 2)])
async def test_names_below_bars_take_two_lines(stand_in: StandIn, visit: Visit, width: int, lines: int) -> None:
    """Where one is too short, and the bars leave them room. Red when a name was cut at the width of its bar."""
    names = [f"Customer {n} of the northern region" for n in range(1, 6)]
    answer = rows({"name": "text", "n": "integer"}, *[[name, 7] for name in names])
    panel = await panel_of(stand_in, visit, {"kind": "bar", "bar": ["n"], "by": "name", "answer": answer}, width=width)
    labels = panel.locator(".axis-bottom .label")
    assert [" ".join(each.split()) for each in await labels.all_text_contents()] == names
    assert await labels.locator("tspan").count() == len(names) * (lines - 1)
    (measured,) = (await drawn(panel.page)).values()
    assert [*faults(measured)] == []


SIDEWAYS: tuple[Message, ...] = (
    {"kind": "bar", "bar": ["n"], "by": "name", "horizontal": True},
    {"kind": "heatmap", "heatmap": "n", "by": "x", "rows": "name"},
)


@pytest.mark.parametrize(("width", "wraps"), [(1440, False), (390, True)])
async def test_names_at_the_side_take_two_lines(stand_in: StandIn, visit: Visit, width: int, wraps: bool) -> None:
    """Where a band is tall enough. Red when a name was cut at a part of the width: "Field (no…" beside tall bands."""
    names = ["Technik & Betrieb", "Onboarding of customers", "North of the railway"]
    answer = rows({"name": "text", "x": "text", "n": "integer"}, *[[name, "a", 7] for name in names])
    panels = await panels_of(stand_in, visit, *[view | {"answer": answer} for view in SIDEWAYS], width=width)
    for panel in panels:
        labels = panel.locator(".label.name")
        assert [" ".join(each.split()) for each in await labels.all_text_contents()] == names
        assert (await labels.locator("tspan").count() > 0) == wraps
    assert [fault for each in (await drawn(panels[0].page)).values() for fault in faults(each)] == []


async def test_names_of_many_bars_stay_on_one_line(stand_in: StandIn, visit: Visit) -> None:
    """Bands of 26 pixels have no room for two. Red when they took two nevertheless: each stood on the next one."""
    names = [f"Customer {n} of the northern region and its surroundings" for n in range(14)]
    answer = rows({"name": "text", "n": "integer"}, *[[name, 7] for name in names])
    panel = await panel_of(stand_in, visit, SIDEWAYS[0] | {"answer": answer}, width=390)
    assert await panel.locator(".label.name tspan").count() == 0
    (measured,) = (await drawn(panel.page)).values()
    assert [*faults(measured)] == []
