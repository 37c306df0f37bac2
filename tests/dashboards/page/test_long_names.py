"""Long names in narrow panels are whole where there is room for them."""

from __future__ import annotations

import pytest

from tests.dashboards.page.conftest import Visit, box_of
from tests.dashboards.page.marks import panel_of
from tests.dashboards.page.stand_in import Message, StandIn, rows

pytestmark = pytest.mark.slow

NAMES = [
    "Industrial Refrigeration Equipment Sales",
    "Wholesale Distribution of Office Supplies",
    "Regional Maintenance and Repair Services",
    "Donaudampfschifffahrtsgesellschaftskapitän",
]
HEAT: Message = {"kind": "heatmap", "heatmap": "n", "by": "day", "rows": "k"}
BARS: Message = {"kind": "bar", "bar": ["n"], "by": "k"}
TEXTS = """() => [...document.querySelectorAll(".plot .label")].map((each) => {
    const { left, right, top, bottom } = each.getBoundingClientRect();
    return { text: each.textContent.replaceAll(" ", ""), box: [left, top, right, bottom] };
})"""


def heat(names: list[str]) -> Message:
    cells = [[day, name, place] for place, name in enumerate(names) for day in ("Mon", "Tue", "Wed")]
    return HEAT | {"answer": rows({"day": "text", "k": "text", "n": "integer"}, *cells)}


def bars(names: list[str], **more: object) -> Message:
    return BARS | more | {"answer": rows({"k": "text", "n": "integer"}, *[[name, 5] for name in names])}


@pytest.mark.parametrize(
    "view",
    [heat(NAMES), heat(NAMES[:2]), bars(NAMES), bars(NAMES, horizontal=True), bars([*NAMES, "Alpha", "Beta"])],
    ids=["heat", "short heat", "bars", "lying", "six"],
)
async def test_names_of_forty_letters_are_whole_in_a_narrow_panel(
    stand_in: StandIn, visit: Visit, view: Message
) -> None:
    """On up to three lines; bars lie where their names have no room below them. None is over another one or outside.
    Red with "Distribution o…" and "Donauda…"."""
    page = (await visit(stand_in.show([view]), width=390)).page
    found = await page.evaluate(TEXTS)
    names = {row[0 if view["kind"] == "bar" else 1] for row in view["answer"]["rows"]}
    assert {name.replace(" ", "") for name in names} <= {each["text"] for each in found}
    body = await page.locator(".panel-body").bounding_box()
    assert body is not None
    for place, each in enumerate(found):
        left, top, right, bottom = each["box"]
        assert body["x"] <= left + 4, each  # a line begins with a space, which nobody sees
        assert right <= body["x"] + body["width"] + 1
        for other in found[:place]:
            x1, y1, x2, y2 = other["box"]
            assert left >= x2 or x1 >= right or top >= y2 - 2 or y1 >= bottom - 2, (each, other)


async def test_bars_stand_where_their_names_have_room(stand_in: StandIn, visit: Visit) -> None:
    """Also on three lines. Red when a name on two lines made them lie, and when times lay."""
    for view, width in (
        (bars(["Ad sales and subscriptions", "Services", "Hardware"]), 390),
        (bars(NAMES[:3]), 640),
        (
            BARS | {"answer": rows({"k": "date", "n": "integer"}, *[[f"2026-01-{day:02}", 5] for day in range(1, 9)])},
            390,
        ),
    ):
        page = (await visit(stand_in.show([view]), width=width)).page
        first = page.locator("rect.bar").first
        assert float(await first.get_attribute("height") or 0) > float(await first.get_attribute("width") or 0)
        assert not [each["text"] for each in await page.evaluate(TEXTS) if "…" in each["text"]]


async def test_lying_bars_of_a_small_panel_have_different_names(stand_in: StandIn, visit: Visit) -> None:
    """However long their numbers are: those below 0 stand right of their bars, too. Red when "(empty)" and "(no value)"
    were both "……" beside an empty half of the panel."""
    names = [NAMES[0], "", None, "Boston", "Brisbane", "Accra"]
    amounts = [1.2345e-257, 5.09e-276, 3e-276, 2.45e-276, 2.4e-276, -6.49e-277]
    answer = rows({"k": "text", "n": "float"}, *map(list, zip(names, amounts, strict=True)))
    view = BARS | {"horizontal": True, "answer": answer}
    page = (await visit(stand_in.show([view, bars(["a"]), bars(["a"])]), width=820)).page
    assert await page.locator("[data-panel='1-1'] .plot").evaluate("(plot) => plot.viewBox.baseVal.width") < 260
    shown = await page.locator("[data-panel='1-1'] .label.name").all_text_contents()
    assert shown[1:] == ["(empty)", "(no value)", "Boston", "Brisbane", "Accra"]
    assert len(shown[0]) > 3


@pytest.mark.parametrize("count", [1, 2, 3, 4])
async def test_no_space_is_dead_below_a_short_heat_map(stand_in: StandIn, visit: Visit, count: int) -> None:
    """Red with a panel as tall as one of ten lines."""
    panel = await panel_of(stand_in, visit, heat(NAMES[:count]))
    below = await panel.evaluate("(panel) => panel.getBoundingClientRect().bottom")
    key = await panel.locator(".key").evaluate("(key) => key.getBoundingClientRect().bottom")
    assert below - key < 50


@pytest.mark.parametrize("chart", ["bars", "heat"])
async def test_a_shortened_name_from_right_to_left_ends_at_its_left(
    stand_in: StandIn, visit: Visit, chart: str
) -> None:
    """Red when its ellipsis stood at the right, where it begins."""
    names = [
        f"{word} لتوريد المعدات الصناعية وقطع الغيار والصيانة في جميع المناطق" for word in ("شركة", "مؤسسة", "مصنع")
    ]
    others = [f"Short {n}" for n in range(9)]
    view = bars([*names, *others], horizontal=True) if chart == "bars" else heat([*names, *others])
    page = (await visit(stand_in.show([view]), width=390)).page
    found = await page.evaluate(
        """() => [...document.querySelectorAll(".plot .label")].flatMap((each) => {
            const at = each.textContent.indexOf("…");
            return at < 0 ? [] : [[each.getExtentOfChar(0).x, each.getExtentOfChar(at).x]];
        })"""
    )
    assert len(found) == 3
    assert all(end < start for start, end in found), found


async def test_long_words_of_sentences_stay_in_their_panel(stand_in: StandIn, visit: Visit) -> None:
    """Of a description, a note, a title and the page's head. Red with a word that reached into the next panel."""
    word = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenfabrikation"
    old = bars(NAMES[:2], title=word, description=f"About {word}", refresh=10)
    old["answer"] = old["answer"] | {"age": 600.0}
    page = (await visit(stand_in.show([old], title=word, description=word), width=390)).page
    assert "old" in await page.locator(".panel-note").inner_text()
    await page.locator(".panel-note").evaluate("(note, word) => note.append(word)", word)
    wide = await page.evaluate(
        """() => [...document.querySelectorAll(".panel-note, .panel-about, .panel-title, h1, .about")]
            .filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.className)"""
    )
    assert wide == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_figures_of_a_table_do_not_fade(stand_in: StandIn, visit: Visit) -> None:
    """Where a column is whole within a narrow panel, its figures are. Red when the last 32 pixels faded out, and with
    them half of a number."""
    columns = ["name", "first", "second", "third", "fourth", "fifth"]
    lines = [[f"Customer number {n}", 1_234_567 + n, -7_654_321, 1_000_000_000 + n, 12, 345] for n in range(40)]
    answer = rows({"name": "text", **dict.fromkeys(columns[1:], "integer")}, *lines, total=40)
    table = {"kind": "table", "columns": [{"name": name} for name in columns], "title": "All", "answer": answer}
    page = (await visit(stand_in.show([table]), width=390)).page
    assert await page.locator(".table-scroller.more-right").count() == 1
    found = await page.evaluate(
        """() => {
            const scroller = document.querySelector(".table-scroller");
            const { left, right } = scroller.getBoundingClientRect();
            const fade = parseFloat(/to left.*?([0-9.]+)px/.exec(getComputedStyle(scroller).maskImage)[1]);
            const faded = [];
            for (let at = 0; at <= scroller.scrollWidth - scroller.clientWidth; at += 5) {
                scroller.scrollLeft = at;
                for (const cell of scroller.querySelectorAll("tbody tr:first-child .number")) {
                    const box = cell.getBoundingClientRect();
                    const text = cell.querySelector(".cell").getBoundingClientRect();
                    const isLast = !cell.nextElementSibling; // at the end nothing fades
                    if (!isLast && box.right <= right && text.right > right - fade) faded.push(cell.textContent);
                }
            }
            return faded;
        }"""
    )
    assert found == []


async def test_names_of_a_narrow_table_leave_room_for_its_figures(stand_in: StandIn, visit: Visit) -> None:
    """They go on in a second line; times do not. Red when the last column was half outside."""
    lines = [["Dr. Catherine Achterberg-Mbeki", "2026-11-29", -10_303 - n] for n in range(4)]
    answer = rows({"name": "text", "day": "date", "balance": "integer"}, *lines)
    table = {"kind": "table", "columns": [{"name": name} for name in ("name", "day", "balance")]}
    page = (await visit(stand_in.show([table | {"answer": answer}]), width=390)).page
    heights = await page.evaluate("[...document.querySelectorAll('tbody .cell')].map((each) => each.offsetHeight)")
    assert heights[0] > 1.5 * heights[1]
    assert await page.locator(".table-scroller.more-right").count() == 0


@pytest.mark.parametrize("count", [2, 3])
async def test_no_space_is_dead_beside_a_donut_on_a_tablet(stand_in: StandIn, visit: Visit, count: int) -> None:
    """Its legend stands beside it, so that the row is no taller than its other charts. On a phone each has the whole
    width. Red when the legend stood below the ring, and the row was 400 pixels tall."""
    wide = [{"width": 7}, {"width": 5}] if count == 2 else [{}, {}, {}]
    donut = {"kind": "donut", "donut": "n", "by": "k", "answer": bars([f"Name {n}" for n in range(7)])["answer"]}
    line = bars(["Alpha", "Beta", "Gamma"])
    page = (
        await visit(
            stand_in.show([{**each, **more} for each, more in zip([line, donut, line], wide, strict=False)]), width=820
        )
    ).page
    await page.locator("path.slice").first.wait_for()
    first, second = [await box_of(page.locator(f"[data-panel='1-{place}']")) for place in (1, 2)]
    assert await page.locator(".chart-donut.stands-beside").count() == 1
    assert first["height"] == second["height"] < 360
    await page.set_viewport_size({"width": 390, "height": 900})
    boxes = [await box_of(each) for each in await page.locator(".panel").all()]
    assert {each["width"] for each in boxes} == {390 - 32}


@pytest.mark.parametrize("width", [1440, 820, 390])
async def test_long_names_of_a_legend_are_whole(stand_in: StandIn, visit: Visit, width: int) -> None:
    """On up to three lines, also beside a donut in half a tablet's width. Red with "operation o…" beside a ring as wide
    as in a large panel, and with "Enterprise with a very long pla…"."""
    names = ["Follow-up after an operation of the knee", "Enterprise with a very long plan name that goes on", "Pro"]
    several = rows({"x": "integer", "k": "text", "n": "integer"}, *[[x, name, 5] for name in names for x in (1, 2)])
    line = {"kind": "line", "line": ["n"], "by": "x", "color": "k", "answer": several}
    donut = {"kind": "donut", "donut": "n", "by": "k", "answer": bars([names[0], "X-ray", "Check-up"])["answer"]}
    page = (await visit(stand_in.show([line, line, line], [donut, donut]), width=width)).page
    await page.locator("path.slice").first.wait_for()
    found = await page.evaluate(
        """() => [...document.querySelectorAll(".legend-name")]
            .filter((each) => each.scrollHeight > each.clientHeight || each.scrollWidth > each.clientWidth)
            .map((each) => each.textContent)"""
    )
    assert await page.locator(".legend-name").count() == 15
    assert found == []
