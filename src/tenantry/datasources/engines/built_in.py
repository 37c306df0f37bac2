"""The engines that Tenantry knows: what each needs, what holds its queries, and what is said when one is registered.

A source that cannot be held read-only or whose queries cannot be stopped says so then, and so does one whose Python
package is missing: else the first viewer would find out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Final

from tenantry.datasources.driver import DeclaringDriver, Driver, Enforcement, ReadOnlyBy, missing_driver_message
from tenantry.datasources.engines.warehouse import BY_STATEMENT
from tenantry.datasources.url import check_url, parse_url
from tenantry.datasources.url_secrets.references import check_secrets

HELD: Final = Enforcement()
"""Read-only by the engine itself, and stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltInEngine:
    """One built-in engine. ``module``: what its ``package`` is imported by; ``extra``: that of tenantry which brings
    it. Without these it needs none."""

    enforcement: Enforcement = HELD
    package: str = ""
    module: str = ""
    extra: str = ""


_POSTGRESQL: Final = BuiltInEngine(package="psycopg", module="psycopg", extra="postgres")
_MYSQL: Final = BuiltInEngine(package="PyMySQL", module="pymysql", extra="mysql")

BUILT_IN: Final[Mapping[str, BuiltInEngine]] = {
    "sqlite": BuiltInEngine(),
    "duckdb": BuiltInEngine(package="duckdb", module="duckdb", extra="duckdb"),
    "postgresql": _POSTGRESQL,
    "redshift": _POSTGRESQL,
    "snowflake": BuiltInEngine(
        enforcement=BY_STATEMENT,
        package="snowflake-connector-python",
        module="snowflake.connector",
        extra="snowflake",
    ),
    "bigquery": BuiltInEngine(
        enforcement=BY_STATEMENT, package="google-cloud-bigquery", module="google.cloud.bigquery", extra="bigquery"
    ),
    "databricks": BuiltInEngine(
        enforcement=BY_STATEMENT, package="databricks-sql-connector", module="databricks.sql", extra="databricks"
    ),
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
    "clickhouse": BuiltInEngine(package="clickhouse-connect", module="clickhouse_connect", extra="clickhouse"),
    "chdb": BuiltInEngine(package="chdb", module="chdb", extra="chdb"),
}
"""What ``check_url`` gives -> what is known of it."""

TRUSTED: Final = Enforcement(ReadOnlyBy.USER, can_stop=False)
"""Any other SQLAlchemy dialect."""

_READ_ONLY_NOTES: Final = {
    ReadOnlyBy.STATEMENT: (
        "{name} cannot hold a connection read-only: Tenantry sends it only statements that read, and what functions do "
        "is up to the rights of its user. Register a user who may only read."
    ),
    ReadOnlyBy.USER: ("nothing holds {name} read-only but the rights of its user. Register a user who may only read."),
}
_NO_STOP_NOTE: Final = (
    "a query on {name} cannot be stopped: when its time is up or its viewer has left, it goes on at the server and "
    "keeps its connection until it ends."
)


def registration_notes(url: str, *, trusted: bool = False) -> list[str]:
    """What whoever registers a source of this URL should know; nothing where there is nothing to know.

    No note holds a part of the URL but its dialect. Raises InvalidSource, as ``check_url`` does.
    """
    check_secrets(parse_url(url))
    name = check_url(url, trusted)
    engine = BUILT_IN.get(name)
    if engine is None:
        return [*enforcement_notes(parse_url(url).get_backend_name(), TRUSTED)]
    notes = [*enforcement_notes(name, engine.enforcement)]
    if engine.module and not is_installed(engine.module):
        notes.append(f"{missing_driver_message(engine.package, engine.extra)}, where its queries run")
    return notes


def enforcement_notes(name: str, enforcement: Enforcement) -> Iterator[str]:
    """What does not hold the queries of an engine."""
    note = _READ_ONLY_NOTES.get(enforcement.read_only_by)
    if note is not None:
        yield note.format(name=name)
    if not enforcement.can_stop:
        yield _NO_STOP_NOTE.format(name=name)


def driver_enforcement(driver: Driver[Any]) -> Enforcement:
    """What a Driver says of itself; one that says nothing is taken for the weakest."""
    return driver.enforcement if isinstance(driver, DeclaringDriver) else TRUSTED


def is_installed(module: str) -> bool:
    """Whether a module can be imported. It is not: that can take long."""
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # the package that it is in is missing
        return False
