"""A store's slots in a memory-mapped file. If the file is deleted while processes use it, the next writer makes
a new one (``renewed``)."""

from __future__ import annotations

import contextlib
import mmap
import os
import re
import secrets
import stat
import struct
import sys
import time
from pathlib import Path
from typing import Final

from tenantry.cache import SLOT_COUNT
from tenantry.cache.slots.folder import SET_FOLDER, RunFolder, os_failure, run_folder
from tenantry.cache.slots.table import TABLE_BYTES, VERSION_BYTES, SlotTable, write_in_progress
from tenantry.clock import monotonic_with_suspend
from tenantry.errors import StoreUnavailable

HEADER: Final = 64
"""Bytes before the versions: a multiple of 8, to align them."""

SIZE: Final = HEADER + TABLE_BYTES

_MAGIC: Final = b"tenantry slots\r\n"
_VERSION: Final = 1
_LAYOUT: Final = struct.Struct("=16sII32s")  # native byte order, like the versions
MADE_AT: Final = slice(_LAYOUT.size, _LAYOUT.size + 8)
"""The bytes that hold the time at which the file was made, in microseconds of monotonic_with_suspend. ``settle`` sets
these bytes to 0."""

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")
_FLAGS: Final = os.O_RDWR | os.O_CLOEXEC
_SAFE_OPEN: Final = os.O_NOFOLLOW | os.O_NONBLOCK  # a FIFO must not block
_TRIES: Final = 8

_TOUCH_INTERVAL: Final = 3_600.0
"""Minimum seconds between updates of the file's times. The updates keep cleaners of temporary folders from deleting the
file."""


class SharedSlots(SlotTable):
    """The slots file ``<run folder>/<store id>.slots``. ``open`` makes instances."""

    __slots__ = ("_file", "_given", "_identity", "_name", "_store_id", "_touched", "path")

    path: Path

    def __init__(self, store_id: str, given: Path | str | None, name: str) -> None:
        folder = run_folder(given, name=name)
        self.path = folder.path / f"{store_id}.slots"
        descriptor = open_file(self.path, store_id, folder)
        try:
            status = os.fstat(descriptor)
            self._file: mmap.mmap | None = mmap.mmap(descriptor, SIZE)
        except OSError as error:
            raise StoreUnavailable(os_failure("cannot map into memory", self.path, error, SET_FOLDER)) from None
        except ValueError as error:  # truncated after the check
            raise StoreUnavailable(f"cannot map {self.path} into memory: {error}. {_FIX}") from None
        finally:
            os.close(descriptor)
        # Identifies the file: while it is mapped, no other file gets its inode.
        self._identity = (status.st_dev, status.st_ino)
        self._given = given
        self._name = name
        self._store_id = store_id
        self._touched = -_TOUCH_INTERVAL
        super().__init__(memoryview(self._file)[HEADER : HEADER + TABLE_BYTES].cast("Q"))

    @classmethod
    def open(cls, store_id: str, folder: Path | str | None = None, *, name: str | None = None) -> SharedSlots:
        """Map the file, and make it if it is missing. The parameters and errors are those of ``run_folder``; the
        default name is the store id."""
        return cls(store_id, folder, store_id if name is None else name)

    def __repr__(self) -> str:
        return f"<SharedSlots {self.path}{'' if self._file else ', closed'}>"

    def is_current(self) -> bool:
        if self._file is None:
            return False
        try:
            status = self.path.lstat()
        except OSError:
            return False
        if (status.st_dev, status.st_ino) != self._identity or status.st_size < SIZE:
            return False
        now = time.monotonic()
        if now - self._touched >= _TOUCH_INTERVAL:
            self._touched = now
            with contextlib.suppress(OSError):
                os.utime(self.path)
        return True

    def renewed(self) -> SharedSlots:
        """Return self if the file is open and still at ``path``. Otherwise call ``retire`` and return a new instance
        from ``open``. Raises the errors of ``open``."""
        if self.is_current():
            return self
        self.retire()
        return SharedSlots.open(self._store_id, self._given, name=self._name)

    def leases_left(self, lease: float, now: float) -> float:
        """Return the seconds until no process can use answers that it cached with an older file. ``lease``: the store's
        longest lease, in seconds."""
        made_at = 0 if self._file is None else int.from_bytes(self._file[MADE_AT], sys.byteorder)
        if made_at == 0:  # ``settle`` was called
            return 0.0
        age = now - made_at / 1e6
        return 0.0 if age < 0 else max(0.0, lease - age)  # age < 0: made before the last boot

    def settle(self) -> None:
        """Record that no process uses an older file any more. Afterwards, ``leases_left`` returns 0."""
        if self._file is not None:
            self._file[MADE_AT] = bytes(8)

    def close(self) -> None:
        """Release the file. From then on, ``versions`` shows an unfinished write in every slot, so nothing is cached. A
        memoryview that was obtained earlier can still be read."""
        if self._file is not None:
            self._file = None
            self._versions = memoryview(_all_in_progress()).cast("Q")

    def _for_writing(self) -> memoryview[int]:
        if self._file is None:
            raise StoreUnavailable(f"the slots file {self.path} was closed: open the store again")
        return self._versions

    def retire(self) -> None:
        """Prevent all caching with this file."""
        # Check the size: access to memory beyond the end of a truncated file kills the process (bus error).
        if self._file is not None and self._file.size() >= SIZE:
            self._file[HEADER:SIZE] = _all_in_progress()


def _all_in_progress() -> bytes:
    return write_in_progress().to_bytes(VERSION_BYTES, sys.byteorder) * SLOT_COUNT


# --- the file ---------------------------------------------------------------------------------------------------------


def open_file(path: Path, store_id: str, folder: RunFolder) -> int:
    """Open the file. If it is missing, make it atomically. Raises StoreUnavailable if this fails, or if the file has a
    wrong owner, mode, size or header."""
    if not _NAME.fullmatch(store_id):
        raise StoreUnavailable(
            f"the store id {store_id!r} cannot name a file in the run folder {folder.path}: it must have 1 to 32 "
            "characters, which are letters, digits, _ or -"
        )
    header = _LAYOUT.pack(_MAGIC, _VERSION, SLOT_COUNT, store_id.encode("ascii"))
    try:
        descriptor = _open_or_make(path, header, folder)
    except OSError as error:
        raise StoreUnavailable(os_failure("cannot open", path, error, _FIX)) from None
    with contextlib.ExitStack() as undo:
        undo.callback(os.close, descriptor)
        _check(path, descriptor, header, folder)
        undo.pop_all()
    return descriptor


_FIX: Final = "Remove it, and Tenantry recreates it; all Tenantry processes on this host must be able to write to it"


def _open_or_make(path: Path, header: bytes, folder: RunFolder) -> int:
    for _ in range(_TRIES):  # another process may remove the file before we open it
        try:
            return os.open(path, _FLAGS | _SAFE_OPEN)
        except FileNotFoundError:
            with contextlib.suppress(FileNotFoundError):  # while the folder is empty, another process may replace it
                _make(path, header, folder)
    return os.open(path, _FLAGS | _SAFE_OPEN)


def _make(path: Path, header: bytes, folder: RunFolder) -> None:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, _FLAGS | os.O_CREAT | os.O_EXCL, folder.file_mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if folder.group is not None:
                os.fchown(descriptor, -1, folder.group)
            os.fchmod(descriptor, folder.file_mode)  # os.open applied the umask
            # Write zeros, so that a full file system fails here. A sparse file would fail at a later access, and a bus
            # error would kill the process.
            made_at = int(monotonic_with_suspend() * 1e6) or 1
            file.write(header + made_at.to_bytes(8, sys.byteorder) + bytes(TABLE_BYTES))
        os.link(draft, path)
    except FileExistsError:
        return
    finally:
        draft.unlink()


def _check(path: Path, descriptor: int, header: bytes, folder: RunFolder) -> None:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise StoreUnavailable(f"{path} is not a plain file. {_FIX}")
    if reason := folder.distrust(status):
        raise StoreUnavailable(f"{path} {reason}. {_FIX}")
    if status.st_size < SIZE:
        raise StoreUnavailable(f"{path} is truncated to {status.st_size} of {SIZE} bytes. {_FIX}")
    found = os.read(descriptor, len(header))
    if found != header:
        whose = "another store" if found[:24] == header[:24] else "another program, or another version of Tenantry"
        raise StoreUnavailable(f"{path} belongs to {whose}. {_FIX}")
