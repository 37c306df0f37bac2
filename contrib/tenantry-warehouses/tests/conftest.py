"""Fixtures for all tests of this distribution. They need pytest and anyio alone: `make warehouses` installs no more."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from tenantry.datasources import DataSources, Limits
from tests.directory import Directory


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def directory() -> Directory:
    return Directory()


@pytest.fixture
async def open_sources(directory: Directory) -> AsyncIterator[Callable[..., DataSources]]:
    """Makes DataSources over ``directory`` and closes them after the test. A busy machine has a minute to connect."""
    made: list[DataSources] = []

    def make(**limits: Any) -> DataSources:
        made.append(DataSources(directory, limits=Limits(**{"connect_timeout": 60.0, **limits})))
        return made[-1]

    yield make
    for sources in made:
        await sources.aclose()
