"""Engine: the little that SQLStore needs of a database; and running SQL on it, each query compiled once for a driver.

Within a write a fixed statement goes straight to the driver, past all of SQLAlchemy: on SQLite in a tenth of the time
that Core takes for it. Values are what the driver takes: JSON is text.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.util import await_only

from tenantry.backends.sql.queries import Query
from tenantry.backends.sql.rows import Row

T = TypeVar("T")


class Engine(Protocol):
    """One database. A ``deadline`` is a moment of ``time.monotonic()`` by which the caller wants its answer: it covers
    waiting in a queue, for a lock and for a connection."""

    async def read(self, query: Query, values: Mapping[str, Any], deadline: float) -> Sequence[Row]:
        """All rows of a read, straight from the driver. Raises StoreUnavailable, MigrationNeeded."""
        ...

    def look_up(self, handle: bytes, deadline: float) -> Awaitable[Row]:
        """The row of ``queries.LOOK_UP`` for this handle, read after the call. Raises as ``read`` does."""
        ...

    async def write(self, work: Callable[[Connection], T], deadline: float, late: Callable[[T | None], None]) -> T:
        """Runs ``work`` in one transaction and commits it.

        Raises StoreUnavailable when nothing was changed, and OutcomeUnknown when the commit was under way; in the
        second case ``late`` is called, in this event loop, if the end of that commit is ever heard of: with what
        ``work`` gave, or None if nothing was changed.
        """
        ...

    async def aclose(self) -> None:
        """Gives back what is open; the next call opens it anew."""
        ...


def mark_retrieved(task: asyncio.Task[Any]) -> None:
    """A callback of a task whose error its caller gets, if it still waits: asyncio is not to report it as well."""
    if not task.cancelled():
        task.exception()


def remaining(deadline: float) -> float:
    """Seconds until ``deadline``; 0 when it has passed."""
    return max(0.0, deadline - time.monotonic())


# --- queries and statements ---


class CompiledQuery:
    """A statement as text for one driver, with the order in which it takes its values."""

    __slots__ = ("_constants", "_names", "text")

    def __init__(self, query: Query, dialect: Dialect) -> None:
        compiled = query.compile(dialect=dialect)
        self.text: str = str(compiled)
        self._names: list[str] = list(getattr(compiled, "positiontup", None) or ())
        self._constants = {name: value for name, value in compiled.params.items() if value is not None}

    def values(self, given: Mapping[str, Any]) -> tuple[Any, ...]:
        """The values in the order of the text, those that the query itself holds among them."""
        constants = self._constants
        return tuple([given[name] if name in given else constants[name] for name in self._names])


class CompiledQueries(dict[Query, CompiledQuery]):
    """The statements of one dialect, each compiled when it is first asked for."""

    def __init__(self, dialect: Dialect) -> None:
        super().__init__()
        self._dialect = dialect

    def __missing__(self, query: Query) -> CompiledQuery:
        compiled = self[query] = CompiledQuery(query, self._dialect)
        return compiled


_compiled: dict[type[Dialect], CompiledQueries] = {}


def first(connection: Connection, query: Query, /, **values: Any) -> Row | None:
    """The first row that a statement gives; None if it gives none."""
    compiled = _of(connection)[query]
    return first_of(connection, compiled.text, compiled.values(values))


def count(connection: Connection, query: Query, /, **values: Any) -> int:
    """How many rows a statement has changed."""
    compiled = _of(connection)[query]
    taken = compiled.values(values)
    if connection.dialect.name == "sqlite":
        return int(_driver(connection).execute(compiled.text, taken).rowcount)
    return _on_postgres(connection, compiled.text, taken)[1]


def first_of(connection: Connection, text: str, values: tuple[Any, ...]) -> Row | None:
    """The same for a text that is written for the engine."""
    if connection.dialect.name == "sqlite":
        rows: Sequence[Row] = _driver(connection).execute(text, values).fetchall()
        return rows[0] if rows else None
    rows, _ = _on_postgres(connection, text, values)
    return rows[0] if rows else None


def _on_postgres(connection: Connection, text: str, values: tuple[Any, ...]) -> tuple[Sequence[Row], int]:
    """The connection is an asynchronous one; the function that writes runs in a greenlet, which may wait for it."""
    done: tuple[Sequence[Row], int] = await_only(connection.connection.driver_connection.run(text, values))  # type: ignore[union-attr]
    return done


def _of(connection: Connection) -> CompiledQueries:
    dialect = connection.dialect
    return _compiled.get(type(dialect)) or _compiled.setdefault(type(dialect), CompiledQueries(dialect))


def _driver(connection: Connection) -> Any:
    return connection.connection.dbapi_connection


def insert_if_new(connection: Connection, table: Table, values: dict[str, Any]) -> int | None:
    """Inserts a row unless a unique column is taken: then None, else the row's integer key (0 where it has none).

    On PostgreSQL it waits for another transaction that inserts the same row, and then knows whether that one held.
    """
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    key = next((column for column in table.primary_key if column.autoincrement is True), None)
    statement = insert(table).values(values).on_conflict_do_nothing()
    if key is None:
        done = connection.execute(statement, execution_options={"preserve_rowcount": True})
        return 0 if done.rowcount == 1 else None
    number: int | None = connection.execute(statement.returning(key)).scalar_one_or_none()
    return number
