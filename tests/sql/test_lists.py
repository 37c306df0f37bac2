"""Lists after `in` and `not in`: expanded, and for an empty list no rows or all rows, on real engines."""

from __future__ import annotations

import sqlite3
from datetime import date
from typing import Any

import asyncpg
import duckdb
import pytest

from engines.postgres import Postgres
from tenantry.errors import TemplateError
from tenantry.sql import SQLTemplate
from tenantry.sql.binding import variable_reader
from tenantry.sql.binding.bindable_values import all_bindable
from tests.sql.each_dialect import each_dialect

TABLE = "create table t (i int, s varchar(20), d date)"
ROWS = "insert into t values (1, 'a', '2024-01-01'), (2, 'b', '2024-01-02'), (null, null, null)"
APART = "the `in` of this list, or its `not`, is outside the choice"
PAIRS = {"i": [1, 5], "s": ["a", "z"], "d": [date(2024, 1, 1), date(2030, 1, 1)]}


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("a in {{ xs }}", "a in ($1, $2)"),
        ("a in ({{ xs }})", "a in ($1, $2)"),
        ("a IN(\n{{xs}}\n)and b", "a IN ($1, $2) and b"),
        ("a NOT  IN /* c */ ( -- d\n {{ xs }} )", "a NOT IN ($1, $2)"),
        ("a not in {{ xs }} or b", "a not in ($1, $2) or b"),
    ],
)
def test_both_spellings_are_expanded(text: str, sql: str) -> None:
    """With and without parentheses, whatever comes between."""
    assert SQLTemplate(text).bind({"xs": [1, 2]}).sql == sql


@each_dialect
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x not [[ in {{ params.l }} ]]", "the `not` before this list is in another optional clause"),
        ("x not /* c */ [[ in {{ params.l }} ]]", "in another optional clause"),
        ("x [[ + {{ params.p }} not ]] in {{ l }}", "in another optional clause"),
        ("x [[ + {{ params.p }} not ]] [[ in ({{ params.l }}) ]]", "in another optional clause"),
        ("x not {{ params.k | one_of(a: in {{ params.l }}, b: like 'x') }}", APART),
        ("x not in {{ params.k | one_of(a: {{ params.l }}, b: (2)) }}", APART),
        ("x in ({{ params.k | one_of(a: {{ params.l }}, b: 2) }})", APART),
    ],
)
def test_in_and_its_not_stand_with_the_list(dialect: str, text: str, problem: str) -> None:
    """Else an empty list would be written as for `in`, with `not` before that: Redshift's `not in (null) is true` is
    true of no row. Red without check_list; the choices then made `in in (…)`."""
    with pytest.raises(TemplateError, match=r"\n  fix: write `") as caught:
        SQLTemplate(f"select 1 where {text}", dialect)
    assert problem in caught.value.message


def test_one_value_among_others_is_a_value() -> None:
    """`in (1, {{ x }})` takes a scalar."""
    assert SQLTemplate("a in (1, {{ x }})").bind({"x": 2}).params == (2,)
    assert SQLTemplate("a in ({{ x }}, {{ y }})").bind({"x": 2, "y": 3}).params == (2, 3)


def test_numbers_follow_the_text() -> None:
    """Scalars after a list take the numbers after it."""
    bound = SQLTemplate("{{ a }} in {{ xs }} and {{ b }} = c").bind({"a": "a", "xs": [1, 2, 3], "b": "b"})
    assert bound.sql == "$1 in ($2, $3, $4) and $5 = c"
    assert bound.params == ("a", 1, 2, 3, "b")


@pytest.mark.parametrize(
    ("dialect", "empty_in", "empty_not_in"),
    [
        ("postgresql", "a operator(=) any ('{}')", "a operator(<>) all ('{}')"),
        ("sqlite", "a in ()", "a not in ()"),
        ("duckdb", "a in (select null where false)", "a not in (select null where false)"),
        ("mysql", "a in (select null from dual where false)", "a not in (select null from dual where false)"),
    ],
)
def test_the_text_of_an_empty_list(dialect: str, empty_in: str, empty_not_in: str) -> None:
    """Each dialect has its own: no single text is right in all of them."""
    assert SQLTemplate("a in ({{ xs }})", dialect).bind({"xs": []}).sql == empty_in
    assert SQLTemplate("a not in {{ xs }}", dialect).bind({"xs": ()}).sql == empty_not_in


def test_a_list_that_changes_meanwhile_is_one_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list that is checked and counted is bound. Red when ``items`` does not copy a list before it checks it."""
    template, xs = SQLTemplate("a in {{ xs }}", "sqlite"), ["a"]

    def check_and_change(params: Any) -> bool:
        bindable = all_bindable(params)
        xs.append("\0")
        return bindable

    monkeypatch.setattr(variable_reader, "all_bindable", check_and_change)
    assert template.bind({"xs": xs})[:2] == ("a in (?)", ("a",))


CASES = [
    ("{} in {{{{ xs }}}}", [], 0),
    ("{} not in {{{{ xs }}}}", [], 3),  # the row of NULLs too
    ("not ({} in {{{{ xs }}}})", [], 3),
    ("{} in ({{{{ xs }}}})", "pair", 1),
    ("{} not in ({{{{ xs }}}})", "pair", 1),
    ("coalesce({0}, {0}) in {{{{ xs }}}} or 1 = 2", [], 0),
    ("1 = 1 and {} in {{{{ xs }}}} and 1 = 1", [], 0),
    ("({} not in {{{{ xs }}}}) is true", [], 3),
]


def cases(dialect: str) -> list[tuple[str, Any, int]]:
    """SQL, parameters and the number of rows for each column and case."""
    found = []
    for column, pair in PAIRS.items():
        for condition, xs, rows in CASES:
            if "is true" in condition and dialect == "sqlite":
                continue
            template = SQLTemplate(f"select count(*) from t where {condition.format(column)}", dialect)
            values: list[Any] = pair if xs == "pair" else []
            if dialect == "sqlite":  # it stores dates as text
                values = [str(v) if isinstance(v, date) else v for v in values]
            bound = template.bind({"xs": values})
            found.append((bound.sql, bound.params, rows))
    return found


def test_sqlite() -> None:
    """No rows for `in`, all rows for `not in`, for integer, text and date columns with NULLs."""
    connection = sqlite3.connect(":memory:")
    connection.execute(TABLE)
    connection.execute(ROWS)
    for sql, params, rows in cases("sqlite"):
        assert connection.execute(sql, params).fetchone() == (rows,), sql
    connection.close()


def test_duckdb() -> None:
    """The same. Red with `not in ()`, which loses the row of NULLs in DuckDB."""
    connection = duckdb.connect()
    connection.execute(TABLE)
    connection.execute(ROWS)
    for sql, params, rows in cases("duckdb"):
        assert connection.execute(sql, params).fetchone() == (rows,), sql
    connection.close()


async def test_postgresql(postgres: Postgres) -> None:
    """The same. Red with `in (select null where false)`, which is text and compares with text only."""
    connection = await asyncpg.connect(postgres.create_database())
    try:
        await connection.execute(TABLE)
        await connection.execute(ROWS)
        for sql, params, rows in cases("postgresql"):
            assert await connection.fetchval(sql, *params) == rows, sql
        for text in (
            "select true = i in {{ xs }} from t where i = 1",
            "select 'x' || s in {{ xs }} from t where i = 1",
        ):
            bound = SQLTemplate(text).bind({"xs": []})  # `in` binds tighter than = and looser than ||, and so does this
            assert await connection.fetchval(bound.sql) is False
    finally:
        await connection.close()
