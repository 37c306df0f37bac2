"""What opens over the page is never cut: it moves sideways, and the page grows below."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Locator, Page

from tests.dashboards.page.conftest import Visit, box_of, until
from tests.dashboards.page.gallery import ORIGIN, PERIOD
from tests.dashboards.page.stand_in import Message, StandIn, rows

pytestmark = pytest.mark.slow

FIGURE: Message = {"kind": "figure", "figure": "n", "title": "Visits", "answer": rows({"n": "integer"}, [12])}
NAMES = [f"A customer of number {number} with a name" for number in range(14)]
BARS: Message = {"kind": "bar", "bar": ["n"], "by": "name", "title": "Long"}
LONG = BARS | {"answer": rows({"name": "text", "n": "integer"}, [" ".join(NAMES * 2), 1], ["short", 2])}
MANY: Message = ORIGIN | {"choices": [{"value": name, "label": name} for name in NAMES]}
PLACES = {"a desktop": (1440, 240), "twice as large": (410, 320), "a phone": (360, 300)}
"""The widths and heights of windows that are lower than what opens in them."""


async def _is_whole(page: Page, opened: Locator) -> bool:
    """Within what a host is told of, on all sides."""
    await opened.wait_for()
    box, around = await box_of(opened), await box_of(page.locator("#dashboard"))
    sides = box["x"] >= 0 and box["x"] + box["width"] <= around["width"]
    return sides and around["y"] <= box["y"] and box["y"] + box["height"] <= around["y"] + around["height"]


async def _height(page: Page) -> float:
    return (await box_of(page.locator("#dashboard")))["height"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("control", ["range", "choices"])
async def test_choices_in_a_short_page(stand_in: StandIn, visit: Visit, place: str, control: str) -> None:
    """The page is as tall as they need, also for a window without a frame that grows; closed, it is as before. By touch
    where it is narrow. Red when the page's height was that of its panels: a host's frame cut them off."""
    width, height = PLACES[place]
    address = stand_in.show([FIGURE], controls=[PERIOD, MANY])
    page = (await visit(address, width=width, height=height, has_touch=width < 500)).page
    before = await _height(page)
    button = page.locator(f".control-{control} .choice")
    await (button.tap() if width < 500 else button.click())
    opened = page.locator(f".control-{control} .popover")
    await until(lambda: _grown(page, before))
    await until(lambda: _is_whole(page, opened))
    assert await _height(page) >= (await box_of(opened))["height"]
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.keyboard.press("Escape")
    await until(lambda: _is_as(page, before))


async def _grown(page: Page, before: float) -> bool:
    return await _height(page) > before


async def _is_as(page: Page, before: float) -> bool:
    return await _height(page) == before


async def _in_view(page: Page, opened: Locator) -> bool:
    await opened.wait_for()
    box = await box_of(opened)
    return box["y"] > -1 and box["y"] + box["height"] < 1 + await page.evaluate("innerHeight")


async def test_what_opens_comes_into_view(stand_in: StandIn, visit: Visit) -> None:
    """In a window that does not grow. Red when the page had grown below the window."""
    page = (await visit(stand_in.show([FIGURE], controls=[MANY]), height=480)).page
    await page.locator(".control-choices .choice").click()
    await until(lambda: _in_view(page, page.locator(".control-choices .popover")))


async def test_a_range_on_a_phone_that_lies(stand_in: StandIn, visit: Visit) -> None:
    """Two presets and both dates are in view at once. Red when the presets and the dates stood below one another: they
    took 320 of 260 pixels."""
    address = stand_in.show([FIGURE], controls=[PERIOD | {"presets": ["last-30-days", "this-year"]}])
    page = (await visit(address, width=390, height=260, has_touch=True)).page
    await page.locator(".control-range .choice").tap()
    opened = page.locator(".control-range .popover")
    await until(lambda: _in_view(page, opened))
    fields = await opened.locator("input").evaluate_all(
        "all => all.map((each) => each.scrollWidth <= each.clientWidth)"
    )
    assert fields == [True, True]


@pytest.mark.parametrize("width", [1440, 410, 360])
async def test_menus_of_narrow_panels(stand_in: StandIn, visit: Visit, width: int) -> None:
    """Of each of six figures. Red when a menu always ends where its button does: in the first of narrow panels it began
    outside of the page."""
    six = [FIGURE | {"title": str(number), "query": "select 1 as n", "width": 1} for number in range(6)]
    page = (await visit(stand_in.show(six), width=width)).page
    for number in range(6):
        await page.get_by_role("button", name=f"Menu of {number}").click()
        opened = page.locator(".menu:not([hidden])")
        await until(lambda opened=opened: _is_whole(page, opened))
        await page.keyboard.press("Escape")


async def test_a_panel_that_waits_does_not_cut_its_menu(stand_in: StandIn, visit: Visit) -> None:
    """Red when the line that says so was kept within the panel by cutting off all that leaves it."""
    narrow = FIGURE | {"title": "Visits", "query": "select 1 as n", "width": 1}
    address = stand_in.show([FIGURE | {"title": "Wide", "width": 6}, narrow])
    stand_in.held.add("1-2")
    page = (await visit(address, settle=False)).page
    await page.get_by_role("button", name="Menu of Visits").click()
    entry = page.get_by_role("menuitem").last
    script = """(entry) => { const { x, y, height } = entry.getBoundingClientRect();
        return document.elementFromPoint(x + 2, y + height / 2) === entry; }"""
    assert await entry.evaluate(script)
    stand_in.held.clear()


async def test_a_tooltip_that_is_taller_than_its_chart(stand_in: StandIn, visit: Visit) -> None:
    """The page grows with it; without it, it is as before. Red when nothing told of it."""
    page = (await visit(stand_in.show([LONG]), width=360)).page
    before = await _height(page)
    await page.locator(".chart").focus()
    await page.keyboard.press("ArrowRight")
    tip = page.locator(".tip")
    await until(lambda: _grown(page, before))
    await until(lambda: _is_whole(page, tip))
    await page.keyboard.press("Escape")
    await until(lambda: _is_as(page, before))


async def test_what_keys_read_comes_into_view(stand_in: StandIn, visit: Visit) -> None:
    """In a window that is lower than a chart. Red when only the mark was shown: its numbers stood above the window."""
    parts = rows({"name": "text", "n": "integer"}, *[[name, 5] for name in NAMES[:5]])
    donut = {"kind": "donut", "donut": "n", "by": "name", "title": "Parts", "answer": parts}
    page = (await visit(stand_in.show([donut]), width=390, height=260)).page
    await page.locator(".chart").focus()
    for _ in NAMES[:5]:
        await page.keyboard.press("ArrowRight")
        await until(lambda: _in_view(page, page.locator(".tip")))


async def test_a_dialog_stands_where_it_was_asked_for(stand_in: StandIn, visit: Visit) -> None:
    """At its panel, however long the page and the text are. Red when it was in the middle of the window: that of a
    frame of 3,000 pixels is out of sight."""
    text = "\n".join(f"select {line}" for line in range(200))
    many: list[list[Any]] = [[FIGURE | {"title": f"Panel {number}", "query": text}] for number in range(12)]
    page = (await visit(stand_in.show(*many))).page
    button = page.get_by_role("button", name="Menu of Panel 7")
    await button.click()
    await page.get_by_role("menuitem", name="Show query").click()
    dialog = page.get_by_role("dialog")
    await until(lambda: _is_whole(page, dialog))
    there = await page.evaluate("document.querySelector('dialog').getBoundingClientRect().top + scrollY")
    at = await button.evaluate("(button) => button.getBoundingClientRect().top + scrollY")
    assert abs(there - at) < 5
    await page.keyboard.press("Escape")
    await until(lambda: dialog.is_hidden())
