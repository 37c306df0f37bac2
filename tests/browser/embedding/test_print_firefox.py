"""A host's page and a direct page on paper in Firefox, which asks frames nothing and knows no containers there."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page

from engines.chromium import OpenPage, Watched, watch
from tests.browser.embedding.frames import until
from tests.browser.embedding.sites import Sites
from tests.browser.embedding.test_print import TITLES, _ready, days, embedded, knows_paper, real

__all__ = ["real"]

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("browser", ["firefox"], indirect=True)]

A4 = {"width": "53.34cm", "height": "75.44cm"}
"""Playwright gives BiDi inches, which takes them for centimetres."""
READ = """async () => {
  const { pdfDocument } = window.PDFViewerApplication ?? {};
  if (!pdfDocument) return null;
  const pages = Array.from({ length: pdfDocument.numPages }, (_, at) => pdfDocument.getPage(at + 1));
  const texts = await Promise.all(pages.map(async (page) => (await (await page).getTextContent()).items));
  return JSON.stringify(texts.map((items) => items.map(({ str }) => str).join("\\n")));
}"""
"""By Firefox's own reader of PDF."""


@pytest.fixture
async def open_page(browser: Browser) -> AsyncIterator[OpenPage]:
    """Pages whose context is not closed: Firefox would not end after it has printed a frame of another site."""
    pages = []

    async def opened(*, width: int = 1440, **_: bool) -> Watched:
        context = await browser.new_context(viewport={"width": width, "height": 900}, color_scheme="light")
        pages.append(await context.new_page())
        return await watch(pages[-1])

    yield opened
    for page in pages:
        await page.goto("about:blank")


async def printed(page: Page, folder: Path) -> list[str]:
    """The texts of the pages."""
    file = folder / "printed.pdf"
    file.write_bytes(await page.pdf(**A4))
    reader = await page.context.new_page()
    await reader.goto(file.as_uri())
    found = await until(lambda: reader.evaluate(READ), "the texts of the file")
    await reader.close()
    return list(json.loads(found))


async def test_a_host_prints_the_whole_frame(open_page: OpenPage, real: Sites, tmp_path: Path) -> None:
    """Each panel, all rows of the table and what follows the frame; no page is blank. Red when the height on paper
    depends on a container, and when the frame becomes smaller: the last rows were missing, or two pages were blank."""
    page = await embedded(open_page, real, 1440)
    await knows_paper(page)
    texts = await printed(page, tmp_path)
    assert [title for title in TITLES if title not in "".join(texts)] == []
    assert days(texts) == 50
    assert min(len(text) for text in texts[:-1]) > 50


async def test_a_direct_page_prints_whole(open_page: OpenPage, real: Sites, tmp_path: Path) -> None:
    """With its filters and period."""
    page = (await open_page()).page
    await page.goto(f"{real.mount}/sales/regions?USER_GROUP_TOKEN={await real.token('acme')}")
    await until(lambda: _ready(page), "all panels")
    texts = await printed(page, tmp_path)
    inside = [title for title in TITLES if title not in ("Product", "After the frame")]
    assert [title for title in inside if title not in "".join(texts)] == []
    assert "Period: Last 30 days" in texts[0]
    assert days(texts) == 50
    assert min(len(text) for text in texts) > 50
