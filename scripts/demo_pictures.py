"""Makes the pictures of the README and of docs/editor.md from the demo: ``python -m scripts.demo_pictures``.

It serves the demo from a temporary folder and opens it in the Chromium that ``$CHROMIUM`` names, else in the one that
the tests in ``tests/browser`` have installed.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Final

from playwright.async_api import Page, async_playwright

ROOT: Final = Path(__file__).parents[1]
IMAGES: Final = ROOT / "docs" / "images"
UNPACKED: Final = ROOT / "tests" / "browser" / "node_modules" / ".unpacked" / "chromium"
WIDTH, HEIGHT = 1280, 800
_CUT_OFF: Final = "This access has ended"
_SECONDS: Final = 60


@contextmanager
def demo() -> Iterator[tuple[str, str]]:
    """Run the demo and yield the URL of its product and the link to its editor."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tenantry", "demo", "--folder", folder, "--port", "0"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            printed = "".join(takewhile(lambda line: not line.startswith("Ctrl-C"), process.stderr or ()))
            product, editor = re.findall(r"^ +(http://\S+)$", printed, re.MULTILINE)[:2]
            yield product, editor
        finally:
            process.terminate()
            process.wait(_SECONDS)


def browser_path() -> str:
    return os.environ.get("CHROMIUM") or str(UNPACKED)


async def look(product: str, editor: str) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=browser_path(), args=["--no-sandbox", "--disable-gpu"]
        )
        for address, take in ((editor, look_at_editor), (product, look_at_product)):
            page = await browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            await page.goto(address)
            await take(page)
        await browser.close()


async def look_at_editor(page: Page) -> None:
    """Take two pictures: a query with its rows, and a dashboard with its preview."""
    await page.locator("[data-path='queries/airports.sql']").click()
    await page.get_by_role("button", name="Run", exact=True).click()
    await page.locator(".rows tbody tr").first.wait_for()
    await page.screenshot(path=IMAGES / "editor-query.png")
    await page.locator("[data-path='dashboards/overview.yaml']").click()
    await whole(page, 1)
    await page.screenshot(path=IMAGES / "editor-dashboard.png")


async def look_at_product(page: Page) -> None:
    """Take two pictures: a dashboard of one customer; and all three customers, one of them cut off."""
    await whole(page, 1)
    await page.screenshot(path=IMAGES / "demo-overview.png")
    await page.get_by_label("Customer").select_option("")
    await whole(page, 3)
    await page.get_by_role("button", name="Cut this customer off").nth(1).click()
    await whole(page, 2)
    await page.screenshot(path=IMAGES / "demo-customers.png")


async def whole(page: Page, count: int) -> None:
    """Wait until ``count`` frames show all their panels, and all others say that access has ended."""
    async with asyncio.timeout(_SECONDS):
        while await _whole(page) != count:  # noqa: ASYNC110  # the page's strict CSP leaves only polling
            await asyncio.sleep(0.5)


async def _whole(page: Page) -> int | None:
    """Return how many frames show all their panels; None while a frame is still loading."""
    found = 0
    for frame in page.frames[1:]:
        if _CUT_OFF in await frame.locator("body").inner_text():
            continue
        if await frame.locator(".dashboard").count() == 0 or await frame.locator("[data-state=waiting]").count():
            return None
        found += 1
    return found


def main() -> None:
    """Write the pictures."""
    with demo() as addresses:
        asyncio.run(look(*addresses))


if __name__ == "__main__":
    main()
