"""Reports: text as compilers write it, JSON of a stable shape, SARIF that a code host takes."""

from __future__ import annotations

import json
from typing import Any

from tenantry_site.config import CODES, loads
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.report import summary, write_json, write_sarif, write_text

TEXT = '{\n\t"name": "Kumquat", "navigation": [],\n\t"colour": "\x7f\u202e漢", "favicon": "javascript:x"\n}'
FOUND = loads(TEXT)[1]


def test_text_has_position_excerpt_and_fix() -> None:
    """Red when a part of the paragraph is lost or the caret stands elsewhere than under the place."""
    text = write_text(FOUND, "docs/site.json", sources={"docs/site.json": TEXT})
    assert "docs/site.json:2:35: warning CFG064: navigation is an empty list [/navigation]\n" in text
    assert '     2 |  "name": "Kumquat", "navigation": [],\n       |                                   ^\n' in text
    assert text.endswith("1 error, 3 warnings\n")
    assert text.count("    fix: ") == len(FOUND)


def test_the_caret_counts_wide_and_escaped_characters() -> None:
    """Red when the caret slips after a character that takes two columns or is shown as an escape."""
    lines = write_text(FOUND, "a", sources={"a": TEXT}).splitlines()
    at = next(index for index, line in enumerate(lines) if "CFG047" in line)
    assert lines[at + 1].endswith('"favicon": "javascript:x"')
    before = lines[at + 1][: lines[at + 1].index('"javascript')]
    assert lines[at + 2].index("^") == len(before) + before.count("漢")


def test_a_position_is_given_as_far_as_it_is_known() -> None:
    """Red when a line without a column is followed by 0, where editors would jump."""
    one = Diagnostic(Severity.WARNING, "PAGE005", "m", "", "", 2, 0, "a.mdx")
    assert write_text([one], sources={"a.mdx": "x\ny"}).startswith("a.mdx:2: warning PAGE005: m\n     2 | y\n1 warning")


def test_nothing_reaches_the_terminal() -> None:
    """Red when a path, a pointer, a line or a message of a hostile file commands the terminal."""
    evil = "\x1b[2J\x9b\u202e\r"
    one = Diagnostic(Severity.ERROR, "CFG036", evil, evil, "/" + evil, 1, 2, evil)
    text = write_text([one], sources={evil: evil * 3})
    assert not set(text) & set("\x1b\x9b\u202e\r")
    assert "\x1b" not in write_json([one]) + write_sarif([one])


def test_a_long_line_is_cut() -> None:
    """Red when a file of one line is printed whole for each diagnostic."""
    text = '{"name": "a", "navigation": [], "' + "x" * 5000 + '": 1, "favicon": 3}'
    report = write_text(loads(text)[1], "a", sources={"a": text})
    assert max(len(line) for line in report.splitlines()) < 300
    assert '"favicon": 3' in report


def test_json_has_a_stable_shape() -> None:
    """Red when a key of the shape that the docs give is lost."""
    whole = json.loads(write_json(FOUND, "site.json", sources={"site.json": TEXT}))
    assert (whole["version"], whole["summary"]) == (1, {"error": 1, "warning": 3, "info": 0})
    keys = ["severity", "code", "message", "fix", "path", "pointer", "line", "column", "excerpt"]
    assert all(list(one) == keys for one in whole["diagnostics"])
    assert whole["diagnostics"][0]["path"] == "site.json"
    assert json.loads(write_json([]))["diagnostics"] == []


def test_sarif_is_what_the_standard_asks() -> None:
    """Red when a property that SARIF 2.1.0 requires is lost, or has a value that it does not know."""
    page = Diagnostic(Severity.INFO, "PAGE001", "A page", "", "", 0, 0, "guides/first page.mdx")
    whole: dict[str, Any] = json.loads(write_sarif([*FOUND, page], "site.json", codes={"PAGE001": "Pages."}))
    assert whole["version"] == "2.1.0"
    (run,) = whole["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "tenantry"
    assert {rule["id"] for rule in rules} == {*CODES, "PAGE001"}
    assert all(rule["shortDescription"]["text"] for rule in rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"error", "warning", "note"}
        assert result["message"]["text"]
        physical = result["locations"][0]["physicalLocation"]
        assert " " not in physical["artifactLocation"]["uri"]
        assert physical.get("region", {}).get("startLine", 1) >= 1
        assert physical.get("region", {}).get("startColumn", 1) >= 1
    assert "region" not in run["results"][-1]["locations"][0]["physicalLocation"]


def test_the_summary_counts() -> None:
    """Red when the summary line says another number."""
    one = Diagnostic(Severity.WARNING, "CFG036", "m")
    assert summary([]) == "nothing to say"
    assert summary([one]) == "1 warning"
    assert summary([one, one]) == "2 warnings"
