from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from tenantry.errors import Location, TemplateError


class Severity(StrEnum):
    """An ERROR makes a check fail. A WARNING is probably a mistake. A NOTE is for a person to review."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Problem(NamedTuple):
    """A finding whose line and column are not yet known."""

    code: str
    severity: Severity
    offset: int
    """Offset in the compiled SQL."""
    message: str
    fix: str
    variable: str = ""
    location: Location | None = None
    """The location of a problem in a query file's header. If a location is set, ``offset`` is not used."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem that a check found. ``line`` and ``column`` count from 1."""

    code: str
    severity: Severity
    line: int
    column: int
    message: str
    fix: str
    variable: str = ""
    """Path of the variable that has the problem; empty if the problem is not about a variable."""
    groups: int = 0
    """Number of groups with the problem, out of ``total``."""
    total: int = 0
    named: tuple[str, ...] = ()
    """Ids of the first few groups with the problem."""
    file: str = ""
    """The query file or fragment; empty for a template without a file."""
    excerpt: str = ""
    """The line of the template with the problem, followed by a line with a caret below the problem. May be empty."""

    def as_dict(self) -> dict[str, Any]:
        always = ("code", "severity", "line", "column", "message", "fix")
        return {name: value for name, value in asdict(self).items() if value or name in always}


def template_error(error: TemplateError) -> Finding:
    return error_finding("template-error", error)


def error_finding(code: str, error: TemplateError) -> Finding:
    at = error.location or Location(1, 1)
    lines = error.message.splitlines()[1:3] if error.location is not None else []
    excerpt = "\n".join(line.removeprefix("    ") for line in lines if line.startswith("    "))
    return Finding(code, Severity.ERROR, at.line, at.column, error.problem, error.fix, file=at.file, excerpt=excerpt)
