"""Fixtures for all tests. Real engines live in engines/, one module each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from engines.corpus import ABSENT, CORPUS

pytest_plugins = [
    "engines.postgres",
    "engines.pgbouncer",
    "engines.mariadb",
    "engines.valkey",
    "engines.chromium",
    "tests.docs.environments",
]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Tenantry runs on asyncio: its drivers do."""
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The run folder of all tests and their children: the words of a test's store do not pile up in the machine's."""
    folder = tmp_path_factory.mktemp("run")
    folder.chmod(0o700)
    before = os.environ.get("TENANTRY_RUN_DIR")
    os.environ["TENANTRY_RUN_DIR"] = str(folder)
    yield folder
    if before is None:
        del os.environ["TENANTRY_RUN_DIR"]
    else:
        os.environ["TENANTRY_RUN_DIR"] = before


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real inputs. Skips where there is none."""
    if not CORPUS.is_dir():
        pytest.skip(ABSENT)
    return CORPUS
