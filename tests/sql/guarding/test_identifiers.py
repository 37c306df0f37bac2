"""Which spellings name the same table, on the real engines; and that ``exact_equal`` leaves them their indexes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import product
from typing import Any, TypeAlias

import duckdb
import psycopg
import pymysql
import pytest

from engines.clickhouse import ClickHouse, ClickHouseError
from engines.mariadb import MariaDB
from engines.postgres import Postgres
from tenantry.sql.dialects import DIALECTS, Identifiers

ENGINES = ("postgresql", "sqlite", "duckdb", "mariadb", "clickhouse")
ERRORS = (sqlite3.Error, duckdb.Error, psycopg.Error, pymysql.MySQLError, ClickHouseError)
NAMES = [(name, quoted) for name in ("orders", "Orders", "ORDERS", "Éa", "éa", "ÉA") for quoted in (False, True)]

Run: TypeAlias = Callable[[str], Any]


@pytest.fixture
def run(request: pytest.FixtureRequest, engine: str) -> Iterator[Run]:
    """Runs SQL in an empty database and returns the rows."""
    with ExitStack() as stack:
        if engine == "clickhouse":
            clickhouse: ClickHouse = request.getfixturevalue("clickhouse")
            clickhouse.query("drop database if exists spellings")
            clickhouse.query("create database spellings")
            clickhouse.query("use spellings")
            stack.callback(clickhouse.query, "use default")
            yield clickhouse.query
        elif engine == "mariadb":
            mariadb: MariaDB = request.getfixturevalue("mariadb")
            cursor = stack.enter_context(closing(mariadb.connect(mariadb.create_database()))).cursor()
            yield lambda sql: (cursor.execute(sql), cursor.fetchall())[1]
        elif engine == "postgresql":
            postgres: Postgres = request.getfixturevalue("postgres")
            connection = stack.enter_context(psycopg.connect(postgres.create_database(), autocommit=True))
            yield lambda sql: connection.execute(sql.encode())
        else:
            opened: Any = sqlite3.connect(":memory:") if engine == "sqlite" else duckdb.connect()
            library = stack.enter_context(closing(opened))
            yield lambda sql: library.execute(sql).fetchall()


def written(engine: str, name: str, quoted: bool) -> str:
    quote = "`" if engine in {"mariadb", "clickhouse"} else '"'
    return f"{quote}{name}{quote}" if quoted else name


@pytest.mark.parametrize("engine", ENGINES)
def test_spellings(engine: str, run: Run) -> None:
    """Two spellings name one table exactly if their keys are equal. Red when an engine gets the rule of another, and
    when ``key`` folds É too."""
    rules = DIALECTS[engine].identifiers
    storage = " engine = Memory" if engine == "clickhouse" else ""
    for created in NAMES:
        if engine == "clickhouse" and not created[0].isascii() and not created[1]:
            continue  # its words are ASCII
        run(f"create table {written(engine, *created)} (a int){storage}")
        for read in NAMES:
            try:
                run(f"select a from {written(engine, *read)}")
            except ERRORS:
                found = False
            else:
                found = True
            words = engine != "clickhouse" or read[0].isascii() or read[1]
            expected = rules.key(created[0], quoted=created[1]) == rules.key(read[0], quoted=read[1]) and words
            assert found == expected, (created, read)
        run(f"drop table {written(engine, *created)}")


def test_keys_of_snowflake() -> None:
    """Unquoted names are in upper case; no engine of it runs here. Red when it folds to lower case."""
    assert DIALECTS["snowflake"].identifiers is Identifiers.FOLDS_UPPER
    pairs = product((("orders", False), ("ORDERS", True), ("orders", True)), repeat=2)
    key = Identifiers.FOLDS_UPPER.key
    same = {(a, b) for a, b in pairs if key(a[0], quoted=a[1]) == key(b[0], quoted=b[1])}
    assert (("orders", False), ("ORDERS", True)) in same
    assert (("orders", False), ("orders", True)) not in same


PLANS = {
    "sqlite": ("create index i on t (c)", "explain query plan {}", "USING COVERING INDEX i (c=?)"),
    "mariadb": ("create index i on t (c)", "explain {}", "'ref', 'i'"),
    "clickhouse": ("select 1", "explain indexes = 1 {}", "Granules: 1/"),
}


@pytest.mark.parametrize("engine", PLANS)
def test_an_index_serves(engine: str, run: Run) -> None:
    """Red when the comparison of bytes stands alone. ClickHouse needs no ``=`` for it, and DuckDB uses none."""
    prepare, explain, expected = PLANS[engine]
    rows = {
        "sqlite": "with n(i) as (values (1), (17), (20)) select 't' || i from n",
        "mariadb": "select concat('t', seq) from seq_1_to_20000",
        "clickhouse": "select concat('t', toString(number)) from numbers(100000)",
    }
    storage = "String) engine = MergeTree order by (c" if engine == "clickhouse" else "varchar(20)"
    run(f"create table t (c {storage})")
    run(f"insert into t {rows[engine]}")
    run(prepare)
    condition = DIALECTS[engine].exact_equal.format(column="c", value="'t17'")
    assert [tuple(row) for row in run(f"select c from t where {condition}")] == [("t17",)]
    plan = str([tuple(row) for row in run(explain.format(f"select c from t where {condition}"))])
    assert expected in plan, plan
