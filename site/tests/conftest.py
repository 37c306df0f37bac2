"""Fixtures for all tests of the site. Real browsers and real inputs live in engines/, which core's tests share."""

from __future__ import annotations

import pytest

pytest_plugins = ["engines.chromium", "engines.garbage_collection", "engines.hypothesis_profile"]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The server of the site runs on asyncio: its tests do."""
    return "asyncio"
