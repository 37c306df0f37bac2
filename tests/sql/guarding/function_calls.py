"""Calls of functions by which tests find out whether these exist, and whether they read a table."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

import duckdb
import psycopg
import pymysql

from engines.clickhouse import ClickHouseError
from tenantry.sql.dialects import DIALECTS
from tenantry.sql.guarding.safe_functions import safe_functions, safe_table_functions

TEXTS = ("orders", "select amount from orders", "main.orders", "amount")
FORMS = (  # ways of calling what the grammar knows
    *("()", "(1)", "(1, 1)", "(1, 1, 1)", "(1, 1, 1, 1)", "('1')", "('a', 'b')", "(distinct 1)", "(null)", "('[1]')"),
    *("() over ()", "(1) over (order by 1)", "(1, 1) over (order by 1)", "(0.5) within group (order by 1)"),
    *(
        "(1 as char)",
        "('a' using utf8mb4)",
        "() over (order by 1)",
        "(1 as text)",
        "(1 as varchar)",
        "(day from now())",
        "(year from date '2026-01-01')",
        "('a' in 'a')",
    ),
    *(
        "(now(), interval 1 day)",
        "(day, 1, now())",
        "(day, now(), now())",
        "(date, 'usa')",
        "(0.5) over ()",
        "(both from 'a')",
    ),
    *(
        "(a) from (select 1 as a) t group by rollup (a)",
        "(*) from (select 1 as a) t",
        "('[1]', '$')",
        "(content '<a/>')",
    ),
    *(
        "(name a)",
        "(1 as a)",
        "(xmltext('a'))",
        "(xmltext('a'), version '1.0')",
        "(content xmltext('a') as text)",
        "('a' : 1)",
    ),
    *(
        "('a', json_array(1))",
        "('{}', '{}')",
        "('{}', '$')",
        "(INTERVAL 1 DAY, now())",
        "(day, 1, toDate('2026-01-01'))",
    ),
    *("(amount, 0.5) over ()", "(1 as int)", "(0.5) within group (order by 1) over ()"),
)

Run = Callable[[str], Any]


class Answer(NamedTuple):
    """``result`` is rows or an error."""

    name: str
    sql: str
    result: str


def functions(dialect: str) -> frozenset[str]:
    names = safe_functions(DIALECTS[dialect])
    assert names is not None
    return names


def table_functions(dialect: str) -> frozenset[str]:
    names = safe_table_functions(DIALECTS[dialect])
    assert names is not None
    return names


def unknown(names: Iterable[str], run: Run, is_there: Callable[[Any], bool]) -> set[str]:
    """Those of which no call runs, and none fails with an error that shows that the function is there."""
    missing = set()
    for name in names:
        for form in FORMS:
            try:
                run(f"select {name}{form}")
            except (sqlite3.Error, duckdb.Error, psycopg.Error, pymysql.MySQLError, ClickHouseError) as error:
                if is_there(error):
                    break
            else:
                break
        else:
            missing.add(name)
    return missing


def answered(calls: Iterable[tuple[str, str]], run: Callable[[str], str]) -> list[Answer]:
    """The result of each different call, a pair of a name and SQL."""
    return [Answer(name, sql, run(sql)) for name, sql in dict.fromkeys(calls)]


def dependent(answers: Iterable[Answer], run: Run, *, empty: str, fill: str) -> set[str]:
    """Functions that show a row of the table, or whose result, or error, is another while the table is empty.
    ``empty`` and ``fill`` are statements, one a line."""
    before = list(answers)
    for statement in empty.splitlines():
        run(statement)
    changed = [(name, sql, full) for name, sql, full in before if run(sql) != full]
    for statement in fill.splitlines():
        run(statement)
    # Others depend on the clock, or on chance: one byte of randomblob is the same once in 256 times.
    steady = {name for name, sql, full in changed if {run(sql) for _ in range(3)} == {full}}
    return steady | {name for name, _, full in before if "424242" in full}


def calls_with_texts(names: Iterable[str], *, most: int) -> Iterator[tuple[str, str]]:
    """Calls with one text up to four times."""
    for name, text, count in product(names, TEXTS, range(1, most + 1)):
        yield name, f"select {name}({repeated(text, count)})"


def repeated(text: str, count: int) -> str:
    """Arguments."""
    return ", ".join([f"'{text}'"] * count)


def from_calls(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    for name, text, count in product(names, TEXTS, range(1, 3)):
        yield name, f"select * from {name}({repeated(text, count)})"
