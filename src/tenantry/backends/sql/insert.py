"""``INSERT … ON CONFLICT DO NOTHING``, which each dialect of SQLAlchemy spells by its own construct."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


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
