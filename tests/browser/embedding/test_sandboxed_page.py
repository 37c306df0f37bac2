"""What a viewer does in the real page of a dashboard inside the sandboxed frame of the element: all of it works."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.async_api import Browser, Frame, Locator, Page

from engines.chromium import OpenPage
from tenantry.tokens import KeyRing, SigningKey
from tests.browser.embedding.frames import dashboards, until
from tests.browser.embedding.sites import SOURCES, Sites, serving
from tests.dashboards.served import write_files

COUNT = "select count(*) as flights from flights where carrier = {{ carrier }}"
IN_PERIOD = "and {{ params.period | within(day) }}"
FILES = {
    "sales/regions.yaml": f"""title: Flights
controls:
  period: {{range: last-30-days}}
rows:
  - - {{figure: flights, query: {{sql: "{COUNT} {IN_PERIOD}"}}}}
    - bar: flights
      by: route
      show_query: true
      query: {{sql: "{COUNT.replace("select", "select route,")} group by route"}}
""",
}


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Sites]:
    with serving(KeyRing([SigningKey("k1", b"7" * 32)]), write_files(tmp_path, FILES)) as served:
        yield served


async def test_two_dates_apply(open_page: OpenPage, real: Sites, browser: Browser) -> None:
    """By the button, and by Enter in a field (not in Firefox: keys of a test never reach a frame of another site). Red
    with a form: without ``allow-forms`` it sends nothing, not even the event, and the console says "Blocked form
    submission"."""
    seen = await open_page()
    frame = await _embedded(seen.page, real)
    await frame.locator(".control-range .choice").click()
    await frame.get_by_label("From").fill("2013-02-01")
    await frame.get_by_label("To", exact=True).fill("2013-02-28")
    await frame.get_by_role("button", name="Apply").click()
    await until(lambda: _chosen(seen.page, "2013-02-01", "2013-02-28"), "the dates of the button")
    if browser.browser_type.name == "chromium":
        await frame.locator(".control-range .choice").click()
        await frame.get_by_label("To", exact=True).fill("2013-03-31")
        await frame.get_by_label("To", exact=True).press("Enter")
        await until(lambda: _chosen(seen.page, "2013-02-01", "2013-03-31"), "the dates of Enter")
    assert seen.console == []


async def test_the_menu_of_a_panel(open_page: OpenPage, real: Sites, browser: Browser) -> None:
    """A file from the server, one that the page makes itself (both in Chromium, for Firefox tells a test of no
    download), and the query in a dialog that closes. Red without ``allow-downloads``."""
    seen = await open_page()
    frame = await _embedded(seen.page, real)

    async def choose(entry: str) -> None:
        await _press(frame.get_by_role("button", name="Menu of Flights by route"))
        await _press(frame.get_by_role("menuitem", name=entry))

    files = {"Download CSV": ".csv", "Download PNG": "Flights by route.png"}
    for entry, name in files.items() if browser.browser_type.name == "chromium" else ():
        async with seen.page.expect_download() as download:
            await choose(entry)
        assert name in (await download.value).suggested_filename
    await choose("Show query")
    dialog = frame.get_by_role("dialog", name="Query of Flights by route")
    assert "from flights" in await dialog.inner_text()
    await _press(dialog.get_by_role("button", name="Close"))
    await dialog.wait_for(state="detached")
    assert seen.console == []


async def _press(button: Locator) -> None:
    """By script: in Firefox clicks of a test do not always reach a frame of another site, and this is about what they
    do."""
    await button.evaluate("(button) => button.click()")


async def _embedded(page: Page, sites: Sites) -> Frame:
    """The frame of acme, once its panels have come."""
    await page.goto(f"{sites.host}/?{urlencode({'groups': 'acme'})}")

    async def ready() -> Frame | None:
        for frame in dashboards(page, sites):
            if await frame.locator("main [data-state=ready]").count() == 2:
                return frame
        return None

    frame: Frame = await until(ready, "the panels")
    return frame


async def _chosen(page: Page, start: str, end: str) -> bool:
    found: Any = await page.evaluate("document.querySelector('#acme').filters")
    return bool(found == {"period": {"start": start, "end": end}})


def test_the_page_has_no_form() -> None:
    """Nor anything else that the sandbox keeps from working: each would do nothing, and only in a frame."""
    blocked = re.compile(r"""["']form["']|\b(?:alert|confirm|prompt)\(|window\.(?:open|print)|_blank""")
    found = [
        f"{path.name}: {line.strip()}"
        for path in sorted(SOURCES.parent.rglob("*.js"))
        for line in path.read_text().splitlines()
        if blocked.search(line.partition("//")[0])
    ]
    assert found == []
