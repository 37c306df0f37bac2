"""Pages that tests take over from one another."""

from __future__ import annotations

from playwright.async_api import Browser

from engines.kept_pages import KeptPages
from tests.dashboards.page.conftest import come
from tests.dashboards.page.stand_in import StandIn, rows

BAR = {"kind": "bar", "bar": ["n"], "by": "x", "answer": rows({"x": "text", "n": "integer"}, ["a", 10])}
LOOK = """[innerWidth, matchMedia("print").matches, matchMedia("(prefers-color-scheme: dark)").matches,
    document.querySelector("[data-panel]:hover") !== null]"""


async def test_a_page_is_as_a_new_one(stand_in: StandIn, browser: Browser) -> None:
    """Whatever the test before did to it. Red when it stays offline, and when it keeps a route, a medium, a cookie or
    what was noted."""
    address = stand_in.show([BAR])
    pages = KeptPages(browser)
    first = await pages.take(width=390, dark=True)
    page = first.page
    await page.goto(address)
    await come(first)
    await page.locator("rect.bar").hover()
    await page.emulate_media(media="print")
    assert await page.evaluate(LOOK) == [390, True, True, True]
    await page.route("**/-/panels", lambda route: route.abort())
    await page.context.add_cookies([{"name": "of", "value": "before", "url": address}])
    await page.context.set_offline(True)
    await pages.give_back(first)

    second = await pages.take()
    assert second.page is page
    assert await page.context.cookies() == []
    assert second.requests == second.console == second.lost == []
    await page.goto(address)
    await page.locator("rect.bar").wait_for()
    assert await page.evaluate(LOOK) == [1440, False, False, False]
    await pages.give_back(second)


async def test_what_is_lent_comes_back(browser: Browser) -> None:
    """Red without the end of ``lent``."""
    pages = KeptPages(browser)
    async with pages.lent() as take:
        first = await take(width=390)
    second = await pages.take()
    assert second is first
    await second.page.context.close()


async def test_a_page_that_a_test_has_closed_is_not_kept(browser: Browser) -> None:
    """Nor one with another beside it, which would go on. Red when either is given to the next test."""
    pages = KeptPages(browser)
    closed = await pages.take()
    await closed.page.close()
    await pages.give_back(closed)
    accompanied = await pages.take()
    await accompanied.page.context.new_page()
    await pages.give_back(accompanied)
    assert accompanied.page.is_closed()
    last = await pages.take()
    assert not last.page.is_closed()
    await last.page.context.close()
