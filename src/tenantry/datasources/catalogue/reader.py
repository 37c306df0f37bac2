from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any, Final, NamedTuple

from tenantry.datasources.catalogue.model import Catalogue, CatalogueTable, ForeignKey
from tenantry.datasources.catalogue.queries import QUERIES
from tenantry.datasources.checks.connection_check import open_alone
from tenantry.datasources.engines.engine import DriverFactory
from tenantry.datasources.pool.query_limits import Limits
from tenantry.datasources.url_secrets.resolution import Keys
from tenantry.errors import InvalidSource
from tenantry.groups import RegisteredSource
from tenantry.sql import DIALECTS, SQLTemplate

CATALOGUE_SECONDS: Final = 60.0
"""Default timeout."""

_LIMITS: Final = Limits(timeout=CATALOGUE_SECONDS, row_limit=1_000_000, max_bytes=512 * 1024 * 1024, pool_size=1)
_SQLITE_TABLES = "select name, type = 'view', sql from sqlite_schema where type in ('table', 'view') order by rowid"

_COLUMNS = "select name from pragma_table_xinfo(?) where hidden <> 1 order by cid"
_FOREIGN_KEYS = """
    select max("from"), max("table"), max("to") from pragma_foreign_key_list(?)
    group by id having count(*) = 1 order by id desc
"""
_PRIMARY_KEY = "select max(name) from pragma_table_info(?) where pk > 0 having count(*) = 1"
_PLAIN: Final = re.compile(r"[^\W\d]\w*")
_QUOTABLE: Final = re.compile(r"[^\"`\[\]'\\\x00-\x1f]+")
_WORDS: Final = (
    "all and analyse analyze any array as asc between both by case cast check collate column constraint create cross"
    " current database default delete desc describe distinct drop else end except exists explain false for foreign from"
    " full grant group groups having in index inner insert interval into is join key keys lateral leading left like"
    " limit natural not null offset on only option or order outer over partition primary range rank references right"
    " row rows schema select set show some system table tables then to true union unique update user using values view"
    " when where window with"
)
_RESERVED: Final = frozenset(_WORDS.split())


async def read_catalogue(
    source: RegisteredSource, *, keys: Keys = None, engines: Mapping[str, DriverFactory] | None = None
) -> Catalogue:
    """Read the names of the tables, columns and foreign keys that the source's database user can see. ``keys`` and
    ``engines`` are those of ``DataSources``. Raises DataSourceError, such as InvalidSource if Tenantry cannot read the
    catalogue of this dialect."""
    # Leave out the declaration: it may be wrong, and the catalogue helps to correct it.
    asked = replace(source, tables="")
    async with open_alone(asked, _LIMITS, keys=keys, engines=engines) as opened:
        if opened.dialect == "sqlite":
            schema = _sqlite_schema((await opened.ask(SQLTemplate(_SQLITE_TABLES))).rows)
            return _catalogue(opened.dialect, schema.columns, schema.foreign_keys)
        if opened.dialect not in QUERIES:
            raise InvalidSource(
                f"the catalogue of a {opened.dialect} source cannot be read: write the list of tables yourself",
                field="/url",
            )
        columns, foreign_keys = QUERIES[opened.dialect]
        rows = (await opened.ask(SQLTemplate(columns))).rows
        links = (await opened.ask(SQLTemplate(foreign_keys))).rows if foreign_keys else ()
    return _catalogue(opened.dialect, rows, links)


def _catalogue(dialect: str, columns: Iterable[Sequence[Any]], foreign_keys: Iterable[Sequence[Any]]) -> Catalogue:
    # Columns and foreign keys with names that no declaration can contain are left out.
    found: dict[tuple[str, ...], list[str]] = {}
    views: set[tuple[str, ...]] = set()
    for schema, table, column, is_view in columns:
        path = _path(schema, table)
        names = found.setdefault(path, [])
        if column is not None and (name := spelled(column, dialect)) is not None:
            names.append(name)
        if is_view:
            views.add(path)
    tables = [_table(path, names, dialect, is_view=path in views) for path, names in found.items()]
    keys = []
    for schema, table, column, parent_schema, parent, parent_column in foreign_keys:
        parts = (
            _spelled_path(_path(schema, table), dialect),
            spelled(column, dialect),
            _spelled_path(_path(parent_schema, parent), dialect),
            spelled(parent_column, dialect),
        )
        if None not in parts:
            keys.append(ForeignKey(*map(str, parts)))
    return Catalogue.of(tables, keys)


def _path(schema: str, table: str) -> tuple[str, ...]:
    return (schema, table) if schema else (table,)


def _spelled_path(path: tuple[str, ...], dialect: str) -> str | None:
    parts = [spelled(part, dialect) for part in path]
    return None if None in parts else ".".join(map(str, parts))


def _table(path: tuple[str, ...], columns: Sequence[str], dialect: str, *, is_view: bool) -> CatalogueTable:
    name = _spelled_path(path, dialect)
    return CatalogueTable(
        ".".join(path) if name is None else name, tuple(columns), is_view, is_declarable=name is not None
    )


# --- SQLite: its statements run in an empty database, because queries may not use pragmas -----------------------------


class _SQLiteSchema(NamedTuple):
    columns: list[tuple[str, str, str | None, bool]]
    foreign_keys: list[tuple[str, str, str, str, str, str]]


def _sqlite_schema(rows: Iterable[Sequence[Any]]) -> _SQLiteSchema:
    listed = [row for row in rows if not row[0].startswith("sqlite_")]
    with closing(sqlite3.connect(":memory:")) as empty:
        empty.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        for _, _, statement in listed:
            with suppress(sqlite3.Error):
                empty.execute(statement)
        # A table without known columns, such as a virtual table whose extension is missing, gets the column None.
        return _SQLiteSchema(
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


def spelled(name: str, dialect: str) -> str | None:
    """Return the name as a declaration spells it, or None if no declaration can contain it."""
    identifiers = DIALECTS[dialect].identifiers
    is_plain = _PLAIN.fullmatch(name) and name.lower() not in _RESERVED
    if is_plain and identifiers.key(name, quoted=False) == identifiers.key(name, quoted=True):
        return name
    return f'"{name}"' if _QUOTABLE.fullmatch(name) else None
