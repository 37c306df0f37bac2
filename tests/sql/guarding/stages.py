"""Stages: each real engine with two databases, one with the rows of all tenants, one with those of acme alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb
import psycopg
import pymysql
import pytest

from engines.clickhouse import ClickHouse, ClickHouseError
from engines.mariadb import MariaDB
from engines.postgres import Postgres
from tenantry.sql import BoundSQL
from tenantry.sql.guarding import GuardedTables, read_tables

ENGINES = ("sqlite", "duckdb", "postgresql", "mariadb", "clickhouse")
TABLES: GuardedTables = read_tables(
    {"tables": {"t": "tenant", "o": "tenant", "items": {"o_id": "o.id"}, "countries": "shared"}}
)
VALUES: dict[str, Any] = {
    "tenant": "acme",
    "tenants": ["acme"],
    "others": [],
    "region": "eu",
    "rate": 2,
    "role": "fin",
    "user_group": {"id": "acme"},
}
SCHEMA = {
    "t": "tenant varchar(20), id integer, region varchar(20), category varchar(20), amount integer, placed timestamp,"
    " owner varchar(20), parent integer",
    "o": "tenant varchar(20), id integer, t_id integer, product varchar(20), qty integer",
    "items": "id integer, o_id integer, price integer",
    "countries": "code varchar(20), name varchar(20)",
}
VIEW = "create view v_t as select * from t"
MACROS = ("create macro all_t() as table select * from t", "create macro tsum() as (select sum(amount) from t)")


def _tenant(number: int, every: int) -> str:
    return "acme" if number % every else "globex" if number % 2 or every == 4 else "acme2"


def rows() -> dict[str, list[tuple[Any, ...]]]:
    """The rows of all tenants. No two rows of a table have the same amount, quantity or price."""
    t = [
        (
            _tenant(i, 3),
            i,
            ("eu", "us")[i % 2],
            "abc"[i % 3 - 1],
            i * 7 % 101,
            "2026-01-01 00:00:00",
            "ab"[i % 2],
            i - 1,
        )
        for i in range(1, 61)
    ]
    o = [(_tenant(i, 4), i, i % 60 + 1, "xyz"[i % 3], i * 11 % 127) for i in range(1, 121)]
    items = [(i, i % 120 + 1, i * 13 % 251) for i in range(1, 241)]
    return {"t": t, "o": o, "items": items, "countries": [("de", "Germany"), ("fr", "France")]}


def own_rows() -> dict[str, list[tuple[Any, ...]]]:
    """The rows of acme, and the shared ones."""
    whole = rows()
    t = [row for row in whole["t"] if row[0] == "acme"]
    o = [row for row in whole["o"] if row[0] == "acme"]
    orders = {row[1] for row in o}
    items = [row for row in whole["items"] if row[1] in orders]
    return {"t": t, "o": o, "items": items, "countries": whole["countries"]}


def statements(tables: dict[str, list[tuple[Any, ...]]], *, suffix: str = "") -> Iterator[str]:
    """SQL that creates the tables with their rows, and a view that nobody declared."""
    for name, columns in SCHEMA.items():
        yield f"create table {name} ({columns}){suffix}"
        yield f"insert into {name} values " + ", ".join(map(_literal, tables[name]))
    yield VIEW


def _literal(row: Sequence[Any]) -> str:
    return "(" + ", ".join(f"'{each}'" if isinstance(each, str) else str(each) for each in row) + ")"


_ENGINE_ERRORS = (sqlite3.Error, duckdb.Error, psycopg.Error, pymysql.Error, ClickHouseError)
Run = Callable[[BoundSQL], list[Any]]


@dataclass(frozen=True)
class Stage:
    """One engine: ``all`` runs SQL where every tenant has rows, ``own`` where acme alone has."""

    dialect: str
    paramstyle: str
    all: Run
    own: Run

    def answer(self, bound: BoundSQL) -> list[Any] | None:
        """The rows for all tenants; None if the engine refuses the SQL."""
        try:
            return self.all(bound)
        except _ENGINE_ERRORS:
            return None


def same(one: list[Any], other: list[Any]) -> bool:
    """Whether two answers have the same rows, in any order."""
    return sorted(map(repr, one)) == sorted(map(repr, other))


@contextmanager
def stage_of(dialect: str, request: pytest.FixtureRequest) -> Iterator[Stage]:
    with ExitStack() as stack:
        runs = [_RUNS[dialect](request, stack, tables, name) for name, tables in (("a", rows()), ("o", own_rows()))]
        yield Stage(dialect, _STYLES[dialect], *runs)


def _sqlite(_: pytest.FixtureRequest, stack: ExitStack, tables: Any, _name: str) -> Run:
    connection = stack.enter_context(closing(sqlite3.connect(":memory:")))
    for statement in statements(tables):
        connection.execute(statement)
    return lambda bound: connection.execute(bound.sql, bound.params or ()).fetchall()


def _duckdb(_: pytest.FixtureRequest, stack: ExitStack, tables: Any, _name: str) -> Run:
    connection = stack.enter_context(closing(duckdb.connect(":memory:")))
    for statement in (*statements(tables), *MACROS):
        connection.execute(statement)
    return lambda bound: connection.execute(bound.sql, bound.params or ()).fetchall()


def _postgresql(request: pytest.FixtureRequest, stack: ExitStack, tables: Any, _name: str) -> Run:
    server: Postgres = request.getfixturevalue("postgres")
    connection = stack.enter_context(psycopg.connect(server.create_database(), autocommit=True))
    for statement in statements(tables):
        connection.execute(statement)
    return lambda bound: connection.execute(bound.sql, bound.params).fetchall()


def _mariadb(request: pytest.FixtureRequest, stack: ExitStack, tables: Any, _name: str) -> Run:
    server: MariaDB = request.getfixturevalue("mariadb")
    connection = stack.enter_context(closing(server.connect(server.create_database())))
    cursor = stack.enter_context(connection.cursor())
    for statement in statements(tables):
        cursor.execute(statement)

    def run(bound: BoundSQL) -> list[Any]:
        cursor.execute(bound.sql, bound.params)
        return list(cursor.fetchall())

    return run


def _clickhouse(request: pytest.FixtureRequest, stack: ExitStack, tables: Any, name: str) -> Run:
    server: ClickHouse = request.getfixturevalue("clickhouse")
    database = f"guarded_{name}"
    stack.callback(server.query, f"drop database if exists {database}")
    stack.callback(server.query, "use default")  # for the other tests of this server
    server.query(f"create database {database}")
    server.query(f"use {database}")
    for statement in statements(tables, suffix=" engine = Memory"):
        server.query(statement.replace("timestamp", "DateTime"))

    def run(bound: BoundSQL) -> list[Any]:
        server.query(f"use {database}")
        return server.run(bound)

    return run


_RUNS: dict[str, Callable[[pytest.FixtureRequest, ExitStack, Any, str], Run]] = {
    "sqlite": _sqlite,
    "duckdb": _duckdb,
    "postgresql": _postgresql,
    "mariadb": _mariadb,
    "clickhouse": _clickhouse,
}
_STYLES = {
    "sqlite": "qmark",
    "duckdb": "numeric_dollar",
    "postgresql": "format",
    "mariadb": "format",
    "clickhouse": "pyformat",
}
