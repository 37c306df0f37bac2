"""contains, prefix, suffix, array, json, nullable, default: the parameter changes, and the text by the dialect's table
alone."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import date
from typing import Any

import asyncpg
import duckdb
import pytest

from engines.mariadb import MariaDB
from engines.postgres import Postgres
from tenantry import Record
from tenantry.errors import MissingVariable, TemplateError, UnbindableValue
from tenantry.sql import DIALECTS, SQLTemplate
from tests.sql.each_dialect import each_dialect
from tests.sql.test_hostile import OURS

EACH = each_dialect
NAMES = ["50%", "500", "a_b", "aXb", "a!b", "!", "a\\b", "[a]", "plain"]


def bound(text: str, dialect: str = "sqlite", style: str | None = None, /, **params: Any) -> Any:
    return SQLTemplate(text, dialect).bind({"ids": [1, 2], "params": params}, style)


@pytest.mark.parametrize("value", ["%", "_", "!", "\\", "[", "0", "a_", "!b", "%%", "a\\b"])
def test_wildcards_in_a_value_are_characters(value: str) -> None:
    """On SQLite and DuckDB, as Python finds them. Red when nothing is escaped, or the escape itself is not."""
    text = "select name from t where name like {{ params.q | contains }} order by 1"
    starts = text.replace("contains", "prefix")
    ends = text.replace("contains", "suffix")
    with closing(sqlite3.connect(":memory:")) as lite, duckdb.connect() as duck:
        for database, dialect in ((lite, "sqlite"), (duck, "duckdb")):
            database.execute("create table t (name varchar)")
            database.executemany("insert into t values (?)", [(name,) for name in NAMES])

            def run(template: str, database: Any = database, dialect: str = dialect) -> list[str]:
                found = bound(template, dialect, q=value)
                return [row[0] for row in database.execute(found.sql, found.params).fetchall()]

            assert run(text) == sorted(name for name in NAMES if value in name)
            assert run(starts) == sorted(name for name in NAMES if name.startswith(value))
            assert run(ends) == sorted(name for name in NAMES if name.endswith(value))


async def test_wildcards_on_postgresql_and_mariadb(postgres: Postgres, mariadb: MariaDB) -> None:
    """The clause `escape '!'` means the same there, whatever the server thinks of backslashes."""
    union = " union all ".join(f"select '{name}' as name" for name in NAMES if "\\" not in name)
    text = f"select name from ({union}) as t where name like {{{{ params.q | contains }}}}"
    connection = await asyncpg.connect(postgres.create_database())
    try:
        for value in ("%", "_", "!", "0", "a_"):
            expected = sorted(name for name in NAMES if value in name and "\\" not in name)
            found = bound(text, "postgresql", q=value)
            assert sorted(row[0] for row in await connection.fetch(found.sql, *found.params)) == expected
            found = bound(text, "mysql", q=value)
            assert sorted(row[0] for row in mariadb.execute(found.sql, found.params)) == expected
    finally:
        await connection.close()


async def test_arrays_and_json_on_postgresql(postgres: Postgres) -> None:
    """One parameter for a list of any length: `= any`, `@>`, `unnest`; JSON as jsonb, and NULL on purpose."""
    connection = await asyncpg.connect(postgres.create_database())
    try:

        async def one(text: str, **params: Any) -> Any:
            found = bound(f"select {text} as found", "postgresql", **params)
            return await connection.fetchval(found.sql, *found.params)

        assert await one("2 = any({{ ids | array }})") is True
        assert await one("2 = any({{ params.l | array }})", l=[]) is False
        assert await one("array['a', 'b'] @> {{ params.l | array }}", l=["b"]) is True
        assert await one("array(select unnest({{ params.l | array }}::text[]) order by 1)", l=["y", "x"]) == ["x", "y"]
        assert await one('\'{"a": {"b": 1}}\'::jsonb @> {{ params.o | json }}', o={"a": {"b": 1}}) is True
        assert await one("{{ params.o | json }} ->> 0", o=['it\'s \\ "x" é']) == 'it\'s \\ "x" é'
        assert await one("5 is not distinct from {{ params.n | nullable }}") is False
        assert await one("null::int is not distinct from {{ params.n | nullable }}") is True
        assert await one("5 is not distinct from {{ params.n | nullable }}", n=5) is True
    finally:
        await connection.close()


def test_arrays_and_json_on_duckdb_and_sqlite() -> None:
    """DuckDB has arrays; JSON is text to SQLite."""
    with duckdb.connect() as duck, closing(sqlite3.connect(":memory:")) as lite:

        def one(text: str, dialect: str = "duckdb", **params: Any) -> Any:
            found = bound(f"select {text} as found", dialect, **params)
            database: Any = duck if dialect == "duckdb" else lite
            return database.execute(found.sql, found.params).fetchone()[0]

        assert one("2 = any({{ ids | array }})") is True
        assert one("list_contains({{ params.l | array }}, 'b')", l=["b"]) is True
        assert one("(select list_sort(list(x)) from unnest({{ params.l | array }}) as t (x))", l=["b", "a"]) == [
            "a",
            "b",
        ]
        assert one("json_extract_string({{ params.o | json }}, '$.a')", o={"a": "it's"}) == "it's"
        assert one("json_extract({{ params.o | json }}, '$.a[1]')", "sqlite", o={"a": [1, 2]}) == 2
        assert one("null is not distinct from {{ params.n | nullable }}") is True


@EACH
def test_a_dialect_without_arrays_says_so(dialect: str) -> None:
    """Refused when it is compiled, with the way that it has."""
    if DIALECTS[dialect].array_parameter:
        assert bound("select 1 where a = any({{ ids | array }})", dialect).params in (([1, 2],), {"p1": [1, 2]})
        return
    with pytest.raises(TemplateError, match=r"has no parameter that is an array\n(.|\n)*in \{\{ name \}\}"):
        bound("select 1 where a = any({{ ids | array }})", dialect)


def test_what_json_takes() -> None:
    """Objects and lists of any depth up to a limit, of groups too; what no engine could read is refused by name."""
    value = {"a": [1, 2.5, None, True, {"é": "\u2028"}], "b": {}}
    assert json.loads(bound("select json({{ params.o | json }})", o=value).params[0]) == value
    record = Record({"ids": 1, "params": {"o": {"x": [1]}}})
    assert SQLTemplate("select f({{ params.o | json }})").bind(record).params == ('{"x":[1]}',)
    deep: Any = 1
    for _ in range(70):
        deep = [deep]
    for wrong in (float("nan"), {1: 2}, {"a\0": 1}, "a\0", ["\ud800"], date(2026, 1, 1), {"a": object()}, deep, 2**70):
        with pytest.raises(UnbindableValue, match=r"params\.o at 1:10"):
            bound("select f({{ params.o | json }})", o=wrong)


def test_what_arrays_and_patterns_take() -> None:
    """A list for an array; whatever has a text for a pattern."""
    for wrong in ("ab", 5, {"a": 1}, [1, None], [[1]], ["\0"]):
        with pytest.raises(UnbindableValue, match=r"params\.l"):
            bound("select 1 where a = any({{ params.l | array }})", "postgresql", l=wrong)
    for wrong in ([], {}, b"x", "\0", float("inf")):
        with pytest.raises(UnbindableValue, match=r"params\.q"):
            bound("select 1 where a like {{ params.q | contains }}", q=wrong)
    assert bound("select 1 where a like {{ params.q | prefix }}", q=5).params == ("5%",)
    with pytest.raises(MissingVariable):
        bound("select 1 where a like {{ params.q | prefix }}")
    assert bound("select 1 [[ where a like {{ params.q | prefix }} ]]").params == ()


def test_absence() -> None:
    """A default is bound, nullable binds NULL; neither drops a clause, and both leave what is there alone."""
    text = (
        "select 1 where a = {{ params.a | default('it''s') }} and b = {{ params.b | default(-5) }} and c = "
        "{{ params.c | default(1.5) }} and d = {{ params.d | default(TRUE) }} and e in {{ params.e | default(1, 2) }} "
        "and f like 'x{{ params.f | default('y') }}%' and g like {{ params.g | contains | default('_') }} "
        "and h is not distinct from {{ params.h | nullable }} limit {{ params.i | default(10) }}"
    )
    for style in ("qmark", "numeric"):
        assert bound(text, "duckdb" if style == "qmark" else "postgresql", style).params == (
            *("it's", -5, 1.5, True, 1, 2, "xy%", "%!_%", None, 10),
        )
    given = {"a": "A", "b": 1, "c": 2, "d": False, "e": [], "f": "F", "g": "G", "h": "H", "i": 3}
    assert bound(text, **given).params == ("A", 1, 2, False, "xF%", "%G%", "H", 3)
    assert bound(text, **dict.fromkeys(given)).params[0] == "it's"
    with pytest.raises(TemplateError, match="nothing in this clause can be absent"):
        bound("select 1 [[ where a = {{ params.a | default(1) }} ]]")
    with pytest.raises(TemplateError, match="nothing in this clause can be absent"):
        bound("select 1 [[ where a = {{ params.a | nullable }} ]]")
    both = "select 1 where a = {{ params.a | default(1) }} [[ and b = {{ params.a }} ]] [[ and c = {{ params.c }} ]]"
    assert bound(both, c=3).params == (1, 3)
    assert bound(both, a=2).params == (2, 2)
    with pytest.raises(UnbindableValue, match=r"params\.a"):
        bound(both, a=[1])


@EACH
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("select 1 where a = {{ x | default(1) }}", "x is a property of the group: with a default"),
        ("select 1 where a = {{ x | nullable }}", "x is a property of the group: where it may be NULL"),
        ("select 1 where a = {{ params.x | default(a) }}", "a default must be a literal"),
        ("select 1 where a = {{ params.x | default(1 + 1) }}", "a default must be a literal"),
        ("select 1 where a = {{ params.x | default('{{ y }}') }}", "a default must be a literal"),
        ("select 1 where a = {{ params.x | default(99999999999999999999) }}", "a default must be a literal"),
        ("select 1 where a = {{ params.x | default(1, 2) }}", "only a list can have several"),
        ("select 1 where a = {{ params.x | default }}", "takes arguments"),
        ("select 1 where a = {{ params.x | nullable(1) }}", "takes no arguments"),
        ("select 1 where a = {{ params.x | nullable | default(1) }}", "both default and nullable"),
        ("select 1 where a like {{ params.x | contains | json }}", "both json and contains"),
        ("select 1 where a = {{ params.x | one_of(a, b) | json }}", "both json and one_of"),
        ("select 1 where a = {{ params.x | contains }}", "contains makes a pattern"),
        ("select 1 where a like {{ params.x | contains }} || 'x'", "contains makes a pattern"),
        ("select 1 where a like {{ params.x | contains }} escape '#'", "contains makes a pattern"),
        ("select 1 where a like '%{{ params.x | contains }}%'", "no meaning within quotes"),
        ("select 1 where a = '{{ params.x | nullable }}'", "no meaning within quotes"),
        ("select 1 where a in {{ params.x | array }}", "takes no filter array"),
        ("select 1 where a in {{ params.x | nullable }}", "takes no filter nullable"),
        ("select 1 limit {{ params.x | nullable }}", "take no filter nullable"),
        ("select 1 limit {{ params.x | json }}", "take no filter json"),
    ],
)
def test_refused(dialect: str, text: str, problem: str) -> None:
    """What a filter cannot mean is an error with a fix, and never another meaning."""
    with pytest.raises(TemplateError, match=r"\n  fix: ") as caught:
        SQLTemplate(text, dialect)
    assert problem in caught.value.message


@EACH
@pytest.mark.parametrize("style", ["qmark", "pyformat", "numeric_dollar"])
def test_hostile_values_change_no_text(dialect: str, style: str) -> None:
    """In every conversion the text is one object, and the value is in the parameters."""
    text = (
        "select 1 where a like {{ params.x | contains }} and b like {{ params.x | suffix | default('z') }} and c = "
        "{{ params.o | json }} and d = {{ params.x | nullable }} and e in {{ params.l | default(1) }}"
    )
    if DIALECTS[dialect].array_parameter:
        text += " and f = any({{ params.l | array }})"
    template = SQLTemplate(text, dialect)
    texts = set()
    for value in OURS:
        found = template.bind({"params": {"x": value, "o": {"k": [value]}, "l": [value]}}, style)
        texts.add(found.sql)
        assert value in (found.params.values() if isinstance(found.params, dict) else found.params)
    assert len(texts) == 1
