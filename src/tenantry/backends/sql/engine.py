"""The interface between SQLStore and its database."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, TypeVar

from sqlalchemy import Column, Connection, Select, Table, select, tuple_
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.util import await_only

from tenantry.backends.sql.queries import Query
from tenantry.backends.sql.rows import Row
from tenantry.database import RUN_MIGRATE, postgres_problem
from tenantry.errors import MigrationNeeded, StoreUnavailable
from tenantry.groups import to_micros

_DELETED_AT_ONCE = 100
_NOT_ALLOWED = "42501"  # insufficient privilege; the message names a table or column, but no value
_NO_TABLES = {"42P01", "42703", "3F000"}  # undefined table, column, schema
_LOST = {"57P01", "57P02", "57P03", "57P05", "25P03"}  # shut down, crashed, starting up, idle too long
_BUSY = {"55P03", "57014", "40001", "40P01"}  # lock, cancelled, serialization, deadlock
_AWAY_CLASSES = {"53", "58"}  # out of connections, memory or disk; input/output error
_TOO_MANY_CONNECTIONS = "53300"
_READ_ONLY = "is read-only: it is a standby, or default_transaction_read_only is on. Writes need the primary"
_REFUSES = {"25006": _READ_ONLY, "53100": "has no space left on its disk"}


def driver_error(error: BaseException) -> BaseException:
    return error.orig if isinstance(error, DBAPIError) and error.orig is not None else error


def connection_lost(error: BaseException) -> bool:
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    cause = driver_error(error)
    state = getattr(cause, "sqlstate", None)
    if state is not None:
        return state in _LOST or state.startswith("08")
    return isinstance(cause, OSError) or type(cause).__name__ in _OF_CONNECTIONS


_OF_CONNECTIONS = {"OperationalError", "InterfaceError", "ConnectionTimeout"}  # errors of psycopg without an SQLSTATE


def outdated(error: BaseException) -> bool:
    """Whether the error means that a prepared statement is no longer valid. The statement did not run."""
    cause = driver_error(error)
    state = getattr(cause, "sqlstate", None)
    return state in _NO_STATEMENT or (state == "0A000" and "cached plan" in str(cause))


_NO_STATEMENT = {"26000", "42P05"}  # no prepared statement of this name, or one exists already


class StoreBusy(StoreUnavailable):
    """Other calls keep the database busy."""


def refused(label: str, reason: str) -> StoreUnavailable:
    """Return the error for a database that cannot be used until its operator changes something. HTTP clients get only
    the part of ``reason`` before the first colon, without the store's name."""
    error = StoreUnavailable(f"the {label} {reason}")
    error.generic_message = f"the database of the store {reason.partition(':')[0]}"
    return error


def unavailable(
    error: BaseException, label: str, problem: Callable[[], str | None] | None = None
) -> StoreUnavailable | None:
    """Convert a driver's error to StoreUnavailable. Return None if the error does not mean that the database is
    unavailable. ``problem`` returns the reason why an SQLite file cannot be used."""
    cause = driver_error(error)
    if isinstance(cause, sqlite3.Error):
        reason = problem() if problem is not None and _primary_code(cause) in _OF_FILES else None
        return _of_sqlite(cause, label) if reason is None else refused(label, reason)
    state = getattr(cause, "sqlstate", None)
    if state in _NO_TABLES:
        return MigrationNeeded(f"the {label} has no tables of this version: {RUN_MIGRATE}")
    if state == _NOT_ALLOWED:
        return refused(
            label,
            f"refuses its role: {str(cause).partition(chr(10))[0]}. "
            "docs/stores.md lists the rights that the role needs",
        )
    if state in _REFUSES:
        return refused(label, _REFUSES[state])
    # PostgreSQL or a pooler may have refused the connection.
    if state == _TOO_MANY_CONNECTIONS or (connection_lost(cause) and not isinstance(cause, OSError)):
        refusal = postgres_problem(cause)
        if refusal is not None:
            return StoreUnavailable(f"the {label} cannot be used: {refusal}")
    if isinstance(error, asyncio.TimeoutError | PoolTimeout) or state in _BUSY:
        return StoreBusy(f"the {label} is too slow or busy: try again")
    if outdated(error):
        return StoreUnavailable(f"the {label} is being altered: try again")
    if connection_lost(error) or (state or "")[:2] in _AWAY_CLASSES:
        return StoreUnavailable(f"the {label} does not answer: try again")
    return None


def is_locked(error: sqlite3.Error) -> bool:
    return _primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _of_sqlite(error: sqlite3.Error, label: str) -> StoreUnavailable | None:
    if is_locked(error):
        return StoreBusy(f"the {label} is locked by another writer: try again")
    text = str(error)
    if text.startswith(("no such table", "no such column")) or " has no column named " in text:
        return MigrationNeeded(f"the {label} has no tables of this version: {RUN_MIGRATE}")
    if _primary_code(error) in _SQLITE_REFUSES:
        return refused(label, _SQLITE_REFUSES[_primary_code(error)])
    if _primary_code(error) in _UNUSABLE:
        return refused(label, f"cannot be used: {text}")
    return None


_SQLITE_REFUSES = {
    sqlite3.SQLITE_READONLY: "is read-only: the user of this process needs write access to the file and its folder",
    sqlite3.SQLITE_FULL: "has no space left on its disk",
}
_OF_FILES = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR}
_UNUSABLE = {
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_PROTOCOL,  # many processes opened the write-ahead log at the same moment
}


def _primary_code(error: sqlite3.Error) -> int:
    code: int = getattr(error, "sqlite_errorcode", 0) or 0
    return code & 0xFF


T = TypeVar("T")


class StoreEngine(Protocol):
    """Runs the statements of a store. ``deadline``: the time (``time.monotonic()``) by which a call ends."""

    async def read(self, query: Query, values: Mapping[str, Any], deadline: float) -> Sequence[Row]:
        """Return the selected rows. Raises StoreUnavailable, MigrationNeeded."""
        ...

    def look_up(self, handle: bytes, deadline: float) -> Awaitable[Row]:
        """Return the row of ``queries.LOOK_UP`` for the handle. It includes all writes before this call. Raises the
        errors of ``read``."""
        ...

    async def write(self, work: Callable[[Connection], T], deadline: float, late: Callable[[T | None], None]) -> T:
        """Run ``work`` in one transaction, and return its result.

        - Raises StoreUnavailable if nothing changed.
        - Raises OutcomeUnknown if the write may have been done: the deadline passed after the write (SQLite) or the
          commit (PostgreSQL) had started, or the connection broke during the commit.

        After OutcomeUnknown, SQLite calls ``late`` in this event loop when the outcome becomes known, with the result
        of ``work``, or with None if nothing changed."""
        ...

    async def aclose(self) -> None: ...


def mark_retrieved(task: asyncio.Task[Any]) -> None:
    """A done callback that keeps asyncio from logging the task's error."""
    if not task.cancelled():
        task.exception()


def remaining(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic())


# --- queries and statements ---
# Most statements bypass SQLAlchemy's execution: writes on SQLite are then ten times faster.


class CompiledQuery:
    __slots__ = ("_constants", "_names", "text")

    def __init__(self, query: Query, dialect: Dialect) -> None:
        compiled = query.compile(dialect=dialect)
        self.text: str = str(compiled)
        self._names: list[str] = list(getattr(compiled, "positiontup", None) or ())
        self._constants = {name: value for name, value in compiled.params.items() if value is not None}

    def values(self, given: Mapping[str, Any]) -> tuple[Any, ...]:
        constants = self._constants
        return tuple([given[name] if name in given else constants[name] for name in self._names])


class CompiledQueries(dict[Query, CompiledQuery]):
    def __init__(self, dialect: Dialect) -> None:
        super().__init__()
        self._dialect = dialect

    def __missing__(self, query: Query) -> CompiledQuery:
        compiled = self[query] = CompiledQuery(query, self._dialect)
        return compiled


_compiled: dict[type[Dialect], CompiledQueries] = {}


def compiled_for(dialect: Dialect) -> CompiledQueries:
    return _compiled.get(type(dialect)) or _compiled.setdefault(type(dialect), CompiledQueries(dialect))


def first(connection: Connection, query: Query, /, **values: Any) -> Row | None:
    rows = every(connection, query, **values)
    return rows[0] if rows else None


def every(connection: Connection, query: Query, /, **values: Any) -> Sequence[Row]:
    compiled = compiled_for(connection.dialect)[query]
    taken = compiled.values(values)
    if connection.dialect.name == "sqlite":
        rows: Sequence[Row] = _driver(connection).execute(compiled.text, taken).fetchall()
        return rows
    return _on_postgres(connection, compiled.text, taken)[0]


def count(connection: Connection, query: Query, /, **values: Any) -> int:
    compiled = compiled_for(connection.dialect)[query]
    taken = compiled.values(values)
    if connection.dialect.name == "sqlite":
        return int(_driver(connection).execute(compiled.text, taken).rowcount)
    return _on_postgres(connection, compiled.text, taken)[1]


def first_of(connection: Connection, text: str, values: tuple[Any, ...]) -> Row | None:
    rows = all_of(connection, text, values)
    return rows[0] if rows else None


def all_of(connection: Connection, text: str, values: tuple[Any, ...]) -> Sequence[Row]:
    if connection.dialect.name == "sqlite":
        rows: Sequence[Row] = _driver(connection).execute(text, values).fetchall()
        return rows
    return _on_postgres(connection, text, values)[0]


def _on_postgres(connection: Connection, text: str, values: tuple[Any, ...]) -> tuple[Sequence[Row], int]:
    # A write runs in one of SQLAlchemy's greenlets, so ``await_only`` can await the asynchronous connection.
    done: tuple[Sequence[Row], int] = await_only(connection.connection.driver_connection.run(text, values))  # type: ignore[union-attr]
    return done


def _driver(connection: Connection) -> Any:
    return connection.connection.dbapi_connection


def _insert(connection: Connection, table: Table) -> Any:
    if connection.dialect.name == "sqlite":
        return sqlite.insert(table)
    # Imported here: SQLite does not need it, and it takes a tenth of the time in which a command starts.
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table)


def delete_expired(connection: Connection, table: Table, now: datetime) -> None:
    expired = select(*table.primary_key).where(table.c.expires_at <= to_micros(now))
    delete_chosen(connection, table, expired.order_by(table.c.expires_at))


def delete_chosen(connection: Connection, table: Table, chosen: Select[Any]) -> None:
    """Delete at most a hundred of the rows whose primary keys ``chosen`` returns. Rows that another transaction has
    locked are skipped."""
    few = chosen.limit(_DELETED_AT_ONCE).with_for_update(skip_locked=True)
    connection.execute(table.delete().where(tuple_(*table.primary_key).in_(few)))


def insert_if_new(connection: Connection, table: Table, values: dict[str, Any]) -> int | None:
    """Insert a row and return its generated key (0 if the table has none). Return None if a row with the same unique
    value exists. On PostgreSQL, this waits for a transaction that is inserting the same value."""
    key = next((column for column in table.primary_key if column.autoincrement is True), None)
    statement = _insert(connection, table).values(values).on_conflict_do_nothing()
    if key is None:
        done = connection.execute(statement, execution_options={"preserve_rowcount": True})
        return 0 if done.rowcount == 1 else None
    number: int | None = connection.execute(statement.returning(key)).scalar_one_or_none()
    return number


def insert_all(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    # With RETURNING, SQLAlchemy puts many rows into one statement. Without it, each row is a statement.
    connection.execute(table.insert().returning(next(iter(table.primary_key))), list(rows)).close()


def insert_those_new(
    connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]], *returning: Column[Any]
) -> Sequence[Row]:
    """Insert, in order, the rows whose unique values do not exist yet. Return the columns ``returning`` of the inserted
    rows, in any order. This waits for a transaction that is inserting the same values."""
    statement = _insert(connection, table).on_conflict_do_nothing().returning(*returning)
    return connection.execute(statement, list(rows)).all()
