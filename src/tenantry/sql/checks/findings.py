"""Findings: what a check of templates says, each with its location, its severity and its fix."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from tenantry.errors import Location


class Severity(StrEnum):
    """How much a finding matters: an ERROR fails a check, a WARNING is most often a slip, a NOTE is for a review."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Problem(NamedTuple):
    """A finding by its offset in a template's text, counted from 0. ``variable`` is the path that it is about, or
    empty; ``location`` is given for what is in no text that is compiled: the header of a file."""

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

    ``variable`` is the path that it is about, or empty. ``groups`` of ``total`` have what it says, and ``named`` are
    the ids of the first of them; both are 0 for a finding that is not about groups. ``file`` is named where the finding
    is in another text than the template itself: a fragment that it includes.
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
        """JSON-ready: without what a finding of its kind does not have."""
        always = ("code", "severity", "line", "column", "message", "fix")
        return {name: value for name, value in asdict(self).items() if value or name in always}
