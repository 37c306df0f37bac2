"""Fixtures for all tests of the site. Real browsers and real inputs live in engines/, which core's tests share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytest_plugins = [
    "engines.memory_folder",
    "engines.chromium",
    "engines.first_collection",
    "engines.garbage_collection",
    "engines.hypothesis_profile",
    "engines.reports",
    "engines.samples",
]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The server of the site runs on asyncio: its tests do."""
    return "asyncio"


@pytest.fixture(scope="session")
async def browser(chromium_path: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browser]:
    """One for all: ten files use a browser, and each start takes seconds."""
    from engines.chromium import chromium  # a plugin, which pytest imports itself

    async with chromium(chromium_path, tmp_path_factory.mktemp("chromium")) as started:
        yield started
