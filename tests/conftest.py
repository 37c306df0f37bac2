"""Fixtures for all tests. Real engines live in tests/engines/, one module each."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["tests.engines.postgres", "tests.engines.chromium"]

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Tenantry runs on asyncio: its drivers do."""
    return "asyncio"


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Real inputs that nobody here wrote, which stand beside a checkout and not in it."""
    if not CORPUS.is_dir():
        pytest.skip("the shared corpus is not beside this checkout (../shared/corpus)")
    return CORPUS
