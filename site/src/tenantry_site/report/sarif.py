"""The report for a code host: SARIF 2.1.0 (OASIS), with the codes as its rules."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from tenantry_site.config.diagnostics import CODE_TABLE
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.report.lines import Lines, Sources

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
    lines = Lines(sources)
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
        "results": [_result(one, index[one.code], name, lines) for one in found],
    }
    return json.dumps({"version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str, meaning: str) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": code, "shortDescription": {"text": meaning}}
    if code in CODE_TABLE:
        rule["defaultConfiguration"] = {"level": _LEVELS[CODE_TABLE[code].severity]}
    return rule


def _result(one: Diagnostic, index: int, name: str, lines: Lines) -> dict[str, Any]:
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
            snippet = "".join(lines.around(path, one.line, one.column))
            if snippet:
                physical["region"]["snippet"] = {"text": snippet}
        location["physicalLocation"] = physical
    if one.pointer:
        location["logicalLocations"] = [{"fullyQualifiedName": one.pointer, "kind": "member"}]
    if location:
        result["locations"] = [location]
    return result
