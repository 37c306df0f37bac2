"""What an fsync has confirmed is on the disk; what it has not may be gone."""

from __future__ import annotations

import pytest
from scorecard.faults.powercut import CannotWatch
from scorecard.row import Effort
from scorecard.rows.powercut import Writing, power_cuts


def cut(rotations: int, *, careless: bool = False) -> Writing:
    try:
        return power_cuts(Effort(full=False, seed=1), rotations, careless=careless)
    except CannotWatch as error:
        pytest.skip(str(error))


def test_acknowledged_rotations_survive_a_power_cut() -> None:
    """At each sync and after each acknowledgement, with any part of the unconfirmed writes.

    Red when the store commits with ``synchronous=normal``: see the control.
    """
    writing = cut(30)
    assert (writing.lost, writing.torn) == (0, 0)
    assert writing.cuts > 60


def test_control_without_waiting_for_the_disk() -> None:
    """The same check finds writes lost in a store that does not wait: it can fail."""
    assert cut(10, careless=True).lost
