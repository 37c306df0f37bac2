"""The run folder: where it is, and whom it is refused to be shared with."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tenantry.cache.slots import FolderTaken, SharedSlots, folder, run_folder
from tenantry.errors import StoreUnavailable


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TENANTRY_RUN_DIR", raising=False)
    monkeypatch.delenv("TENANTRY_RUN_GROUP", raising=False)


def test_the_usual_path_depends_on_user_and_store_alone(tmp_path: Path) -> None:
    """A service, a cron job and a shell must meet. Red when the path comes from TMPDIR or HOME."""
    name = secrets.token_hex(8)
    said_by = f"from tenantry.cache.slots import run_folder; print(run_folder(name='{name}').path)"
    command = [sys.executable, "-c", said_by]
    environments = [
        {"TMPDIR": str(tmp_path), "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path), "LOGNAME": "other"},
        {"HOME": "/"},
        {},
    ]
    output = {subprocess.run(command, env=env, capture_output=True, check=True).stdout for env in environments}
    path = run_folder(name=name).path
    path.rmdir()
    assert output == {f"{path}\n".encode()}
    assert path.name == f"tenantry-{os.geteuid()}-{name}"


def test_without_shared_memory_it_is_the_next_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "_BASES", (tmp_path / "missing", tmp_path))
    assert run_folder(name="n").path == tmp_path / f"tenantry-{os.geteuid()}-n"


def test_a_setting_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENANTRY_RUN_DIR", str(tmp_path / "run"))
    assert SharedSlots.open("s").path == tmp_path / "run" / "s.slots"
    assert SharedSlots.open("s", tmp_path / "other").path == tmp_path / "other" / "s.slots"


def test_a_umask_changes_nothing(tmp_path: Path) -> None:
    before = os.umask(0o777)
    try:
        path = SharedSlots.open("s", tmp_path / "run").path
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def _link(path: Path) -> None:
    path.with_name("real").mkdir(mode=0o700)
    path.symlink_to(path.with_name("real"))


def _open_parent(path: Path) -> None:
    path.mkdir(mode=0o700)
    path.parent.chmod(0o777)


def _mode(mode: int) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.mkdir()
        path.chmod(mode)

    return make


@pytest.mark.parametrize(
    ("squat", "message"),
    [
        (_link, "symbolic link"),
        (Path.touch, "not a folder"),
        (_mode(0o777), "written to by others"),
        (_mode(0o1777), "written to by others"),
        (_mode(0o770), "written to by others"),
        (_open_parent, "any user can replace"),
    ],
)
def test_a_folder_that_others_can_write_to_is_refused(
    tmp_path: Path, squat: Callable[[Path], object], message: str
) -> None:
    """Red, each, when its check is left out: another user could give us a table of his own."""
    path = tmp_path / "run"
    squat(path)
    with pytest.raises(StoreUnavailable, match=message) as caught:
        run_folder(path, name="n")
    assert str(path) in caught.value.message
    assert "TENANTRY_RUN_DIR" in caught.value.message
    assert str(path) not in caught.value.public_message


@pytest.mark.parametrize("squat", [_link, Path.touch, _mode(0o777), _mode(0o770)])
def test_what_another_user_put_at_our_path_asks_for_another_name(
    tmp_path: Path, squat: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Red when it is refused as a folder is that the operator has named: nobody could write until root removes it."""
    monkeypatch.setattr(folder, "_BASES", (tmp_path,))
    squat(tmp_path / f"tenantry-{os.geteuid()}-taken")
    with pytest.raises(FolderTaken):
        run_folder(name="taken")
    assert run_folder(name="free").path.is_dir()


def test_a_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when the owner is not looked at: whoever is first in /dev/shm would own our table."""
    path = run_folder(tmp_path / "run", name="n").path
    other_user = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other_user)
    with pytest.raises(StoreUnavailable, match=f"belongs to user .*runs as user {other_user}"):
        run_folder(path, name="n")


def test_a_folder_that_others_can_read_is_fine(tmp_path: Path) -> None:
    """What service managers make has mode 0755; the versions are no secret."""
    path = tmp_path / "run"
    _mode(0o755)(path)
    assert SharedSlots.open("s", path).is_current()


@pytest.mark.parametrize("name", ["relative", "./x"])
def test_a_relative_folder_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENANTRY_RUN_DIR", name)
    with pytest.raises(StoreUnavailable, match="relative"):
        run_folder(name="n")


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="No such file") as caught:
        run_folder(tmp_path / "missing" / "run", name="n")
    assert str(tmp_path / "missing" / "run") in caught.value.message


def test_a_group_shares_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = os.getegid()
    monkeypatch.setenv("TENANTRY_RUN_GROUP", str(group))
    monkeypatch.setattr(folder, "_BASES", (tmp_path,))
    path = SharedSlots.open("s").path
    assert path.parent == tmp_path / f"tenantry-group-{group}-s"
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o2770
    assert stat.S_IMODE(path.stat().st_mode) == 0o660
    assert path.stat().st_gid == path.parent.stat().st_gid == group
    other_user = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other_user)  # any member will do
    assert SharedSlots.open("s").is_current()
    monkeypatch.setenv("TENANTRY_RUN_GROUP", str(group + 1))
    with pytest.raises(StoreUnavailable, match=f"names group {group + 1}"):
        SharedSlots.open("s", path.parent)


def test_a_group_that_does_not_exist_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENANTRY_RUN_GROUP", "no-such-group-here")
    with pytest.raises(StoreUnavailable, match="is not an OS group on this host"):
        run_folder(name="n")


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.EMFILE, "ulimit -n"),
        (errno.ENFILE, "fs.file-max"),
        (errno.ENOSPC, "Free some space"),
        (errno.EDQUOT, "Free some space"),
        (errno.EACCES, "owner and mode"),
        (errno.EPERM, "owner and mode"),
        (errno.EROFS, "read-only"),
        (errno.ENOMEM, "out of memory"),
    ],
)
def test_each_error_of_the_system_has_its_own_advice(
    tmp_path: Path, number: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Red when all of them say to remove the file: who does so on "too many open files" cuts his workers off."""

    def fail(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", fail)
    with pytest.raises(StoreUnavailable, match=message) as caught:
        SharedSlots.open("s", tmp_path / "run")
    assert "emove" not in caught.value.message
    assert str(tmp_path / "run" / "s.slots") in caught.value.message


def test_too_many_open_files_are_named_as_that(tmp_path: Path) -> None:
    """The real thing, in a process that may open few."""
    said_by = (
        "import resource, sys\n"
        "from tenantry.errors import StoreUnavailable\n"
        "from tenantry.cache.slots import SharedSlots\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))\n"
        "held = []\n"
        "try:\n"
        "    while True: held.append(open('/dev/null'))\n"
        "except OSError: pass\n"
        "try: SharedSlots.open('s', sys.argv[1])\n"
        "except StoreUnavailable as error: print(error.message)\n"
    )
    run_folder(tmp_path / "run", name="n")
    output = subprocess.run(
        [sys.executable, "-c", said_by, str(tmp_path / "run")], capture_output=True, text=True, check=True
    ).stdout
    assert "Too many open files" in output
    assert "ulimit -n" in output
    assert "emove" not in output
