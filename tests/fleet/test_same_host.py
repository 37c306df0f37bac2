"""Promises 1 and 3 on one host: `uvicorn --workers 4`, writes by another process, every worker asked at once."""

from __future__ import annotations

import pytest

from benchmarks.acceptance.checks.same_host import control, rotate
from benchmarks.acceptance.fleet.same_host import Tally
from engines.postgres import Postgres

pytestmark = pytest.mark.slow


def check(tally: Tally, rotations: int) -> None:
    assert (tally.stale, tally.refused) == (0, 0), tally.notes
    assert tally.rotations >= rotations
    assert tally.updates
    assert tally.deletions
    assert tally.asked > 6 * rotations


def test_800_rotations_on_sqlite() -> None:
    """No worker accepts an old token or shows old properties once the write has returned; each takes the new token.

    Red when the writer stores no slot versions: see the control. Check S1 of the scorecard does 10,000 and 90,000.
    """
    check(rotate(None, 800, seed=1), 800)


def test_400_rotations_on_postgres(postgres: Postgres) -> None:
    """The same slots serve every store."""
    check(rotate(postgres.create_database(), 400, seed=2), 400)


def test_control_without_shared_slots() -> None:
    """The same check finds stale answers when the writer's slots are in another run folder: it can fail."""
    tally = control(seed=3)
    assert tally.stale > 0
    assert tally.rotations >= 200
