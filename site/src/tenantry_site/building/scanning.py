"""Scanning: what is in a site's folder. Nothing is read here, and nothing outside the folder is ever looked at."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tenantry_site.building.codes import note, unreadable
from tenantry_site.diagnostic import Diagnostic, Severity

MARKER = ".tenantry-site"
"""The file that stands in every folder that a build made: such a folder may be replaced, and is no source."""

SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
FILES_LIMIT = 50_000
DEPTH_LIMIT = 32


@dataclass(frozen=True, slots=True)
class Entry:
    """One file: ``place`` is where its bytes are, after symbolic links; ``modified`` is in nanoseconds."""

    place: str
    size: int
    modified: int


@dataclass(slots=True)
class Scan:
    """The files of a folder by their paths within it, with ``/`` and in order, and what was left out and why."""

    entries: dict[str, Entry] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def says(self, severity: Severity, code: str, path: str, found: str, fix: str) -> None:
        self.diagnostics.append(note(severity, code, path, found, fix))


def scan(root: str | os.PathLike[str]) -> Scan:
    """Looks through a folder. Never raises for what it finds: what cannot be taken is told.

    Hidden files, ``node_modules`` and folders that a build made are passed over in silence.
    """
    scan = Scan()
    home = os.path.realpath(root)
    _Walk(home, scan).folder(home, "", 0)
    scan.entries = dict(sorted(scan.entries.items()))
    return scan


class _Walk:
    """One pass over a folder."""

    def __init__(self, home: str, scan: Scan) -> None:
        self._home = home
        self._scan = scan

    def folder(self, place: str, prefix: str, depth: int) -> None:
        for item in sorted(self._items(place, prefix), key=lambda item: item.name):
            if len(self._scan.entries) >= FILES_LIMIT:
                self._full()
                return
            path = prefix + item.name
            if item.name.startswith(".") or not self._can_be_named(path):
                continue
            if item.is_symlink():
                self._link(item.path, path)
            elif item.is_dir(follow_symlinks=False):
                self._enter(item, path, depth)
            else:
                self._file(item.path, path)

    def _items(self, place: str, prefix: str) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(place) as items:
                yield from items
        except OSError as error:
            self._scan.says(Severity.ERROR, "FILE003", prefix.rstrip("/"), unreadable(error), "Let this user read it.")

    def _enter(self, item: os.DirEntry[str], path: str, depth: int) -> None:
        if item.name in SKIPPED_FOLDERS or Path(item.path, MARKER).exists():  # an earlier build within the folder
            return
        if depth >= DEPTH_LIMIT:
            fix = f"Keep the folders of a site at most {DEPTH_LIMIT} deep."
            self._scan.says(Severity.WARNING, "FILE006", path, "the folder is too deep", fix)
            return
        self.folder(item.path, f"{path}/", depth + 1)

    def _link(self, place: str, path: str) -> None:
        """A link to a file of the folder stands for that file; any other link is not followed."""
        try:
            target = os.path.realpath(place, strict=True)
        except OSError:
            self._scan.says(Severity.WARNING, "FILE004", path, "the link leads nowhere", "Remove it, or mend it.")
            return
        parts = Path(target).relative_to(self._home).parts if Path(target).is_relative_to(self._home) else ()
        if not parts or any(part.startswith(".") or part in SKIPPED_FOLDERS for part in parts):
            fix = "Put a copy of the file into the site's folder: links are not followed out of it."
            self._scan.says(Severity.WARNING, "FILE004", path, "the link leads out of the site's folder", fix)
        elif Path(target).is_dir():
            fix = "Move the folder here, or link to single files."
            self._scan.says(Severity.WARNING, "FILE004", path, "links to folders are not followed", fix)
        else:
            self._file(target, path)

    def _file(self, place: str, path: str) -> None:
        try:
            found = os.lstat(place)
        except OSError as error:
            self._scan.says(Severity.WARNING, "FILE003", path, unreadable(error), "Let this user read it.")
            return
        if not stat.S_ISREG(found.st_mode):  # to open a pipe would wait for somebody to write to it
            kind = "it is no file but a pipe, a socket or a device"
            self._scan.says(Severity.WARNING, "FILE005", path, kind, "Remove it.")
            return
        self._scan.entries[path] = Entry(place, found.st_size, found.st_mtime_ns)

    def _can_be_named(self, path: str) -> bool:
        if path.isprintable() and "\\" not in path:
            return True
        shown = path.encode("unicode_escape").decode("ascii")
        fix = "Rename it: UTF-8 without control characters and backslashes."
        self._scan.says(Severity.WARNING, "FILE005", shown, "the name cannot be part of an address", fix)
        return False

    def _full(self) -> None:
        if all(said.code != "FILE006" for said in self._scan.diagnostics):
            found = f"there are more than {FILES_LIMIT:,} files, and the rest is left out"
            self._scan.says(Severity.ERROR, "FILE006", "", found, "Is this the folder of the site?")
