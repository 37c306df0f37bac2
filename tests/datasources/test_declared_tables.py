"""``check_connection`` tests the guarded tables of a source on each engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engines.clickhouse_http import PASSWORD
from tenantry.datasources import check_connection
from tenantry.errors import InvalidSource
from tenantry.groups import RegisteredSource
from tests.datasources.conftest import PRODUCTION
from tests.datasources.databases import create_database

pytestmark = pytest.mark.anyio
PATIENCE = 120.0
TABLES = (
    "create table orders (id integer, customer_id varchar(20), number integer, placed date)",
    "create table order_items (order_id integer, label varchar(20))",
)


@pytest.fixture(params=["sqlite", "duckdb", "postgresql", "mariadb", "clickhouse"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A source with the tables."""
    if request.param == "clickhouse":
        server = request.getfixturevalue("clickhouse_server")
        server.execute("drop database if exists declared")
        server.execute("create database declared engine = Atomic")
        for statement in TABLES:
            server.execute(statement.replace("table ", "table declared.") + " engine = MergeTree order by tuple()")
        return f"clickhouse://default:{PASSWORD}@127.0.0.1:{server.port}/declared"
    return create_database(request.param, TABLES, tmp_path, request, scheme="mariadb")


def source(url: str, tables: dict[str, Any], **others: Any) -> RegisteredSource:
    text = json.dumps({"tables": tables, **others})
    return RegisteredSource("ds_1", "warehouse", PRODUCTION, url, tables=text)


PROPERTY = "{{ user_group.properties.x }}"
GOOD = {
    "a column": "customer_id",
    "a column of numbers": "number",
    "a value": {"customer_id": PROPERTY, "number": PROPERTY},
    "a list": {"number": f"in {PROPERTY}"},
    "a condition": f"customer_id = {PROPERTY} and number > 0 and placed < '{PROPERTY}'",
    "shared": "shared",
}


async def test_a_declaration_that_fits(url: str) -> None:
    """Without a group: no condition needs a value to be tested."""
    for rule in GOOD.values():
        fitting = source(url, {"orders": rule, "order_items": "shared"})
        assert await check_connection(fitting, seconds=PATIENCE) >= 0, rule
    of_parent = source(url, {"orders": "customer_id", "order_items": {"order_id": "orders.id"}})
    assert await check_connection(of_parent, seconds=PATIENCE) >= 0


@pytest.mark.parametrize(
    ("tables", "name"),
    [
        ({"orders": "custmer_id"}, "orders"),
        ({"ordres": "customer_id"}, "ordres"),
        ({"orders": f"custmer_id = {PROPERTY} and number > 0"}, "orders"),
        ({"orders": "customer_id", "order_items": {"order_id": "orders.no"}}, "order_items"),
    ],
)
async def test_a_declaration_with_a_wrong_name(url: str, tables: dict[str, Any], name: str) -> None:
    """The error names the table and the column. Red when new connections are not checked."""
    with pytest.raises(
        InvalidSource, match=f"^the guarded tables of data source warehouse .* the table {name} with the co"
    ):
        await check_connection(source(url, tables), seconds=PATIENCE)


async def test_a_declaration_that_this_process_cannot_use(url: str) -> None:
    """As from a later version of Tenantry."""
    with pytest.raises(
        InvalidSource, match=r"the guarded tables of data source warehouse \(ds_1\) cannot be used: "
    ) as caught:
        await check_connection(source(url, {"orders": "customer_id"}, later=True))
    assert caught.value.field == "/tables"
