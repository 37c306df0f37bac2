"""The folder in memory that a run of tests has: no run leaves one behind for good, and none takes that of another."""

from __future__ import annotations

from pathlib import Path

from engines.memory_folder import folder_in


def test_what_a_killed_run_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    """Red without ``_remove_unused``, and when the folder of a run that goes on is removed."""
    left = tmp_path / "tenantry-tests-left"
    left.mkdir()
    (left / "used").touch()  # nobody holds a lock on it
    another = tmp_path / "another"
    another.mkdir()
    with folder_in(tmp_path) as first, folder_in(tmp_path) as second:
        assert sorted(tmp_path.iterdir()) == sorted([another, first, second])
    assert [*tmp_path.iterdir()] == [another]
