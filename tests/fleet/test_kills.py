"""The server ends while callers rotate: what was answered is kept, and what was not can be had."""

from __future__ import annotations

import pytest

from benchmarks.acceptance.checks.killed import kill
from benchmarks.acceptance.checks.restarts import restart
from benchmarks.acceptance.fleet.killing import Ledger
from engines.postgres import Postgres

pytestmark = pytest.mark.slow


def check(ledger: Ledger, cycles: int) -> None:
    assert ledger.clean, ledger
    assert ledger.cycles == cycles
    assert ledger.replies_lost


def test_kill_9_on_sqlite() -> None:
    """Red when a write is acknowledged before its commit, or its answer is not kept under its Idempotency-Key."""
    check(kill(None, 3, seed=1), 3)


def test_kill_9_on_postgres(postgres: Postgres) -> None:
    """The same."""
    check(kill(postgres.create_database(), 1, seed=1), 1)


def test_sigterm() -> None:
    """Two servers of a host are stopped in turn: each request that was taken is answered, and with 200.

    Red when a server ends before its requests do, or answers some of them with 503 on its way.
    """
    result = restart(2)
    assert (result.failed, result.codes) == (0, {0}), result.notes
    assert result.answered > 2
