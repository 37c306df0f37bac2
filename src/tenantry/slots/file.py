"""The file of a table: made whole or not at all, and opened only if its header is right."""

from __future__ import annotations

import os
import re
import secrets
import stat
import struct
import sys
from pathlib import Path
from typing import Final

from tenantry.cache import SLOT_COUNT
from tenantry.errors import StoreUnavailable
from tenantry.slots.clock import monotonic_with_suspend
from tenantry.slots.folder import RunFolder, os_failure
from tenantry.slots.table import TABLE_BYTES

HEADER: Final = 64
"""Bytes before the versions: a multiple of 8, so that every version is aligned."""

SIZE: Final = HEADER + TABLE_BYTES
"""Bytes of the file."""

_MAGIC: Final = b"tenantry slots\r\n"
_VERSION: Final = 1
_LAYOUT: Final = struct.Struct("=16sII32s")  # in the machine's own byte order, as the versions are
MADE_AT: Final = slice(_LAYOUT.size, _LAYOUT.size + 8)
"""When the file was made, in the header: microseconds of monotonic_with_suspend, or 0 if that no longer matters."""

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")
_FLAGS: Final = os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_SAFE_OPEN: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # a FIFO must not block
_TRIES: Final = 8


def open_file(path: Path, store_id: str, folder: RunFolder) -> int:
    """A descriptor of the file, which is made if there is none. Raises StoreUnavailable."""
    if not _NAME.fullmatch(store_id):
        raise StoreUnavailable(f"the id of the store, {store_id!r}, cannot name a file in the run folder {folder.path}")
    header = _LAYOUT.pack(_MAGIC, _VERSION, SLOT_COUNT, store_id.encode("ascii"))
    try:
        descriptor = _open_or_make(path, header, folder)
    except OSError as error:
        raise StoreUnavailable(os_failure("cannot open", path, error, _FIX)) from None
    try:
        _check(path, descriptor, header, folder)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


_FIX: Final = "Remove it, and it is made anew; every Tenantry process of the host that uses it must be able to write it"


def _open_or_make(path: Path, header: bytes, folder: RunFolder) -> int:
    for _ in range(_TRIES):  # it may be removed between our making and our opening it
        try:
            return os.open(path, _FLAGS | _SAFE_OPEN)
        except FileNotFoundError:
            _make(path, header, folder)
    return os.open(path, _FLAGS | _SAFE_OPEN)


def _make(path: Path, header: bytes, folder: RunFolder) -> None:
    """Makes a whole file at the path, unless another process was quicker."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, _FLAGS | os.O_CREAT | os.O_EXCL, folder.file_mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if folder.group is not None:
                os.fchown(descriptor, -1, folder.group)
            if hasattr(os, "fchmod"):
                os.fchmod(descriptor, folder.file_mode)  # whatever the umask is
            # Zeros that are written, not a hole: in a full file system this fails, and a store into a hole kills us.
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
        raise StoreUnavailable(f"{path} is {status.st_size} bytes long, not {SIZE}: it was cut short. {_FIX}")
    found = os.read(descriptor, len(header))
    if found != header:
        whose = "another store" if found[:24] == header[:24] else "another program, or another version of Tenantry"
        raise StoreUnavailable(f"{path} is a file of {whose}. {_FIX}")
