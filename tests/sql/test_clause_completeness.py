"""To leave an optional clause out changes nothing in how the text around it is read."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import asyncpg
import pytest

from engines.postgres import Postgres
from tenantry.errors import TemplateError
from tenantry.sql import SQLTemplate
from tests.sql.each_dialect import each_dialect

EACH = each_dialect
MINE = "select id from orders where tenant = {{ tenant }}"
BROKEN = [
    (f"{MINE} [[ and (a = {{{{ params.a }}}} ]] or 1 = 1 [[ and b = {{{{ params.b }}}}) ]]", "ends before its )"),
    ("select 1 where (t = {{ tenant }} [[ ) or (a = {{ params.a }} ]] )", "this ) closes nothing"),
    ("select 1 where (a = 1 or [[ a = {{ params.a }}) and ( ]] t = {{ tenant }} )", "this ) closes nothing"),
    ("select 1 where t = {{ tenant }} [[ and f({{ params.a }}, [[ b({{ params.b }}) ]] ]] or 1 = 1", "before its )"),
    ("select 1 [[ , f(a [[ ) + {{ params.b }} ]] + {{ params.a }} ]] , {{ tenant }}", "this ) closes nothing"),
    (
        "select 1 where case when a then t = {{ tenant }} [[ else {{ params.a }} end and case when b then c ]] end",
        "this end closes nothing",
    ),
    ("select 1 where case a when 1 then [[ case {{ params.a }} when ]] t end = {{ tenant }}", "ends before its end"),
    (
        "select 1 where a between 1 [[ and {{ params.a }} or b between 1 ]] and t = {{ tenant }}",
        "this and closes nothing",
    ),
    ("select 1 where a = 1 [[ and b = {{ params.b }}; select 1 where 1 = 1 ]] and t = {{ tenant }}", "cannot end in"),
    ("select 'a' [[ || {{ params.a }} || ]]\n'b\\\\' where t = {{ tenant }}", "follow another string"),
    ("select 'a' [[\n'b' || {{ params.a }} ]] where t = {{ tenant }}", "follow another string"),
    ("select [[ {{ params.a }} || 'a' ]] /* c */\n'b' where t = {{ tenant }}", "follow another string"),
    (
        "select 'a' [[ || {{ params.a }} ]] [[ || {{ params.b }} ]] 'b' where t = {{ tenant }}",
        "follow another string",
    ),
    ("select 'a' [[ || {{ params.a }} ]] '{{ tenant }}'", "follow another string"),
]


@EACH
@pytest.mark.parametrize(("text", "problem"), BROKEN)
def test_a_clause_that_regroups_what_stands_around_it_is_refused(text: str, problem: str, dialect: str) -> None:
    """Brackets, ``case``, ``between``, ``;`` and strings that go on. All were red before there was this rule; each is
    again when its line is taken out of ``_OPENED_BY``, or when the strings around a clause are not looked at."""
    with pytest.raises(TemplateError, match=r"\n  fix: ") as caught:
        SQLTemplate(text, dialect)
    assert problem in caught.value.message


@EACH
@pytest.mark.parametrize(
    "text",
    [
        f"{MINE} [[ and (a = {{{{ params.a }}}} or b in (1, 2)) ]] [[ and f(({{{{ params.b }}}})) > 0 ]]",
        "select (case when a = 1 then 2 [[ when {{ params.a }} = a then case a when 1 then 2 end ]] else 3 end)",
        "select 1 where a between 1 and 2 [[ and b between {{ params.a }} and 3 and c = 1 ]] and t = {{ tenant }}",
        "select 1 where a between (select min(b) from t where c = 1 [[ and d = {{ params.a }} ]]) and {{ tenant }}",
        "select 1 where 1 = 1 [[ and end <= {{ params.a }} and e.end > 1 and end_date > 2 ]]",
        "select 'a' [[ , {{ params.a }} x, 'b' ]], 'c' [[ , {{ params.b }} y ]] /* ) ' */ , 'd)'",
        "select 1 where a in ([[ {{ params.a }}, ]] {{ tenant }}) -- ) ; '",
        "select 1 where ')' = {{ tenant }} [[ and '(;case' <> '{{ params.a }}' ]];",
        "select 1 [[ , -{{ params.a }} [[ , (-{{ params.b }}) ]] ]] -- (",
    ],
)
def test_whole_clauses_compile(text: str, dialect: str) -> None:
    """What is quoted or commented out opens nothing; ``and`` and a column called ``end`` close nothing."""
    for params in ({}, {"a": 1}, {"a": 1, "b": 2}):
        SQLTemplate(text, dialect).bind({"tenant": "a", "params": params})


def test_arrays_count_as_brackets() -> None:
    """Also where ``[[`` is two of them; and a name that ends in "array" begins none."""
    for text in ("select 1 [[ , array[[1, 2], [3, {{ params.a }}]] ]]", "select 1 [[ , \\[[1]][1][{{ params.a }}] ]]"):
        assert SQLTemplate(text, "postgresql").bind({"params": {}}).sql.strip() == "select 1"
    assert SQLTemplate("select int_array [[ , {{ params.a }} a ]]", "duckdb").bind({"params": {}}).params == ()
    with pytest.raises(TemplateError, match="ends before its }"):
        SQLTemplate("select {'a': 1 [[ , 'b': {'c': {{ params.a }} ]] }", "duckdb")


@pytest.mark.parametrize("gap", ["-[[-{{ params.a }}]]-1", "5/[[1*{{ params.a }}/]]*1", "1 -[[ -{{ params.a }} -]]- 1"])
def test_characters_never_grow_together_to_a_comment(gap: str) -> None:
    """In none of the texts that it becomes. Red when a clause leaves no space behind."""
    for params in ({}, {"a": 1}):
        sql = (
            SQLTemplate(f"select {gap} where 't' = {{{{ tenant }}}}", "sqlite")
            .bind({"tenant": "a", "params": params})
            .sql
        )
        assert not any(mark in sql for mark in ("--", "/*", "*/")), sql


def test_what_a_half_bracket_did() -> None:
    """On SQLite: the text that a viewer without parameters got gave all tenants' rows."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("create table orders (id, tenant, a, b)")
        database.executemany("insert into orders values (?, ?, 1, 1)", [(1, "a"), (2, "b")])
        kept, dropped = "tenant = ? and (a = 1 or 1 = 1 and b = 1)", "tenant = ? or 1 = 1"
        rows = [database.execute(f"select id from orders where {c}", ["a"]).fetchall() for c in (kept, dropped)]
    assert rows == [[(1,)], [(1,), (2,)]]


async def test_what_a_string_that_went_on_did(postgres: Postgres) -> None:
    """On PostgreSQL: without the clause the second string goes on from the first, where a backslash escapes, and so the
    tenant's condition is a part of it: the server sees no parameter."""
    connection = await asyncpg.connect(postgres.url)
    try:
        rest = "\n'b\\' as word from (select 1 as tenant) t where tenant = $1 and '--' = '--'"
        kept = await connection.prepare("select E'a' || '' || " + rest)
        dropped = await connection.prepare("select E'a' " + rest)
        assert (len(kept.get_parameters()), len(dropped.get_parameters())) == (1, 0)
    finally:
        await connection.close()
