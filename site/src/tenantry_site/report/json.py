"""The report for a script: JSON of a stable shape (docs/site-configuration.md)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.report.lines import Lines, Sources


def write_json(diagnostics: Iterable[Diagnostic], name: str = "", *, sources: Sources | None = None) -> str:
    """``{"version": 1, "summary": {"error", "warning", "info"}, "diagnostics": [{"severity", "code", "message", "fix",
    "path", "pointer", "line", "column", "excerpt"}]}``.

    ``name`` is the path of what has none. ``sources`` has the texts of files by their paths, for excerpts, which are
    empty without. It is ASCII alone.
    """
    found = list(diagnostics)
    lines = Lines(sources)
    counts = Counter(one.severity for one in found)
    whole = {
        "version": 1,
        "summary": {level.value: counts[level] for level in Severity},
        "diagnostics": [
            {
                "severity": one.severity.value,
                "code": one.code,
                "message": one.message,
                "fix": one.fix,
                "path": one.path or name,
                "pointer": one.pointer,
                "line": one.line,
                "column": one.column,
                "excerpt": "".join(lines.around(one.path or name, one.line, one.column)),
            }
            for one in found
        ],
    }
    return json.dumps(whole, indent=2) + "\n"
