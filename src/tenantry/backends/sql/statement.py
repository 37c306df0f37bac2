"""Running a fixed statement within a write.

Its text is compiled once and goes straight to the driver, past all of SQLAlchemy: on SQLite in a tenth of the time that
Core takes for it. Values are what the driver takes: JSON is text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.engine import Dialect
from sqlalchemy.util import await_only

from tenantry.backends.sql.queries import Query, Texts
from tenantry.backends.sql.rows import Row

_texts: dict[type[Dialect], Texts] = {}


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


def _of(connection: Connection) -> Texts:
    dialect = connection.dialect
    return _texts.get(type(dialect)) or _texts.setdefault(type(dialect), Texts(dialect))


def _driver(connection: Connection) -> Any:
    return connection.connection.dbapi_connection
