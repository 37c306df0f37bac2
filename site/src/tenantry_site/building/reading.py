"""SiteFiles: the files of a site's folder as a mapping from path to content, each read when it is asked for."""

from __future__ import annotations

import errno
import os
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from typing import BinaryIO, Final

from tenantry_site.building.codes import note, unreadable
from tenantry_site.building.scanning import Entry, Scan
from tenantry_site.diagnostic import Diagnostic, Severity

PAGES = (".md", ".mdx")
DOCUMENTS = (".json", ".yaml", ".yml")
PAGE_LIMIT = 5 * 2**20
DOCUMENT_LIMIT = 32 * 2**20

_FLAGS: Final = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT")
)
"""Where the system has them. A pipe that took a file's place does not hold us up."""


class SiteFiles(Mapping[str, str | bytes]):
    """``str`` for pages and documents (JSON, YAML), ``bytes`` for anything else. Nothing is kept.

    Reading never raises but KeyError for a path that is not there: text that is not UTF-8 comes with replacement
    characters, what cannot be read or is too large comes empty, and ``diagnostics`` tells of it, once for each path.
    """

    def __init__(self, scan: Scan) -> None:
        self.entries = scan.entries
        self._said: dict[str, Diagnostic] = {}
        self._scanned = tuple(scan.diagnostics)

    def renew(self, scan: Scan) -> set[str]:
        """Goes on with a newer scan of the folder, and gives the paths of files that are new, changed, or gone."""
        before, self.entries = self.entries, scan.entries
        self._scanned = tuple(scan.diagnostics)
        changed = {path for path in before.keys() | scan.entries.keys() if before.get(path) != scan.entries.get(path)}
        for path in changed:
            self._said.pop(path, None)
        return changed

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What the scan said, and what was said of the files that were read since."""
        return (*self._scanned, *(said for _, said in sorted(self._said.items())))

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, path: object) -> bool:
        return path in self.entries

    def __getitem__(self, path: str) -> str | bytes:
        entry = self.entries[path]
        self._said.pop(path, None)
        if not is_text(path):
            return self._bytes(path, entry, -1)
        limit = PAGE_LIMIT if path.lower().endswith(PAGES) else DOCUMENT_LIMIT
        content = self._bytes(path, entry, limit + 1)
        if len(content) > limit:
            fix = f"Keep it below {limit // 2**20} MiB: split it."
            self._says(Severity.ERROR, "FILE002", path, f"it has {entry.size:,} bytes and is not read", fix)
            return ""
        return self._text(path, content)

    def _bytes(self, path: str, entry: Entry, limit: int) -> bytes:
        try:
            with open_entry(entry) as file:
                if limit >= 0:  # a buffer of as many bytes is made, however few there are
                    limit = min(limit, os.fstat(file.fileno()).st_size + 1)
                return file.read(limit)
        except OSError as error:
            self._says(Severity.ERROR, "FILE003", path, unreadable(error), "Let this user read it.")
            return b""

    def _text(self, path: str, content: bytes) -> str:
        if path.lower().endswith(PAGES):  # of a document, its reader has something to say about the mark
            content = content.removeprefix(BOM_UTF8)
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            found = f"the byte 0x{content[error.start]:02x} is not UTF-8"
            self._says(Severity.WARNING, "FILE001", path, found, "Save the file as UTF-8.", line)
            return content.decode("utf-8", "replace")

    def _says(self, severity: Severity, code: str, path: str, found: str, fix: str, line: int = 0) -> None:
        self._said[path] = note(severity, code, path, found, fix, line)


def is_text(path: str) -> bool:
    """Whether a file is read as text: by its name alone."""
    return path.lower().endswith(PAGES + DOCUMENTS)


def open_entry(entry: Entry) -> BinaryIO:
    """Opens what was scanned, if it is still a file there and no link was put in its way since. Raises OSError."""
    if os.path.realpath(entry.place) != entry.place:
        raise OSError(errno.ELOOP, "a link was put in its way")
    file = os.fdopen(os.open(entry.place, _FLAGS), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is no file")
    return file
