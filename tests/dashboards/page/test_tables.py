"""Tables: pages and order come from the server; the head stays; columns go in the stated order where it is narrow."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest
from playwright.async_api import Page

from tests.dashboards.page.conftest import Visit, box_of, until
from tests.dashboards.page.gallery import ROUTE, table
from tests.dashboards.page.marks import drawn, panel_of
from tests.dashboards.page.stand_in import Message, StandIn, rows

WORDS = "foot => getComputedStyle(foot, '::after').content"
SETTLES = 0.5
"""Seconds, longer than a panel waits before it is fitted to its new size."""


async def first(page: Page) -> str:
    return await page.locator("tbody th").first.inner_text()


async def shows(page: Page, text: str) -> None:
    async def there() -> bool:
        return await first(page) == text

    await until(there)


async def test_pages_come_from_the_server(stand_in: StandIn, visit: Visit) -> None:
    """12 of 45 in words; the buttons end where the pages do; nothing below moves."""
    page = (await visit(stand_in.show([table()]))).page
    box = await page.locator(".panel").bounding_box()
    assert await page.locator(".count").inner_text() == "1–12 of 45"
    assert await page.get_by_role("button", name="Previous").is_disabled()
    await page.get_by_role("button", name="Next").click()
    await shows(page, "EWR → MGX")
    assert stand_in.asked[-1]["panels"] == [{"id": "1-1", "page": 1, "sort": "-flights"}]
    assert await page.locator(".panel").bounding_box() == box
    for _ in range(2):
        before = await first(page)
        await page.get_by_role("button", name="Next").click()
        await until(partial(_changed, page, before))
    assert await page.locator(".count").inner_text() == "37–45 of 45"
    assert await page.get_by_role("button", name="Next").is_disabled()


async def test_the_order_comes_from_the_server(stand_in: StandIn, visit: Visit) -> None:
    """By keyboard: numbers with the largest first, names with A first; the heading says it and keeps the focus."""
    page = (await visit(stand_in.show([table()]))).page
    heading = page.get_by_role("columnheader", name="Delay")
    await heading.get_by_role("button").focus()
    await page.keyboard.press("Enter")
    await shows(page, "EWR → SWX")
    assert await heading.get_attribute("aria-sort") == "descending"
    assert await page.evaluate("document.activeElement.textContent") == "Delay"
    await page.keyboard.press("Enter")
    await shows(page, "EWR → AAX")
    assert [each["panels"][0].get("sort") for each in stand_in.asked] == [None, "-delay", "delay"]
    await page.get_by_role("columnheader", name="Route").get_by_role("button").click()
    await until(lambda: _sorted(stand_in, "route"))


async def test_columns_are_written_as_the_author_says(stand_in: StandIn, visit: Visit) -> None:
    """Numbers at the right with one number of digits; bars as long as the numbers are large."""
    page = (await visit(stand_in.show([table()]))).page
    cells = await page.locator("tbody tr").first.locator("th, td").all_inner_texts()
    assert cells == ["EWR → AAX", "900", "200.0", "61.0%", "\N{MINUS SIGN}3.20", "$12,501"]
    widths = [row[1].bar.width for row in (await drawn(page))["1-1"].cells if row[1].bar]
    assert abs(widths[1] / widths[0] - 883 / 900) < 0.002
    assert await page.locator("td.number").first.evaluate("each => getComputedStyle(each).textAlign") == "right"


async def test_columns_go_in_the_stated_order(stand_in: StandIn, visit: Visit) -> None:
    """And can all be shown again; then the edges fade where there is more, and words say so. Red when they faded only:
    an edge that falls between two columns looks like that of the table."""
    page = (await visit(stand_in.show([table()]), width=480)).page
    heads = page.locator("thead th:visible")
    shown = await heads.all_inner_texts()
    assert shown in (["Route", "Flights", "On time", "Revenue"], ["Route", "Flights", "On time"])
    await page.get_by_role("button", name="more column").click()
    assert await heads.count() == 6
    assert await page.locator(".table-scroller.more-right").count() == 1
    assert await page.locator(".table-foot").evaluate(WORDS) == '"Scroll for more columns"'
    await page.locator(".table-scroller").evaluate("each => each.scrollTo(9999, 0)")
    await until(lambda: _count(page, ".table-scroller.more-left:not(.more-right)", 1))
    assert await page.locator(".table-foot").evaluate(WORDS) == '"Scroll for more columns"'


async def test_a_table_stays_at_its_end(stand_in: StandIn, visit: Visit) -> None:
    """Red when the words for more columns went at the end: the panel was less tall, was fitted again, and the table
    jumped back before its last column could be read; and when each fit put it back."""
    for width in (360, 390, 430, 480):
        page = (await visit(stand_in.show([table()]), width=width)).page
        await page.get_by_role("button", name="more column").click()
        await asyncio.sleep(SETTLES)
        scroller = page.locator(".table-scroller")
        end = await scroller.evaluate("each => { each.scrollTo(9999, 0); return each.scrollLeft; }")
        await asyncio.sleep(SETTLES)
        assert await scroller.evaluate("each => each.scrollLeft") == end > 0, width
        await page.set_viewport_size({"width": width - 1, "height": 800})
        await asyncio.sleep(SETTLES)
        assert await scroller.evaluate("each => each.scrollLeft") >= end, width


async def test_the_head_stays(stand_in: StandIn, visit: Visit) -> None:
    """Where a page of rows is taller than the panel."""
    long = table()
    rows_of = long["answer"]

    def all_rows(asked: Message, filters: object) -> Message:
        answer: Message = rows_of(asked, filters)
        return answer | {"rows": answer["rows"] * 4, "total": 48}

    page = (await visit(stand_in.show([long | {"answer": all_rows}]))).page
    top = (await box_of(page.locator("thead th").first))["y"]
    await page.locator(".table-scroller").evaluate("each => each.scrollTo(0, 400)")
    assert (await box_of(page.locator("thead th").first))["y"] == top
    assert await page.locator(".table-scroller.more-below").count() == 1


async def test_a_row_filters_the_page(stand_in: StandIn, visit: Visit) -> None:
    """By a click anywhere on it, and by a button for the keyboard; the chosen row says so."""
    page = (await visit(stand_in.show([table()], controls=[ROUTE]))).page
    await page.locator("tbody tr").nth(1).locator("td").nth(3).click()
    await until(lambda: _count(page, "tr[aria-current]", 1))
    assert stand_in.asked[-1]["filters"] == {"route": "EWR → BHX"}
    await page.get_by_role("button", name="EWR → BHX", exact=True).focus()
    await page.keyboard.press("Enter")
    await until(lambda: _count(page, "tr[aria-current]", 0))
    assert stand_in.asked[-1]["filters"] == {}


async def test_rows_without_a_name_have_a_button_that_can_be_read(stand_in: StandIn, visit: Visit) -> None:
    """Red when an empty text made a button without a name, for which a chart of the same rows says "(empty)"."""
    answer = rows({"route": "text", "flights": "integer"}, [None, 2], ["", 1])
    columns = [{"name": "route"}, {"name": "flights"}]
    page = (await visit(stand_in.show([table() | {"columns": columns, "answer": answer}], controls=[ROUTE]))).page
    assert await page.locator("tbody th button").all_inner_texts() == ["(no value)", "(empty)"]


async def _changed(page: Page, before: str) -> bool:
    return await first(page) != before


async def _sorted(stand_in: StandIn, sort: str) -> bool:
    return bool(stand_in.asked[-1]["panels"][0].get("sort") == sort)


async def _count(page: Page, selector: str, count: int) -> bool:
    return await page.locator(selector).count() == count


async def test_days_of_a_query_are_dates(stand_in: StandIn, visit: Visit) -> None:
    """Of all rows, also where clocks change between them; one hour among them, and all have theirs. Red when the days
    of ``trunc`` were written with "12:00 AM"."""
    days = [["2026-03-28T00:00:00+01:00", "2026-03-28T00:00:00"], ["2026-03-30T00:00:00+02:00", "2026-03-30T07:00:00"]]
    answer = rows({"day": "datetime", "at": "datetime"}, *days, total=2)
    page = (await visit(stand_in.show([{"kind": "table", "title": "Days", "answer": answer}]))).page
    cells = [
        each.replace("\N{NARROW NO-BREAK SPACE}", " ") for each in await page.locator("tbody .cell").all_inner_texts()
    ]
    assert cells == ["Mar 28, 2026", "Mar 28, 2026, 12:00 AM", "Mar 30, 2026", "Mar 30, 2026, 7:00 AM"]


async def test_an_hour_that_the_clock_says_twice(stand_in: StandIn, visit: Visit) -> None:
    """Red when both rows said the same."""
    times = [f"2026-10-25T{text}" for text in ("03:00:00+01:00", "02:00:00+01:00", "02:00:00+02:00", "01:00:00+02:00")]
    answer = rows({"at": "datetime", "n": "integer"}, *([time, 1] for time in times)) | {"total": 4}
    view = {"kind": "table", "columns": [{"name": "at"}, {"name": "n"}], "page": 10, "answer": answer}
    page = (await visit(stand_in.show([view]))).page
    shown = await page.locator("tbody th").all_inner_texts()
    assert [text.replace("\N{NARROW NO-BREAK SPACE}", " ").removeprefix("Oct 25, 2026, ") for text in shown] == [
        "3:00 AM",
        "2:00 AM, again",
        "2:00 AM",
        "1:00 AM",
    ]


CUT = """() => {
    const scroller = document.querySelector(".table-scroller");
    const { left, right } = scroller.getBoundingClientRect();
    const isSeen = (each) => getComputedStyle(each).opacity === "1";
    const found = new Set();
    const whole = new Set();
    for (let at = 0; at <= scroller.scrollWidth - scroller.clientWidth + 5; at += 5) {
        scroller.scrollLeft = at;
        scroller.dispatchEvent(new Event("scroll"));
        for (const cell of scroller.querySelectorAll("td.number .cell, td.number .cell [aria-hidden]")) {
            const box = cell.getBoundingClientRect();
            if (!box.width || box.right < left || box.left > right || !isSeen(cell.closest(".cell"))) continue;
            (box.left < left - 1 || box.right > right + 1 ? found : whole).add(cell.textContent);
        }
    }
    return [[...found], [...whole].length > 0];
}"""
"""The numbers that an edge cuts at some place of the scroller, and whether others are seen."""

LEDGER = {"doctor": "text", "booked": "integer", "balance": "decimal", "came": "float"}
DOCTORS = ("Dr. Achterberg", "Dr. Mbeki", "Dr. Catherine Smith")


@pytest.mark.parametrize("width", [390, 340])
async def test_no_digit_of_a_number_is_cut(stand_in: StandIn, visit: Visit, width: int) -> None:
    """Numbers are shorter where that is enough; else a column that an edge would cut is blank until it is scrolled to.
    Red when $10,303.45 was "$10,30" at the edge of a phone."""
    lines = [[name, 48, amount, 0.91] for name, amount in zip(DOCTORS, ("410.24", "-10303.45", "7"), strict=True)]
    columns = [{"name": name} | ({"format": "currency", "bar": True} if name == "balance" else {}) for name in LEDGER]
    more = [{"name": f"more_{n}", "format": "currency"} for n in range(5)]
    kinds = LEDGER | {each["name"]: "decimal" for each in more}
    view = {"kind": "table", "title": "Doctors"}
    few = view | {"columns": columns, "answer": rows(LEDGER, *lines, total=3)}
    wider = rows(kinds, *[[*line, *["-1234567.89"] * 5] for line in lines], total=3)
    many = view | {"columns": [*columns, *more], "answer": wider}
    for shown in (few, many):
        page = (await visit(stand_in.show([shown]), width=width)).page
        assert await page.evaluate(CUT) == [[], True]


async def test_headings_have_lines_before_numbers_go(stand_in: StandIn, visit: Visit) -> None:
    """Red when a heading of one line made a table scroll, and a sorted column was bars without numbers."""
    lines = [[f"Dec 2{n}, 2025", 150 + n, 60.5 - n] for n in range(8)]
    answer = rows({"day": "text", "flights": "integer", "mean_delay": "float"}, *lines, total=8)
    columns = [
        {"name": "day"},
        {"name": "flights"},
        {"name": "mean_delay", "title": "Mean delay of a day, min", "bar": True},
    ]
    table = {"kind": "table", "title": "Days", "columns": columns, "sort": "-mean_delay", "answer": answer}
    scroller = (await panel_of(stand_in, visit, table, width=390)).locator(".table-scroller")
    assert await scroller.evaluate("(each) => each.scrollWidth <= each.clientWidth")
    assert await scroller.locator(".unseen").count() == 0


async def test_a_number_that_is_not_seen_has_no_bar(stand_in: StandIn, visit: Visit) -> None:
    """There is a sign that it goes on instead. Red when a column was bars alone until it was scrolled to, and when it
    was blank, as if there were no numbers."""
    kinds = {"who": "text", **dict.fromkeys("abcde", "decimal")}
    answer = rows(kinds, ["Achterberg", *["1234567.89"] * 5], total=1)
    columns = [{"name": name, "bar": name != "who"} for name in kinds]
    panel = await panel_of(stand_in, visit, {"kind": "table", "columns": columns, "answer": answer}, width=390)
    hidden = "all => all.map((each) => getComputedStyle(each).opacity)"
    assert set(await panel.locator(".unseen .cell-bar").evaluate_all(hidden)) == {"0"}
    signs = "all => all.map((each) => getComputedStyle(each, '::before').content)"
    assert set(await panel.locator(".unseen").evaluate_all(signs)) == {'"…"'}


async def test_no_digit_of_a_chart_as_a_table_is_cut(stand_in: StandIn, visit: Visit) -> None:
    """Red when only tables of the author's kept their digits whole."""
    names = ["first_of_all_names", *"abcd"]
    answer = rows({"k": "text", **dict.fromkeys(names, "decimal")}, ["North", *["-1234567.89"] * 5])
    view = {"kind": "bar", "bar": names, "by": "k", "title": "Bars", "format": "currency", "answer": answer}
    page = (await visit(stand_in.show([view]), width=390)).page
    await page.get_by_role("button", name="Menu of Bars").click()
    await page.get_by_role("menuitem", name="Show as table").click()
    await page.locator(".twin .more-right").wait_for()
    assert await page.locator(".twin .table-foot").evaluate(WORDS) == '"Scroll for more columns"'
    assert await page.evaluate(CUT) == [[], True]


async def test_a_short_number_is_whole_again_where_there_is_room(stand_in: StandIn, visit: Visit) -> None:
    """Short, with all its digits in its title and for a screen reader, until the page is wider. Red when it stayed
    short."""
    answer = rows({"doctor": "text", "a": "decimal", "b": "decimal"}, ["Kapitän", *["-1234567.89"] * 2], total=1)
    columns = [{"name": "doctor"}, *({"name": name, "format": "currency", "digits": 2} for name in "ab")]
    page = (await visit(stand_in.show([{"kind": "table", "columns": columns, "answer": answer}]), width=300)).page
    cell = page.locator("td .cell").first
    assert await cell.locator("[aria-hidden]").inner_text() == "\N{MINUS SIGN}$1.23M"
    assert await cell.get_attribute("title") == "\N{MINUS SIGN}$1,234,567.89"
    await page.set_viewport_size({"width": 1000, "height": 700})
    await until(lambda: _count(page, "td [aria-hidden]", 0))
    assert await cell.inner_text() == "\N{MINUS SIGN}$1,234,567.89"
    assert await cell.get_attribute("title") is None


LAST_SEEN = """(scroller) => {
    const { top } = scroller.getBoundingClientRect();
    const bottom = top + scroller.clientHeight;
    const boxes = [...scroller.querySelectorAll("tbody tr")].map((row) => row.getBoundingClientRect());
    const cut = boxes.find((box) => box.top < bottom && box.bottom > bottom + 1);
    return cut ? [bottom - cut.top, cut.bottom - bottom] : null;
}"""
"""Of the row at the lower edge, the pixels that are seen and those that are not."""


@pytest.mark.parametrize("width", [1440, 820, 390])
async def test_rows_below_the_edge_are_not_overlooked(stand_in: StandIn, visit: Visit, width: int) -> None:
    """Of a table and of a chart as one: the edge cuts a row in its middle, and the foot counts all rows. Red when the
    edge was the end of a row, and seven of eleven products looked like all of them where no scrollbar is seen."""
    lines = [[f"Product {n}", 100 + n] for n in range(55)]
    answer = rows({"product": "text", "n": "integer"}, *lines, total=55)
    chart = {"by": "product", "answer": answer}
    shown = [
        [{"kind": "table", "columns": [{"name": "product"}, {"name": "n"}], "page": 55, "answer": answer}],
        [
            {"kind": "donut", "donut": "n", "title": "Donut"} | chart,
            {"kind": "bar", "bar": ["n"], "title": "Bar"} | chart,
        ],
    ]
    page = (await visit(stand_in.show(*shown), width=width)).page
    for title in ("Donut", "Bar"):
        await page.get_by_role("button", name=f"Menu of {title}").click()
        await page.get_by_role("menuitem", name="Show as table").click()
    await until(lambda: _count(page, ".table-scroller", 3))
    for place, scroller in enumerate(await page.locator(".table-scroller").all()):
        seen, unseen = await scroller.evaluate(LAST_SEEN) or (0, 0)
        assert seen >= 16, place
        assert unseen >= 8, place
    assert await page.locator(".count").all_inner_texts() == ["55 rows"] * 3


async def test_a_donut_as_a_table_leaves_no_blank(stand_in: StandIn, visit: Visit) -> None:
    """On a phone, where the ring and its legend are taller. Red with 157 pixels below the last row."""
    answer = rows({"product": "text", "n": "integer"}, *[[f"Product {n}", 100 + n] for n in range(11)])
    view = {"kind": "donut", "donut": "n", "by": "product", "title": "Donut", "answer": answer}
    page = (await visit(stand_in.show([view]), width=390)).page
    ring = await box_of(page.locator(".chart"))
    await page.get_by_role("button", name="Menu of Donut").click()
    await page.get_by_role("menuitem", name="Show as table").click()
    await page.locator(".twin").wait_for()
    body, twin = [await box_of(page.locator(each)) for each in (".panel-body", ".twin")]
    assert body["y"] + body["height"] - twin["y"] - twin["height"] < 2
    await page.get_by_role("button", name="Menu of Donut").click()
    await page.get_by_role("menuitem", name="Show as chart").click()
    await page.locator("svg.plot").wait_for()
    assert await box_of(page.locator(".chart")) == ring


async def test_names_of_a_chart_as_a_table_make_room_for_its_figures(stand_in: StandIn, visit: Visit) -> None:
    """On a phone they take two lines where the column of figures would lie beyond the edge, which cuts a row of two
    lines, too. A name that is empty says so. Red when they stayed on one line: nothing of the figures was seen; when
    the edge was meant for rows of one line; and when an empty name was a blank cell."""
    surgeries = [f"Dr. Bartholomew Featherstonehaugh of surgery {n}" for n in range(20)]
    views = []
    for short in range(6):
        lines = [[name, "-1023.05"] for name in ["", None, *map(str, range(short)), *surgeries]]
        answer = rows({"doctor": "text", "balance": "decimal"}, *lines)
        view = {"kind": "bar", "bar": ["balance"], "by": "doctor", "title": f"Balance {short}", "format": "currency"}
        views.append([view | {"answer": answer}])
    page = (await visit(stand_in.show(*views), width=390)).page
    for short in range(6):
        await page.get_by_role("button", name=f"Menu of Balance {short}").click()
        await page.get_by_role("menuitem", name="Show as table").click()
        scroller = page.locator(".twin:has(table.wide) .table-scroller").nth(short)
        await scroller.wait_for()
        assert await scroller.evaluate("(each) => each.scrollWidth <= each.clientWidth")
        seen, unseen = await scroller.evaluate(LAST_SEEN) or (0, 0)
        assert seen >= 16, short
        assert unseen >= 8, short
    assert (await page.locator(".twin td.wraps").all_inner_texts())[:2] == ["(empty)", "(no value)"]
    await page.set_viewport_size({"width": 1440, "height": 900})
    await page.locator(".twin table:not(.wide)").first.wait_for()


async def test_all_pages_have_one_scale_of_bars(stand_in: StandIn, visit: Visit) -> None:
    """The server says between which numbers those of all pages lie. Red when 87, the largest number of the last page,
    had the same bar as 737 on the first one."""
    extremes = rows({"n": "integer"}, [-263], [737])
    answer = rows({"k": "text", "n": "integer"}, ["a", 87], ["b", -63], total=40, extremes=extremes)
    columns = [{"name": "k"}, {"name": "n", "bar": True}]
    panel = await panel_of(stand_in, visit, {"kind": "table", "columns": columns, "page": 2, "answer": answer})
    sizes = "all => all.map(({ style }) => [style.getPropertyValue('--from'), style.getPropertyValue('--size')])"
    assert await panel.locator(".cell-bar").evaluate_all(sizes) == [["0.2630", "0.0870"], ["0.2000", "0.0630"]]
