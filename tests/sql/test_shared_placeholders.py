"""One value, one placeholder: where the paramstyle allows it, the same variable in the same role has one in all of a
statement, so that a repeated expression is one expression to the engine."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import Any

import asyncpg
import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.hypothesis_profile import examples
from engines.postgres import Postgres
from tenantry.errors import TenantryError
from tenantry.sql import DIALECTS, PARAMSTYLES, SQLTemplate
from tenantry.sql.parsing.parser import parse
from tenantry.sql.source import Source
from tests.sql.interpreter import Interpreter

BUCKETS = """
    select date_trunc({{ params.unit }}, placed) as bucket, count(*) as n
    from (select timestamp '2026-01-31 10:00' as placed union all select timestamp '2026-01-02 11:00') as t
    where placed > {{ since }} group by date_trunc({{ params.unit }}, placed)
    order by date_trunc({{ params.unit }}, placed)
"""


async def test_a_time_bucket_is_one_expression_to_postgresql(postgres: Postgres) -> None:
    """With a number an occurrence it is refused: 42803, the column must appear in `group by`. Red without sharing."""
    import datetime as dt

    values = {"since": dt.datetime(2026, 1, 1), "params": {"unit": "month"}}  # noqa: DTZ001  # the column has no zone
    connection = await asyncpg.connect(postgres.create_database())
    try:
        found = SQLTemplate(BUCKETS, "postgresql").bind(values)
        assert found.params == ("month", values["since"])
        assert [row["n"] for row in await connection.fetch(found.sql, *found.params)] == [2]
        apart = SQLTemplate(BUCKETS, "postgresql").bind(values, "qmark")
        numbers = iter(range(1, 5))
        with pytest.raises(asyncpg.GroupingError):
            await connection.fetch(re.sub(r"\?", lambda _: f"${next(numbers)}", apart.sql), *apart.params)
    finally:
        await connection.close()


def test_a_time_bucket_is_one_expression_to_duckdb() -> None:
    """In DuckDB's usual paramstyle. With `?` for each it is refused."""
    values = {"since": "2026-01-01", "params": {"unit": "month"}}
    with duckdb.connect() as database:
        found = SQLTemplate(BUCKETS, "duckdb").bind(values)
        assert [row[1] for row in database.execute(found.sql, found.params).fetchall()] == [2]
        apart = SQLTemplate(BUCKETS, "duckdb").bind(values, "qmark")
        with pytest.raises(duckdb.BinderException):
            database.execute(apart.sql, apart.params)


@pytest.mark.parametrize(
    ("text", "sql", "params"),
    [
        ("a = {{ x }} and b = {{ x }}", "a = $1 and b = $1", ("v",)),
        ("a = {{ x }} and b = '{{ x }}' and c = '{{ x }}'", "a = $1 and b = $2 and c = $2", ("v", "v")),
        ("a = '%{{ x }}' and b = '{{ x }}%' and c = '%{{ x }}'", "a = $1 and b = $2 and c = $1", ("%v", "v%")),
        ("a in {{ l }} and b not in {{ l }}", "a in ($1, $2) and b not in ($1, $2)", (1, 2)),
        ("a = {{ x }}::date and b = {{ x }}", "a = $1 ::date and b = $2", ("v", "v")),
        ("a = {{ x }}::date and b = cast({{ x }} as  Date)", "a = $1 ::date and b = cast($1 as  Date)", ("v",)),
        ("a = {{ x }}::timestamp or b = {{ x }}::timestamp with time zone", None, ("v", "v")),
        ("a like {{ params.a | contains }} or b like {{ params.a | contains }}", None, ("%A%",)),
        ("a like {{ params.a | contains }} or b like {{ params.a | prefix }} or c = {{ params.a }}", None, 3),
        ("a = {{ params.z | default(1) }} or b = {{ params.z | default(1) }}", "a = $1 or b = $1", (1,)),
        ("a = {{ params.z | default(1) }} or b = {{ params.z | default(true) }}", "a = $1 or b = $2", (1, True)),
        ("a in {{ params.z | default(1) }} or b in {{ params.z | default(1) }}", "a in ($1) or b in ($1)", (1,)),
        ("a in {{ params.z | default(1) }} or b in {{ params.z | default(true) }}", "a in ($1) or b in ($2)", 2),
        ("a in {{ params.z | default(1) }} or b in {{ params.z | default(1.0) }}", "a in ($1) or b in ($2)", 2),
        ("a = {{ params.z | default(0.0) }} or b = {{ params.z | default(-0.0) }}", "a = $1 or b = $2", 2),
        ("a = {{ params.z | default(1) }} or b = {{ params.z | default(1.0) }}", "a = $1 or b = $2", 2),
        ("a = 1 [[ and b = {{ params.a }} ]] and c = {{ params.a }}", "a = 1  and b = $1  and c = $1", ("A",)),
        ("a = 1 [[ and b = {{ params.z }} ]] [[ and c = {{ params.a }} ]]", "a = 1   and c = $1 ", ("A",)),
    ],
)
def test_what_is_the_same(text: str, sql: str | None, params: Any) -> None:
    """The same path, role, conversion and cast; another cast or role can have another type to the engine.

    Red for lists when the key of a default is ``(type(default), default)``: ``(1,) == (True,)`` in Python."""
    values = {"x": "v", "l": [1, 2], "params": {"a": "A"}}
    found = SQLTemplate(f"select 1 where {text}", "postgresql").bind(values)
    assert sql is None or found.sql == f"select 1 where {sql}"
    assert found.params == params or len(found.params) == params


PIECES = st.sampled_from(
    [
        *("a = {{ params.a }}", "b = {{ params.b }}", "c = '{{ params.c }}'", "c like '%{{ params.c }}%'"),
        *("d in {{ params.l }}", "d not in {{ params.l }}", "a = {{ params.a | nullable }}"),
        *(
            "a = {{ params.a | default(7) }}",
            "c like {{ params.c | contains }}",
            "b = {{ params.t }}",
            "a = {{ params.d }}",
        ),
        *(
            "d in {{ params.l | default(4, 5) }}",
            "d in {{ params.l | default(4.0, 5) }}",
            "c = '{{ params.b }}'",
            "e = {{ params.e }}",
        ),
    ]
)
CONDITIONS = st.recursive(
    PIECES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=6).map(" and ".join),
        st.builds("1 = 1 [[ and {} ]]".format, inner),
        st.builds("{{{{ params.k | one_of(x: {}, y: {}) | default(y) }}}}".format, inner, inner),
    ),
    max_leaves=14,
)
VALUES = st.fixed_dictionaries(
    {},
    optional={
        **{name: st.sampled_from([None, 1, "x", 2.5]) for name in "abde"},
        "c": st.sampled_from([None, "x", "%"]),
        "l": st.sampled_from([None, [], [1], ["a", 2]]),
        "k": st.sampled_from(["x", "y"]),
    },
)


def outcome(bind: Any, values: Any) -> Any:
    try:
        return tuple(bind(values))
    except TenantryError as error:
        return type(error), error.message


@settings(max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=CONDITIONS, params=VALUES)
def test_the_closures_bind_what_the_interpreter_binds(text: str, params: dict[str, Any]) -> None:
    """In all paramstyles: text, parameters and errors. And with every placeholder replaced by its value, all styles say
    the same. Red when one of them skips another occurrence than the others."""
    source, dialect = Source(f"select 1 where {text}"), DIALECTS["postgresql"]
    try:
        template = SQLTemplate(source.text, "postgresql")
        tree = parse(source, dialect)
    except TenantryError:
        return  # nothing in a clause can be absent
    said = set()
    values = {"params": {**params, "t": 3}}
    for style in PARAMSTYLES.values():
        interpreter = Interpreter(source, tree, dialect, style, template.tenant_guard)
        found = outcome(lambda given, s=style: template.bind(given, s.name), values)
        assert found == outcome(interpreter.bind, values)
        if isinstance(found[0], str):
            said.add(filled(found[0], found[1], style.name))
    assert len(said) <= 1


def filled(sql: str, params: Any, style: str) -> str:
    """The text with the values in it."""
    if style in {"qmark", "format"}:
        given = iter(params or ())
        return re.sub(r"\?|%s", lambda _: repr(next(given)), sql)
    by_name = params if isinstance(params, dict) else {f"{n}": value for n, value in enumerate(params or (), 1)}
    pattern = {
        "numeric": r":(\d+)",
        "named": r":(p\d+)",
        "pyformat": r"%\((p\d+)\)s",
        "numeric_dollar": r"\$(\d+)",
        "named_at": r"@(p\d+)",
    }
    used = set(re.findall(pattern[style], sql))
    assert used == set(by_name or ()), "each parameter is used"
    return re.sub(pattern[style], lambda match: repr(by_name[match.group(1)]), sql)


def test_named_styles_of_real_drivers() -> None:
    """sqlite3 takes a name or a number as often as it stands there."""
    text = (
        "select {{ x }} = '1', {{ x }} || 'a' as a from (select '1' as y, '2' as z) "
        "where {{ x }} in {{ l }} [[ and {{ params.q }} = y and {{ params.q }} <> z ]]"
    )
    values = {"x": "1", "l": ["1", "2"], "params": {"q": "1"}}
    with closing(sqlite3.connect(":memory:")) as database:
        for style in ("named", "qmark"):
            found = SQLTemplate(text, "sqlite").bind(values, style)
            assert database.execute(found.sql, found.params).fetchall() == [(1, "1a")]
