"""Finds the engine of a URL: first among those passed to DataSources, then the built-in ones, then the entry points."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final

from sqlalchemy.engine import URL

from tenantry._lazy import EntryPointError, load_entry_point
from tenantry.datasources.driver import DeclaringDriver, Driver
from tenantry.datasources.engines.engine import UNHELD, DriverFactory, Engine, enforcement_notes, lazy_driver
from tenantry.datasources.pool.query_limits import Limits
from tenantry.datasources.url import file_path, parse_url
from tenantry.datasources.url_secrets.references import check_secrets
from tenantry.errors import InvalidSettings, InvalidSource
from tenantry.groups import RegisteredSource

ENGINE_GROUP: Final = "tenantry.engines"
"""The entry point group of engines. An entry point's name is a URL scheme."""

ANY_SCHEME: Final = "trusted"
"""Entry point of the fallback engine. If no engine has the scheme of a source's URL, and the source was registered with
``--trusted``, this engine is used."""

_INSTALLED_BY: Final = {
    "snowflake": "'tenantry-warehouses[snowflake]'",
    "bigquery": "'tenantry-warehouses[bigquery]'",
    "databricks": "'tenantry-warehouses[databricks]'",
    ANY_SCHEME: "tenantry-warehouses",
}
"""What to ``pip install`` for an engine, by the name of its entry point."""

_log: Final = logging.getLogger(__name__)


def _check_database(url: URL) -> None:
    if not url.database:
        name = url.get_backend_name()
        raise InvalidSource(f"the {name} URL names no database: write {name}://user:password@host/NAME", field="/url")


_SQLITE: Final = Engine(
    name="sqlite",
    dialect="sqlite",
    make_driver=lazy_driver("tenantry.datasources.engines.sqlite:SQLiteDriver"),
    check_url=file_path,
)
_DUCKDB: Final = Engine(
    name="duckdb",
    dialect="duckdb",
    make_driver=lazy_driver("tenantry.datasources.engines.duckdb:DuckDBDriver"),
    check_url=file_path,
    package="duckdb",
    module="duckdb",
    install="tenantry[duckdb]",
)
_POSTGRESQL: Final = Engine(
    name="postgresql",
    dialect="postgresql",
    make_driver=lazy_driver("tenantry.datasources.engines.postgresql:PostgreSQLDriver"),
    check_url=_check_database,
    package="psycopg",
    module="psycopg",
    install="tenantry[postgres]",
)
_MYSQL: Final = Engine(
    name="mysql",
    dialect="mysql",
    make_driver=lazy_driver("tenantry.datasources.engines.mysql:MySQLDriver"),
    check_url=_check_database,
    package="PyMySQL 1.2 or newer",
    module="pymysql",
    install="tenantry[mysql]",
)
_CLICKHOUSE: Final = Engine(
    name="clickhouse",
    dialect="clickhouse",
    make_driver=lazy_driver("tenantry.datasources.engines.clickhouse:ClickHouseDriver"),
    check_url=_check_database,
    package="clickhouse-connect",
    module="clickhouse_connect",
    install="tenantry[clickhouse]",
)
_CHDB: Final = Engine(
    name="chdb",
    dialect="clickhouse",
    make_driver=lazy_driver("tenantry.datasources.engines.chdb:ChDBDriver"),
    check_url=file_path,
    package="chdb",
    module="chdb",
    install="tenantry[chdb]",
    opens_one=True,
)

BUILT_IN: Final[Mapping[str, Engine]] = {
    "sqlite": _SQLITE,
    "duckdb": _DUCKDB,
    "postgresql": _POSTGRESQL,
    "postgres": _POSTGRESQL,
    "redshift": replace(_POSTGRESQL, name="redshift", dialect="redshift"),
    "mysql": _MYSQL,
    "mariadb": replace(_MYSQL, name="mariadb", dialect="mariadb"),
    "clickhouse": _CLICKHOUSE,
    "chdb": _CHDB,
}
"""The engines by URL scheme. A driver is imported when the first source of its engine opens."""
BUILT_IN_NAMES: Final = sorted({each.name for each in BUILT_IN.values()})


def find_engine(url: URL, host: Mapping[str, Engine] | None = None, *, trusted: bool = False) -> Engine:
    """Return a URL's engine; ``host`` comes from ``host_engines``. Raises InvalidSource for an unknown scheme and,
    unless ``trusted``, for an engine with ``needs_trust``."""
    scheme = url.get_backend_name()
    engine = (host or {}).get(scheme) or BUILT_IN.get(scheme) or _added(scheme)
    if engine is None and scheme not in _INSTALLED_BY and trusted:
        engine = _added(ANY_SCHEME)
    if engine is None and (trusted or scheme in _INSTALLED_BY):
        words = _INSTALLED_BY.get(scheme, _INSTALLED_BY[ANY_SCHEME])
        raise InvalidSource(f"the engine of {scheme}:// URLs is not installed: pip install {words}", field="/url")
    if engine is None or (engine.needs_trust and not trusted):
        raise InvalidSource(
            f"Tenantry cannot make queries on the engine {scheme!r} read-only. If the source's database user can only "
            f"read, register the source with --trusted. The built-in engines are: {', '.join(BUILT_IN_NAMES)}",
            field="/url",
        )
    return engine


def host_engines(factories: Mapping[str, DriverFactory]) -> dict[str, Engine]:
    """Return the engines of ``DataSources(engines=…)`` by URL scheme. Raises InvalidSettings for a built-in
    scheme."""
    for scheme in factories:
        if scheme in BUILT_IN:
            raise InvalidSettings(f"the engine {scheme!r} is built in: give your engine another URL scheme")
    return {scheme: Engine(name=scheme, make_driver=_reporting(make)) for scheme, make in factories.items()}


def _reporting(make_driver: DriverFactory) -> DriverFactory:
    def make(source: RegisteredSource, limits: Limits) -> Driver[Any]:
        driver = make_driver(source, limits)
        enforcement = driver.enforcement if isinstance(driver, DeclaringDriver) else UNHELD
        for note in enforcement_notes(f"data source {source.id}", enforcement):
            _log.warning("%s", note)
        return driver

    return make


def is_engine(name: str) -> bool:
    """Whether an engine has this name. Raises InvalidSource for a broken entry point."""
    return name in BUILT_IN_NAMES or (name not in BUILT_IN and _added(name) is not None)


def engine_name(url_scheme: str) -> str | None:
    engine = BUILT_IN.get(url_scheme)
    return None if engine is None else engine.name


def check_url(url: str, trusted: bool = False) -> str:
    """Check a URL, and return the name of its engine. For an engine that works only with ``trusted``, return the URL's
    scheme instead. Raises InvalidSource for an unusable URL."""
    parsed = parse_url(url)
    engine = find_engine(parsed, trusted=trusted)
    engine.check_url(parsed)
    return parsed.get_backend_name() if engine.needs_trust else engine.name


def registration_notes(url: str, *, trusted: bool = False) -> list[str]:
    """Return warnings for the operator who registers a URL: the engine does not keep queries read-only, cannot stop
    queries, or needs a package that is missing here. They name the engine, but quote nothing else of the URL. Raises
    InvalidSource for an unusable URL."""
    parsed = parse_url(url)
    check_secrets(parsed)
    name = check_url(url, trusted)
    engine = find_engine(parsed, trusted=trusted)
    notes = [*enforcement_notes(name, engine.enforcement)]
    if not engine.is_installed:
        notes.append(f"{engine.missing_package}, wherever queries of this data source run")
    return notes


def source_notes(source: RegisteredSource, driver: Driver[Any], host: Mapping[str, Engine]) -> tuple[str, ...]:
    """Return warnings if the source's engine does not keep queries read-only or cannot stop them. ``host``: the engines
    of ``DataSources(engines=…)``."""
    engine = find_engine(parse_url(source.url), host, trusted=source.trusted)
    enforcement = engine.enforcement
    if engine.name in host:
        enforcement = driver.enforcement if isinstance(driver, DeclaringDriver) else UNHELD
    return tuple(enforcement_notes(f"data source {source.provided_id}", enforcement))


@cache
def _added(name: str) -> Engine | None:
    try:
        return load_entry_point(ENGINE_GROUP, name, Engine, expected="an Engine", title=f"the engine {name!r}")
    except EntryPointError as error:
        raise InvalidSource(str(error)) from None
