"""Reading and using charts: mouse, touch, keyboard, legend, zoom, clicks, the menu."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Page

from engines.chromium import Watched
from tests.dashboards.page.conftest import Visit, box_of, come, until
from tests.dashboards.page.gallery import NAME, PERIOD, ROUTE, ROUTES
from tests.dashboards.page.stand_in import Message, StandIn, rows

pytestmark = pytest.mark.slow

DELAYS = rows({"month": "date", "delay": "float"}, ["2013-01-01", 10.25], ["2013-02-01", -2.9], ["2013-03-01", 20.8])
LINE: Message = {"kind": "line", "line": ["delay"], "by": "month", "title": "Mean delay", "answer": DELAYS}
TWO = rows({"x": "integer", "kind": "text", "n": "integer"}, [1, "a", 10], [1, "b", 30], [2, "a", 20], [2, "b", 10])
BARS: Message = {
    "kind": "bar",
    "bar": ["flights"],
    "by": "route",
    "horizontal": True,
    "title": "Routes",
    "click": {"values": {"route": "route"}, "open": ""},
    "answer": rows({"route": "text", "flights": "integer"}, *map(list, ROUTES)),
}


def chart_of(page: Page) -> Locator:
    return page.locator("[data-panel='1-1'] .chart")


async def tip(page: Page) -> str:
    return " ".join((await chart_of(page).locator(".tip").inner_text()).split())


async def hover(page: Page, share: float, pointer: str = "mouse") -> None:
    """At a share of the plot's width."""
    box = await box_of(chart_of(page).locator("svg.plot"))
    x, y = box["x"] + box["width"] * share, box["y"] + box["height"] / 2
    await (page.mouse.move(x, y) if pointer == "mouse" else page.touchscreen.tap(x, y))


async def spoken(page: Page) -> str:
    return await page.locator("[role=status]").inner_text()


async def test_the_mouse_reads_the_nearest_value(stand_in: StandIn, visit: Visit) -> None:
    """With the minus sign and digits of the table; gone when the mouse leaves."""
    page = (await visit(stand_in.show([LINE]))).page
    await hover(page, 0.5)
    assert await tip(page) == "Feb 2013 \N{MINUS SIGN}2.90"
    await hover(page, 0.97)
    assert await tip(page) == "Mar 2013 20.80"
    await page.mouse.move(2, 2)
    assert await chart_of(page).locator(".tip").is_hidden()


async def test_a_touch_reads_too(stand_in: StandIn, visit: Visit) -> None:
    """Red when only moves of a mouse are listened to."""
    page = (await visit(stand_in.show([LINE]), has_touch=True)).page
    await hover(page, 0.5, "touch")
    assert await tip(page) == "Feb 2013 \N{MINUS SIGN}2.90"


async def test_the_keyboard_reads_and_speaks(stand_in: StandIn, visit: Visit) -> None:
    """Arrows, Home and End; the live region says what the tooltip shows; Escape ends it."""
    page = (await visit(stand_in.show([LINE]))).page
    await chart_of(page).focus()
    await page.keyboard.press("ArrowRight")
    assert await spoken(page) == "Jan 2013: Delay 10.25"
    await page.keyboard.press("ArrowRight")
    assert await spoken(page) == "Feb 2013: Delay \N{MINUS SIGN}2.90"
    await page.keyboard.press("End")
    assert await tip(page) == "Mar 2013 20.80"
    await page.keyboard.press("Home")
    assert await tip(page) == "Jan 2013 10.25"
    await page.keyboard.press("Escape")
    assert await chart_of(page).locator(".tip").is_hidden()
    assert "Mean delay, line chart, 3 rows" in (await chart_of(page).get_attribute("aria-label") or "")


async def test_a_heat_map_is_read_in_both_directions(stand_in: StandIn, visit: Visit) -> None:
    """Down is the next line of cells, not the next cell."""
    given = [[day, hour, day * 10 + hour] for day in (1, 2, 3) for hour in (1, 2, 3)]
    answer = rows({"day": "integer", "hour": "integer", "n": "integer"}, *given)
    page = (
        await visit(stand_in.show([{"kind": "heatmap", "heatmap": "n", "by": "hour", "rows": "day", "answer": answer}]))
    ).page
    await chart_of(page).focus()
    for key, text in (
        ("Home", "1, 1: 11"),
        ("ArrowRight", "1, 2: 12"),
        ("ArrowDown", "2, 2: 22"),
        ("ArrowUp", "1, 2: 12"),
    ):
        await page.keyboard.press(key)
        assert await spoken(page) == text


async def test_more_series_than_eyes_can_follow(stand_in: StandIn, visit: Visit) -> None:
    """The largest, and the rest as one where they stand on one another; elsewhere the legend says how many are left
    out."""
    answer = rows(
        {"x": "integer", "kind": "text", "n": "integer"}, *[[x, f"k{n}", n + 1] for x in (1, 2) for n in range(30)]
    )
    shared = {"by": "x", "color": "kind", "answer": answer}
    page = (
        await visit(
            stand_in.show(
                [{"kind": "bar", "bar": ["n"], "stack": "sum", **shared}, {"kind": "line", "line": ["n"], **shared}]
            )
        )
    ).page
    first, second = page.locator("[data-panel='1-1']"), page.locator("[data-panel='1-2']")
    assert (await first.locator(".legend-name").all_inner_texts())[-1] == "Other (23)"
    assert await first.locator("rect.bar").count() == 16
    assert (await second.locator(".legend-name").all_inner_texts())[-1] == "23 more, not shown"


async def test_several_series_are_read_at_once(stand_in: StandIn, visit: Visit) -> None:
    """One tooltip for a place on the axis, with a line for each."""
    view = {"kind": "line", "line": ["n"], "by": "x", "color": "kind", "answer": TWO}
    page = (await visit(stand_in.show([view]))).page
    await hover(page, 0.1)
    assert await tip(page) == "1 a 10 b 30"


async def test_the_legend_takes_a_series_out_and_back(stand_in: StandIn, visit: Visit) -> None:
    """By keyboard too, and the focus stays. What is left is drawn anew: its axis fits."""
    view = {"kind": "bar", "bar": ["n"], "by": "x", "color": "kind", "stack": "sum", "answer": TWO}
    page = (await visit(stand_in.show([view]))).page
    entry = page.get_by_role("button", name="b", exact=True)
    assert await page.locator("rect.bar").count() == 4
    await entry.focus()
    await page.keyboard.press("Enter")
    assert await entry.get_attribute("aria-pressed") == "false"
    assert await page.locator("rect.bar").evaluate_all("all => all.map((each) => each.dataset.series)") == ["a", "a"]
    assert await page.locator(".axis-value text").last.text_content() == "20"
    assert await page.evaluate("document.activeElement.dataset.key") == "b"
    await page.keyboard.press("Space")
    assert await page.locator("rect.bar").count() == 4


async def test_names_stand_beside_the_ends_of_lines(stand_in: StandIn, visit: Visit) -> None:
    """Where there is room, in place of a legend above; never over one another. Red when each stands at its own end."""
    near = rows({"x": "integer", "kind": "text", "n": "integer"}, [1, "a", 0], [1, "b", 90], [2, "a", 50], [2, "b", 51])
    view = {"kind": "line", "line": ["n"], "by": "x", "color": "kind", "answer": near}
    page = (await visit(stand_in.show([view]))).page
    tops = [(await box_of(each))["y"] for each in await page.locator(".at-ends li").all()]
    assert len(tops) == 2
    assert abs(tops[0] - tops[1]) >= 16
    narrow = (await visit(stand_in.show([view]), width=360)).page
    assert await narrow.locator(".at-ends").count() == 0
    assert await narrow.locator(".legend li").count() == 2


async def test_a_series_has_one_colour_on_the_whole_page(stand_in: StandIn, visit: Visit) -> None:
    """Whatever comes first in a chart. Red when each chart counts its own colours."""
    other = rows({"x": "integer", "kind": "text", "n": "integer"}, [1, "b", 1], [1, "a", 2])
    views = [{"kind": "bar", "bar": ["n"], "by": "x", "color": "kind", "answer": answer} for answer in (TWO, other)]
    page = (await visit(stand_in.show(views))).page
    script = "all => all.map((each) => [each.dataset.series, getComputedStyle(each).fill])"
    found = {tuple(each) for each in await page.locator("rect.bar").evaluate_all(script)}
    assert len(found) == 2


async def test_a_click_filters_the_page_and_again_takes_it_back(stand_in: StandIn, visit: Visit) -> None:
    """By mouse and by keyboard; the chip can be removed."""
    page = (await visit(stand_in.show([BARS], controls=[ROUTE]))).page
    await page.locator("rect.bar").nth(2).click()
    await until(lambda: _length(stand_in, 2))
    assert stand_in.asked[-1]["filters"] == {"route": "LGA → IAH"}
    assert await page.locator(".chip").inner_text() == "Route: LGA → IAH"
    await come(Watched(page))  # the chart is drawn anew, without a place that is read
    await chart_of(page).focus()
    for key in ("Home", "ArrowRight", "ArrowRight", "Enter"):
        await page.keyboard.press(key)
    await until(lambda: _length(stand_in, 3))
    assert stand_in.asked[-1]["filters"] == {}
    assert await page.locator(".chip").count() == 0
    await come(Watched(page))
    assert await page.evaluate("document.activeElement.classList.contains('chart')")


async def test_what_is_chosen_stays_bright(stand_in: StandIn, visit: Visit) -> None:
    """In a chart that does not read the filter itself."""
    page = (await visit(stand_in.show([BARS], controls=[ROUTE]) + "#route=JFK+%E2%86%92+LAX")).page
    assert await page.locator("rect.chosen").count() == 1
    assert await page.locator("svg.has-chosen").count() == 1


async def test_a_click_opens_another_dashboard_and_leads_back(stand_in: StandIn, visit: Visit) -> None:
    """With the values of the row, in the same document: a token in memory lives on."""
    stand_in.show(
        [{"kind": "text", "text": "Of one route."}], name="flights/route", title="One route", controls=[ROUTE]
    )
    opening = BARS | {
        "click": {"values": {"route": "route"}, "open": "flights/route", "keeps": [], "drops": [], "controls": []}
    }
    page = (await visit(stand_in.show([opening], title="Overview"))).page
    await page.evaluate("window.same = true")
    await page.locator("rect.bar").nth(1).click()
    await page.get_by_role("heading", name="One route").wait_for()
    await page.wait_for_url(lambda url: url.endswith("/flights/route#route=EWR+%E2%86%92+ORD"))
    assert stand_in.asked[-1]["filters"] == {"route": "EWR → ORD"}
    assert await page.evaluate("window.same")
    await page.get_by_role("button", name="← Overview").click()
    await page.get_by_role("heading", name="Overview").wait_for()
    await page.wait_for_url(lambda url: url.endswith("/sales"))


async def test_what_was_chosen_goes_along_where_the_other_dashboard_has_it(stand_in: StandIn, visit: Visit) -> None:
    """The period stays, the click counts for more than what was chosen before, and a filter that only the first one has
    is not sent. The way back brings all of them. Red when only the values of the click went along."""
    stand_in.show([{"kind": "text", "text": "Of one."}], name="one", title="One route", controls=[PERIOD, ROUTE])
    click = {"values": {"route": "route"}, "open": "one", "keeps": ["period", "route"], "drops": [], "controls": []}
    opening = BARS | {"click": click, "reads": ["period", "route"]}
    chosen = "#period=2013-01-01..2013-02-01&route=EWR+%E2%86%92+SFO&name=united"
    page = (await visit(stand_in.show([opening], title="Overview", controls=[PERIOD, ROUTE, NAME]) + chosen)).page
    await page.locator("rect.bar").nth(1).click()
    await page.get_by_role("heading", name="One route").wait_for()
    period = "2013-01-01..2013-02-01"  # as it stands in the address: no controls are known yet
    known = {"start": "2013-01-01", "end": "2013-02-01"}
    assert stand_in.asked[-1]["filters"] == {"period": period, "route": "EWR → ORD"}
    assert await page.locator(".chip").all_inner_texts() == ["Period: Jan 1, 2013 – Feb 1, 2013", "Route: EWR → ORD"]
    await page.get_by_role("button", name="← Overview").click()
    await page.get_by_role("heading", name="Overview").wait_for()
    found = stand_in.asked[-1]["filters"]
    assert found.pop("period") in (period, known)
    assert found == {"route": "EWR → SFO", "name": "united"}


async def test_dragging_over_time_sets_the_range(stand_in: StandIn, visit: Visit) -> None:
    """Where the page has a range; the chart asks for it."""
    page = (await visit(stand_in.show([LINE], controls=[PERIOD]))).page
    await _drag(page, 0.4, 0.8)
    await until(lambda: _length(stand_in, 2))
    chosen = stand_in.asked[-1]["filters"]["period"]
    assert "2013-01-15" < chosen["start"] < "2013-02-01" < chosen["end"] < "2013-03-01"


async def test_dragging_zooms_where_there_is_no_range(stand_in: StandIn, visit: Visit) -> None:
    """And a button shows the whole again. By keyboard: shift and arrows, Enter."""
    many = rows({"day": "date", "n": "integer"}, *[[f"2013-01-{day:02}", day] for day in range(1, 31)])
    page = (await visit(stand_in.show([LINE | {"by": "day", "line": ["n"], "answer": many}]))).page
    await _drag(page, 0.3, 0.6)
    assert len(stand_in.asked) == 1
    shown = await page.locator(".axis-bottom text").all_text_contents()
    assert "Jan 1" not in shown
    await page.get_by_role("button", name="Show the whole range").click()
    assert await page.locator(".axis-bottom text").first.text_content() != shown[0]
    for key in ("Home", "Shift+ArrowRight", "Shift+ArrowRight", "Enter"):
        await page.keyboard.press(key)
    assert await page.get_by_role("button", name="Show the whole range").is_visible()


async def test_a_chart_has_a_table_as_its_twin(stand_in: StandIn, visit: Visit) -> None:
    """By the menu, with the keyboard alone; the same numbers."""
    page = (await visit(stand_in.show([LINE]))).page
    await _menu(page, "Show as table")
    await page.locator(".twin").wait_for()
    cells = await page.locator("td").all_inner_texts()
    assert cells == ["Jan 2013", "10.25", "Feb 2013", "\N{MINUS SIGN}2.90", "Mar 2013", "20.80"]
    await _menu(page, "Show as chart")
    assert await page.locator("svg.plot").count() == 1


async def test_a_picture_of_a_chart(stand_in: StandIn, visit: Visit, tmp_path: Path) -> None:
    """A PNG made in the browser, with the colours of the page; the policy is kept."""
    seen = await visit(stand_in.show([LINE]))
    async with seen.page.expect_download() as waiting:
        await _menu(seen.page, "Download PNG")
    download = await waiting.value
    await download.save_as(tmp_path / "chart.png")
    content = (tmp_path / "chart.png").read_bytes()
    width, height = struct.unpack(">II", content[16:24])
    assert download.suggested_filename == "Mean delay.png"
    assert width > 2000
    assert height > 500
    assert await _blue(seen, content) > 500
    assert await seen.violations() == []
    assert seen.console == []


@pytest.mark.parametrize(
    ("locale", "comma"), [("en-US", False), ("de-DE", True), ("de-CH", False), ("fr-FR", True), ("ar-EG", False)]
)
async def test_the_rows_as_a_file(stand_in: StandIn, visit: Visit, locale: str, comma: bool) -> None:
    """Through the address that the server makes for one use. Its numbers have the decimal sign of the page."""
    page = (await visit(stand_in.show([LINE], locale=locale))).page
    async with page.expect_download() as waiting:
        await _menu(page, "Download CSV")
    assert (await waiting.value).url.endswith("/-/download/1-1")
    assert stand_in.asked[-1] == {"filters": {}, "decimal_comma": comma}


async def test_the_query_where_the_author_shows_it(stand_in: StandIn, visit: Visit) -> None:
    """As text in a dialog. No entry without it."""
    page = (await visit(stand_in.show([LINE | {"query": "select <b> from flights"}]))).page
    await _menu(page, "Show query")
    dialog = page.get_by_role("dialog", name="Query of Mean delay")
    assert await dialog.locator("pre").inner_text() == "select <b> from flights"
    await page.keyboard.press("Escape")
    assert await dialog.count() == 0
    without = (await visit(stand_in.show([LINE]))).page
    await without.get_by_role("button", name="Menu of Mean delay").click()
    assert "Show query" not in await without.get_by_role("menuitem").all_inner_texts()


async def _length(stand_in: StandIn, count: int) -> bool:
    return len(stand_in.asked) >= count


async def _drag(page: Page, start: float, end: float) -> None:
    await hover(page, start)
    await page.mouse.down()
    await hover(page, (start + end) / 2)
    await hover(page, end)
    await page.mouse.up()


async def _menu(page: Page, entry: str) -> None:
    """With the keyboard alone."""
    await page.get_by_role("button", name="Menu of").focus()
    await page.keyboard.press("Enter")
    for _ in range(6):
        if await page.evaluate("document.activeElement.textContent") == entry:
            await page.keyboard.press("Enter")
            return
        await page.keyboard.press("ArrowDown")
    raise AssertionError(f"the menu has no {entry}")


async def _blue(seen: Watched, content: bytes) -> int:
    """Pixels of the accent, counted by the browser."""
    script = """async (bytes) => {
        const image = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
        const canvas = new OffscreenCanvas(image.width, image.height);
        const context = canvas.getContext("2d");
        context.drawImage(image, 0, 0);
        const { data } = context.getImageData(0, 0, image.width, image.height);
        let found = 0;
        const accent = [47, 91, 216];
        for (let at = 0; at < data.length; at += 4) if (accent.every((part, i) => data[at + i] === part)) found += 1;
        return found;
    }"""
    found: Any = await seen.page.evaluate(script, [*content])
    return int(found)


async def test_a_narrower_panel_is_drawn_anew(stand_in: StandIn, visit: Visit) -> None:
    """The drawing is as wide as its panel. Red without an observer of its size."""
    page = (await visit(stand_in.show([LINE]))).page
    await page.set_viewport_size({"width": 500, "height": 900})

    async def fits() -> bool:
        box = await box_of(chart_of(page))
        return abs(float(await page.locator("svg.plot").get_attribute("width") or 0) - box["width"]) < 2

    await until(fits)
    await come(Watched(page))
