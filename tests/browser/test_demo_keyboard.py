"""The demo's dashboards with the keyboard alone: every chart read, its menu, its table, its picture, its legend."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Frame, Locator, Page

from engines.axe import serious
from engines.chromium import OpenPage
from tests.browser.conftest import Served
from tests.browser.embedding.frames import until

pytestmark = pytest.mark.slow

COME = """() => document.querySelector("main .dashboard") !== null
    && document.querySelector("[data-state=waiting]") === null"""
ACTIVE = "document.activeElement"
PNG = b"\x89PNG\r\n\x1a\n"


async def dashboard(open_page: OpenPage, demo: Served, name: str) -> tuple[Any, Frame]:
    """The page of a product, and the frame of this dashboard in it, whole."""
    seen = await open_page()
    await seen.page.goto(f"{demo.product}/#{name}")
    await seen.page.get_by_label("Customer").select_option("UA")

    async def whole() -> Frame | None:
        for frame in seen.page.frames:
            if frame.url.startswith(demo.url) and await frame.evaluate(COME):
                return frame
        return None

    frame: Frame = await until(whole, f"the dashboard {name}")
    return seen, frame


async def tab_to(page: Page, frame: Frame, wanted: str, most: int = 400) -> None:
    """Tab until the focus is on what ``wanted``, an expression of the element ``e``, is true of."""
    for _ in range(most):
        await page.keyboard.press("Tab")
        if await frame.evaluate(f"(() => {{ const e = {ACTIVE}; return Boolean({wanted}); }})()"):
            return
    raise AssertionError(f"no way by Tab to {wanted}")


@pytest.mark.parametrize("name", ["overview", "route", "delays"])
async def test_everything_is_reached_with_the_keyboard_alone(open_page: OpenPage, demo: Served, name: str) -> None:
    """By Tab from the top, in the order of the page; each place shows that it has the focus, and axe has no complaint
    while a menu is open, while a chart is a table, and after."""
    seen, frame = await dashboard(open_page, demo, name)
    page = seen.page
    await frame.evaluate("document.querySelector('h1').tabIndex = -1, document.querySelector('h1').focus()")
    charts = await frame.locator(".panel:has(.chart)").evaluate_all("all => all.map((each) => each.dataset.panel)")
    assert charts
    for panel in charts:
        here = frame.locator(f"[data-panel='{panel}']")
        await tab_to(page, frame, f"e.matches('.icon-button') && e.closest('[data-panel=\"{panel}\"]')")
        assert await outlined(frame)
        await page.keyboard.press("Enter")
        assert await frame.evaluate(f"{ACTIVE}.textContent") == "Show as table"
        if panel == charts[0]:
            assert await serious(page) == []
        await page.keyboard.press("Enter")
        await here.locator("table").wait_for()
        assert await frame.evaluate(f"{ACTIVE}.matches('.icon-button')"), "the focus comes back to the menu"
        if panel == charts[0]:
            assert await serious(page) == []
        await choose(page, frame, "Show as chart")
        await here.locator("svg.plot").wait_for()
        async with page.expect_download() as saved:
            await choose(page, frame, "Download PNG")
        picture = (await (await saved.value).path()).read_bytes()
        assert picture.startswith(PNG)
        assert len(picture) > 3_000
        await tab_to(page, frame, f"e.matches('.chart') && e.closest('[data-panel=\"{panel}\"]')", 20)
        assert await outlined(frame)
        for key in ("Home", "ArrowRight", "End"):
            await page.keyboard.press(key)
        spoken = await frame.locator("[role=status].visually-hidden").inner_text()
        assert ":" in spoken
        assert " ".join((await here.locator(".tip").inner_text()).split())
        await page.keyboard.press("Escape")
        assert await here.locator(".tip").is_hidden()
        if await here.locator(".legend-item").count():
            await legend(page, frame, here)
    assert await serious(page) == []
    assert seen.console == []


async def legend(page: Page, frame: Frame, here: Locator) -> None:
    """Takes a series out and puts it back; the focus stays where it was."""
    await tab_to(page, frame, "e.matches('.legend-item')", 20)
    assert await outlined(frame)
    name = await frame.evaluate(f"{ACTIVE}.dataset.key")
    for pressed in ("false", "true"):
        await page.keyboard.press("Space")
        assert await frame.evaluate(f"[{ACTIVE}.dataset.key, {ACTIVE}.ariaPressed]") == [name, pressed]
    assert await here.locator("svg.plot").count() == 1


async def choose(page: Page, frame: Frame, label: str) -> None:
    """An item of the menu whose button has the focus."""
    await page.keyboard.press("Enter")
    for _ in range(6):
        if await frame.evaluate(f"{ACTIVE}.textContent") == label:
            break
        await page.keyboard.press("ArrowDown")
    assert await frame.evaluate(f"{ACTIVE}.textContent") == label
    await page.keyboard.press("Enter")


async def outlined(frame: Frame) -> bool:
    """Whether the element that has the focus shows it."""
    style, width = await frame.evaluate(
        f"(({{ outlineStyle, outlineWidth }}) => [outlineStyle, parseFloat(outlineWidth)])(getComputedStyle({ACTIVE}))"
    )
    return bool(style != "none" and width >= 1)
