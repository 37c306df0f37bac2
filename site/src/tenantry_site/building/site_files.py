"""Finds and reads the files of a site's folder. They are untrusted: no file outside the folder is opened."""

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
"""A file that each build puts into its output folder. Later builds may replace a folder with this file, and scans skip
it."""

SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
FILES_LIMIT = 50_000
DEPTH_LIMIT = 32


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a site. ``real_path``: the path with symbolic links resolved. ``size``: in bytes. ``modified``: in
    nanoseconds since the epoch."""

    real_path: str
    size: int
    modified: int


@dataclass(slots=True)
class Scan:
    """The result of scanning a folder. ``entries``: relative path with ``/`` -> file, sorted. ``diagnostics``: about
    files that were skipped."""

    entries: dict[str, Entry] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def report(self, severity: Severity, code: str, path: str, found: str, fix: str) -> None:
        self.diagnostics.append(file_diagnostic(severity, code, path, found, fix))


def scan(root: str | os.PathLike[str]) -> Scan:
    """List the files of a folder and its subfolders.

    Problems become diagnostics. Hidden files, ``node_modules``, ``__pycache__`` and built sites are skipped without a
    diagnostic.
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
                Severity.ERROR, "FILE003", prefix.rstrip("/"), unreadable(error), "Allow this user to read it."
            )

    def _subfolder(self, item: os.DirEntry[str], path: str, depth: int) -> None:
        if item.name in SKIPPED_FOLDERS or Path(item.path, MARKER).exists():  # the output of an earlier build
            return
        if depth >= DEPTH_LIMIT:
            fix = f"Keep the folders of a site at most {DEPTH_LIMIT} deep."
            self._scan.report(Severity.WARNING, "FILE006", path, "the folder is too deep", fix)
            return
        self.folder(item.path, f"{path}/", depth + 1)

    def _link(self, link: str, path: str) -> None:
        """Add the target of a symbolic link, if it is a file inside the folder; else report the link."""
        try:
            target = os.path.realpath(link, strict=True)
        except OSError:
            self._scan.report(Severity.WARNING, "FILE004", path, "the link is broken", "Remove it, or fix its target.")
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
            self._scan.report(Severity.WARNING, "FILE003", path, unreadable(error), "Allow this user to read it.")
            return
        if not stat.S_ISREG(found.st_mode):  # opening a pipe would block until another process writes to it
            kind = "it is not a regular file but a pipe, a socket or a device"
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
            found = f"there are more than {FILES_LIMIT:,} files; the rest is left out"
            self._scan.report(Severity.ERROR, "FILE006", "", found, "Is this the folder of the site?")


PAGES = (".md", ".mdx")
DOCUMENTS = (".json", ".yaml", ".yml")
PAGE_LIMIT = 5 * 2**20
DOCUMENT_LIMIT = 32 * 2**20

_FLAGS: Final = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT")
)
"""Flags to open files, as far as the system has them. With ``O_NONBLOCK``, opening does not wait if a pipe has replaced
the file."""


class SiteFiles(Mapping[str, str | bytes]):
    """Relative path -> contents of the files of a scan: ``str`` for Markdown, JSON and YAML, ``bytes`` for other files.

    Each access reads the file again. It raises only KeyError, for an unknown path. Invalid UTF-8 is replaced, and an
    unreadable or too large file gives empty contents; ``diagnostics`` has these problems.
    """

    def __init__(self, scan: Scan) -> None:
        self.entries: dict[str, Entry] = scan.entries
        self._diagnostics: dict[str, Diagnostic] = {}
        self._scan_diagnostics = tuple(scan.diagnostics)

    def update(self, scan: Scan) -> set[str]:
        """Switch to a newer scan. Return the paths of new, changed and removed files."""
        before = self.entries
        self.entries = scan.entries
        self._scan_diagnostics = tuple(scan.diagnostics)
        changed = {path for path in before.keys() | scan.entries.keys() if before.get(path) != scan.entries.get(path)}
        for path in changed:
            self._diagnostics.pop(path, None)
        return changed

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
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
            fix = f"Split it into files of less than {limit // 2**20} MiB."
            self._report(Severity.ERROR, "FILE002", path, f"it has {entry.size:,} bytes and is not read", fix)
            return ""
        if path.lower().endswith(PAGES):  # for other files, the parser reports the byte order mark
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
                if limit >= 0:  # read() allocates a buffer of this size even for a small file
                    limit = min(limit, os.fstat(file.fileno()).st_size + 1)
                return file.read(limit)
        except OSError as error:
            self._report(Severity.ERROR, "FILE003", path, unreadable(error), "Allow this user to read it.")
            return b""

    def _report(self, severity: Severity, code: str, path: str, found: str, fix: str, line: int = 0) -> None:
        self._diagnostics[path] = file_diagnostic(severity, code, path, found, fix, line)


def is_text(path: str) -> bool:
    return path.lower().endswith(PAGES + DOCUMENTS)


def open_entry(entry: Entry) -> BinaryIO:
    """Open a scanned file. Raises OSError, also if a link or another kind of file has replaced it since."""
    if os.path.realpath(entry.real_path) != entry.real_path:
        raise OSError(errno.ELOOP, "a link has replaced it")
    file = os.fdopen(os.open(entry.real_path, _FLAGS), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is not a regular file")
    return file


CODES: dict[str, str] = {
    "FILE001": "A text file is not UTF-8; invalid bytes are shown as replacement characters.",
    "FILE002": "A page or document is too large and is not read.",
    "FILE003": "A file or folder cannot be read.",
    "FILE004": "A symbolic link is not followed.",
    "FILE005": "A file of this name or kind cannot be part of a site.",
    "FILE006": "The folder has more files, or deeper folders, than a site may have.",
    "FILE007": "A file of the finished site cannot be written.",
}
"""Diagnostic code -> its meaning."""


def file_diagnostic(severity: Severity, code: str, path: str, found: str, fix: str, line: int = 0) -> Diagnostic:
    """A diagnostic about a file on disk. ``path``: relative to the site's folder. ``found``: the message."""
    return Diagnostic(severity, code, found, fix, line=line, path=path)


def unreadable(error: OSError) -> str:
    """An error's message without the file's full path, which readers of a served site must not see."""
    return f"it cannot be read: {(error.strerror or 'no reason is given').lower()}"
