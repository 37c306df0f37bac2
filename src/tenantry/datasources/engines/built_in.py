"""The built-in engines; opening a source imports its driver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from sqlalchemy.engine import URL

from tenantry.datasources.engines.engine import Engine, lazy_driver
from tenantry.datasources.url import file_path
from tenantry.errors import InvalidSource


def _check_database(url: URL) -> None:
    if not url.database:
        name = url.get_backend_name()
        raise InvalidSource(f"the {name} URL names no database: {name}://user:password@host/NAME", field="/url")


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
"""URL scheme -> engine."""
