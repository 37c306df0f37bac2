"""The registry: engines that other distributions add by an entry point, and what is said when one is not installed."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest
from sqlalchemy.engine import make_url

from tenantry._lazy import entry_points_of
from tenantry.datasources import (
    DataSources,
    Enforcement,
    Engine,
    Limits,
    Monitoring,
    ReadOnlyBy,
    check_url,
    registration_notes,
)
from tenantry.datasources.engines import registry
from tenantry.errors import InvalidSource
from tenantry.groups import RegisteredSource
from tests.datasources.conftest import PRODUCTION, Directory, group
from tests.datasources.test_engines import EchoDriver


def _refuse(source: RegisteredSource, limits: Limits) -> EchoDriver:
    raise ImportError("echo_client")


def _check(url: object) -> None:
    if "bad" in str(url):
        raise InvalidSource("an echo URL is echo://host/name", field="/url")


ECHO = Engine(
    name="echo",
    dialect="sqlite",
    make_driver=EchoDriver,
    enforcement=Enforcement(ReadOnlyBy.STATEMENT),
    check_url=_check,
    package="echo-client",
    module="sqlite3",
    install="tenantry-echo",
)
WITHOUT_CLIENT = Engine(name="bare", make_driver=_refuse, package="bare-client", module="none", install="tenantry-bare")
ANY = Engine(name="trusted", make_driver=EchoDriver, enforcement=Enforcement(ReadOnlyBy.USER), needs_trust=True)
NO_ENGINE = "postgresql"

Install = Callable[..., list[str]]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Replaces the entry points that are installed: names -> objects of this module. Gives the groups that are read."""

    def replace(**values: str) -> list[str]:
        read: list[str] = []
        points = [
            EntryPoint(name.rstrip("_"), value if ":" in value else f"{__name__}:{value}", registry.ENGINE_GROUP)
            for name, value in values.items()
        ]

        def scan(*, group: str) -> EntryPoints:
            read.append(group)
            return EntryPoints(points)

        monkeypatch.setattr(importlib.metadata, "entry_points", scan)
        return read

    _forget()
    yield replace
    _forget()


def _forget() -> None:
    entry_points_of.cache_clear()
    registry._added.cache_clear()


async def test_an_engine_of_a_distribution_runs_queries(install: Install, directory: Directory) -> None:
    """And its URLs are checked when they are registered. Entry points are read once. Red without the cache."""
    read = install(echo="ECHO")
    assert check_url("echo+tcp://host/name") == "echo"
    with pytest.raises(InvalidSource, match="an echo URL"):
        check_url("echo://bad/name")
    (note,) = registration_notes("echo://host/name")
    assert "echo cannot make a connection read-only" in note
    directory.add(1, "echo://host/name")
    directory.add(2, "echo://bad/name")
    async with DataSources(directory, monitoring=Monitoring(query_tags=["echo"])) as sources:
        (row,) = await sources.fetch(group(main="ds_1"), "main", "select {{ region }} as v")
        assert row["params"] == ("acme",)
        with pytest.raises(InvalidSource, match="an echo URL"):
            await sources.fetch(group(main="ds_2"), "main", "select 1")
    assert read == ["tenantry.engines"]


async def test_a_missing_client_is_told_with_its_install_line(install: Install, directory: Directory) -> None:
    """At registration as a note, and by the first query."""
    install(bare="WITHOUT_CLIENT")
    message = "the driver bare-client is not installed: pip install 'tenantry-bare'"
    assert registration_notes("bare://h/n") == [f"{message}, wherever queries of this data source run"]
    directory.add(1, "bare://h/n")
    async with DataSources(directory) as sources:
        with pytest.raises(InvalidSource) as caught:
            await sources.fetch(group(main="ds_1"), "main", "select 1")
    assert caught.value.message == message


def test_an_engine_that_names_no_package_shows_which_import_failed() -> None:
    """There is no install line to give. Red when the error named an empty package."""
    source = RegisteredSource("ds_1", "main", PRODUCTION, "bare://h/n")
    with pytest.raises(ImportError, match="echo_client"):
        replace(WITHOUT_CLIENT, package="", module="", install="").open_driver(source, Limits())


@pytest.mark.parametrize(
    ("url", "trusted", "words"),
    [
        ("snowflake://u:p@a/db", False, "pip install 'tenantry-warehouses[snowflake]'"),
        ("bigquery://p/d", True, "pip install 'tenantry-warehouses[bigquery]'"),
        ("databricks://token:t@h", False, "pip install 'tenantry-warehouses[databricks]'"),
        ("mssql+pymssql://u:p@h/d", True, "pip install tenantry-warehouses"),
    ],
)
def test_a_missing_distribution_is_told_with_its_install_line(
    url: str, trusted: bool, words: str, install: Install
) -> None:
    """Red when a warehouse was an unknown dialect: the advice was ``--trusted``."""
    install()
    scheme = make_url(url).get_backend_name()
    with pytest.raises(InvalidSource) as caught:
        check_url(url, trusted)
    assert caught.value.message == f"the engine of {scheme}:// URLs is not installed: {words}"


def test_the_engine_of_other_schemes_needs_trust(install: Install) -> None:
    """Also under its own name. Red when ``trusted://`` needed no ``--trusted``."""
    install(trusted="ANY", echo="ECHO")
    assert check_url("acme://h/n", trusted=True) == "acme"
    assert check_url("echo://h/n", trusted=True) == "echo"
    for url in ("acme://h/n", "trusted://h/n"):
        with pytest.raises(InvalidSource, match="register the source with --trusted"):
            check_url(url)


def test_a_built_in_engine_cannot_be_replaced(install: Install) -> None:
    """Red when entry points came first. No entry point is read for one."""
    read = install(sqlite="ECHO", postgres="ECHO")
    assert registry.find_engine(make_url("sqlite:///a.db")) is registry.BUILT_IN["sqlite"]
    assert registry.find_engine(make_url("postgres://h/d")).name == "postgresql"
    assert read == []


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"echo": "NO_ENGINE"}, r"NO_ENGINE is not an Engine$"),
        ({"echo": "ABSENT"}, r"cannot be loaded: AttributeError"),
        ({"echo": "no_such_module:ECHO"}, r"cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'$"),
        ({"echo": "ECHO", "echo_": "ECHO"}, r"comes from several distributions"),
    ],
)
def test_an_entry_point_that_gives_no_engine_is_told(values: dict[str, str], says: str, install: Install) -> None:
    """Each is an error of that scheme alone."""
    install(**values)
    with pytest.raises(InvalidSource, match=says):
        check_url("echo://h/n")
    assert check_url("sqlite:///a.db") == "sqlite"


def test_nothing_is_loaded_before_it_is_used(tmp_path: Path) -> None:
    """Neither clients nor entry points: an import is cheap, and SQLite loads SQLite. Red when a driver was imported by
    the table of engines."""
    code = (
        "import sys, importlib.metadata as m\n"
        "def scan(**_): raise SystemExit('entry points were read')\n"
        "m.entry_points = scan\n"
        "from tenantry.datasources import Limits, check_url\n"
        "from tenantry.datasources.open_sources import create_source\n"
        "from tenantry.groups import Environment, RegisteredSource, Tag\n"
        "for url in ('mysql://h/d', 'postgres://h/d', 'clickhouse://h/d', 'duckdb:///a', 'chdb:///a'): check_url(url)\n"
        "source = RegisteredSource('ds_1', None, Environment(1, 'p', Tag.CUSTOMER), 'sqlite:///a.db')\n"
        "create_source(source, Limits())\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert loaded.isdisjoint({"psycopg", "duckdb", "pymysql", "chdb", "clickhouse_connect"})
    others = (name for name in registry.BUILT_IN_NAMES if name != "sqlite")
    assert {f"tenantry.datasources.engines.{name}" for name in others}.isdisjoint(done.stdout.split())
