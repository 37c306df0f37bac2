"""Nobody learns the run folder's name before it is made: its parent is open to everybody, and can be watched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tenantry.cache.slots import FolderTaken, folder
from tenantry.cache.slots.folder import run_folder

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
    """Red when the path is held for one of our own making because we tried to make it: each write is refused."""
    chmod = Path.chmod

    def take(path: Path, mode: int) -> None:
        chmod(path, mode)
        (shared / f"tenantry-{os.geteuid()}-{NAME}").symlink_to("/nonexistent")

    monkeypatch.setattr(Path, "chmod", take)
    with pytest.raises(FolderTaken):
        run_folder(name=NAME)
