"""The demo's data, made once for a session, and its app."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from tests.demo.stage import Stage, staged


@pytest.fixture(scope="session")
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("flights")


@pytest.fixture
async def stage(data_folder: Path) -> AsyncIterator[Stage]:
    async with staged(data_folder) as ready:
        yield ready


@pytest.fixture
async def browse(stage: Stage) -> AsyncIterator[httpx2.AsyncClient]:
    """A client that follows redirects and keeps cookies, as a browser does."""
    transport = httpx2.ASGITransport(app=stage.app)
    headers = {"Accept": "text/html"}
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://demo", headers=headers, follow_redirects=True
    ) as client:
        yield client
