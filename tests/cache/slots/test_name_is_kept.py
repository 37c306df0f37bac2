"""Nobody learns the run folder's name before it is made: its parent is open to everybody, and can be watched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tenantry.cache.slots import FolderTaken, folder
from tenantry.cache.slots.folder import run_folder
from tenantry.errors import StoreUnavailable

NAME = "0123456789abcdef"


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What replaces /dev/shm."""
    base = tmp_path / "shm"
    base.mkdir()
    base.chmod(0o1777)
    monkeypatch.delenv("TENANTRY_RUN_DIR", raising=False)
    monkeypatch.setattr(folder, "_BASES", (base,))
    return base


def test_a_draft_does_not_show_the_name(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when the draft is called as the folder will be: whoever watches the parent creates that path in time."""
    seen: list[str] = []
    monkeypatch.setattr(Path, "chmod", lambda *_, **__: seen.extend(path.name for path in shared.iterdir()))
    run_folder(name=NAME)
    assert len(seen) == 1
    assert NAME not in seen[0]


def test_a_path_that_is_taken_meanwhile_gets_another_name(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left of the draft. Red when the path is held for one of our own making because we tried to make it:
    each write is refused."""
    chmod = Path.chmod

    def take(path: Path, mode: int) -> None:
        chmod(path, mode)
        (shared / f"tenantry-{os.geteuid()}-{NAME}").symlink_to("/nonexistent")

    monkeypatch.setattr(Path, "chmod", take)
    with pytest.raises(FolderTaken):
        run_folder(name=NAME)
    assert [path.name for path in shared.iterdir()] == [f"tenantry-{os.geteuid()}-{NAME}"]


def test_a_new_folder_that_cannot_be_used_gets_no_other_name(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a file system that keeps no modes, the next folder would be as bad. Red when `_make` says that another process
    made the folder: the store would get a new name at each start."""
    chmod = Path.chmod
    monkeypatch.setattr(Path, "chmod", lambda path, _: chmod(path, 0o777))
    with pytest.raises(StoreUnavailable) as refused:
        run_folder(name=NAME)
    assert not isinstance(refused.value, FolderTaken)
