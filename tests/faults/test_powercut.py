"""What an fsync has confirmed is on the disk; what it has not may be gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.acceptance.check import Effort
from benchmarks.acceptance.checks.powercut import Writing, power_cuts
from benchmarks.acceptance.faults.powercut import CannotWatch


def cut(rotations: int, *, careless: bool = False) -> Writing:
    try:
        return power_cuts(Effort(full=False, seed=1), rotations, careless=careless)
    except CannotWatch as error:
        pytest.skip(str(error))


def test_acknowledged_rotations_survive_a_power_cut() -> None:
    """At each sync and after each acknowledgement, with any part of the unconfirmed writes.

    Red when the store commits with ``synchronous=normal``: see the control.
    """
    writing = cut(20)
    assert (writing.lost, writing.torn) == (0, 0)
    assert writing.cuts > 120


def test_nothing_is_written_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite keeps the name that it is given to open, for the file of its locks: it must stay SQLite's own pointer.

    Red when the name goes through Python on its way: then a file of any name appears where the program runs.
    """
    opened: set[str] = set()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Writing, "_look", lambda self, _: opened.update(path.name for path in self._folder.iterdir()))
    cut(5)
    assert list(tmp_path.iterdir()) == []
    assert {name for name in opened if not name.endswith(".slots")} == {"t.db", "t.db-wal", "t.db-shm"}


def test_control_without_waiting_for_the_disk() -> None:
    """The same check finds writes lost in a store that does not wait: it can fail."""
    assert cut(4, careless=True).lost
