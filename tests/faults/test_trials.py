"""A fleet before, during and after each fault of the catalogue.

What is checked is in benchmarks/acceptance/faults/trial.py: no old token accepted, no live one refused, 503 with
Retry-After and never another failure, acknowledged rotations kept, unknown outcomes done once or not at all, and well
again without a restart. Times are figures of the scorecard and not tested here, but for a bound that separates "in
time" from "hangs".
"""

from __future__ import annotations

import pytest

from benchmarks.acceptance.faults.catalogue import ON_POSTGRES, ON_SQLITE
from benchmarks.acceptance.faults.trial import Outcome, Trial
from tests.faults.conftest import Set

pytestmark = pytest.mark.slow

SECONDS = 0.4
HANGS = 10.0
"""Seconds after which an answer was not bounded by the deadline of two."""


def check(outcome: Outcome) -> None:
    assert outcome.safe, outcome
    assert outcome.slowest < HANGS, outcome
    assert outcome.asked


def test_the_catalogue_is_whole(postgres_fleet: Set, sqlite_fleet: Set) -> None:
    """At least 24 faults, and each of them is tried below."""
    assert tuple(postgres_fleet[1]) == ON_POSTGRES
    assert tuple(sqlite_fleet[1]) == ON_SQLITE
    assert len(ON_POSTGRES) + len(ON_SQLITE) >= 24


@pytest.mark.parametrize("name", ON_POSTGRES)
def test_on_postgres_and_valkey(postgres_fleet: Set, name: str) -> None:
    """Red when answers are used without a lease (the store dead), when a second-level entry is believed without its
    generation (an old dump), or when a broken commit is tried again (cut off before its answer)."""
    scene, faults = postgres_fleet
    outcome = Trial(scene, faults[name]).run(SECONDS)
    check(outcome)
    if faults[name].dead:
        assert outcome.unavailable
    if name.startswith("Valkey"):
        assert not outcome.unavailable  # a cache that is gone costs time and nothing else
    if name.startswith("PostgreSQL commit"):
        assert outcome.unknown == 1


@pytest.mark.parametrize("name", ON_SQLITE)
def test_on_sqlite(sqlite_fleet: Set, name: str) -> None:
    """Red when a failure of SQLite is a 500, when a reader keeps what it has read of a corrupt file, or when a crashed
    writer's version stays odd for good."""
    scene, faults = sqlite_fleet
    outcome = Trial(scene, faults[name]).run(SECONDS)
    check(outcome)
    if name in {"SQLite locked by another writer", "SQLite full", "SQLite read-only"}:
        assert outcome.unavailable
