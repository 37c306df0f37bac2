"""The sites, and the browsers: every test of this folder runs in Chromium and, where it is slow, in Firefox."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engines.either_browser import BOTH, either
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mounts are a matter of the server: Firefox gets the harder of the two."""
    items[:] = [each for each in items if not _is_needless(each)]


def _is_needless(item: pytest.Item) -> bool:
    parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    return parameters.get("browser") == "firefox" and parameters.get("mounting") is BARE


browser = pytest.fixture(either, scope="package", params=BOTH, name="browser")
