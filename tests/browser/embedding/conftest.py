"""The sites, and the browsers: Chromium runs every test of this folder. Firefox, in the second tier, runs those of what
is a browser's own: who may embed, frames and their heights, cookies, connections, history, clicks, printing. What our
scripts do without these is the same in both: ``IN_CHROMIUM``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engines.either_browser import BOTH, either
from tenantry.tokens import KeyRing, SigningKey
from tests.browser.embedding.sites import Sites, serving


@pytest.fixture
def sites() -> Iterator[Sites]:
    """Three sites: the dashboards, a product that embeds them, and one that may not."""
    with serving(KeyRing([SigningKey("k1", b"7" * 32)])) as served:
        yield served


browser = pytest.fixture(either, scope="package", params=BOTH, name="browser")
