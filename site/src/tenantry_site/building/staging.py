"""A staging folder, which replaces the output folder in one step.

If the process is killed, the output is either the complete old or the complete new folder. Files are not synced to
disk, so a power loss may truncate them; build the site again.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from contextlib import suppress
from glob import escape
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self

from tenantry_site.building.site_files import MARKER
from tenantry_site.diagnostic import SiteError

_MARKER_TEXT = b"This folder was made by `tenantry site build`, which replaces all of it.\n"
_LONGEST_PATH: Final = 1_024
_CHUNK: Final = 2**20


class Staging:
    """A context manager for a staging folder: ``with Staging(out) as staging: staging.write(…); staging.publish()``.

    Entering the context raises SiteError if ``out`` cannot be created or has files that no build made. Leaving it
    removes files that were not published.
    """

    def __init__(self, out: str | os.PathLike[str]) -> None:
        self.out: Path = Path(os.path.realpath(out))  # if out is a symbolic link, replace its target, not the link
        self.folder: Path = Path()
        self._folder_lock: int | None = None
        self._made: set[str] = {""}

    def __enter__(self) -> Self:
        try:
            self.out.parent.mkdir(parents=True, exist_ok=True)
            _clean_up_leftovers(self.out)
            _check(self.out)
            self._make_folder()
        except OSError as error:
            raise SiteError(f"{self.out} cannot be written: {error.strerror}") from None
        return self

    def _make_folder(self) -> None:
        while True:
            self.folder = self.out.with_name(f".{self.out.name}.new-{os.urandom(4).hex()}")
            self.folder.mkdir()
            self._folder_lock = _lock_folder(self.folder)
            if self._folder_lock is None or self.folder.is_dir():  # otherwise another build has removed the folder
                break
            os.close(self._folder_lock)
        self.write(MARKER, _MARKER_TEXT)

    def write(self, path: str, content: bytes) -> None:
        """Write one file of the site. Raises OSError."""
        target = self._prepare(path)
        with open(target, "wb", buffering=0) as file:  # noqa: PTH123  # three times as fast as Path.write_bytes
            file.write(content)

    def copy(self, source: BinaryIO, path: str) -> int:
        """Copy an open file, and return its size. Raises OSError.

        The file is copied, not hard-linked, so that editing the source does not change the built site.
        """
        target = self._prepare(path)
        with open(target, "wb", buffering=0) as file:  # noqa: PTH123  # as above
            size = 0
            while chunk := source.read(_CHUNK):
                size += len(chunk)
                file.write(chunk)
            return size

    def _prepare(self, path: str) -> str:
        """Create the folder of a file. Return the file's path on disk. Raises OSError for an unusable path."""
        parts = path.split("/")
        if not path.isprintable() or "\\" in path or not {"", ".", ".."}.isdisjoint(parts) or len(path) > _LONGEST_PATH:
            raise OSError(0, "its name cannot be part of an address")
        head = path.rpartition("/")[0]
        if head not in self._made:
            (self.folder / head).mkdir(parents=True, exist_ok=True)
            self._made.add(head)
        return f"{self.folder}{os.sep}{path}"

    def publish(self) -> None:
        """Replace the old folder by the new one. Raises SiteError if the system refuses."""
        previous = self.out.with_name(f".{self.out.name}.old")
        try:
            if not self.out.exists():
                self.folder.rename(self.out)
            elif swap_folders(self.folder, self.out):  # atomic; the old files are now in ``self.folder``
                shutil.rmtree(self.folder, ignore_errors=True)
            else:
                shutil.rmtree(previous, ignore_errors=True)
                self.out.rename(previous)  # if the process is killed here, the next build renames it back
                self.folder.rename(self.out)
                shutil.rmtree(previous, ignore_errors=True)
        except OSError as error:
            _clean_up_leftovers(self.out)
            raise SiteError(
                f"{self.out} cannot be replaced: {error.strerror}; if it is a mount point, choose a folder inside it"
            ) from None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._folder_lock is not None:
            os.close(self._folder_lock)


def _check(out: Path) -> None:
    if not out.exists() or (out / MARKER).is_file():
        return
    if not out.is_dir():
        raise SiteError(f"{out} is a file: choose a folder for the site")
    if next(out.iterdir(), None) is not None:
        raise SiteError(
            f"{out} has files that no build made, but a build replaces the whole folder: choose another folder, empty "
            f"this one, or create an empty file {MARKER} in it"
        )


def _clean_up_leftovers(out: Path) -> None:
    """Clean up after killed builds: rename the published folder back, and remove staging folders that no process has
    locked."""
    previous = out.with_name(f".{out.name}.old")
    if previous.is_dir() and not out.exists():
        previous.rename(out)
    for left in out.parent.glob(f".{escape(out.name)}.new-*"):
        lock = _lock_folder(left)
        if lock is not None:
            shutil.rmtree(left, ignore_errors=True)
            os.close(lock)


def _lock_folder(folder: Path) -> int | None:
    """Lock the folder, and return the file descriptor of the lock; None if another process has the lock, or the system
    has no such locks."""
    try:
        import fcntl
    except ImportError:
        return None
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
        return descriptor
    return None


_HERE = -100
"""``AT_FDCWD`` of Linux: relative paths start at the current folder."""
_SWAP = 2
"""The value of both ``RENAME_EXCHANGE`` (Linux, ``renameat2``) and ``RENAME_SWAP`` (macOS, ``renamex_np``)."""


def swap_folders(first: Path, second: Path) -> bool:
    """Atomically exchange two folders. Return False if the system or file system cannot do that."""
    try:
        system = ctypes.CDLL(None, use_errno=True)
        one, other = os.fsencode(first), os.fsencode(second)
        if sys.platform == "darwin":
            return bool(system.renamex_np(one, other, ctypes.c_uint(_SWAP)) == 0)
        return bool(system.renameat2(_HERE, one, _HERE, other, ctypes.c_uint(_SWAP)) == 0)
    except (AttributeError, OSError, TypeError):  # the C library lacks the call, or cannot be loaded (Windows)
        return False
