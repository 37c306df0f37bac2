"""The same promises where every process reaches PostgreSQL through a PgBouncer in transaction mode: rows S1p to S5p.

Red on all of them with a start-up parameter that the pooler refuses: no process starts. Red with prepared statements
held there: rotations fail.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.acceptance.checks.killed import kill
from benchmarks.acceptance.checks.pooled import on_another_host
from benchmarks.acceptance.checks.races import race
from benchmarks.acceptance.checks.same_host import rotate
from engines.pgbouncer import PgBouncer
from engines.postgres import Postgres
from tenantry.database.migrations import migrate
from tests.fleet.test_kills import check as check_kills
from tests.fleet.test_same_host import FEW_WORKERS
from tests.fleet.test_same_host import check as check_rotations

pytestmark = pytest.mark.slow

ROTATIONS = 200


def test_old_tokens_on_one_host(postgres: Postgres, transaction_pooler: PgBouncer) -> None:
    """S1."""
    tally = rotate(transaction_pooler.url(postgres.create_database()), ROTATIONS, seed=4, workers=FEW_WORKERS)
    check_rotations(tally, ROTATIONS)


def test_old_tokens_on_another_host(postgres: Postgres, transaction_pooler: PgBouncer) -> None:
    """S2: with a bus that listens past the pooler, and with one that is deaf, where the polls keep the bound."""
    for direct in (True, False):
        found = on_another_host(postgres, transaction_pooler, direct_bus=direct, rounds=5)
        assert (found.beyond(5.0), found.wrong, found.unanswered) == (0, 0, 0), found.seconds


def test_kill_9(postgres: Postgres, transaction_pooler: PgBouncer) -> None:
    """S3."""
    check_kills(kill(transaction_pooler.url(postgres.create_database()), 1, seed=1), 1)


async def test_races(postgres: Postgres, transaction_pooler: PgBouncer, tmp_path: Path) -> None:
    """S5."""
    url = transaction_pooler.url(postgres.create_database())
    migrate(url)
    assert await race(url, 100, tmp_path) == 0
