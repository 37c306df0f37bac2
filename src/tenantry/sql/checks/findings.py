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
    """A finding by offset in the compiled text. ``variable`` is its path or empty; ``location`` is set for headers."""

    code: str
    severity: Severity
    offset: int
    message: str
    fix: str
    variable: str = ""
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. ``line`` and ``column`` count from 1.

    ``variable`` is its path or empty. It concerns ``groups`` of ``total`` groups; ``named`` has the first ids. ``file``
    is set if the finding is in a fragment.
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
