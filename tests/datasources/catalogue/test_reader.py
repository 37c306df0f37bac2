"""The catalogue of each engine: tables, columns in order, views, and foreign keys of one column."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import duckdb
import pytest

from engines.clickhouse_http import PASSWORD, ClickHouseServer
from tenantry.datasources.catalogue.model import Catalogue, CatalogueTable, ForeignKey
from tenantry.datasources.catalogue.reader import read_catalogue
from tenantry.errors import InvalidSource
from tenantry.groups import RegisteredSource
from tests.datasources.conftest import PRODUCTION

pytestmark = pytest.mark.anyio

TABLES = (
    "create table customers (id integer primary key, name varchar(20))",
    "create table orders (id integer primary key, customer_id integer references customers (id), total integer)",
    "create table order_items (order_id integer references orders (id), label varchar(20))",
    "create table pairs (a integer, b integer, primary key (a, b))",
    "create table of_pairs (x integer, y integer, foreign key (x, y) references pairs (a, b))",
    "create view recent as select id, total from orders",
)
EXPECTED = Catalogue(
    (
        CatalogueTable("customers", ("id", "name")),
        CatalogueTable("of_pairs", ("x", "y")),
        CatalogueTable("order_items", ("order_id", "label")),
        CatalogueTable("orders", ("id", "customer_id", "total")),
        CatalogueTable("pairs", ("a", "b")),
        CatalogueTable("recent", ("id", "total"), is_view=True),
    ),
    (ForeignKey("order_items", "order_id", "orders", "id"), ForeignKey("orders", "customer_id", "customers", "id")),
)


async def read(url: str, **fields: Any) -> Catalogue:
    return await read_catalogue(RegisteredSource("ds_1", "warehouse", PRODUCTION, url, **fields))


def sqlite(folder: Path, statements: Sequence[str]) -> str:
    with closing(sqlite3.connect(folder / "a.db")) as connection:
        for statement in statements:
            connection.execute(statement)
    return f"sqlite:///{folder / 'a.db'}"


def duckdb_url(folder: Path, statements: Sequence[str]) -> str:
    with duckdb.connect(str(folder / "a.duckdb")) as connection:
        for statement in statements:
            connection.execute(statement)
    return f"duckdb:///{folder / 'a.duckdb'}"


@pytest.mark.parametrize("make", [sqlite, duckdb_url])
async def test_the_catalogue_of_a_file(make: Callable[[Path, Sequence[str]], str], tmp_path: Path) -> None:
    """Red on SQLite when it asks pragmas, which a data source refuses."""
    assert await read(make(tmp_path, TABLES)) == EXPECTED


async def test_the_catalogue_of_postgresql(request: pytest.FixtureRequest) -> None:
    """A table outside the search path has its schema in its name; what the user may not read, partitions and
    dropped columns are left out. Red without each of these conditions."""
    server = request.getfixturevalue("postgres")
    url = server.create_database()
    more = (
        "create schema archive",
        'create table archive."Old Orders" ("Customer" integer, "order" integer)',
        'create table "a""b" (id integer)',
        "create table archive.old (id integer, gone integer)",
        "alter table archive.old drop column gone",
        "create table visits (site text, at date) partition by list (site)",
        "create table visits_a partition of visits for values in ('a')",
    )
    for statement in (*TABLES, *more):
        server.execute(statement, url=url)
    role = url.rpartition("/")[2]  # one for each database, as roles are the server's
    for statement in (
        f"create role {role} login password 'r'",
        f"grant usage on schema archive to {role}",
        f"grant select on all tables in schema public, archive to {role}",
        "create table secret (id integer)",
    ):
        server.execute(statement, url=url)
    parts = urlsplit(url)
    found = await read(urlunsplit(parts._replace(netloc=f"{role}:r@{parts.netloc.rpartition('@')[2]}")))
    extra = (
        CatalogueTable('a"b', ("id",), is_declarable=False),
        CatalogueTable("archive.old", ("id",)),
        CatalogueTable('archive."Old Orders"', ('"Customer"', '"order"')),
        CatalogueTable("visits", ("site", "at")),
    )
    assert found == Catalogue.of((*EXPECTED.tables, *extra), EXPECTED.foreign_keys)


async def test_the_catalogue_of_mariadb(request: pytest.FixtureRequest) -> None:
    server = request.getfixturevalue("mariadb")
    name = server.create_database()
    for statement in TABLES:
        server.execute(statement, database=name)
    assert await read(server.create_user(name, "select")) == EXPECTED


async def test_the_catalogue_of_clickhouse(clickhouse_server: ClickHouseServer) -> None:
    """It has no foreign keys."""
    for statement in (
        "create database catalogue engine = Atomic",
        "create table catalogue.orders (id UInt32, customer_id String) engine = MergeTree order by id",
        "create view catalogue.recent as select id from catalogue.orders",
    ):
        clickhouse_server.execute(statement)
    url = f"clickhouse://default:{PASSWORD}@127.0.0.1:{clickhouse_server.port}/catalogue"
    assert await read(url) == Catalogue(
        (CatalogueTable("orders", ("id", "customer_id")), CatalogueTable("recent", ("id",), is_view=True))
    )


async def test_a_sqlite_file_with_tables_that_only_an_extension_reads(tmp_path: Path) -> None:
    """They and their views are listed without columns, and the others with theirs. ``references customers`` means
    its primary key. Red when one failure ends the reading."""
    url = sqlite(
        tmp_path,
        (
            "create table customers (code text primary key)",
            "create table notes (owner text references customers, generated as (owner || '!'))",
            "create view seen as select * from notes",
        ),
    )
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection, connection:
        connection.execute("pragma writable_schema = on")
        values = "'table', 'shapes', 'shapes', 0, 'create virtual table shapes using never_installed(a)'"
        connection.execute(f"insert into sqlite_schema values ({values})")
        values = "'view', 'round', 'round', 0, 'create view round as select * from shapes'"
        connection.execute(f"insert into sqlite_schema values ({values})")
    found = await read(url)
    assert found == Catalogue(
        (
            CatalogueTable("customers", ("code",)),
            CatalogueTable("notes", ("owner", "generated")),
            CatalogueTable("round", (), is_view=True),
            CatalogueTable("seen", ("owner", "generated"), is_view=True),
            CatalogueTable("shapes", ()),
        ),
        (ForeignKey("notes", "owner", "customers", "code"),),
    )


async def test_a_dialect_whose_catalogue_is_unknown(engine_without_catalogue: str) -> None:
    with pytest.raises(InvalidSource, match="the catalogue of a tsql source cannot be read: write the list"):
        await read(engine_without_catalogue, trusted=True)


@pytest.fixture
def engine_without_catalogue(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A SQLite file whose driver says that it speaks T-SQL."""
    monkeypatch.setattr("tenantry.datasources.engines.sqlite.SQLiteDriver.dialect", "tsql")
    return sqlite(tmp_path, ())
