"""The sites, and the browsers: every test of this folder runs in Chromium and, where it is slow, in Firefox."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from playwright.async_api import Browser

from engines.chromium import chromium
from engines.firefox import firefox
from tenantry.tokens import KeyRing, SigningKey
from tests.browser.embedding.sites import Sites, serving
from tests.dashboards.mounts import BARE, FASTAPI, Mounting


@pytest.fixture
def sites() -> Iterator[Sites]:
    """Three sites: the dashboards, a product that embeds them, and one that may not."""
    with serving(KeyRing([SigningKey("k1", b"7" * 32)])) as served:
        yield served


@pytest.fixture(params=[BARE, FASTAPI], ids=[BARE.name, FASTAPI.name])
def mounting(request: pytest.FixtureRequest) -> Mounting:
    """How real dashboards are mounted: as they are, and with all that may be around them. The mounts between these two
    are tested without a browser."""
    found: Mounting = request.param
    return found


@pytest.fixture(scope="package", params=["chromium", pytest.param("firefox", marks=pytest.mark.slow)])
async def browser(
    request: pytest.FixtureRequest, chromium_path: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Browser]:
    """One of each, one after the other; every page is opened in a context of its own."""
    home = tmp_path_factory.mktemp(request.param)
    async with firefox(home) if request.param == "firefox" else chromium(chromium_path, home) as launched:
        yield launched
