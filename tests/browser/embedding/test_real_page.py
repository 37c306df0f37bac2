"""The real page of real dashboards in a page of another site: what the tests beside this one show of a small page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.async_api import Page

from engines.chromium import OpenPage
from tenantry.tokens import KeyRing, SigningKey
from tests.browser.embedding.frames import dashboards, noted, until
from tests.browser.embedding.sites import Sites, serving
from tests.dashboards.mounts import FASTAPI
from tests.dashboards.served import write_files

pytestmark = pytest.mark.slow

FILES = {
    "sales/regions.yaml": """title: Flights of {{ carrier }}
controls:
  route: {choices: [A-B, A-C]}
rows:
  - {heading: All}
  - {figure: flights, query: {sql: "select count(*) as flights from flights where carrier = {{ carrier }}
      [[and route = {{ params.route }}]]"}}
""",
}

HALF_A_MINUTE = 31_000


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Sites]:
    """Mounted with all that may be around them; the tests beside this one mount them as they are."""
    with serving(KeyRing([SigningKey("k1", b"7" * 32)]), write_files(tmp_path, FILES), FASTAPI) as served:
        yield served


async def test_direct_visits_of_two_customers(open_page: OpenPage, real: Sites) -> None:
    """In two tabs of one browser, each at a clean address, also after a reload: neither cookies nor pages mix. Without
    the cookie the page says that cookies are blocked, and without a group in its address where to open it. Red when the
    page does not name its group."""
    seen = await open_page()
    context = seen.page.context
    for group in ("acme", "bolt"):
        page = await context.new_page()
        await page.goto(f"{real.mount}/sales/regions?USER_GROUP_TOKEN={await real.token(group)}")
    tabs = context.pages[1:]
    addresses = {tab.url for tab in tabs}
    assert len(addresses) == 2
    assert not [token for token in real.tokens for address in addresses if token in address]
    for tab in tabs:
        await tab.reload()
        await until(lambda tab=tab: _says(tab, "Flights of HA", "120"), "the figure")
        assert await tab.evaluate("document.cookie") == ""
    assert len(await context.cookies()) == 2
    await context.clear_cookies()
    await tabs[0].reload()
    await until(lambda: _says(tabs[0], "Cookies are blocked"), "the notice")
    await tabs[1].goto(f"{real.mount}/sales/regions")
    await until(lambda: _says(tabs[1], "Please open this dashboard from your product"), "the other notice")


async def test_a_host_that_is_isolated_embeds_too(open_page: OpenPage, real: Sites) -> None:
    """A page with ``Cross-Origin-Embedder-Policy: require-corp`` lets in only what says that it may be there. Red
    without these headers on the frame, or on the element's file."""
    seen = await open_page()
    await seen.page.goto(f"{real.host}/?{urlencode({'groups': 'acme', 'isolated': 'yes'})}")

    async def shown() -> bool:
        frames = dashboards(seen.page, real)
        return bool(frames) and "120" in await frames[0].locator("body").inner_text()

    await until(shown, "the figure")
    assert seen.console == []


async def test_ten_dashboards_on_one_page_over_http_1_1(open_page: OpenPage, real: Sites) -> None:
    """All have their rows, though a browser opens six connections to a host: two frames keep one, the others ask each
    half minute. So all hear of a change: those two at once. Red when every frame keeps a connection (the seventh has
    no rows), and when those that ask do so about their token alone."""
    seen = await open_page(new=True)
    await seen.page.clock.install()
    await seen.page.goto(f"{real.host}/?{urlencode({'groups': ' '.join(['acme', 'bolt'] * 5)})}")

    async def show(count: int, figure: str) -> bool:
        texts = [await frame.locator("body").inner_text() for frame in dashboards(seen.page, real)]
        return len(texts) == 10 and sum(figure in text for text in texts) == count

    await until(lambda: show(10, "120"), "the rows of all ten")
    await until(lambda: _listen(real, 2), "the two that hear of changes")
    await real.double()
    await until(lambda: show(2, "240"), "the change in the frames with an open answer")
    await seen.page.clock.fast_forward(HALF_A_MINUTE)
    await until(lambda: show(10, "240"), "the change in all")
    assert await _listen(real, 2)
    assert await seen.violations() == []
    assert seen.console == []


async def _listen(real: Sites, count: int) -> bool:
    assert real.sources is not None
    return len(real.sources.changes) == count


async def _says(page: Page, *words: str) -> bool:
    text = await page.locator("body").inner_text()
    return all(word in text for word in words)


async def test_a_real_dashboard_is_embedded(open_page: OpenPage, real: Sites) -> None:
    """It shows its group, follows a rotation with one question to the host, takes filters from it, and both consoles
    and policies are clean; the token stands in no request's address."""
    seen = await open_page()
    await seen.page.goto(f"{real.host}/?{urlencode({'groups': 'acme'})}")

    async def text() -> str:
        frames = dashboards(seen.page, real)
        return await frames[0].locator("body").inner_text() if frames else ""

    async def holds(*words: str) -> bool:
        found = await text()
        return all(word in found for word in words)

    await until(lambda: holds("Flights of HA", "120"), "the figure")
    await real.rotate("acme")
    await seen.page.evaluate("document.querySelector('#acme').setFilters({route: 'A-B'})")
    await until(lambda: holds("Flights of HA", "60"), "the figure of one route")
    found = await noted(seen.page)
    assert found["asked"] == {"acme": 2}
    assert [event for event in found["events"] if event[1] == "error"] == []
    heights = [event[2] for event in found["events"] if event[1] == "height"]
    assert heights
    assert max(heights) < 3_000
    assert await seen.violations() == []
    assert [text for text in seen.console if "401" not in text] == []  # the answer to the token that had died
    assert not [line for line in real.requests for token in real.tokens if token in line]
