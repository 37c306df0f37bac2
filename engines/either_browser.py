"""Chromium and, in the second tier, Firefox: a fixture for tests that run in both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from playwright.async_api import Browser

from engines.chromium import chromium
from engines.firefox import firefox

BOTH: list[Any] = ["chromium", pytest.param("firefox", marks=pytest.mark.slow)]
"""The parameters of the fixture."""

IN_CHROMIUM = pytest.mark.parametrize("browser", ["chromium"], indirect=True)
"""For a test of what is the same in every browser."""


async def either(
    request: pytest.FixtureRequest, chromium_path: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Browser]:
    """One of each, one after the other; every page is opened in a context of its own. A fixture of any scope can be
    made of it."""
    home = tmp_path_factory.mktemp(request.param)
    async with firefox(home) if request.param == "firefox" else chromium(chromium_path, home) as launched:
        yield launched
