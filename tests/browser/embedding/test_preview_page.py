"""The page of a preview: opened by its address alone, marked, and of no use a second time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engines.axe import serious
from engines.chromium import OpenPage
from tenantry.dashboards.preview.endpoint import preview_address
from tenantry.dashboards.preview.previews import Previews
from tenantry.groups import Author
from tenantry.tokens import KeyRing, SigningKey
from tests.browser.embedding.frames import until
from tests.browser.embedding.sites import Sites, serving
from tests.dashboards.served import write_files

FILES = {
    "sales/regions.yaml": """title: Flights of {{ carrier }}
rows:
  - {figure: flights, query: {sql: "select count(*) as flights from flights where carrier = {{ carrier }}"}}
  - {table: {sql: "select route, count(*) as flights from flights where carrier = {{ carrier }} group by route"}}
""",
}


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Sites]:
    with serving(KeyRing([SigningKey("k1", b"7" * 32)]), write_files(tmp_path, FILES)) as served:
        yield served


async def test_a_preview_is_marked_and_opens_once(open_page: OpenPage, real: Sites) -> None:
    """Over the whole page, without taking a click from it; said to a reader of the screen; in no address and no log is
    anything that opens it again. Red without the mark in the answer, or its element."""
    production = await real.store.environment("production")
    assert production is not None
    code = await Previews(real.store).issue(production, "acme", "sales/regions", Author("ann"))
    address = preview_address(f"{real.dashboards}/dashboards", "sales/regions", code)
    seen = await open_page()
    page = seen.page
    await page.goto(address)

    async def shown() -> bool:
        text = await page.locator("body").inner_text()
        return "Flights of HA" in text and "120" in text and await page.locator(".watermark").count() == 1

    await until(shown, "the preview")
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
