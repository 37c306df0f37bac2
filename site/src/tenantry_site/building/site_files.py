"""Finds and reads a site's untrusted files; nothing outside the folder is opened."""

from __future__ import annotations

import errno
import os
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from tenantry_site.diagnostic import Diagnostic, Severity

MARKER = ".tenantry-site"
"""The file that stands in every folder that a build made: such a folder may be replaced, and is no source."""

SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
FILES_LIMIT = 50_000
DEPTH_LIMIT = 32


@dataclass(frozen=True, slots=True)
class Entry:
    """One file. ``real_path``: after symbolic links; ``modified``: in nanoseconds."""

    real_path: str
    size: int
    modified: int


@dataclass(slots=True)
class Scan:
    """The files of a folder by relative path with ``/``, sorted, and diagnostics for skipped ones."""

    entries: dict[str, Entry] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def report(self, severity: Severity, code: str, path: str, found: str, fix: str) -> None:
        self.diagnostics.append(file_diagnostic(severity, code, path, found, fix))


def scan(root: str | os.PathLike[str]) -> Scan:
    """Scan a folder.

    Problems become diagnostics. Hidden files, ``node_modules`` and built sites are skipped silently.
    """
    scan = Scan()
    root_path = os.path.realpath(root)
    _FolderScanner(root_path, scan).folder(root_path, "", 0)
    scan.entries = dict(sorted(scan.entries.items()))
    return scan


class _FolderScanner:
    def __init__(self, root_path: str, scan: Scan) -> None:
        self._root = root_path
        self._scan = scan

    def folder(self, folder: str, prefix: str, depth: int) -> None:
        for item in sorted(self._entries(folder, prefix), key=lambda item: item.name):
            if len(self._scan.entries) >= FILES_LIMIT:
                self._report_full()
                return
            path = prefix + item.name
            if item.name.startswith(".") or not self._check_name(path):
                continue
            if item.is_symlink():
                self._link(item.path, path)
            elif item.is_dir(follow_symlinks=False):
                self._subfolder(item, path, depth)
            else:
                self._file(item.path, path)

    def _entries(self, folder: str, prefix: str) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as items:
                yield from items
        except OSError as error:
            self._scan.report(
                Severity.ERROR, "FILE003", prefix.rstrip("/"), unreadable(error), "Let this user read it."
            )

    def _subfolder(self, item: os.DirEntry[str], path: str, depth: int) -> None:
        if item.name in SKIPPED_FOLDERS or Path(item.path, MARKER).exists():  # an earlier build within the folder
            return
        if depth >= DEPTH_LIMIT:
            fix = f"Keep the folders of a site at most {DEPTH_LIMIT} deep."
            self._scan.report(Severity.WARNING, "FILE006", path, "the folder is too deep", fix)
            return
        self.folder(item.path, f"{path}/", depth + 1)

    def _link(self, link: str, path: str) -> None:
        """Follow links to files inside the folder only."""
        try:
            target = os.path.realpath(link, strict=True)
        except OSError:
            self._scan.report(Severity.WARNING, "FILE004", path, "the link leads nowhere", "Remove it, or repair it.")
            return
        parts = Path(target).relative_to(self._root).parts if Path(target).is_relative_to(self._root) else ()
        if not parts or any(part.startswith(".") or part in SKIPPED_FOLDERS for part in parts):
            fix = "Put a copy of the file into the site's folder: links are not followed out of it."
            self._scan.report(Severity.WARNING, "FILE004", path, "the link leads out of the site's folder", fix)
        elif Path(target).is_dir():
            fix = "Move the folder here, or link to single files."
            self._scan.report(Severity.WARNING, "FILE004", path, "links to folders are not followed", fix)
        else:
            self._file(target, path)

    def _file(self, real_path: str, path: str) -> None:
        try:
            found = os.lstat(real_path)
        except OSError as error:
            self._scan.report(Severity.WARNING, "FILE003", path, unreadable(error), "Let this user read it.")
            return
        if not stat.S_ISREG(found.st_mode):  # to open a pipe would wait for somebody to write to it
            kind = "it is no file but a pipe, a socket or a device"
            self._scan.report(Severity.WARNING, "FILE005", path, kind, "Remove it.")
            return
        self._scan.entries[path] = Entry(real_path, found.st_size, found.st_mtime_ns)

    def _check_name(self, path: str) -> bool:
        if path.isprintable() and "\\" not in path:
            return True
        shown = path.encode("unicode_escape").decode("ascii")
        fix = "Rename it: UTF-8 without control characters and backslashes."
        self._scan.report(Severity.WARNING, "FILE005", shown, "the name cannot be part of an address", fix)
        return False

    def _report_full(self) -> None:
        if all(diagnostic.code != "FILE006" for diagnostic in self._scan.diagnostics):
            found = f"there are more than {FILES_LIMIT:,} files, and the rest is left out"
            self._scan.report(Severity.ERROR, "FILE006", "", found, "Is this the folder of the site?")


PAGES = (".md", ".mdx")
DOCUMENTS = (".json", ".yaml", ".yml")
PAGE_LIMIT = 5 * 2**20
DOCUMENT_LIMIT = 32 * 2**20

_FLAGS: Final = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT")
)
"""Where the system has them. A pipe that has replaced a file does not block."""


class SiteFiles(Mapping[str, str | bytes]):
    """File contents: ``str`` for pages and documents (JSON, YAML), else ``bytes``.

    Nothing is cached. Raises only KeyError, for an unknown path: invalid UTF-8 is replaced, an unreadable or too
    large file is empty, and ``diagnostics`` reports it once.
    """

    def __init__(self, scan: Scan) -> None:
        self.entries: dict[str, Entry] = scan.entries
        self._diagnostics: dict[str, Diagnostic] = {}
        self._scan_diagnostics = tuple(scan.diagnostics)

    def update(self, scan: Scan) -> set[str]:
        """Switch to a newer scan; returns the paths of new, changed and removed files."""
        before = self.entries
        self.entries = scan.entries
        self._scan_diagnostics = tuple(scan.diagnostics)
        changed = {path for path in before.keys() | scan.entries.keys() if before.get(path) != scan.entries.get(path)}
        for path in changed:
            self._diagnostics.pop(path, None)
        return changed

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Diagnostics of the scan and of files read since."""
        return (*self._scan_diagnostics, *(diagnostic for _, diagnostic in sorted(self._diagnostics.items())))

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, path: object) -> bool:
        return path in self.entries

    def __getitem__(self, path: str) -> str | bytes:
        entry = self.entries[path]
        self._diagnostics.pop(path, None)
        if not is_text(path):
            return self._bytes(path, entry, -1)
        limit = PAGE_LIMIT if path.lower().endswith(PAGES) else DOCUMENT_LIMIT
        content = self._bytes(path, entry, limit + 1)
        if len(content) > limit:
            fix = f"Keep it below {limit // 2**20} MiB: split it."
            self._report(Severity.ERROR, "FILE002", path, f"it has {entry.size:,} bytes and is not read", fix)
            return ""
        if path.lower().endswith(PAGES):  # of a document, its parser reports the mark
            content = content.removeprefix(BOM_UTF8)
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            found = f"the byte 0x{content[error.start]:02x} is not UTF-8"
            self._report(Severity.WARNING, "FILE001", path, found, "Save the file as UTF-8.", line)
            return content.decode("utf-8", "replace")

    def _bytes(self, path: str, entry: Entry, limit: int) -> bytes:
        try:
            with open_entry(entry) as file:
                if limit >= 0:  # a buffer of as many bytes is made, however few there are
                    limit = min(limit, os.fstat(file.fileno()).st_size + 1)
                return file.read(limit)
        except OSError as error:
            self._report(Severity.ERROR, "FILE003", path, unreadable(error), "Let this user read it.")
            return b""

    def _report(self, severity: Severity, code: str, path: str, found: str, fix: str, line: int = 0) -> None:
        self._diagnostics[path] = file_diagnostic(severity, code, path, found, fix, line)


def is_text(path: str) -> bool:
    """Whether a file is read as text, by its name."""
    return path.lower().endswith(PAGES + DOCUMENTS)


def open_entry(entry: Entry) -> BinaryIO:
    """Open a scanned file unless it was replaced by a link or another type since. Raises OSError."""
    if os.path.realpath(entry.real_path) != entry.real_path:
        raise OSError(errno.ELOOP, "a link has replaced it")
    file = os.fdopen(os.open(entry.real_path, _FLAGS), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is no file")
    return file


CODES: dict[str, str] = {
    "FILE001": "A text file is not UTF-8; what cannot be read is shown as a replacement character.",
    "FILE002": "A page or document is larger than what is read.",
    "FILE003": "A file or folder cannot be read.",
    "FILE004": "A symbolic link is not followed.",
    "FILE005": "A file of this name or kind cannot be part of a site.",
    "FILE006": "The folder has more files, or deeper folders, than a site may have.",
    "FILE007": "A file of the finished site cannot be written.",
}
"""What each code means."""


def file_diagnostic(severity: Severity, code: str, path: str, found: str, fix: str, line: int = 0) -> Diagnostic:
    return Diagnostic(severity, code, found, fix, line=line, path=path)


def unreadable(error: OSError) -> str:
    """An error message without its path, which readers must not see."""
    return f"it cannot be read: {(error.strerror or 'no reason is given').lower()}"
