"""Staging: a new folder that is filled beside an old one and takes its place at once, or not at all.

Whenever the process ends, by itself or killed, the old folder or the new one stands there, whole. (After a loss of
power a file may be cut off: nothing is forced to the disk, for a site can be built again.)
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self

from tenantry_site.building.exchange import exchange
from tenantry_site.building.scanning import MARKER
from tenantry_site.errors import SiteError

_NOTE = b"This folder was made by `tenantry site build`, which replaces all of it.\n"
_LONGEST_PATH: Final = 1_024
_CHUNK: Final = 2**20


class Staging:
    """``with Staging(out) as staging: staging.write(…); staging.publish()``. What is not published is removed.

    Raises SiteError at the entry if ``out`` cannot be made, or is a folder with files that no build made.
    """

    def __init__(self, out: str | os.PathLike[str]) -> None:
        self.out = Path(os.path.realpath(out))  # a link that leads to the published folder stays
        self.folder = Path()
        self._lock: int | None = None
        self._made: set[str] = {""}

    def __enter__(self) -> Self:
        try:
            self.out.parent.mkdir(parents=True, exist_ok=True)
            _mend(self.out)
            _check(self.out)
            self._begin()
        except OSError as error:
            raise SiteError(f"{self.out} cannot be written: {error.strerror}") from None
        return self

    def _begin(self) -> None:
        while True:
            self.folder = self.out.with_name(f".{self.out.name}.new-{os.urandom(4).hex()}")
            self.folder.mkdir()
            self._lock = _hold(self.folder)
            if self._lock is None or self.folder.is_dir():  # else somebody swept it away before we held it
                break
            os.close(self._lock)
        self.write(MARKER, _NOTE)

    def write(self, path: str, content: bytes) -> None:
        """Writes one file of the site. Raises OSError."""
        place = self._place(path)
        with open(place, "wb", buffering=0) as file:  # noqa: PTH123  # a third of the time of Path.write_bytes
            file.write(content)

    def copy(self, source: BinaryIO, path: str) -> int:
        """Writes what an open file has, and gives its size: never a link to it, for who edits the source must not edit
        the site. Raises OSError."""
        place = self._place(path)
        with open(place, "wb", buffering=0) as file:  # noqa: PTH123  # as above
            size = 0
            while chunk := source.read(_CHUNK):
                size += len(chunk)
                file.write(chunk)
            return size

    def _place(self, path: str) -> str:
        """Where to write a file, its folder made. Raises OSError for a path that leaves the folder."""
        parts = path.split("/")
        if not path.isprintable() or "\\" in path or not {"", ".", ".."}.isdisjoint(parts) or len(path) > _LONGEST_PATH:
            raise OSError(0, "its name cannot be part of an address")
        head = path.rpartition("/")[0]
        if head not in self._made:
            (self.folder / head).mkdir(parents=True, exist_ok=True)
            self._made.add(head)
        return f"{self.folder}{os.sep}{path}"

    def publish(self) -> None:
        """Puts the new folder where the old one is. Raises SiteError if the system does not let us."""
        aside = self.out.with_name(f".{self.out.name}.old")
        try:
            if not self.out.exists():
                self.folder.rename(self.out)
            elif exchange(self.folder, self.out):  # at no moment is there nothing; the old one is now at ``folder``
                shutil.rmtree(self.folder, ignore_errors=True)
            else:
                shutil.rmtree(aside, ignore_errors=True)
                self.out.rename(aside)  # if the process ends here, the next build puts it back
                self.folder.rename(self.out)
                shutil.rmtree(aside, ignore_errors=True)
        except OSError as error:
            _mend(self.out)
            raise SiteError(
                f"{self.out} cannot be replaced: {error.strerror}; a folder that is mounted cannot, one within it can"
            ) from None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)


def _check(out: Path) -> None:
    if not out.exists() or (out / MARKER).is_file():
        return
    if not out.is_dir():
        raise SiteError(f"{out} is a file: choose a folder for the site")
    if next(out.iterdir(), None) is not None:
        raise SiteError(
            f"{out} has files that no build made, and a build replaces the whole folder: choose another folder, empty "
            f"this one, or put an empty file {MARKER} into it"
        )


def _mend(out: Path) -> None:
    """What builds that were killed left behind: the published folder, put aside, and folders half filled."""
    aside = out.with_name(f".{out.name}.old")
    if aside.is_dir() and not out.exists():
        aside.rename(out)
    for left in out.parent.glob(f".{_literal(out.name)}.new-*"):
        lock = _hold(left)
        if lock is not None:
            shutil.rmtree(left, ignore_errors=True)
            os.close(lock)


def _literal(name: str) -> str:
    return "".join(f"[{each}]" if each in "*?[" else each for each in name)


def _hold(folder: Path) -> int | None:
    """Takes the folder for this process, until it ends; None if another has it, or the system knows no such lock."""
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
