"""The tables of a SQLite file, from the statements that created them: a data source may not read pragmas."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from typing import Any

from tenantry.datasources.catalogue.model import Catalogue, CatalogueTable, ForeignKey

TABLES = "select name, type = 'view', sql from sqlite_schema where type in ('table', 'view') order by rowid"

_COLUMNS = "select name from pragma_table_xinfo(?) where hidden <> 1 order by cid"
_FOREIGN_KEYS = """
    select max("from"), max("table"), max("to") from pragma_foreign_key_list(?)
    group by id having count(*) = 1 order by id desc
"""
_PRIMARY_KEY = "select max(name) from pragma_table_info(?) where pk > 0 having count(*) = 1"


def sqlite_catalogue(rows: Iterable[Sequence[Any]]) -> Catalogue:
    """Run the statements of ``TABLES``' rows in an empty database, and read its catalogue. A table that needs an
    extension, such as a virtual table, has no columns."""
    listed = [row for row in rows if not row[0].startswith("sqlite_")]
    with closing(sqlite3.connect(":memory:")) as empty:
        empty.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        for _, _, statement in listed:
            with suppress(sqlite3.Error):
                empty.execute(statement)
        tables = [CatalogueTable(name, _columns(empty, name), bool(is_view)) for name, is_view, _ in listed]
        keys = [key for table in tables for key in _foreign_keys(empty, table.name)]
    return Catalogue.of(tables, keys)


def _columns(database: sqlite3.Connection, table: str) -> tuple[str, ...]:
    with suppress(sqlite3.Error):  # of a view of a virtual table
        return tuple(name for (name,) in database.execute(_COLUMNS, (table,)))
    return ()


def _foreign_keys(database: sqlite3.Connection, table: str) -> Iterator[ForeignKey]:
    for column, parent, given in database.execute(_FOREIGN_KEYS, (table,)).fetchall():
        parent_column = given
        if parent_column is None:  # `references orders` means the primary key of orders
            row = database.execute(_PRIMARY_KEY, (parent,)).fetchone()
            parent_column = None if row is None else row[0]
        if parent_column is not None:
            yield ForeignKey(table, column, parent, parent_column)
