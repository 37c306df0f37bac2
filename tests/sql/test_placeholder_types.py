"""The type that the placeholder of a declared parameter carries. tests/datasources has the same on a real engine."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text as sqlalchemy_text

from tenantry.sql import PARAMSTYLES, SQLTemplate
from tests.sql.each_dialect import each_dialect

EXAMPLES = {
    "decimal": ("1.5", "numeric", "numeric(38, 9)"),
    "integer": ("5", "bigint", "bigint"),
    "boolean": ("true", "boolean", "boolean"),
    "date": ("2026-01-31", "date", "date"),
    "uuid": ("6f9619ff-8b86-d011-b42d-00c04fc964ff", "uuid", ""),
    "interval": ("15 minutes", "interval", ""),
    "text": ("a", "", ""),
}


def bound(text: str, definition: Any, sent: Any, dialect: str = "postgresql", style: str | None = None) -> Any:
    template = SQLTemplate(text, dialect, params={"x": definition})
    return template.bind({"params": {"x": sent}}, style)


@pytest.mark.parametrize(("kind", "example"), EXAMPLES.items(), ids=EXAMPLES)
@each_dialect
def test_postgresql_and_redshift_alone_type_their_placeholders(kind: str, example: Any, dialect: str) -> None:
    """Redshift has neither UUIDs nor intervals that can be bound. Broken: an interval of Redshift is seconds."""
    sent, postgresql, redshift = example
    type_ = {"postgresql": postgresql, "redshift": redshift}.get(dialect, "")
    found = bound("select 1 where a >= {{ params.x }}", kind, sent, dialect, "qmark")
    assert found.sql == "select 1 where a >= ?" + (f"::{type_}" if type_ else "")


@pytest.mark.parametrize("dialect", ["postgresql", "redshift"])
def test_an_instant_has_its_type_where_nothing_tells_it(dialect: str) -> None:
    """A comparison takes that of the column. Red when the dialect names another type."""
    text = "select {{ params.x }} as at where a >= {{ params.x }}"
    found = bound(text, "datetime", "2026-01-31T10:00:00Z", dialect, "qmark")
    assert found.sql == "select ?::timestamptz as at where a >= ?"


@pytest.mark.parametrize("style", PARAMSTYLES)
def test_each_paramstyle(style: str) -> None:
    """Broken: without its space ``:p1::numeric`` is no placeholder to SQLAlchemy."""
    found = bound("select 1 where a >= {{ params.x }}", "decimal", "1.5", style=style)
    assert found.sql.removeprefix("select 1 where a >= ") in {
        *("?::numeric", ":1 ::numeric", ":p1 ::numeric", "%s::numeric", "%(p1)s::numeric", "$1::numeric"),
        "@p1::numeric",
    }
    if style == "named":
        assert list(sqlalchemy_text(found.sql).compile().params) == ["p1"]


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("a = {{ region }}", "a = $1"),
        ("a = {{ params.x }} or b > {{ params.x }}", "a = $1::bigint or b > $1::bigint"),
        ("a = '{{ params.x }}' or b = 'n{{ params.x }}'", "a = $1 or b = $2"),
        ("a = {{ params.x }}::smallint", "a = $1 ::smallint"),
        ("a = cast({{ params.x }} as smallint)", "a = cast($1 as smallint)"),
        ("a = try_cast( {{ params.x }} as smallint)", "a = try_cast( $1 as smallint)"),
        ("a in (select {{ params.x }} as smallint)", "a in (select $1::bigint as smallint)"),
        ("a = left(b, {{ params.x }})", "a = left(b, $1)"),
        (
            "a = substring(b from {{ params.x }} for {{ params.x }})",
            "a = substring(b from $1::integer for $1::integer)",
        ),
        (
            "a = substring(b from (select c from d where e = {{ params.x }}))",
            "a = substring(b from (select c from d where e = $1::bigint))",
        ),
        ("a = substring(b, {{ params.x }})", "a = substring(b, $1::integer)"),
        ("a = jsonb_build_object('a', {{ params.x }})", "a = jsonb_build_object('a', $1::bigint)"),
        ("a = substring(b from 1 + {{ params.x }})", "a = substring(b from 1 + $1::bigint)"),
        ("a = f(n => {{ params.x }})", "a = f(n => $1)"),
        ("a = f({{ params.x }} + 1)", "a = f($1::bigint + 1)"),
        ("a in (1, {{ params.x }})", "a in (1, $1::bigint)"),
        ("a ->> {{ params.x }} = b", "a ->> $1 = b"),
        ("a like {{ params.x }}", "a like $1"),
        ("a -{{ params.x }} > 1", "a - $1::bigint > 1"),
        ("a = b [[ + {{ params.x }} ]]", "a = b  + $1::bigint "),
        ("to_jsonb(a) = {{ params.x | json }}", "to_jsonb(a) = cast($1 as jsonb)"),
        ("true limit {{ params.x }}", "true limit $1"),
        ("true /* a */ and a >= /* b */ {{ params.x }}", "true   and a >=   $1::bigint"),
    ],
)
def test_where_a_placeholder_has_its_type(text: str, sql: str) -> None:
    """Broken: with an alias taken for a cast, ``select $1 as smallint`` has no type."""
    template = SQLTemplate(f"select 1 where {text}", "postgresql", params={"x": "integer"})
    assert template.bind({"region": "eu", "params": {"x": "5"}}).sql == f"select 1 where {sql}"


@pytest.mark.parametrize(
    ("definition", "kind"),
    [
        ({"min": 0, "max": 2**31 - 1}, "integer"),
        ({"min": -(2**31), "max": 0}, "integer"),
        ({"min": 0, "max": 2**31}, "bigint"),
        ({"min": 0}, "bigint"),
        ({"max": 5}, "bigint"),
        ({"choices": [1, 2]}, "integer"),
        ({"choices": [1, 2**40]}, "bigint"),
    ],
)
def test_an_integer_of_32_bits(definition: dict[str, Any], kind: str) -> None:
    """``date - bigint`` is no operator. Broken: with bounds that do not count, each is a bigint."""
    declared = {"type": "integer", **definition}
    sent = str(definition.get("min", definition.get("choices", [definition.get("max")])[0]))
    assert bound("select 1 where a = {{ params.x }}", declared, sent).sql.endswith(f"a = $1::{kind}")


def test_one_text_whatever_the_value() -> None:
    """A cast depends on the declaration alone: one text object for all values."""
    template = SQLTemplate("select 1 where a in {{ params.x }}", params={"x": "list of decimal"})
    one, other = (template.bind({"params": {"x": sent}}) for sent in (["1", "2.5"], ["7e3", "-1"]))
    assert one.sql == "select 1 where a in ($1::numeric, $2::numeric)"
    assert one.sql is other.sql
