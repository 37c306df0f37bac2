"""Findings: the results of checks, each with location, severity and fix."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from tenantry.errors import Location


class Severity(StrEnum):
    """An ERROR fails a check, a WARNING is probably a mistake, a NOTE is for review."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Problem(NamedTuple):
    """A finding with an offset in the compiled SQL, or with a ``location`` in a header. ``variable`` is a path or
    empty."""

    code: str
    severity: Severity
    offset: int
    message: str
    fix: str
    variable: str = ""
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. ``line`` and ``column`` count from 1; ``file`` is the query file or fragment, or empty.

    ``variable`` is the path that the finding is about, or empty. If it is about the data, it concerns ``groups`` of
    ``total`` groups; ``named`` are the ids of the first.
    """

    code: str
    severity: Severity
    line: int
    column: int
    message: str
    fix: str
    variable: str = ""
    groups: int = 0
    total: int = 0
    named: tuple[str, ...] = ()
    file: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return a JSON-ready dict without empty optional fields."""
        always = ("code", "severity", "line", "column", "message", "fix")
        return {name: value for name, value in asdict(self).items() if value or name in always}
