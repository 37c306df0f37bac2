"""The report for a person: one paragraph for each diagnostic, as compilers write them, and a summary."""

from __future__ import annotations

from collections.abc import Iterable
from unicodedata import east_asian_width

from tenantry_site.config.quoting import clip, safe
from tenantry_site.diagnostic import Diagnostic
from tenantry_site.report.lines import Lines, Sources
from tenantry_site.report.summary import summary

_LONGEST = 100
"""Characters of a pointer that are shown."""


def write_text(diagnostics: Iterable[Diagnostic], name: str = "", *, sources: Sources | None = None) -> str:
    """``path:line:column: severity code: message``, the line with a caret under the place, and ``fix:``.

    Where the column is not known, it and the caret are left out.
    ``name`` stands where a diagnostic has no path. ``sources`` has the texts of files by their paths, for the lines.
    Nothing of a file that commands a terminal reaches it.
    """
    found = list(diagnostics)
    lines = Lines(sources)
    text: list[str] = []
    for one in found:
        path = one.path or name
        place = "".join(f":{number}" for number in (one.line, one.column) if number)
        pointer = f" [{clip(one.pointer, _LONGEST)}]" if one.pointer else ""
        text.append(f"{safe(path) or '-'}{place}: {one.severity} {one.code}: {safe(one.message)}{pointer}")
        text += _excerpt(lines, path, one)
        if one.fix:
            text.append(f"    fix: {safe(one.fix)}")
    return "\n".join([*text, summary(found)]) + "\n"


def _excerpt(lines: Lines, path: str, one: Diagnostic) -> list[str]:
    """The line of the file, and a caret under the column."""
    before, after = lines.around(path, one.line, one.column)
    if not (before + after).strip():
        return []
    width = sum(2 if east_asian_width(character) in "WF" else 1 for character in before)
    line = f"{one.line:>6} | {before}{after}"
    return [line, f"{'':>6} | {' ' * width}^"] if one.column else [line]
