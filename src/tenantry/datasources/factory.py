"""From a registered source to the DataSource that runs its queries: the built-in engines, and those of the host's own.
Nothing is connected here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from tenantry.datasources.driver import DataSource, Driver
from tenantry.datasources.duckdb import DuckDBDriver
from tenantry.datasources.limits import Limits
from tenantry.datasources.mysql import MySQLDriver
from tenantry.datasources.postgresql import PostgreSQLSource
from tenantry.datasources.sqlite import SQLiteDriver
from tenantry.datasources.threads import ThreadedSource
from tenantry.datasources.url import ENGINES, check_url, file_path, memory_limit, parse
from tenantry.errors import InvalidSettings, InvalidSource
from tenantry.groups import RegisteredSource
from tenantry.sql import DIALECTS, PARAMSTYLES

DriverFactory: TypeAlias = Callable[[RegisteredSource, Limits], Driver[Any]]
"""Makes the driver of one data source, without connecting. Raises InvalidSource for a URL that it cannot use."""


def check_engines(engines: Mapping[str, DriverFactory]) -> dict[str, DriverFactory]:
    """A copy of the host's own engines. Raises InvalidSettings for a URL scheme that is built in."""
    for scheme in engines:
        if scheme in ENGINES:
            raise InvalidSettings(f"the engine {scheme!r} is built in: give your own another URL scheme")
    return dict(engines)


def create_source(source: RegisteredSource, limits: Limits, engines: Mapping[str, DriverFactory]) -> DataSource:
    """Raises InvalidSource for a URL, dialect or driver that cannot be used. ``engines`` by URL scheme."""
    url = parse(source.url)
    factory = engines.get(url.get_backend_name())
    if factory is not None:
        return ThreadedSource(_check_driver(factory(source, limits)), limits)
    engine = check_url(source.url, source.trusted)  # again: the row may be older than a rule
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


def _check_driver(driver: Driver[Any]) -> Driver[Any]:
    if driver.dialect not in DIALECTS or driver.paramstyle not in PARAMSTYLES:
        raise InvalidSource(
            f"the driver of data source {driver.source_id} has dialect {driver.dialect!r} and paramstyle "
            f"{driver.paramstyle!r}; known are {', '.join(DIALECTS)} and {', '.join(PARAMSTYLES)}"
        )
    return driver
