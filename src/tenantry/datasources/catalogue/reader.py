from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tenantry.datasources.catalogue.model import Catalogue, CatalogueTable, ForeignKey
from tenantry.datasources.catalogue.queries import QUERIES
from tenantry.datasources.catalogue.spelling import spelled
from tenantry.datasources.catalogue.sqlite_schema import TABLES, sqlite_schema
from tenantry.datasources.checks.connection_check import open_alone
from tenantry.datasources.engines.engine import DriverFactory
from tenantry.datasources.pool.query_limits import Limits
from tenantry.datasources.url_secrets.resolution import Keys
from tenantry.errors import InvalidSource
from tenantry.groups import RegisteredSource
from tenantry.sql import SQLTemplate

CATALOGUE_SECONDS: Final = 60.0
"""Default number of seconds to wait for the catalogue."""

_LIMITS: Final = Limits(timeout=CATALOGUE_SECONDS, row_limit=1_000_000, max_bytes=512 * 1024 * 1024, pool_size=1)


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
            schema = sqlite_schema((await opened.ask(SQLTemplate(TABLES))).rows)
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
    """Return the catalogue. Leave out each column that is None or cannot be spelled, and its foreign keys."""
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
