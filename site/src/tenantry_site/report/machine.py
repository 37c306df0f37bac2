"""The reports for programs: JSON of a stable shape (docs/site-configuration.md), and SARIF 2.1.0 (OASIS) for a code
host, with the codes as its rules."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from tenantry_site.config.diagnostics import CODE_TABLE
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.report.text import Excerpts, Sources


def write_json(diagnostics: Iterable[Diagnostic], name: str = "", *, sources: Sources | None = None) -> str:
    """``{"version": 1, "summary": {"error", "warning", "info"}, "diagnostics": [{"severity", "code", "message", "fix",
    "path", "pointer", "line", "column", "excerpt"}]}``.

    ``name`` is the path of what has none. ``sources`` has the texts of files by their paths, for excerpts, which are
    empty without. It is ASCII alone.
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
    """One run with one result for each diagnostic. ``name`` is the path of what has none.

    ``sources`` has the texts of files by their paths, for the snippets. ``codes`` are the meanings of codes that are
    not of the configuration file. A region counts columns in characters.
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
