"""The rules of the cache against a model of a fleet: no order of events breaks a promise, and without any one of the
defences some order does."""

from __future__ import annotations

import os

import pytest

from tenantry.cache import GroupCache
from tests.cache import defenceless
from tests.cache.fleet import Fleet
from tests.cache.machine import FleetMachine, run_model
from tests.cache.promises import Violation

STEPS = int(os.environ.get("TENANTRY_MODEL_STEPS", "6000"))
SEED = int(os.environ.get("TENANTRY_MODEL_SEED", "1"))
QUICKEST = 3
"""With this seed the controls find their breaches in a fifth of the steps; check S6 of the scorecard takes seed 1."""


def test_no_order_of_events_breaks_a_promise() -> None:
    """Three workers on two hosts; lost, repeated and late messages, slow loads and polls, writers that crash, deleted
    tables, a dead or restored store, sleep, and a second-level cache with late writers. TENANTRY_MODEL_STEPS makes it
    longer."""
    result = run_model(STEPS, SEED)
    assert result.steps >= STEPS
    assert result.served > 0


@pytest.mark.parametrize(
    "without",
    [
        defenceless.NoLease,
        defenceless.NoFillGuard,
        defenceless.NoSlotCompare,
        defenceless.NoChangeLog,
        defenceless.NoPollSnapshot,
        defenceless.NoLeaseForSharing,
    ],
)
def test_without_a_defence_the_machine_finds_the_breach(
    without: type[GroupCache], capsys: pytest.CaptureFixture[str]
) -> None:
    """Controls: the same machine over a cache that lacks one thing. Red when that defence does nothing in the model."""
    machine = type("Defenceless", (FleetMachine,), {"cache": without})
    with pytest.raises(Violation):
        run_model(60_000, QUICKEST, machine, shrink=False)
    capsys.readouterr()  # the steps that lead to it: they belong to a failure, and this is none


@pytest.mark.parametrize("without", ["waits", "looks_again"])
def test_without_care_for_a_deleted_table_the_machine_finds_the_breach(
    without: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Controls: writers that return at once under a new table, or do not look after their commit whether it is new."""
    model = type("Careless", (Fleet,), {without: False})
    machine = type("Defenceless", (FleetMachine,), {"model": model})
    with pytest.raises(Violation):
        run_model(60_000, QUICKEST, machine, shrink=False)
    capsys.readouterr()
