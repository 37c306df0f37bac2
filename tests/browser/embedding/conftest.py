"""The sites, and ways to look into the frames of a page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tenantry.tokens import KeyRing, SigningKey
from tests.browser.embedding.sites import Sites, serving


@pytest.fixture
def sites() -> Iterator[Sites]:
    """Three sites: the dashboards, a product that embeds them, and one that may not."""
    with serving(KeyRing([SigningKey("k1", b"7" * 32)])) as served:
        yield served
