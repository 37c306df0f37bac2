"""Engines of the host's own: given by URL scheme, run like the built-in ones, and never in place of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.datasources import DataSources, Driver, Limits
from tenantry.errors import InvalidSettings, InvalidSource, QueryFailed, SourceUnavailable, TenantryError
from tenantry.groups import RegisteredSource
from tenantry.sql import BoundSQL
from tests.datasources.conftest import Directory, group, sqlite_file
from tests.datasources.settings import data_sources

OWNERS = "select distinct owner from orders"


class EchoDriver:
    """Gives back what it is asked, and fails where the SQL asks it to."""

    dialect = "sqlite"
    paramstyle = "qmark"

    def __init__(self, source: RegisteredSource, limits: Limits) -> None:
        self.source_id = source.id
        self.limits = limits
        self.url = source.url
        self.events: list[str] = []

    def open(self) -> str:
        if "down" in self.url:
            raise OSError("cannot connect to secret-host")
        return self.url

    def fetch(self, connection: str, bound: BoundSQL) -> list[dict[str, object]]:
        if "fail" in bound.sql:
            raise RuntimeError(f"secret {bound.params}")
        return [{"url": connection, "sql": bound.sql, "params": bound.params, "timeout": self.limits.timeout}]

    def failure(self, error: Exception) -> TenantryError:
        return QueryFailed(f"echo: {type(error).__name__}")

    def interrupt(self, connection: str) -> None: ...

    def close(self, connection: str) -> None:
        self.events.append("close")

    def shutdown(self) -> None:
        self.events.append("shutdown")


async def test_a_source_of_an_own_scheme_runs_on_the_own_driver(directory: Directory) -> None:
    """Its dialect and paramstyle are the driver's, its limits those of DataSources; closed, it is shut down once."""
    directory.add(1, "echo+tcp://host/name")
    made: list[EchoDriver] = []

    def make(source: RegisteredSource, limits: Limits) -> Driver[str]:
        made.append(EchoDriver(source, limits))
        return made[-1]

    async with data_sources(directory, timeout=7.0, engines={"echo": make}) as sources:
        for _ in range(2):
            rows = await sources.fetch(group(main="ds_1"), "main", "select {{ region }} as v")
            assert rows == [
                {"url": "echo+tcp://host/name", "sql": "select ? as v", "params": ("acme",), "timeout": 7.0}
            ]
        assert await sources.dialect(group(main="ds_1"), "main") == "sqlite"
    assert [driver.events for driver in made] == [["close", "shutdown"]]


async def test_nothing_of_an_own_drivers_error_is_passed_on(directory: Directory) -> None:
    """Neither what it raises when it opens nor what it raises for a query. Red when an exception is passed through."""
    directory.add(1, "echo://up/name")
    directory.add(2, "echo://down/name")
    async with DataSources(directory, engines={"echo": EchoDriver}) as sources:
        with pytest.raises(QueryFailed, match=r"^echo: RuntimeError$") as caught:
            await sources.fetch(group(main="ds_1"), "main", "select 'fail', {{ region }} as v")
        with pytest.raises(SourceUnavailable, match=r"cannot be reached: OSError$") as unreachable:
            await sources.fetch(group(main="ds_2"), "main", "select 1")
    for error in (caught.value, unreachable.value):
        assert error.__cause__ is None
        assert error.__context__ is None


@pytest.mark.parametrize(
    "scheme", ["sqlite", "duckdb", "postgresql", "postgres", "mysql", "mariadb", "clickhouse", "chdb"]
)
def test_a_built_in_engine_cannot_be_replaced(scheme: str, directory: Directory) -> None:
    """The read-only mode of these is promised. Red when ``host_engines`` takes any scheme."""
    with pytest.raises(InvalidSettings, match=f"{scheme}.*built in"):
        DataSources(directory, engines={scheme: EchoDriver})


@pytest.mark.parametrize(("name", "value"), [("dialect", "oracle"), ("paramstyle", "%")])
async def test_an_unknown_dialect_or_paramstyle_is_refused(name: str, value: str, directory: Directory) -> None:
    """A template could not be bound for it."""
    directory.add(1, "echo://host/name")
    driver = type("Other", (EchoDriver,), {name: value})
    async with DataSources(directory, engines={"echo": driver}) as sources:
        with pytest.raises(InvalidSource, match="the dialect must be one of"):
            await sources.fetch(group(main="ds_1"), "main", "select 1")


async def test_other_schemes_are_what_they_were(directory: Directory, tmp_path: Path) -> None:
    """Built-in engines run beside an own one, and an unknown scheme is refused as before."""
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    directory.add(2, "other://host/name")
    async with DataSources(directory, engines={"echo": EchoDriver}) as sources:
        assert await sources.fetch(group(main="ds_1"), "main", OWNERS) == [{"owner": "acme"}]
        with pytest.raises(InvalidSource, match="'other' read-only"):
            await sources.fetch(group(main="ds_2"), "main", OWNERS)
