"""The sites, and the browsers: Chromium runs every test of this folder. Firefox, in the second tier, runs those of what
is a browser's own: who may embed, frames and their heights, cookies, connections, history, clicks, printing. What our
scripts do without these is the same in both: ``IN_CHROMIUM``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from playwright.async_api import Browser

from engines.chromium import OpenPage, Watched, watched_page
from engines.either_browser import BOTH, either
from engines.kept_pages import KeptPages
from tenantry.tokens import KeyRing, SigningKey
from tests.browser.embedding.sites import Sites, serving


@pytest.fixture
def sites() -> Iterator[Sites]:
    """Three sites: the dashboards, a product that embeds them, and one that may not."""
    with serving(KeyRing([SigningKey("k1", b"7" * 32)])) as served:
        yield served


browser = pytest.fixture(either, scope="package", params=BOTH, name="browser")


@pytest.fixture(scope="package")
def pages(browser: Browser) -> KeptPages:
    """Of all modules."""
    return KeptPages(browser)


@pytest.fixture
async def open_page(browser: Browser, pages: KeptPages) -> AsyncIterator[OpenPage]:
    """``await open_page()``: a page in a context of its own, which an earlier test may have had: in Firefox a new one
    costs as much as all else. ``new=True``: for a test that sets a clock, or adds a script or a listener."""
    closed: list[Watched] = []

    async def opened(*, width: int = 1440, new: bool = False) -> Watched:
        if new:
            closed.append(await watched_page(browser, width, 900, color_scheme="light"))
            return closed[-1]
        seen = await take(width=width)
        await seen.page.bring_to_front()  # what is behind another page takes no click in Firefox
        return seen

    async with pages.lent() as take:
        yield opened
        for seen in closed:
            await seen.page.context.close()
