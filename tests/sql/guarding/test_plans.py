"""Plans of the real engines: a guard uses the index that the author's own predicate uses, and PostgreSQL's estimate of
rows is the same."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest

from engines.mariadb import MariaDB
from engines.postgres import Postgres
from tenantry.sql import BoundSQL, SQLTemplate
from tests.sql.guarding.stages import TABLES

VALUES = {"user_group": {"id": "c17"}}
JOIN = "select t.id, o.id from t join o on o.t_id = t.id"
QUERIES = {
    "a query": ("select id from t where tenant = {{ user_group.id }}", "select id from t"),
    "the last": (
        "select id from t where tenant = {{ user_group.id }} order by id desc limit 20",
        "select id from t order by id desc limit 20",
    ),
    "a join": (
        f"{JOIN} where t.tenant = {{{{ user_group.id }}}} and o.tenant = {{{{ user_group.id }}}}",
        JOIN,
    ),
    "its own predicate too": (
        "select count(*) from t where tenant = {{ user_group.id }}",
        "select count(*) from t where tenant = {{ user_group.id }}",
    ),
}
NUMBERS = {
    "sqlite": "(with recursive r(n) as (select 1 union all select n + 1 from r where n < 20000) select n from r) s",
    "postgresql": "generate_series(1, 20000) n",
    "mariadb": "(select seq as n from seq_1_to_20000) s",
}


def statements(dialect: str) -> Iterator[str]:
    """20,000 rows of 500 tenants in each table, and their indexes."""
    tenant = "concat('c', n % 500)" if dialect == "mariadb" else "'c' || (n % 500)"
    yield "create table t (tenant varchar(20), id integer)"
    yield "create table o (tenant varchar(20), id integer, t_id integer)"
    yield f"insert into t select {tenant}, n from {NUMBERS[dialect]}"
    yield f"insert into o select {tenant}, n, n from {NUMBERS[dialect]}"
    yield "create index t_tenant on t (tenant)"
    yield "create index o_tenant on o (tenant)"
    yield "analyze table t, o" if dialect == "mariadb" else "analyze"


def pair(dialect: str, paramstyle: str, name: str) -> tuple[BoundSQL, BoundSQL]:
    """The author's query, and the guarded one."""
    author, bare = QUERIES[name]
    guarded = SQLTemplate(bare, dialect).guarded(TABLES)
    return SQLTemplate(author, dialect).bind(VALUES, paramstyle), guarded.bind(VALUES, paramstyle)


@pytest.fixture(scope="module")
def sqlite() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in statements("sqlite"):
            connection.execute(statement)
        yield connection


@pytest.fixture(scope="module")
def postgresql(postgres: Postgres) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(postgres.create_database(), autocommit=True) as connection:
        for statement in statements("postgresql"):
            connection.execute(statement.encode())
        yield connection


@pytest.fixture(scope="module")
def cursor(mariadb: MariaDB) -> Iterator[Any]:
    with closing(mariadb.connect(mariadb.create_database())) as connection, connection.cursor() as cursor:
        for statement in statements("mariadb"):
            cursor.execute(statement)
        yield cursor


@pytest.mark.parametrize("name", QUERIES)
def test_sqlite_uses_the_index(sqlite: sqlite3.Connection, name: str) -> None:
    """Red with the comparison of bytes alone: SCAN t."""
    author, guarded = (
        [row[3] for row in sqlite.execute(f"explain query plan {each.sql}", each.params or ())]
        for each in pair("sqlite", "qmark", name)
    )
    assert any("USING" in step and "INDEX t_tenant (tenant=?)" in step for step in author)
    assert [step for step in guarded if "INDEX" in step] == [step for step in author if "INDEX" in step]


def test_sqlite_compares_no_row_twice(sqlite: sqlite3.Connection) -> None:
    """The author's filter finds the rows, and the guard is evaluated once. Red with the column on the left of the
    guard's ``=``: each row was read and compared, and the count took 1.5 times as long."""
    for each in pair("sqlite", "qmark", "its own predicate too"):
        program = [row[1] for row in sqlite.execute(f"explain {each.sql}", each.params or ())]
        assert "SeekGE" in program
        assert "Column" not in program


@pytest.mark.parametrize("name", QUERIES)
def test_mariadb_uses_the_index(cursor: Any, name: str) -> None:
    """Red with the comparison of bytes alone: no key."""
    keys = []
    for each in pair("mariadb", "format", name):
        cursor.execute(f"explain {each.sql}", each.params)
        keys.append([row[5:7] for row in cursor.fetchall()])  # each table's key and its length
    author, guarded = keys
    assert author[0][0] == "t_tenant"
    assert guarded == author


@pytest.mark.parametrize("name", QUERIES)
def test_postgresql_plans_as_for_the_author(postgresql: psycopg.Connection[Any], name: str) -> None:
    """The same nodes, indexes and numbers of rows. Red with a comparison of bytes after the ``=``: 1 row in place
    of 40."""
    author, guarded = (
        list(nodes(postgresql.execute(f"explain (format json) {each.sql}".encode(), each.params).fetchone()))
        for each in pair("postgresql", "format", name)
    )
    assert any(index == "t_tenant" for _, index, _ in author)
    assert guarded == author


def nodes(found: Any) -> Iterator[tuple[str, str | None, int]]:
    """Each node's kind, index and expected rows."""
    waiting = [found[0][0]["Plan"]]
    while waiting:
        plan = waiting.pop()
        yield plan["Node Type"], plan.get("Index Name"), plan["Plan Rows"]
        waiting += plan.get("Plans", [])
