"""PowerCut: what would be on the disk if the power failed now, for every SQLite file that this process writes.

A shim of SQLite's own file layer (a VFS, by ctypes into the library that Python uses) keeps for each file the bytes
that were written, and which of them an fsync has confirmed. A cut keeps the confirmed ones, and of the later writes as
many as one likes: none, the first few, or half of one. Nothing of the database engine is simulated.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

# File names go as bare pointers: SQLite hides more strings behind the first one's end.
_OPEN_ARGUMENTS: Final = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
_Open = ctypes.CFUNCTYPE(ctypes.c_int, *_OPEN_ARGUMENTS)
_Write = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int64)
_Truncate = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64)
_Sync = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
_Close = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_Delete = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)


class _Vfs(ctypes.Structure):
    """The head of ``sqlite3_vfs``; what follows is copied as it is."""

    _fields_ = [
        ("version", ctypes.c_int),
        ("file_size", ctypes.c_int),
        ("longest_path", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("open", ctypes.c_void_p),
        ("delete", ctypes.c_void_p),
        ("rest", ctypes.c_void_p * 14),
    ]


class _Methods(ctypes.Structure):
    """``sqlite3_io_methods``."""

    _fields_ = [
        ("version", ctypes.c_int),
        ("close", ctypes.c_void_p),
        ("read", ctypes.c_void_p),
        ("write", ctypes.c_void_p),
        ("truncate", ctypes.c_void_p),
        ("sync", ctypes.c_void_p),
        ("rest", ctypes.c_void_p * 13),
    ]


@dataclass
class _File:
    """``confirmed``: the bytes up to the last sync. ``pending``: what was done since; data None is a truncation."""

    confirmed: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)

    def after(self, count: int, torn: int | None = None) -> bytes:
        """The bytes with the first ``count`` pending writes; ``torn``: with so many bytes of the next one, too."""
        content = bytearray(self.confirmed)
        for offset, data in self.pending[:count]:
            _apply(content, offset, data)
        if torn is not None and count < len(self.pending):
            offset, data = self.pending[count]
            _apply(content, offset, None if data is None else data[:torn])
        return bytes(content)

    def sync(self) -> None:
        for offset, data in self.pending:
            _apply(self.confirmed, offset, data)
        self.pending.clear()


def _apply(content: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        del content[offset:]
        return
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


Disk = dict[str, bytes]
"""File name to content."""


class PowerCut:
    """The files below ``folder``. ``on_sync`` is called just before an fsync of any of them is carried out."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._lock = threading.Lock()
        self._files: dict[str, _File] = {}
        self._open: dict[int, _File] = {}
        self.on_sync: Callable[[], None] = lambda: None

    def disk(self) -> Disk:
        """What is sure to be on the disk."""
        with self._lock:
            return {name: file.after(0) for name, file in self._files.items()}

    def disks(self, dice: random.Random) -> Iterator[Disk]:
        """What may be on the disk: the sure part, and then with each number of unconfirmed writes of one file, the last
        of them whole or torn."""
        with self._lock:
            sure = {name: file.after(0) for name, file in self._files.items()}
            found = [sure]
            for name, file in self._files.items():
                for count in range(len(file.pending)):
                    torn = dice.choice([None, 1, 24, 512, 2_048])
                    found.append({**sure, name: file.after(count + (torn is None), torn)})
        yield from found

    # --- what SQLite does ---

    def opened(self, path: str, file: int) -> None:
        """A file was opened; ``file`` is SQLite's own pointer to it."""
        if path.startswith(self._folder):
            with self._lock:
                self._open[file] = self._files.setdefault(Path(path).name, _File())

    def deleted(self, path: str) -> None:
        """A file was taken away; that is taken to be sure at once."""
        if path.startswith(self._folder):
            with self._lock:
                self._files.pop(Path(path).name, None)

    def closed(self, file: int) -> None:
        """SQLite has done with it."""
        with self._lock:
            self._open.pop(file, None)

    def has(self, file: int) -> bool:
        """Whether it is one of those below the folder."""
        return file in self._open

    def wrote(self, file: int, offset: int, data: bytes | None) -> None:
        """So many bytes at this offset; None: cut off there."""
        with self._lock:
            if file in self._open:
                self._open[file].pending.append((offset, data))

    def synced(self, file: int) -> None:
        """All bytes of it are confirmed."""
        with self._lock:
            if file in self._open:
                self._open[file].sync()


class CannotWatch(Exception):
    """This Python has its own SQLite built in: its file layer cannot be wrapped."""


@contextmanager
def watched(folder: Path) -> Iterator[PowerCut]:
    """Watches the SQLite files below ``folder`` that are opened in the block. Raises CannotWatch."""
    library = _library()
    library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
    original = library.sqlite3_vfs_find(None)
    power = PowerCut(folder)
    shim = _Shim(original, power)
    library.sqlite3_vfs_register(ctypes.byref(shim.vfs), 1)
    try:
        yield power
    finally:
        library.sqlite3_vfs_register(original, 1)
        library.sqlite3_vfs_unregister(ctypes.byref(shim.vfs))
        _ALIVE.append(shim)  # a connection that is still open calls it


_ALIVE: list[Any] = []


class _Shim:
    """Our file layer before SQLite's own."""

    def __init__(self, original: Any, power: PowerCut) -> None:
        self._original = original
        self._power = power
        self._methods: dict[int, _Methods] = {}
        self._alive: list[Any] = []
        self.vfs = _Vfs.from_buffer_copy(ctypes.string_at(original, ctypes.sizeof(_Vfs)))
        self.vfs.name = b"tenantry-powercut"
        self._opens = _Open(original.contents.open)
        self._deletes = _Delete(original.contents.delete)
        self.vfs.open = self._address(_Open(self._open))
        self.vfs.delete = self._address(_Delete(self._delete))

    def _address(self, function: Any) -> int | None:
        self._alive.append(function)
        return ctypes.cast(function, ctypes.c_void_p).value

    def _open(self, vfs: int, name: int | None, file: int, flags: int, out: int | None) -> int:
        done = self._opens(ctypes.cast(self._original, ctypes.c_void_p), name, file, flags, out)
        slot = ctypes.cast(file, ctypes.POINTER(ctypes.c_void_p))
        if done == 0 and name is not None and slot[0]:
            slot[0] = ctypes.addressof(self._wrapped(slot[0]))
            self._power.opened(ctypes.string_at(name).decode(), file)
        return int(done)

    def _delete(self, vfs: int, name: int, sync: int) -> int:
        self._power.deleted(ctypes.string_at(name).decode())
        return int(self._deletes(ctypes.cast(self._original, ctypes.c_void_p), name, sync))

    def _wrapped(self, address: int) -> _Methods:
        if address not in self._methods:
            own = ctypes.cast(address, ctypes.POINTER(_Methods)).contents
            mine = _Methods.from_buffer_copy(own)
            power = self._power
            write, truncate, sync, close = (
                _Write(own.write),
                _Truncate(own.truncate),
                _Sync(own.sync),
                _Close(own.close),
            )
            self._alive += [write, truncate, sync, close]

            def on_write(file: int, data: int, count: int, offset: int) -> int:
                power.wrote(file, offset, ctypes.string_at(data, count))
                return int(write(file, data, count, offset))

            def on_truncate(file: int, size: int) -> int:
                power.wrote(file, size, None)
                return int(truncate(file, size))

            def on_sync(file: int, flags: int) -> int:
                if power.has(file):
                    power.on_sync()
                done = int(sync(file, flags))
                if done == 0:
                    power.synced(file)
                return done

            def on_close(file: int) -> int:
                power.closed(file)
                return int(close(file))

            mine.write, mine.truncate = self._address(_Write(on_write)), self._address(_Truncate(on_truncate))
            mine.sync, mine.close = self._address(_Sync(on_sync)), self._address(_Close(on_close))
            self._methods[address] = mine
        return self._methods[address]


def _library() -> Any:
    import _sqlite3

    try:
        library = ctypes.CDLL(_sqlite3.__file__)  # finds what it was linked to
        library.sqlite3_vfs_find  # noqa: B018  # raises when it is not there
    except (AttributeError, OSError):
        raise CannotWatch("this Python's SQLite is built in, so its file layer cannot be wrapped") from None
    return library
