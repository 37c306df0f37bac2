"""The demo's data, made once for a run, and its app."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.demo.stage import Stage, put_flights, staged


@pytest.fixture(scope="session")
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flights")
    put_flights(folder, tmp_path_factory)
    return folder


@pytest.fixture
async def stage(data_folder: Path) -> AsyncIterator[Stage]:
    async with staged(data_folder) as ready:
        yield ready
