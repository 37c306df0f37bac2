"""From a registered source to the DataSource that runs its queries. Nothing is connected here."""

from __future__ import annotations

from tenantry.datasources.duckdb import DuckDBDriver
from tenantry.datasources.limits import Limits
from tenantry.datasources.mysql import MySQLDriver
from tenantry.datasources.postgresql import PostgreSQLSource
from tenantry.datasources.source import DataSource
from tenantry.datasources.sqlite import SQLiteDriver
from tenantry.datasources.threads import ThreadedSource
from tenantry.datasources.url import check_url, file_path, memory_limit, parse
from tenantry.groups import RegisteredSource


def open_source(source: RegisteredSource, limits: Limits) -> DataSource:
    """Raises InvalidSource for a URL, dialect or driver that cannot be used."""
    engine = check_url(source.url, source.trusted)  # again: the row may be older than a rule
    url = parse(source.url)
    match engine:
        case "sqlite":
            return ThreadedSource(SQLiteDriver(source.id, file_path(url), limits), limits)
        case "duckdb":
            return ThreadedSource(DuckDBDriver(source.id, file_path(url), limits, memory_limit(url)), limits)
        case "postgresql":
            return PostgreSQLSource(source.id, url, limits)
        case "mysql":
            return ThreadedSource(MySQLDriver(source.id, url, limits), limits)
        case _:
            from tenantry.datasources.trusted import TrustedDriver  # loads all of SQLAlchemy, which only this needs

            return ThreadedSource(TrustedDriver(source.id, url, limits), limits)
