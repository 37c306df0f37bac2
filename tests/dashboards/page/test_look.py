"""How the page looks: every size and mode, axe, the policy, the console, paper."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.axe import serious
from tests.dashboards.page.conftest import Visit
from tests.dashboards.page.gallery import ROUTE_COLUMNS, gallery, routes
from tests.dashboards.page.stand_in import StandIn, rows

pytestmark = pytest.mark.slow

SIZES = [(width, dark) for width in (1440, 768, 360) for dark in (False, True)]


@pytest.mark.parametrize(("width", "dark"), SIZES)
async def test_every_size_and_mode(stand_in: StandIn, visit: Visit, tmp_path: Path, width: int, dark: bool) -> None:
    """No sideways scrolling, nothing that axe calls serious, a clean console, no violation. A picture is kept."""
    seen = await visit(gallery(stand_in), width=width, dark=dark)
    assert await seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert await serious(seen.page, also=("region", "heading-order")) == []
    assert seen.console == []
    assert await seen.violations() == []
    assert {f"http://{host}" for host in seen.hosts()} == {stand_in.url}
    picture = tmp_path / f"page-{width}-{'dark' if dark else 'light'}.png"
    await seen.page.screenshot(path=picture, full_page=True)
    assert picture.stat().st_size > 50_000


async def test_what_opens_can_be_used_by_everybody(stand_in: StandIn, visit: Visit) -> None:
    """The menu, both kinds of choices, the table of a chart and the query, each open while axe looks."""
    page = (await visit(gallery(stand_in) + "#origin=JFK&period=last-year")).page
    for selector in (".control-range .choice", ".control-choices .choice", "[data-panel='2-1'] .icon-button"):
        await page.locator(selector).first.click()
        await page.locator(".popover:visible").wait_for()
        assert await serious(page) == []
    await page.get_by_role("menuitem", name="Show as table").click()
    await page.locator(".twin").wait_for()
    await page.locator("[data-panel='8-1'] .icon-button").click()
    await page.get_by_role("menuitem", name="Show query").click()
    await page.locator("dialog[open]").wait_for()
    assert await serious(page) == []


async def test_colours_follow_the_scheme_without_another_drawing(stand_in: StandIn, visit: Visit) -> None:
    """Light and dark: the marks stay the same elements. Paper has another width, and ink."""
    page = (await visit(gallery(stand_in))).page
    fill = "getComputedStyle(document.querySelector('rect.bar')).fill"
    await page.evaluate("document.querySelector('rect.bar').same = true")
    light = await page.evaluate(fill)
    await page.emulate_media(color_scheme="dark")
    assert await page.evaluate(fill) != light
    assert await page.evaluate("document.querySelector('rect.bar').same")
    await page.emulate_media(color_scheme="dark", media="print")
    assert await page.evaluate(fill) == light


async def test_paper_holds_everything(stand_in: StandIn, visit: Visit) -> None:
    """At the width of A4; nothing to press."""
    page = (await visit(gallery(stand_in), width=718)).page
    await page.emulate_media(media="print")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert await page.locator("button:visible", has_text="Next").count() == 0
    assert await page.locator(".menu-holder:visible").count() == 0


async def test_a_table_on_paper_is_whole(stand_in: StandIn, visit: Visit) -> None:
    """Of a panel and of a chart's twin: no fade over what can be scrolled to on a screen, and no end before the last
    row. Red when a rule for screens is more special than that for paper: the last row and an edge were faded out."""
    long = {"kind": "table", "columns": [{"name": name} for name in ROUTE_COLUMNS], "title": "Long", "page": 100}
    chart = {"kind": "bar", "bar": ["flights"], "by": "route", "title": "Chart"}
    shown = rows(ROUTE_COLUMNS, *routes(40), total=40)
    page = (await visit(stand_in.show([long | {"answer": shown}], [chart | {"answer": shown}]), width=400)).page
    await page.get_by_role("button", name="Menu of Chart").click()
    await page.get_by_role("menuitem", name="Show as table").click()
    await page.locator(".twin").wait_for()
    assert await page.locator(".table-scroller.more-right, .table-scroller.more-below").count() > 0
    script = """() => [...document.querySelectorAll(".table-scroller")].map((each) => {
        const { maskImage, overflowX, overflowY } = getComputedStyle(each);
        const bottom = (node) => node.getBoundingClientRect().bottom;
        return [maskImage, overflowX, overflowY, bottom(each) >= bottom(each.querySelector("tbody tr:last-child"))];
    })"""
    assert ["none", "visible", "visible", True] not in await page.evaluate(script)
    await page.emulate_media(media="print")
    assert await page.evaluate(script) == [["none", "visible", "visible", True]] * 2


async def test_nothing_is_smaller_than_12_pixels(stand_in: StandIn, visit: Visit) -> None:
    """Of all texts."""
    page = (await visit(gallery(stand_in))).page
    sizes = await page.evaluate(
        """() => [...document.querySelectorAll("body *")]
            .filter((each) => [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
            .map((each) => parseFloat(getComputedStyle(each).fontSize))"""
    )
    assert min(sizes) >= 12
