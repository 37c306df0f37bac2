from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tenantry.datasources.catalogue.model import Catalogue, CatalogueTable, ForeignKey
from tenantry.datasources.catalogue.queries import QUERIES
from tenantry.datasources.catalogue.sqlite_schema import TABLES, sqlite_catalogue
from tenantry.datasources.checks.connection_check import open_alone
from tenantry.datasources.engines.engine import DriverFactory
from tenantry.datasources.pool.query_limits import Limits
from tenantry.datasources.url_secrets.resolution import Keys
from tenantry.errors import InvalidSource
from tenantry.groups import RegisteredSource
from tenantry.sql import SQLTemplate

CATALOGUE_SECONDS: Final = 60.0
"""The default number of seconds to wait for the catalogue."""

_LIMITS: Final = Limits(timeout=CATALOGUE_SECONDS, row_limit=1_000_000, max_bytes=512 * 1024 * 1024, pool_size=1)


async def read_catalogue(
    source: RegisteredSource, *, keys: Keys = None, engines: Mapping[str, DriverFactory] | None = None
) -> Catalogue:
    """Read the names of the tables, columns and foreign keys that the source's user can see. ``keys`` and ``engines``
    as for ``DataSources``. Raises DataSourceError; InvalidSource if the dialect's catalogue is unknown."""
    asked = replace(source, tables="")  # its declaration may be wrong: this helps to correct it
    async with open_alone(asked, _LIMITS, keys=keys, engines=engines) as opened:
        if opened.dialect == "sqlite":
            return sqlite_catalogue((await opened.ask(SQLTemplate(TABLES))).rows)
        if opened.dialect not in QUERIES:
            raise InvalidSource(
                f"the catalogue of a {opened.dialect} source cannot be read: write the list of tables yourself",
                field="/url",
            )
        columns, foreign_keys = QUERIES[opened.dialect]
        tables = _tables((await opened.ask(SQLTemplate(columns))).rows)
        rows = (await opened.ask(SQLTemplate(foreign_keys))).rows if foreign_keys else ()
    return Catalogue.of(tables, (ForeignKey(*map(str, row)) for row in rows))


def _tables(rows: Iterable[Sequence[Any]]) -> list[CatalogueTable]:
    columns: dict[str, list[str]] = {}
    views: set[str] = set()
    for table, column, is_view in rows:
        columns.setdefault(str(table), []).append(str(column))
        if is_view:
            views.add(str(table))
    return [CatalogueTable(name, tuple(found), name in views) for name, found in columns.items()]
