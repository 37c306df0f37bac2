"""Promises 1 and 3 on one host: `uvicorn --workers`, writes by another process, every worker asked at once.

Two workers show what four do, a version that one of them misses; four are asked once, and by the scorecard."""

from __future__ import annotations

import pytest

from benchmarks.acceptance.checks.same_host import WORKERS, control, rotate
from benchmarks.acceptance.fleet.same_host import Tally
from engines.postgres import Postgres

pytestmark = pytest.mark.slow

FEW_WORKERS = 2


def check(tally: Tally, rotations: int, workers: int = FEW_WORKERS) -> None:
    assert (tally.stale, tally.refused) == (0, 0), tally.notes
    assert tally.rotations >= rotations
    assert tally.updates
    assert tally.deletions
    assert tally.asked > 1.5 * workers * rotations


def test_400_rotations_on_sqlite() -> None:
    """No worker accepts an old token or shows old properties once the write has returned; each takes the new token.

    Red when the writer stores no slot versions: see the control. Check S1 of the scorecard does 10,000 and 90,000.
    """
    check(rotate(None, 400, seed=1), 400, WORKERS)


def test_200_rotations_on_postgres(postgres: Postgres) -> None:
    """The same slots serve every store."""
    check(rotate(postgres.create_database(), 200, seed=2, workers=FEW_WORKERS), 200)


def test_control_without_shared_slots() -> None:
    """The same check finds stale answers when the writer's slots are in another run folder: it can fail."""
    tally = control(seed=3, workers=FEW_WORKERS)
    assert tally.stale > 0
    assert tally.rotations >= 200
