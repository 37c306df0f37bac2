"""Notes: the diagnostics of one file, as they are collected."""

from __future__ import annotations

from collections import Counter

from tenantry_site.config.codes import TABLE
from tenantry_site.config.source import Source, Unreadable
from tenantry_site.config.tree import Spot
from tenantry_site.diagnostic import Diagnostic, Severity

MOST = 500
"""Diagnostics of one code that are given one by one: a file of a megabyte must not make ten of explanations."""


class Notes:
    """Collects diagnostics with their places. ``said`` has the code and the place in the tree of each that has one."""

    __slots__ = ("_counts", "_list", "said", "source")

    def __init__(self, source: Source) -> None:
        self.source = source
        self._list: list[Diagnostic] = []
        self._counts: Counter[str] = Counter()
        self.said: list[tuple[str, Spot]] = []

    def at(self, offset: int, code: str, message: str, fix: str = "", pointer: str = "") -> None:
        """Says something about a place in the text."""
        self._counts[code] += 1
        if self._counts[code] <= MOST:
            line, column = self.source.place(offset)
            self._list.append(Diagnostic(TABLE[code].severity, code, message, fix, pointer, line, column))

    def say(self, spot: Spot, code: str, message: str, fix: str = "", *, of_key: bool = False) -> None:
        """Says something about a place in the tree."""
        if self._counts[code] < MOST:
            self.said.append((code, spot))
            self.at(spot.offset(of_key=of_key), code, message, fix, spot.pointer())
        else:
            self._counts[code] += 1

    def fail(self, problem: Unreadable) -> None:
        """Says why the file cannot be read."""
        self.at(problem.offset, problem.code, problem.message, problem.fix)

    def full(self, code: str) -> bool:
        """Whether further diagnostics of the code are only counted: what is dear to find out need not be."""
        return self._counts[code] >= MOST

    def failed(self) -> bool:
        """Whether there is an error."""
        return any(note.severity is Severity.ERROR for note in self._list)

    def done(self) -> tuple[Diagnostic, ...]:
        """All diagnostics in the order of the file."""
        result = sorted(self._list, key=lambda note: (note.line, note.column))
        for code, count in self._counts.items():
            if count > MOST:
                message = f"and {count - MOST} more like this"
                result.append(Diagnostic(TABLE[code].severity, code, message, "see the others of this code"))
        return tuple(result)
