"""Library: the OpenAPI documents of a site, read when they are first asked for, and what was found wrong in them."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from posixpath import dirname, normpath
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.reference.parsing import Unreadable, parse

SUFFIXES: Final = (".json", ".yaml", ".yml")

_DECLARES: Final = re.compile(
    r"""(?:^|[{,])[ \t\ufeff]*(["']?)(?:openapi|swagger)\1[ \t]*:[ \t\r\n]*["']?[0-9]""", re.MULTILINE
)
"""The version of an OpenAPI or Swagger document, as JSON and YAML write it."""


class Notes:
    """Diagnostics as they are found, each once, in order."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[Diagnostic, None] = {}

    def add(
        self,
        severity: Severity,
        code: str,
        message: str,
        fix: str,
        *,
        path: str = "",
        pointer: str = "",
        place: tuple[int, int] = (0, 0),
    ) -> None:
        """Notes one thing at one place."""
        self._found[Diagnostic(severity, code, message, fix, pointer, *place, path)] = None

    def again(self, found: Iterable[Diagnostic]) -> None:
        """Notes what was said before."""
        self._found.update(dict.fromkeys(found))

    def since(self, count: int) -> tuple[Diagnostic, ...]:
        """What was noted after there were ``count``."""
        return tuple(self._found)[count:]

    def __len__(self) -> int:
        return len(self._found)


class Library:
    """The values of documents by their paths within the site, or by the web address that they were fetched from."""

    __slots__ = ("_fetched", "_files", "_values")

    def __init__(self, files: Mapping[str, str | bytes], fetched: Mapping[str, str | bytes]) -> None:
        self._files = files
        self._fetched = fetched
        self._values: dict[str, Any] = {}

    def value(self, path: str, notes: Notes) -> Any:
        """What the document at a path holds; None, and a note, where it cannot be read. Read once."""
        if path not in self._values:
            self._values[path] = None
            try:
                self._values[path] = parse((self._fetched if path in self._fetched else self._files)[path])
            except Unreadable as error:
                message = f"{path} cannot be read: {error.message}"
                notes.add(Severity.ERROR, "API001", message, error.fix, path=path, place=(error.line, error.column))
        return self._values[path]

    def __contains__(self, path: str) -> bool:
        return path in self._fetched or path in self._files

    def likely(self) -> list[str]:
        """The files that may be OpenAPI documents by their names."""
        return [path for path in self._files if path.lower().endswith(SUFFIXES)]

    def declared(self) -> list[str]:
        """Those of them that say of themselves to be OpenAPI or Swagger. They are looked through, not parsed."""
        return [path for path in sorted(self.likely(), key=_depth) if _DECLARES.search(self._text(path)) is not None]

    def _text(self, path: str) -> str:
        content = self._files[path]
        if isinstance(content, str):
            return content
        return content.removeprefix(BOM_UTF8).decode("latin-1")  # what is searched for is ASCII


def _depth(path: str) -> tuple[int, str]:
    return path.count("/"), path


def within(base: str, reference: str) -> str | None:
    """The path within the site that a reference written in the file ``base`` means; None if it leaves the site."""
    start = "" if reference.startswith("/") else dirname(base)
    path = normpath(f"{start}/{unquote(reference)}".replace("\\", "/").lstrip("/") or ".")
    return None if path.startswith("..") or path == "." else path


def is_elsewhere(reference: str) -> bool:
    """Whether a reference is a web address, or of another scheme than a file of the site has."""
    try:
        parts = urlsplit(reference)
    except ValueError:
        return True
    return bool(parts.netloc) or len(parts.scheme) > 1  # one letter is the drive of a Windows path


def nearest(wanted: str, known: Collection[str] | Iterable[str]) -> str | None:
    """The name among ``known`` that was most likely meant."""
    found = get_close_matches(wanted, list(known), n=1, cutoff=0.6)
    return found[0] if found else None
