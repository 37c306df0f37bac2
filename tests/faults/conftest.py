"""The two fleets that faults are tried on, one of each for all tests of a module: they take seconds to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.acceptance.faults.catalogue import on_postgres, on_sqlite
from benchmarks.acceptance.faults.trial import Fault, Scene

STALENESS = 1.0
"""The staleness bound of these fleets, in seconds."""

Set = tuple[Scene, dict[str, Fault]]


@pytest.fixture(scope="module")
def postgres_fleet() -> Iterator[Set]:
    """On PostgreSQL and Valkey, both behind proxies."""
    with on_postgres(STALENESS) as (scene, faults):
        yield scene, {fault.name: fault for fault in faults}


@pytest.fixture(scope="module")
def sqlite_fleet() -> Iterator[Set]:
    """On one SQLite file."""
    with on_sqlite(STALENESS) as (scene, faults):
        yield scene, {fault.name: fault for fault in faults}
