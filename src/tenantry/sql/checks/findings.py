from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias

from tenantry.errors import Edit, Location, TemplateError


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
    """Offset in ``Tree.source``."""
    message: str
    fix: str
    variable: str = ""
    location: Location | None = None
    """The location of a problem in a query file's header. If a location is set, ``offset`` is not used."""
    edit: Edit | None = None


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
    edit: Edit | None = None
    """A correction of the text at ``line`` and ``column``; None if a program cannot make the correction."""
    included_at: Location | None = field(default=None, compare=False)
    """If ``file`` is a fragment: the location of the tag that includes it."""

    def as_dict(self) -> dict[str, Any]:
        """Return all fields except ``edit`` and ``included_at``, which only editors use."""
        always = ("code", "severity", "line", "column", "message", "fix")
        shown = asdict(replace(self, edit=None, included_at=None))
        return {name: value for name, value in shown.items() if value or name in always}


Located: TypeAlias = "tuple[str, Finding]"
"""The file or data source that has the problem, and the finding."""


def template_error(error: TemplateError) -> Finding:
    return error_finding("template-error", error)


def error_finding(code: str, error: TemplateError) -> Finding:
    at = error.location or Location(1, 1)
    lines = error.message.splitlines()[1:3] if error.location is not None else []
    excerpt = "\n".join(line.removeprefix("    ") for line in lines if line.startswith("    "))
    return Finding(
        code,
        Severity.ERROR,
        at.line,
        at.column,
        error.problem,
        error.fix,
        file=at.file,
        excerpt=excerpt,
        edit=error.edit,
        included_at=at.included_at,
    )
