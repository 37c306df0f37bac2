"""Notes: what is to be said about one page, gathered while it is read."""

from __future__ import annotations

from collections.abc import Iterable

from tenantry_site.diagnostic import Diagnostic, Severity

MOST = 200
"""Diagnostics of one page; a page that deserves more is hostile or not a page."""


class Notes:
    """Diagnostics in the order in which they were found, each once."""

    __slots__ = ("_found", "offset", "path")

    def __init__(self, path: str, offset: int = 0) -> None:
        self.path = path
        self.offset = offset
        self._found: dict[Diagnostic, None] = {}

    def add(self, severity: Severity, code: str, message: str, fix: str = "", line: int = 0) -> None:
        """``line`` counts from 1 in the text below the front matter, 0: the page as a whole."""
        if len(self._found) < MOST:
            place = line + self.offset if line else 0
            self._found[Diagnostic(severity, code, message, fix, line=place, path=self.path)] = None

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        for each in diagnostics:
            if len(self._found) < MOST:
                self._found[each] = None

    def all(self) -> tuple[Diagnostic, ...]:
        return tuple(self._found)
