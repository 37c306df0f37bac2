"""The dashboard in a real Chromium."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from playwright.async_api import Page, Route

from engines.axe import serious
from engines.chromium import OpenPage, Watched, follow
from tests.browser.conftest import Served

CHARTS = 2
SIZES = [(width, dark) for width in (1440, 768, 360) for dark in (False, True)]

# A strict policy forbids wait_for_function, which needs eval: ask in a loop.
DRAWN = 'document.querySelectorAll("tenantry-chart[data-state=ready] svg").length'


async def drawn(page: Page, count: int = CHARTS) -> None:
    """Waits until the charts are there."""
    for _ in range(2_000):
        if await page.evaluate(DRAWN) == count:
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"{await page.evaluate(DRAWN)} of {count} charts were drawn")


async def visit(open_page: OpenPage, demo: Served, carrier: str, **options: object) -> Watched:
    """An airline's dashboard, opened as its customer does, with its charts drawn."""
    seen: Watched = await open_page(**options)
    await seen.page.goto(demo.opening(carrier))
    await drawn(seen.page)
    return seen


async def first_route(page: Page) -> str:
    return await page.locator("table.sortable tbody th").first.inner_text()


async def test_three_airlines_see_three_dashboards(open_page: OpenPage, demo: Served) -> None:
    """Different rows from one page; a clean console, no violated policy, no request to another host."""
    routes = {}
    for carrier in ("UA", "B6", "HA"):
        seen = await visit(open_page, demo, carrier)
        routes[carrier] = await first_route(seen.page)
        assert seen.console == []
        assert await seen.violations() == []
        assert {f"http://{host}" for host in seen.hosts()} == {demo.url}
    assert routes == {"UA": "EWR → SFO", "B6": "JFK → MCO", "HA": "JFK → HNL"}


async def test_the_token_is_nowhere_that_remembers(open_page: OpenPage, demo: Served) -> None:
    """Neither in the address bar, nor the history, nor a Referer, nor within reach of a script."""
    seen = await visit(open_page, demo, "UA")
    page, token = seen.page, demo.tokens["UA"]
    await follow(page.get_by_role("button", name="Show", exact=True))
    await drawn(page)
    places = "[location.href, document.referrer, document.cookie, document.documentElement.outerHTML]"
    assert token not in json.dumps(await page.evaluate(places))
    referers = [(await request.all_headers()).get("referer", "") for request in seen.requests]
    assert [referer for referer in referers if "TOKEN" in referer or token in referer] == []
    session = await page.context.new_cdp_session(page)
    history = await session.send("Page.getNavigationHistory")
    entries = [entry["url"] for entry in history["entries"]]  # what Back leads to; what was typed once is the browser's
    assert len(entries) > 1
    assert token not in json.dumps(entries)


async def test_two_airlines_in_two_tabs_survive_a_reload(open_page: OpenPage, demo: Served) -> None:
    """One browser, one host, two customers. Red when the cookie's path is /."""
    first = await visit(open_page, demo, "UA")
    second = await first.page.context.new_page()
    await second.goto(demo.opening("B6"))
    await first.page.reload()
    await second.reload()
    assert await first_route(first.page) == "EWR → SFO"
    assert await first_route(second) == "JFK → MCO"


async def test_a_chart_becomes_a_table_and_back_by_keyboard(open_page: OpenPage, demo: Served) -> None:
    """The table has the chart's rows, and nothing below it moves."""
    page = (await visit(open_page, demo, "UA")).page
    panel = page.locator("section", has=page.get_by_role("heading", name="Mean departure delay by month"))
    below = page.locator("section.listing")
    before = await below.bounding_box()
    await panel.get_by_role("button", name="Show as table").focus()
    await page.keyboard.press("Enter")
    assert await panel.get_by_role("row").count() == 13
    assert await panel.locator("svg").is_hidden()
    assert await below.bounding_box() == before
    await page.keyboard.press("Space")
    assert await panel.get_by_role("table").count() == 0
    assert await panel.locator("svg").is_visible()


async def test_a_chart_speaks(open_page: OpenPage, demo: Served) -> None:
    """Its graphic has a name, and each bar says its value."""
    page = (await visit(open_page, demo, "HA")).page
    graphic = page.locator("tenantry-chart [role=graphics-document]").first
    label = await graphic.get_attribute("aria-label") or ""
    assert label.startswith("Bar chart: mean departure delay of Hawaiian Airlines")
    bars = page.locator("tenantry-chart").first.locator("[aria-roledescription=bar]")
    assert await bars.count() == 12


async def test_the_list_of_routes_sorts_by_keyboard(open_page: OpenPage, demo: Served) -> None:
    """Numbers as numbers; the heading says the order."""
    page = (await visit(open_page, demo, "UA")).page
    heading = page.locator("table.sortable").get_by_role("columnheader", name="Distance, mi")
    await heading.get_by_role("button").focus()
    await page.keyboard.press("Enter")
    assert await heading.get_attribute("aria-sort") == "descending"
    cells = await page.locator("table.sortable tbody tr td:nth-child(3) data").evaluate_all(
        "all => all.map((each) => Number(each.value))"
    )
    assert cells == sorted(cells, reverse=True)
    assert cells[0] > 4000


async def test_the_dates_filter(open_page: OpenPage, demo: Served) -> None:
    """By the form, as a viewer does it; the address can be shared without its token."""
    page = (await visit(open_page, demo, "HA")).page
    await page.get_by_label("From", exact=True).fill("2013-01-01")
    await page.get_by_label("To", exact=True).fill("2013-01-31")
    await follow(page.get_by_role("button", name="Show", exact=True))
    await drawn(page)
    assert page.url.endswith("/?from=2013-01-01&to=2013-01-31")
    assert await page.locator(".figure .value").first.inner_text() == "31"


async def test_a_group_s_locale_writes_its_dates(open_page: OpenPage, demo: Served) -> None:
    """Day before month for the airline whose locale is British."""
    page = (await visit(open_page, demo, "VX")).page
    assert "1 July 2013 to 31 December 2013" in await page.locator(".head").inner_text()
    page = (await visit(open_page, demo, "UA")).page
    assert "July 1, 2013 to December 31, 2013" in await page.locator(".head").inner_text()


async def test_charts_follow_the_colour_scheme_without_a_reload(open_page: OpenPage, demo: Served) -> None:
    """Light, dark, and ink on paper."""
    page = (await visit(open_page, demo, "UA")).page
    fill = 'getComputedStyle(document.querySelector("[aria-labelledby=routes] svg .mark-rect path")).fill'
    light = await page.evaluate(fill)
    await page.emulate_media(color_scheme="dark")
    dark = await page.evaluate(fill)
    await page.emulate_media(color_scheme="dark", media="print")
    printed = await page.evaluate(fill)
    assert light == printed == "rgb(36, 86, 196)"
    assert dark != light


async def test_nothing_moves_when_the_charts_come(open_page: OpenPage, demo: Served) -> None:
    """The place of each chart is kept until its script comes. Red without min-height, or .chart-plot's height."""
    seen: Watched = await open_page(width=768)
    page, arrived = seen.page, asyncio.Event()

    async def late(route: Route) -> None:
        await arrived.wait()
        await route.continue_()

    await page.route("**/chart-*.js", late)
    await page.goto(demo.opening("B6"), wait_until="commit")
    below = page.locator("section.listing")
    await below.wait_for()
    await asyncio.sleep(0.2)  # a frame is painted
    before = await below.bounding_box()
    assert await page.get_by_role("table").count() == 1
    arrived.set()
    await drawn(page)
    assert await below.bounding_box() == before
    assert (await page.locator("tenantry-chart svg").first.bounding_box() or {})["height"] > 250


@pytest.mark.parametrize(("width", "dark"), SIZES)
async def test_every_size_and_mode(open_page: OpenPage, demo: Served, tmp_path: Path, width: int, dark: bool) -> None:
    """No sideways scrolling, nothing that axe calls serious, a clean console. A picture is kept."""
    seen = await visit(open_page, demo, "B6", width=width, dark=dark)
    assert await seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert await serious(seen.page) == []
    assert seen.console == []
    assert await seen.violations() == []
    picture = tmp_path / f"demo-{width}-{'dark' if dark else 'light'}.png"
    await seen.page.screenshot(path=picture, full_page=True)
    assert picture.stat().st_size > 10_000


@pytest.mark.parametrize(
    ("carrier", "query", "words"),
    [
        ("UA", "?from=2013-06-02&to=2013-06-01", "The first day is after the last day."),
        ("OO", "?from=2013-03-01&to=2013-03-05", "No flights in this period"),
        ("broken", "", "Missing variable: home_airports"),
    ],
)
async def test_the_other_states_are_as_good(
    open_page: OpenPage, demo: Served, carrier: str, query: str, words: str
) -> None:
    """A bad date, an empty period and a missing variable: said in the page's own look, at 360 px."""
    seen: Watched = await open_page(width=360)
    await seen.page.goto(demo.opening(carrier))
    if query:
        await seen.page.goto(seen.page.url + query)
    assert words in await seen.page.locator("body").inner_text()
    assert await seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert await serious(seen.page) == []
    assert await seen.violations() == []


async def test_a_page_of_paper_holds_every_column(open_page: OpenPage, demo: Served) -> None:
    """At the width that A4 leaves for print. Red when print keeps the screen's padding and size."""
    page = (await visit(open_page, demo, "UA", width=718)).page
    await page.emulate_media(media="print")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert await page.get_by_role("columnheader", name="Destination").is_visible()


async def test_a_bad_date_leaves_the_filter_in_its_place(open_page: OpenPage, demo: Served) -> None:
    """What is said of it is below the fields. Red when the message is as wide as its text."""
    page = (await visit(open_page, demo, "UA")).page
    field = page.get_by_label("From", exact=True)
    before = await field.bounding_box()
    await page.goto(f"{page.url}?from=x&to=x")
    assert await page.get_by_role("alert").is_visible()
    assert await field.bounding_box() == before


async def test_without_scripts_the_tables_are_shown(open_page: OpenPage, demo: Served) -> None:
    """Every number is there, and no empty frame."""
    seen: Watched = await open_page(java_script_enabled=False)
    await seen.page.goto(demo.opening("UA"))
    assert await seen.page.get_by_role("table").count() == CHARTS + 1
    assert await seen.page.get_by_text("January", exact=True).is_visible()


async def test_an_unknown_token_is_a_page_that_says_what_to_do(open_page: OpenPage, demo: Served) -> None:
    """401 in the look of the product, without the token."""
    seen: Watched = await open_page(width=360)
    answer = await seen.page.goto(f"{demo.url}/?USER_GROUP_TOKEN={demo.unknown}")
    assert answer is not None
    assert answer.status == 401
    assert await seen.page.locator("h1").inner_text() == "This access is no longer valid"
    assert demo.unknown not in await seen.page.content()
