"""Writes diagnostics as text, JSON or SARIF."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any
from unicodedata import east_asian_width
from urllib.parse import quote

from tenantry_site.config.diagnostics import CODE_TABLE
from tenantry_site.config.source import SourceText, clip, safe
from tenantry_site.diagnostic import Diagnostic, Severity

Sources = Mapping[str, str | bytes]
"""Path of a file -> its contents."""

_WIDTH = 100
"""Maximum number of characters of a line in an excerpt."""


class Excerpts:
    """Cuts excerpts out of source files. A file is split into lines when it is first used."""

    __slots__ = ("_given", "_read")

    def __init__(self, sources: Sources | None) -> None:
        self._given = sources or {}
        self._read: dict[str, SourceText] = {}

    def around(self, path: str, line: int, column: int) -> tuple[str, str]:
        """An excerpt of the line, split before the column; two empty strings if the file or line is unknown."""
        if path not in self._given or line < 1:
            return "", ""
        if path not in self._read:
            self._read[path] = SourceText(self._given[path])
        text = self._read[path].line(line)
        at = max(0, column - 1)
        start = max(0, at - _WIDTH // 2) if at > _WIDTH * 3 // 4 else 0
        # Replace tabs by single spaces, so that the caret on the next line is under the right character
        before, after = (safe(part.replace("\t", " ")) for part in (text[start:at], text[at : start + _WIDTH]))
        return ("…" if start else "") + before, after + ("…" if start + _WIDTH < len(text) else "")


_WORDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """``2 errors, 1 warning``, or ``nothing to say``."""
    counts = Counter(diagnostic.severity for diagnostic in diagnostics)
    parts = [f"{counts[level]} {word}{'s' * (counts[level] != 1)}" for level, word in _WORDS.items() if counts[level]]
    return ", ".join(parts) or "nothing to say"


_LONGEST = 100
"""Maximum number of characters of a JSON pointer in reports for a terminal."""


def write_text(diagnostics: Iterable[Diagnostic], name: str = "", *, sources: Sources | None = None) -> str:
    """A text report: for each diagnostic ``path:line:column: severity code: message``, the source line with a caret
    under the column, and ``fix:``; then a summary.

    Line, column and caret are omitted if unknown. ``name``: the path to show for a diagnostic without a path.
    ``sources``: path -> contents; for other files, no source line is shown. Terminal control characters are escaped.
    """
    found = list(diagnostics)
    excerpts = Excerpts(sources)
    text: list[str] = []
    for one in found:
        path = one.path or name
        position = "".join(f":{number}" for number in (one.line, one.column) if number)
        pointer = f" [{clip(one.pointer, _LONGEST)}]" if one.pointer else ""
        text.append(f"{safe(path) or '-'}{position}: {one.severity} {one.code}: {safe(one.message)}{pointer}")
        text += _excerpt(excerpts, path, one)
        if one.fix:
            text.append(f"    fix: {safe(one.fix)}")
    return "\n".join([*text, summary(found)]) + "\n"


def _excerpt(excerpts: Excerpts, path: str, one: Diagnostic) -> list[str]:
    before, after = excerpts.around(path, one.line, one.column)
    if not (before + after).strip():
        return []
    width = sum(2 if east_asian_width(character) in "WF" else 1 for character in before)
    line = f"{one.line:>6} | {before}{after}"
    return [line, f"{'':>6} | {' ' * width}^"] if one.column else [line]


def write_json(diagnostics: Iterable[Diagnostic], name: str = "", *, sources: Sources | None = None) -> str:
    """``{"version": 1, "summary": {"error", "warning", "info"}, "diagnostics": [{"severity", "code", "message", "fix",
    "path", "pointer", "line", "column", "excerpt"}]}``.

    ``name``: the path to write for a diagnostic without a path. ``sources``: path -> contents; excerpts of other files
    are empty. The output is ASCII.
    """
    found = list(diagnostics)
    excerpts = Excerpts(sources)
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
                "excerpt": "".join(excerpts.around(one.path or name, one.line, one.column)),
            }
            for one in found
        ],
    }
    return json.dumps(whole, indent=2) + "\n"


_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def write_sarif(
    diagnostics: Iterable[Diagnostic],
    name: str = "",
    *,
    sources: Sources | None = None,
    codes: Mapping[str, str] | None = None,
) -> str:
    """One SARIF run with a result for each diagnostic.

    ``name``: the path to write for a diagnostic without a path. ``sources``: path -> contents, for snippets. ``codes``:
    code -> meaning, for codes other than ``CFG…``. Columns count characters, not UTF-16 units.
    """
    excerpts = Excerpts(sources)
    found = list(diagnostics)
    meanings = {code: entry.meaning for code, entry in CODE_TABLE.items()} | dict(codes or {})
    for one in found:
        meanings.setdefault(one.code, one.code)
    rules = sorted(meanings)
    index = {code: position for position, code in enumerate(rules)}
    driver = {"name": "tenantry", "rules": [_rule(code, meanings[code]) for code in rules]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, index[one.code], name, excerpts) for one in found],
    }
    return json.dumps({"version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str, meaning: str) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": code, "shortDescription": {"text": meaning}}
    if code in CODE_TABLE:
        rule["defaultConfiguration"] = {"level": _LEVELS[CODE_TABLE[code].severity]}
    return rule


def _result(one: Diagnostic, index: int, name: str, excerpts: Excerpts) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": one.code,
        "ruleIndex": index,
        "level": _LEVELS[one.severity],
        "message": {"text": f"{one.message}. Fix: {one.fix}" if one.fix else one.message},
    }
    location: dict[str, Any] = {}
    path = one.path or name
    if path:
        physical: dict[str, Any] = {"artifactLocation": {"uri": quote(path.replace("\\", "/"))}}
        if one.line:
            physical["region"] = {"startLine": one.line, "startColumn": max(1, one.column)}
            snippet = "".join(excerpts.around(path, one.line, one.column))
            if snippet:
                physical["region"]["snippet"] = {"text": snippet}
        location["physicalLocation"] = physical
    if one.pointer:
        location["logicalLocations"] = [{"fullyQualifiedName": one.pointer, "kind": "member"}]
    if location:
        result["locations"] = [location]
    return result
