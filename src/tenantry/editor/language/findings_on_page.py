from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from tenantry.editor.offsets import Utf16Text
from tenantry.errors import Edit, Location
from tenantry.sql.checks import Finding

_TAG: Final = re.compile(r"\{\{[^{}\n]*\}\}")
_NAME: Final = re.compile(r"[\w$]+(?:\.[\w$]+)*")
_FAR: Final = 2_000
"""Maximum number of characters between a finding and the text that its correction replaces."""


def shown_findings(
    findings: Iterable[Finding], path: str, text: str, roots: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """Return the findings of the file ``path`` as JSON, with their places in ``text``. A finding in an included file is
    shown at the tag that includes the file. Findings in other files are left out. ``roots``: path prefixes, which are
    removed from messages."""

    def without_roots(words: str) -> str:
        for root in roots:
            words = words.replace(root, "")
        return words

    units, shown = Utf16Text(text), []
    for finding in findings:
        at = Location(finding.line, finding.column, finding.file or path, finding.included_at)
        start = index_in(path, at, units)
        if start is None:
            continue
        about: dict[str, Any] = {
            **units.span(start, end_of(text, start)),
            "severity": str(finding.severity),
            "code": finding.code,
            "message": without_roots(finding.message if at.file == path else f"{at.file}: {finding.message}"),
            "fix": without_roots(finding.fix),
        }
        place = _replaced(finding.edit, text, start) if finding.edit is not None and at.file == path else None
        if place is not None and finding.edit is not None:
            about["edit"] = {**units.span(*place), "insert": finding.edit.new}
        shown.append(about)
    return shown


def index_in(path: str, at: Location | None, units: Utf16Text) -> int | None:
    """Return the index of the location ``at`` in the file ``path``. If ``path`` includes the file of ``at``, return the
    index of the tag that includes it. Otherwise return None."""
    while at is not None and at.file != path:
        at = at.included_at
    return None if at is None else units.index(at.line, at.column)


def end_of(text: str, start: int) -> int:
    """Return the end of the tag, name or character at ``start``."""
    for pattern in (_TAG, _NAME):
        found = pattern.match(text, start)
        if found is not None:
            return found.end()
    return start if start >= len(text) or text[start] == "\n" else start + 1


def _replaced(edit: Edit, text: str, start: int) -> tuple[int, int] | None:
    before = r"(?<!\w)" if edit.old[:1].isalnum() else ""
    after = r"(?!\w)" if edit.old[-1:].isalnum() else ""
    found = re.compile(f"{before}{re.escape(edit.old)}{after}").search(text, start, start + _FAR + len(edit.old))
    return None if found is None else found.span()
