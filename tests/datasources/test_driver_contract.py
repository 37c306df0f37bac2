"""The public contract of a Driver, over every engine that runs here and the example of an own one."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from engines.clickhouse import require_chdb
from engines.clickhouse_http import PASSWORD as CLICKHOUSE_PASSWORD
from engines.clickhouse_http import ClickHouseServer
from engines.mariadb import MariaDB
from engines.postgres import Postgres
from examples.own_engine import CSVDriver
from tenantry.testing import DriverContract, EngineCase
from tests.datasources import engine_cases
from tests.datasources.conftest import duckdb_file, sqlite_file
from tests.datasources.engine_cases import PASSWORD, PATIENCE

CHILD_SECONDS = 300
ROOT = Path(__file__).parents[2]


class TestSQLite(DriverContract):
    """A file."""

    @pytest.fixture
    def engine(self, tmp_path: Path) -> EngineCase:
        return engine_cases.sqlite_case(sqlite_file(tmp_path / "a.db", "acme"), f"sqlite:///{tmp_path / 'missing.db'}")


class TestDuckDB(DriverContract):
    """A file."""

    @pytest.fixture
    def engine(self, tmp_path: Path) -> EngineCase:
        return engine_cases.duckdb_case(
            duckdb_file(tmp_path / "a.duckdb", "acme"), f"duckdb:///{tmp_path / 'missing.duckdb'}"
        )


@pytest.fixture(scope="module")
def postgresql_url(postgres: Postgres) -> str:
    import psycopg

    url = postgres.create_database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create table orders (id int)")
        connection.execute("insert into orders values (1), (2)")
        connection.execute("create sequence numbers")
    return url.replace("postgres@", f"postgres:{PASSWORD}@")


class TestPostgreSQL(DriverContract):
    """A server, as its superuser: whatever is refused, is refused to anyone."""

    @pytest.fixture
    def engine(self, postgresql_url: str) -> EngineCase:
        return engine_cases.postgresql_case(postgresql_url)


@pytest.fixture(scope="module")
def mariadb_url(mariadb: MariaDB) -> str:
    database = mariadb.create_database()
    mariadb.execute("create table orders (id int)", database=database)
    mariadb.execute("insert into orders values (1), (2)", database=database)
    return mariadb.create_user(database, "all")


class TestMariaDB(DriverContract):
    """A server, as a user with every right on the database."""

    @pytest.fixture
    def engine(self, mariadb_url: str) -> EngineCase:
        return engine_cases.mariadb_case(mariadb_url)


@pytest.fixture(scope="module")
def clickhouse_url(clickhouse_server: ClickHouseServer) -> str:
    for statement in engine_cases.CLICKHOUSE_TABLES:
        clickhouse_server.execute(statement)
    return clickhouse_server.url(database="contract")


class TestClickHouse(DriverContract):
    """The engine behind HTTP, as a user with every right."""

    @pytest.fixture
    def engine(self, clickhouse_url: str) -> EngineCase:
        return engine_cases.clickhouse_case(clickhouse_url, f"clickhouse://u:{CLICKHOUSE_PASSWORD}@127.0.0.1:1/db")


class TestOwnEngine(DriverContract):
    """``examples/own_engine.py``, as the page of own engines tests it."""

    @pytest.fixture
    def engine(self, tmp_path: Path) -> EngineCase:
        (tmp_path / "orders.csv").write_text("id,owner\n1,acme\n2,globex\n", "utf-8")
        digits = "(select 1 union all select 2 union all select 3 union all select 4 union all select 5)"
        return EngineCase(
            make_driver=CSVDriver,
            url=f"csv://{tmp_path / 'orders.csv'}",
            unreachable_url=f"csv://{tmp_path / 'missing.csv'}",
            slow=f"select count(*) as v from {', '.join([digits] * 18)}",
            writes=["insert into data values (3, 'x')", "delete from data", "attach ':memory:' as other"],
            unchanged="select id from data",
            types=dict.fromkeys(["text", "integer", "float", "bytes"], "{{ params.v }}"),
            settings={"pragma case_sensitive_like = on": "select 'a' like 'A' as v"},
            patience=PATIENCE,
        )


@pytest.mark.slow
def test_chdb(tmp_path: Path) -> None:
    """In a process of its own, all of it in one."""
    require_chdb()
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--basetemp",
        tmp_path / "own",
    ]
    child = subprocess.run(
        [*command, Path(engine_cases.__file__)], capture_output=True, text=True, timeout=CHILD_SECONDS, check=False
    )
    assert child.returncode == 0, child.stdout
    assert " passed" in child.stdout


def test_the_page_shows_the_driver_of_the_example() -> None:
    """Red when one of them is changed alone."""
    page = (ROOT / "docs" / "own-engine.md").read_text("utf-8")
    example = (ROOT / "examples" / "own_engine.py").read_text("utf-8")
    assert f"{example[example.index('class CSVDriver') : example.index('async def show')].rstrip()}\n```\n" in page


def test_sqlite_file_is_as_it_was(tmp_path: Path) -> None:
    """Control: what the contract calls unchanged is what another program reads."""
    url = sqlite_file(tmp_path / "a.db", "acme")
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        assert connection.execute(engine_cases.UNCHANGED).fetchall() == [(0,), (1,), (2,)]
