"""Reads the tables of a SQLite file from the statements that created them, because queries may not use pragmas."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from typing import Any, NamedTuple

TABLES = "select name, type = 'view', sql from sqlite_schema where type in ('table', 'view') order by rowid"

_COLUMNS = "select name from pragma_table_xinfo(?) where hidden <> 1 order by cid"
_FOREIGN_KEYS = """
    select max("from"), max("table"), max("to") from pragma_foreign_key_list(?)
    group by id having count(*) = 1 order by id desc
"""
_PRIMARY_KEY = "select max(name) from pragma_table_info(?) where pk > 0 having count(*) = 1"


class SQLiteSchema(NamedTuple):
    columns: list[tuple[str, str, str | None, bool]]
    foreign_keys: list[tuple[str, str, str, str, str, str]]


def sqlite_schema(rows: Iterable[Sequence[Any]]) -> SQLiteSchema:
    """Read the catalogue from the rows of ``TABLES``. A table that needs an extension, such as a virtual table, has
    None as its only column."""
    listed = [row for row in rows if not row[0].startswith("sqlite_")]
    with closing(sqlite3.connect(":memory:")) as empty:
        empty.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        for _, _, statement in listed:
            with suppress(sqlite3.Error):
                empty.execute(statement)
        return SQLiteSchema(
            [("", name, column, bool(view)) for name, view, _ in listed for column in _columns(empty, name) or (None,)],
            [key for name, _, _ in listed for key in _foreign_keys(empty, name)],
        )


def _columns(database: sqlite3.Connection, table: str) -> tuple[str, ...]:
    with suppress(sqlite3.Error):  # a view of a virtual table raises an error
        return tuple(name for (name,) in database.execute(_COLUMNS, (table,)))
    return ()


def _foreign_keys(database: sqlite3.Connection, table: str) -> Iterator[tuple[str, str, str, str, str, str]]:
    for column, parent, given in database.execute(_FOREIGN_KEYS, (table,)).fetchall():
        parent_column = given
        if parent_column is None:  # `references orders` means the primary key of orders
            row = database.execute(_PRIMARY_KEY, (parent,)).fetchone()
            parent_column = None if row is None else row[0]
        if parent_column is not None:
            yield "", table, column, "", parent, parent_column
