"""The page of a preview: opened by its address alone, marked, and of no use a second time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page

from engines.axe import serious
from engines.chromium import OpenPage
from engines.either_browser import IN_CHROMIUM
from tenantry.dashboards.preview.previews import Previews, preview_address
from tenantry.groups import Author
from tenantry.tokens import KeyRing, SigningKey
from tests.browser.embedding.frames import until
from tests.browser.embedding.sites import Sites, serving
from tests.dashboards.mounts import FASTAPI
from tests.dashboards.served import write_files

FILES = {
    "sales/regions.yaml": """title: Flights of {{ carrier }}
rows:
  - {figure: flights, query: {sql: "select count(*) as flights from flights where carrier = {{ carrier }}"}}
  - {table: {sql: "select route, count(*) as flights from flights where carrier = {{ carrier }} group by route"}}
  - bar: flights
    by: route
    query: {sql: "select route, count(*) as flights from flights where carrier = {{ carrier }} group by route"}
    click: {open: sales/route, with: [route]}
""",
    "sales/route.yaml": """title: One route
controls: {route: {choices: [A-B, A-C]}}
rows:
  - {figure: flights, query: {sql: "select count(*) as flights from flights where route = {{ params.route }}"}}
""",
}


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Sites]:
    """Mounted with all that may be around them; the tests beside this one mount them as they are."""
    with serving(KeyRing([SigningKey("k1", b"7" * 32)]), write_files(tmp_path, FILES), FASTAPI) as served:
        yield served


async def test_a_preview_is_marked_and_opens_once(open_page: OpenPage, real: Sites) -> None:
    """Over the whole page, without taking a click from it; said to a reader of the screen; in no address and no log is
    anything that opens it again. Red without the mark in the answer, or its element."""
    code, address = await _issued(real)
    seen = await open_page()
    page = seen.page
    await page.goto(address)
    await until(lambda: _shown(page), "the preview")
    assert code not in page.url
    note = await page.get_by_role("note").inner_text()
    assert note.startswith("Preview as Acme (acme, production).")
    assert await page.evaluate("getComputedStyle(document.querySelector('.watermark')).pointerEvents") == "none"
    overflows = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not await page.evaluate(overflows)
    assert await serious(page) == []
    assert seen.console == []
    token = await real.token("acme")
    assert not [line for line in real.requests if code in line or token in line]
    again = (await open_page()).page
    await again.goto(address)

    async def refused() -> bool:
        return "This address has been used already" in await again.locator("body").inner_text()

    await until(refused, "the notice")


@IN_CHROMIUM
async def test_a_click_to_another_dashboard_leaves_the_preview(open_page: OpenPage, real: Sites) -> None:
    """A preview is of one dashboard: the page says so, and the way back shows it as before. Red when each refusal with
    403 is said to be the end of the access: the preview still held, and there was no way back."""
    _, address = await _issued(real)
    page = (await open_page()).page
    await page.goto(address)
    await until(lambda: _shown(page), "the preview")
    await page.locator("rect.bar").first.click()
    await page.get_by_role("heading", name="This preview is of another dashboard").wait_for()
    await page.get_by_role("button", name="← Flights of HA").click()
    await until(lambda: _shown(page), "the preview again")


async def _issued(sites: Sites) -> tuple[str, str]:
    """The code of a preview of acme, and the address that it opens."""
    production = await sites.store.environments.get("production")
    assert production is not None
    code = await Previews(sites.store).issue(production, "acme", "sales/regions", Author("ann"), None)
    return code, preview_address(sites.mount, "sales/regions", code)


async def _shown(page: Page) -> bool:
    text = await page.locator("body").inner_text()
    return "Flights of HA" in text and "120" in text and await page.locator(".watermark").count() == 1
