"""Whose a key file is: who may read it beside its owner, and that a change of the keys leaves that as it is."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tenantry.errors import InvalidKeys
from tenantry.tokens.keys import SigningKeys, create_key_file, list_keys, remove_key, rotate_key_file

SERVICE = 10_001


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A key file with k1."""
    create_key_file(tmp_path / "tenantry.keys")
    return tmp_path / "tenantry.keys"


@pytest.mark.parametrize(
    ("mode", "owner", "group", "user", "taken"),
    [
        (0o440, 0, SERVICE, SERVICE, True),  # a secret of Kubernetes with defaultMode 0400 and fsGroup
        (0o640, 0, SERVICE, SERVICE, True),
        (0o640, 0, 0, SERVICE, True),
        (0o640, 0, SERVICE, 0, True),  # root manages the file of a service
        (0o640, 0, 0, 0, False),
        (0o440, 0, 0, 0, False),
        (0o440, SERVICE, SERVICE, SERVICE, False),
        (0o440, SERVICE, SERVICE, 0, False),
        (0o444, 0, SERVICE, SERVICE, False),
        (0o460, 0, SERVICE, SERVICE, False),
        (0o450, 0, SERVICE, SERVICE, False),
        (0o660, 0, SERVICE, 0, False),
    ],
)
def test_root_may_let_the_group_of_a_service_read(
    path: Path, mode: int, owner: int, group: int, user: int, taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nobody else, and no more than that. Red when the file's owner, its group or the process's user is not
    looked at."""
    real = path.stat()
    status = os.stat_result((stat.S_IFREG | mode, *real[1:4], owner, group, *real[6:]))
    monkeypatch.setattr(os, "fstat", lambda _: status)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    if taken:
        assert SigningKeys.from_file(path).ids == ("k1",)
    else:
        with pytest.raises(InvalidKeys, match=f"has mode 0{mode:o}"):
            SigningKeys.from_file(path)


@pytest.mark.parametrize(
    ("mode", "group", "named", "taken"),
    [
        (0o640, SERVICE, str(SERVICE), True),
        (0o640, SERVICE, "", False),
        (0o640, SERVICE, "10002", False),
        (0o640, SERVICE, "there is no such group", False),
        (0o660, SERVICE, str(SERVICE), False),
        (0o644, SERVICE, str(SERVICE), False),
    ],
)
def test_the_group_of_the_run_folder_may_read(
    path: Path, mode: int, group: int, named: str, taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Apps of other users on the same host need the keys. Red when any group may read, or when the group may write."""
    real = path.stat()
    status = os.stat_result((stat.S_IFREG | mode, *real[1:4], SERVICE, group, *real[6:]))
    monkeypatch.setattr(os, "fstat", lambda _: status)
    monkeypatch.setattr(os, "geteuid", lambda: SERVICE)
    monkeypatch.setenv("TENANTRY_RUN_GROUP", named)
    if taken:
        assert SigningKeys.from_file(path).ids == ("k1",)
    else:
        # Red when a file of another group is to be closed to the apps, too.
        fix = "chgrp 10002" if (mode, named) == (0o640, "10002") else "chmod 600"
        with pytest.raises(InvalidKeys, match=f"has mode 0{mode:o}, which lets other users access it: run `{fix} "):
            SigningKeys.from_file(path)


class Pretended:
    """A file system on which the file at ``path`` has this owner, group and mode, and new files are their maker's. It
    keeps what is set of a new file."""

    def __init__(self, path: Path, mode: int, owner: int, group: int, user: int) -> None:
        self.given = [stat.S_IFREG | mode, owner, group]
        self.made = [stat.S_IFREG | 0o600, user, user]
        self._first, self._stat, self._fstat = path.stat().st_ino, Path.stat, os.fstat

    def _as(self, real: os.stat_result) -> os.stat_result:
        mode, owner, group = self.given if real.st_ino == self._first else self.made
        return os.stat_result((mode, *real[1:4], owner, group, *real[6:]))

    def begin(self, patch: pytest.MonkeyPatch, user: int) -> None:
        def chown(_: int, owner: int, group: int) -> None:
            self.made[1:] = [owner, group]

        def chmod(_: int, mode: int) -> None:
            self.made[0] = stat.S_IFREG | mode

        patch.setattr(os, "geteuid", lambda: user)
        patch.setattr(os, "fstat", lambda descriptor: self._as(self._fstat(descriptor)))
        patch.setattr(Path, "stat", lambda path, **options: self._as(self._stat(path, **options)))
        patch.setattr(os, "fchown", chown)
        patch.setattr(os, "fchmod", chmod)


@pytest.mark.parametrize(
    ("mode", "owner", "group", "left"),
    [
        (0o600, SERVICE, SERVICE, 0o600),
        (0o600, SERVICE, 0, 0o600),
        (0o640, 0, SERVICE, 0o640),
        (0o440, 0, SERVICE, 0o640),
        (0o600, 0, SERVICE, 0o600),
    ],
)
@pytest.mark.parametrize("change", [rotate_key_file, lambda path: remove_key(path, "k1")], ids=["rotate", "remove"])
def test_what_root_changes_stays_readable_to_the_service(
    path: Path,
    mode: int,
    owner: int,
    group: int,
    left: int,
    change: Callable[[Path], object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Or a program would be locked out of its own keys, and would go on to take those that were removed. Red when the
    owner, the group, or its right to read is not kept."""
    rotate_key_file(path)
    files = Pretended(path, mode, owner, group, 0)
    files.begin(monkeypatch, 0)
    change(path)
    assert files.made == [stat.S_IFREG | left, owner, group]
    assert list_keys(path)[-1].active
