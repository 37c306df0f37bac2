"""``tenantry.sql.inspect``: what a tool for SQL templates may import. tests/test_contrib.py says who keeps to it."""

from __future__ import annotations

from tenantry.sql import SQLTemplate
from tenantry.sql.inspect import DEFAULT_DIALECT, LexemeKind, Severity, Source, dialect_named, lex, lint

TEXT = "select * from orders where region = {{ region }} -- {{ note }}"


def test_a_tool_can_cut_a_template_into_lexemes() -> None:
    """By the rules of a dialect, without a gap. Red when a name is missing in the façade."""
    lexemes = lex(Source(TEXT), dialect_named(DEFAULT_DIALECT))
    assert "".join(TEXT[each.start : each.end] for each in lexemes) == TEXT
    assert [TEXT[each.start : each.end] for each in lexemes if each.kind is LexemeKind.TAG] == ["{{ region }}"]


def test_a_tool_can_read_the_findings() -> None:
    """A tag in a comment is one. Red when a name is missing in the façade."""
    (finding,) = lint(SQLTemplate(TEXT))
    assert (finding.code, finding.severity) == ("tag-in-comment", Severity.NOTE)
