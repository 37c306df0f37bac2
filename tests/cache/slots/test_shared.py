"""The file of a table: what is refused, and what happens when it is replaced, deleted or closed under its readers."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tenantry.cache.slots import SharedSlots, shared
from tenantry.cache.slots.shared import HEADER, SIZE
from tenantry.clock import monotonic_with_suspend
from tenantry.errors import StoreUnavailable

HANDLE = b"\x00\x05 handle"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return tmp_path / "run"


def test_a_new_file_is_private_and_whole(run: Path) -> None:
    slots = SharedSlots.open("store-1", run)
    assert slots.path == run / "store-1.slots"
    status = slots.path.stat()
    assert stat.S_IMODE(status.st_mode) == 0o600
    assert stat.S_IMODE(run.stat().st_mode) == 0o700
    assert status.st_size == SIZE == 64 + 512 * 1024
    assert status.st_blocks * 512 >= SIZE  # written, not a hole: a store into a hole of a full file system is a crash
    assert [path.name for path in run.iterdir()] == ["store-1.slots"]


def test_the_last_attempt_to_open_the_file_opens_it_for_writing(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file may have been removed before each attempt. Red when the last one has other flags."""
    monkeypatch.setattr(shared, "_TRIES", 1)
    slots = SharedSlots.open("store-1", run)
    slots.touch(HANDLE)
    assert SharedSlots.open("store-1", run).versions[5] == slots.versions[5] != 0


def test_another_process_replaces_the_folder_while_it_is_empty(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As at the first start of several processes: the folder that this one has just looked up is gone. Red when the
    error of the system is that of ``open``."""
    really_open, replaced = os.open, []

    def opened(path: Path, flags: int, *mode: int) -> int:
        if not flags & os.O_CREAT or replaced:
            return really_open(path, flags, *mode)
        found = really_open(run, os.O_RDONLY)
        replaced.append(run.with_name("made by another"))
        replaced[0].mkdir(mode=0o700)
        replaced[0].rename(run)
        try:
            return really_open(path.name, flags, *mode, dir_fd=found)
        finally:
            os.close(found)

    monkeypatch.setattr(os, "open", opened)
    SharedSlots.open("s", run).touch(HANDLE)
    assert replaced
    assert [path.name for path in run.iterdir()] == ["s.slots"]


def test_two_who_open_it_share_the_versions(run: Path) -> None:
    one, two = SharedSlots.open("store-1", run), SharedSlots.open("store-1", run)
    other = SharedSlots.open("store-2", run)
    one.touch(HANDLE)
    assert one.versions[5] == two.versions[5] != 0
    assert other.versions[5] == 0


def _cut(path: Path) -> None:
    os.truncate(path, SIZE - 8)


def _spoil(path: Path) -> None:
    path.write_bytes(b"something else..".ljust(SIZE, b"\0"))


def _of_another_store(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"store-1", b"store-2"))


def _link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (_cut, "truncated"),
        (_spoil, "another program"),
        (_of_another_store, "another store"),
        (_link, "symbolic link"),
        (_folder, "Is a directory"),
        (_pipe, "not a plain file"),
        (lambda path: path.chmod(0o620), "written to by others"),
        (lambda path: path.chmod(0o602), "written to by others"),
    ],
)
def test_what_is_not_our_file_is_refused(run: Path, harm: Callable[[Path], None], message: str) -> None:
    """Red, each, when its check is left out: what another user wrote is trusted, or a mapping crashes."""
    path = SharedSlots.open("store-1", run).path
    harm(path)
    with pytest.raises(StoreUnavailable, match=message) as caught:
        SharedSlots.open("store-1", run)
    assert str(path) in caught.value.message
    assert "emove it" in caught.value.message
    assert str(path) not in caught.value.public_message


@pytest.mark.parametrize("name", ["", "../x", "a/b", "a b", "x" * 33, "café"])
def test_an_id_that_cannot_name_a_file_is_refused(run: Path, name: str) -> None:
    with pytest.raises(StoreUnavailable, match="cannot name a file"):
        SharedSlots.open(name, run)


def test_a_deleted_file_is_noticed_and_made_anew(run: Path) -> None:
    """Red when ``is_current`` does not look: writers and readers would go on in two different tables."""
    old = SharedSlots.open("store-1", run)
    old.path.unlink()
    assert not old.is_current()
    new = old.renewed()
    assert new is not old
    assert new.is_current()
    assert new.renewed() is new


def test_a_replaced_file_is_noticed(run: Path) -> None:
    old = SharedSlots.open("store-1", run)
    old.path.rename(old.path.with_name("old"))
    new = SharedSlots.open("store-1", run)
    assert not old.is_current()
    new.touch(HANDLE)
    assert old.renewed().versions[5] == new.versions[5]


def test_who_still_looks_at_a_replaced_file_keeps_nothing(run: Path) -> None:
    """The first to notice marks the old table. Red when it does not: a worker that has not polled yet would go on
    answering from its cache while writers use the new table."""
    writer, worker = SharedSlots.open("store-1", run), SharedSlots.open("store-1", run)
    held = worker.versions
    writer.path.unlink()
    writer.renewed()
    assert all(version & 1 for version in held)


def test_a_file_cut_short_is_noticed_before_its_versions_are_touched(run: Path) -> None:
    """Red when the old table is marked regardless: a store beyond the end of a file kills the process (SIGBUS)."""
    slots = SharedSlots.open("store-1", run)
    os.truncate(slots.path, HEADER)
    assert not slots.is_current()
    with pytest.raises(StoreUnavailable, match="truncated"):
        slots.renewed()


def test_a_reader_outlives_close(run: Path) -> None:
    """Red when ``close`` releases the view or unmaps the file: the reader's next look would raise, or crash."""
    slots = SharedSlots.open("store-1", run)
    slots.touch(HANDLE)
    held, version = slots.versions, slots.versions[5]
    slots.close()
    slots.close()
    assert held[5] == version
    assert len(slots.versions) == len(held)
    assert all(version & 1 for version in slots.versions)  # nothing is kept by a closed table
    assert not slots.is_current()
    slots.repair(5, slots.versions[5])
    with pytest.raises(StoreUnavailable, match="closed"):
        slots.touch(HANDLE)
    with pytest.raises(StoreUnavailable, match="closed"), slots.writing(HANDLE):
        pytest.fail("a write that nobody would notice")
    assert "closed" in repr(slots)
    assert slots.renewed().is_current()


def test_use_keeps_the_file_young(run: Path) -> None:
    """What clears temporary folders goes by a file's times. Red when ``is_current`` leaves them."""
    path = SharedSlots.open("store-1", run).path
    os.utime(path, (1e9, 1e9))
    slots = SharedSlots.open("store-1", run)
    assert slots.is_current()
    young = path.stat().st_mtime
    assert young > 1.7e9
    os.utime(path, (1e9, 1e9))
    assert slots.is_current()
    assert path.stat().st_mtime == 1e9  # once an hour will do


def test_a_settled_file_holds_up_no_write_of_a_machine_that_was_just_started(run: Path) -> None:
    """Of a machine that has run for 7 s, with a lease of 600 s. Red when a settled file is as old as the machine: for
    the first ten minutes after a start a write then waited for the rest of such a lease."""
    slots = SharedSlots.open("store-1", run)
    made_at = monotonic_with_suspend()
    assert 599 < slots.leases_left(600, made_at) <= 600  # not settled: another file may have been there
    slots.settle()
    assert slots.leases_left(600, 7.0) == 0.0
