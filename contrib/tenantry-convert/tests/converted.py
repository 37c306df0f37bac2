"""What the tests of conversions have in common."""

from __future__ import annotations

from datetime import UTC, datetime

from tenantry.sql import Query
from tenantry.sql.inspect import lint
from tenantry_convert import TENANT_REMINDER, ConvertedQuery

NOW = datetime(2026, 2, 3, tzinfo=UTC)


def check_whole(query: ConvertedQuery, **params: str | list[str]) -> None:
    """It is said to be whole, and so it is: the file with its header compiles, and it binds for these values."""
    assert query.whole, [str(item) for item in query.items]
    assert TENANT_REMINDER in query.text
    saved = Query(query.text, "converted")
    ours = query.text[: query.text.rindex(query.body.strip())].count("\n")
    assert not [each for each in lint(saved) if each.code == "tag-in-comment" and each.line <= ours]
    assert saved.dialect == query.dialect
    assert set(saved.parameters) == set(query.params)
    saved.check()
    if params:
        bound = saved.bind({"params": params}, now=NOW)
        assert "params." not in bound.sql


def left(query: ConvertedQuery) -> list[str]:
    """Where and what was not converted."""
    return [f"{item.line}:{item.column}: {item.construct}" for item in query.items if item.left]


def notes(query: ConvertedQuery) -> list[str]:
    """What was converted and is to be looked at."""
    return [f"{item.construct}: {item.reason}" for item in query.items if not item.left]
