"""The five engines, each with two databases: ``everyone`` and ``alone``."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from threading import Timer
from types import MappingProxyType
from typing import Any, Final, Protocol

import duckdb
import psycopg
import pymysql
from psycopg.pq import TransactionStatus

from engines import clickhouse, mariadb, postgres
from tenantry.sql import BoundSQL
from tests.sql.guarding.attacks.world import COLUMNS, rows

Rows = Counter[str]
"""The rows of an answer without their order, each as its text."""
STAND_IN: Final = "guarded_"
"""How the name of a table begins that stands for a guard (see second_readers)."""
NONE: Final[Mapping[str, str]] = MappingProxyType({})
_SECONDS: Final = {False: 0.5, True: 2.0}
"""How long a statement may run, by ``alone``: an attack may recurse without end. One that everyone's database stops is
not counted; one that only the other stopped, on a busy machine, would seem to leak."""


class EngineRefused(Exception):
    """The engine's own message."""


class Database(Protocol):
    """One database."""

    def rows(self, bound: BoundSQL) -> list[Sequence[Any]]:
        """The answer. Raises EngineRefused."""


@dataclass(frozen=True)
class Engine:
    """``schema`` is the name of the schema that holds the tables."""

    name: str
    dialect: str
    style: str
    schema: str
    everyone: Database
    alone: Database


def _statements(types: Mapping[str, str], suffix: str = "", suffixes: Mapping[str, str] = NONE) -> Iterator[str]:
    """SQL that creates the tables, and for each of them an empty one for the second readers."""
    for table, columns in COLUMNS.items():
        written = (f"{name} {types.get(kind, kind)}" for name, kind in (each.split() for each in columns))
        given = ", ".join(written)
        yield f"create table {table} ({given}) {suffixes.get(table, suffix)}"
        yield f"create table {STAND_IN}{table} ({given}) {suffix}"


def _fill(execute: Callable[[str], Any], *, alone: bool) -> None:
    for table in COLUMNS:
        execute(f"insert into {table} values {', '.join(_row(row) for row in rows(table, alone=alone))}")


def _row(row: Sequence[Any]) -> str:
    return f"({', '.join('null' if cell is None else repr(cell) for cell in row)})"


class SQLiteDatabase:
    def __init__(self, *, alone: bool) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        for statement in _statements({}):
            self.connection.execute(statement)
        _fill(self.connection.execute, alone=alone)
        self.connection.execute("create view v_t as select * from t")
        self.connection.execute("pragma query_only = on")
        self._steps = 0
        self.connection.set_progress_handler(self._count, 10_000)

    def _count(self) -> bool:
        self._steps += 1
        return self._steps > 200

    def rows(self, bound: BoundSQL) -> list[Sequence[Any]]:
        self._steps = 0
        try:
            return self.connection.execute(bound.sql, bound.params or ()).fetchall()
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
            raise EngineRefused(str(error)) from error


class DuckDBDatabase:
    def __init__(self, *, alone: bool) -> None:
        options: dict[str, Any] = {"threads": 1, "enable_external_access": "false", "memory_limit": "200MB"}
        self.connection = duckdb.connect(config=options)
        for statement in _statements({"text": "varchar"}):
            self.connection.execute(statement)
        _fill(self.connection.execute, alone=alone)
        self.connection.execute("create view v_t as select * from t")
        self.connection.execute('create view "values" as select * from t')
        self.connection.execute("create macro all_t() as table select * from t")
        self.connection.execute("create macro top_note() as (select max(note) from t)")
        self._seconds = _SECONDS[alone]

    def rows(self, bound: BoundSQL) -> list[Sequence[Any]]:
        timer = Timer(self._seconds, self.connection.interrupt)
        timer.start()
        try:
            self.connection.execute("begin transaction read only")
            answer: Any = self.connection.execute(bound.sql, bound.params or ())
            return list(answer.fetchall()) if answer is not None else []  # None for a text without a statement
        except (duckdb.Error, RuntimeError, ValueError) as error:
            raise EngineRefused(str(error)) from error
        finally:
            timer.cancel()
            with suppress(duckdb.Error):
                self.connection.rollback()


class PostgreSQLDatabase:
    """Each statement is rolled back: it may write."""

    def __init__(self, url: str, *, alone: bool) -> None:
        self._url, self._seconds = url, _SECONDS[alone]
        self.connection = self._connect()
        for statement in _statements({}):
            self.connection.execute(statement)
        _fill(self.connection.execute, alone=alone)
        for statement in _POSTGRESQL_OBJECTS:
            self.connection.execute(statement)
        self.connection.commit()

    def _connect(self) -> psycopg.Connection[Any]:
        options = f"-c statement_timeout={self._seconds}s"
        return psycopg.connect(self._url, cursor_factory=psycopg.RawCursor, options=options, prepare_threshold=None)

    def rows(self, bound: BoundSQL) -> list[Sequence[Any]]:
        try:
            return self.connection.execute(bound.sql, bound.params).fetchall()
        except (psycopg.Error, ValueError, UnicodeError) as error:
            raise EngineRefused(str(error)) from error
        finally:
            if self.connection.info.transaction_status is TransactionStatus.ACTIVE:  # in the middle of a copy
                self.connection.close()
                self.connection = self._connect()
            self.connection.rollback()


_POSTGRESQL_OBJECTS: Final = (
    "create view v_t as select * from t",
    'create view "values" as select * from t',
    "create function all_t() returns setof t language sql stable as 'select * from t'",
    "create function top_note() returns text language sql stable as 'select max(note) from t'",
    "create function label(t) returns text language sql stable as 'select max(note) from t'",
)


class MariaDBDatabase:
    """``other`` is the name of the database that a text means by its qualifiers."""

    def __init__(self, server: mariadb.MariaDB, name: str, other: str, *, alone: bool) -> None:
        self.server, self.name, self._other = server, name, other
        with closing(server.connect(name)) as root, root.cursor() as cursor:
            for statement in _statements({"text": "varchar(100)"}):
                cursor.execute(statement)
            _fill(cursor.execute, alone=alone)
            cursor.execute("create view v_t as select * from t")
            cursor.execute("create function top_note() returns text reads sql data return (select max(note) from t)")
        self.connection = server.connect(name)
        with self.connection.cursor() as cursor:
            cursor.execute(f"set session max_statement_time = {_SECONDS[alone]}")
            cursor.execute("set session transaction read only")

    def rows(self, bound: BoundSQL) -> list[Sequence[Any]]:
        try:
            with self.connection.cursor() as cursor:
                cursor.execute(bound.sql.replace(self._other, self.name), bound.params)
                return list(cursor.fetchall())
        except (pymysql.MySQLError, ValueError, TypeError, UnicodeError) as error:
            raise EngineRefused(str(error)) from error


class ClickHouseDatabase:
    def __init__(self, engine: clickhouse.ClickHouse, *, alone: bool) -> None:
        self.engine = engine
        types = {"text": "Nullable(String)", "integer": "Int64", "boolean": "Bool"}
        for statement in _statements(types, "engine = MergeTree order by tuple()", _CLICKHOUSE_SUFFIXES):
            engine.query(statement)
        _fill(engine.query, alone=alone)
        for statement in (*_CLICKHOUSE_OBJECTS, f"set max_execution_time = {_SECONDS[True]}", "set readonly = 2"):
            engine.query(statement)

    def rows(self, bound: BoundSQL) -> list[Sequence[Any]]:
        try:
            return [tuple(row) for row in self.engine.run(bound)]
        except (clickhouse.ClickHouseError, ValueError, TypeError, KeyError) as error:
            raise EngineRefused(str(error)) from error


_CLICKHOUSE_SUFFIXES: Final = {
    "t": "engine = ReplacingMergeTree partition by region order by cityHash64(id) sample by cityHash64(id)"
    " settings allow_nullable_key = 1",
}
_CLICKHOUSE_OBJECTS: Final = (
    "create view v_t as select * from t",
    (
        "create dictionary d_t (id UInt64, note String) primary key id source(clickhouse(table 't' db 'default'))"
        " lifetime(0) layout(hashed())"
    ),
    "create table j_t engine = Join(any, left, id) as select id, note from t",
    "create function top_note as () -> (select max(note) from t)",
    "set max_recursive_cte_evaluation_depth = 50",  # a thousand takes half a second of the processor
    "set max_threads = 1",  # so that rows without an order come in the same order from both databases
)


@contextmanager
def sqlite_engine() -> Iterator[Engine]:
    everyone, alone = SQLiteDatabase(alone=False), SQLiteDatabase(alone=True)
    with closing(everyone.connection), closing(alone.connection):
        yield Engine("sqlite", "sqlite", "qmark", "main", everyone, alone)


@contextmanager
def duckdb_engine() -> Iterator[Engine]:
    everyone, alone = DuckDBDatabase(alone=False), DuckDBDatabase(alone=True)
    with closing(everyone.connection), closing(alone.connection):
        yield Engine("duckdb", "duckdb", "qmark", "main", everyone, alone)


@contextmanager
def postgresql_engine(server: postgres.Postgres) -> Iterator[Engine]:
    everyone = PostgreSQLDatabase(server.create_database(), alone=False)
    alone = PostgreSQLDatabase(server.create_database(), alone=True)
    try:
        yield Engine("postgresql", "postgresql", "numeric_dollar", "public", everyone, alone)
    finally:  # a statement may have replaced the connection
        everyone.connection.close()
        alone.connection.close()


@contextmanager
def mariadb_engine(server: mariadb.MariaDB) -> Iterator[Engine]:
    name, other = server.create_database(), server.create_database()
    everyone, alone = MariaDBDatabase(server, name, name, alone=False), MariaDBDatabase(server, other, name, alone=True)
    with closing(everyone.connection), closing(alone.connection):
        yield Engine("mariadb", "mariadb", "format", name, everyone, alone)


@contextmanager
def clickhouse_engine(first: clickhouse.ClickHouse, second: clickhouse.ClickHouse) -> Iterator[Engine]:
    everyone, alone = ClickHouseDatabase(first, alone=False), ClickHouseDatabase(second, alone=True)
    yield Engine("clickhouse", "clickhouse", "pyformat", "default", everyone, alone)


def attacked_engine(name: str, fixture: Callable[[str], Any], stack: ExitStack) -> AbstractContextManager[Engine]:
    """One engine on the servers of the test run."""
    if name == "sqlite":
        return sqlite_engine()
    if name == "duckdb":
        return duckdb_engine()
    if name == "postgresql":
        return postgresql_engine(fixture("postgres"))
    if name == "mariadb":
        return mariadb_engine(fixture("mariadb"))
    clickhouse.require_chdb()
    first, second = (stack.enter_context(clickhouse.running()) for _ in range(2))  # one stays read-only
    return clickhouse_engine(first, second)


NAMES: Final = ("sqlite", "duckdb", "postgresql", "mariadb", "clickhouse")


@contextmanager
def started(name: str) -> Iterator[Engine]:
    """One engine, with a server for it alone; for programs that are not tests."""
    with ExitStack() as stack:
        servers: dict[str, Callable[[], AbstractContextManager[Any]]] = {
            "postgres": postgres.running,
            "mariadb": mariadb.running,
        }
        opened = attacked_engine(name, lambda each: stack.enter_context(servers[each]()), stack)
        yield stack.enter_context(opened)
