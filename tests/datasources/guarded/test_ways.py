"""Every public way of Python to run SQL for a group, on a source with guarded tables, by a query that forgets the
tenant.

A new public name or method is red until it is in one of the lists below: it shows only the group's rows, or it runs no
SQL of a group. Each way is red when ``bind_query`` binds the author's template.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import tenantry
from tenantry import DataSources, UserGroup
from tenantry import datasources as package
from tenantry.datasources import Limits, fetch_page
from tenantry.datasources.pages import CountTemplate
from tenantry.datasources.pool.streamed_reduction import Reduction
from tenantry.datasources.results.chunks import chunk_writers
from tenantry.datasources.results.format import DEFAULT_FORMAT
from tenantry.datasources.wrapped_templates import SchemaQuery
from tenantry.groups import RegisteredSource
from tenantry.sql import SQLTemplate
from tenantry.testing import LeakFound, Leaks, canary_groups
from tests.datasources.conftest import Directory
from tests.datasources.guarded.house import House, open_house
from tests.datasources.guarded.shop import ACME, FORGETFUL, GLOBEX, TABLES, owned

TEMPLATE = SQLTemplate(FORGETFUL)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with open_house(tmp_path) as opened:
        yield opened


Rows = set[tuple[int, str]]
Way = Callable[[House, UserGroup], Awaitable[Any]]

# --- Python -----------------------------------------------------------------------------------------------------------


async def stream(house: House, group: UserGroup) -> Rows:
    chunks = [chunk async for chunk in await house.sources.stream(group, "main", TEMPLATE)]
    return owned(map(json.loads, b"".join(chunks).splitlines()))


async def open_chunks(house: House, group: UserGroup) -> Rows:
    writer = chunk_writers("ndjson", DEFAULT_FORMAT, formula_safe=False)
    chunks, body = await house.sources.open_chunks(group, "main", TEMPLATE, None, writer), b""
    while (chunk := await chunks.next()) is not None:
        body += chunk
    return owned(map(json.loads, body.splitlines()))


async def query(house: House, group: UserGroup) -> Rows:
    reduction = Reduction("all", lambda result: result, lambda result: result)
    asked: list[dict[str, Any]] = [{}, {"max_age": 0}, {"reduction": reduction}]
    results = [await house.sources.query(group, "main", TEMPLATE, **each) for each in asked]
    (found,) = {frozenset(owned(each.dicts())) for each in results}
    count = await house.sources.query(group, "main", CountTemplate(TEMPLATE))
    assert count.rows[0][0] == len(found)
    assert len(await house.sources.query(group, "main", SchemaQuery(TEMPLATE))) == 0
    return {*found}


async def explain(house: House, group: UserGroup) -> Any:
    """The key of what ``fetch`` cached, and the SQL that it sends."""
    await house.sources.fetch(group, "main", TEMPLATE)
    explained = await house.sources.explain(group, "main", TEMPLATE, group.variables)
    assert explained.age is not None
    assert group.provided_id in (explained.traced.bound.params or ())
    assert [each.table for each in explained.guards] == ["orders"]
    return None


async def fingerprint(house: House, group: UserGroup) -> None:
    keys = {await house.sources.fingerprint(each, "main", TEMPLATE) for each in house.groups.values()}
    assert len(keys) == 2


async def pages(house: House, group: UserGroup) -> Rows:
    first = await fetch_page(house.sources, group, "main", TEMPLATE, order=["id"], size=1, total="exact")
    rows, after = first.rows, first.next
    while after is not None:
        page = await fetch_page(house.sources, group, "main", TEMPLATE, order=["id"], size=1, after=after)
        rows, after = [*rows, *page.rows], page.next
    assert first.total == len(rows)
    return owned(rows)


async def for_authors(house: House, group: UserGroup) -> Rows:
    async with house.sources.for_authors(Limits(pool_size=1)) as sources:
        return owned(await sources.fetch(group, "main", TEMPLATE))


METHODS: dict[str, Way] = {
    "fetch": lambda house, group: _fetch(house, group),
    "query": query,
    "stream": stream,
    "open_chunks": open_chunks,
    "explain": explain,
    "fingerprint": fingerprint,
    "for_authors": for_authors,
}
"""Public methods of DataSources that take a template, or return another DataSources."""
METHODS_WITHOUT_SQL = {"dialect", "catalogue", "changed", "notes", "registered", "stop", "aclose"}
FUNCTIONS: dict[str, Way] = {"fetch_page": pages}
"""Public functions that take DataSources and a template."""
CLASSES = {"DataSources", "DashboardFolder"}
"""Their methods, and the dashboards of a folder, are the ways."""
NAMES_WITHOUT_SQL = frozenset(
    """
    RESERVED_NAMES Embedding Environment HTMLTemplate QueryFolder Record RecordList Resolver SigningKeys Tag
    TenantryError Token UserGroup UserGroupMiddleware Viewer __version__ context_processor dashboard error_handler
    mint_pass mount_dashboards stop_on_signals user_group variables while_connected Answer DeclaringDriver Driver
    DriverFactory Enforcement Engine GroupUsage Limits Monitoring OpenRows Page ReadOnlyBy RedisResults ResultCache
    ResultStream ReusingDriver SessionDriver Sharing StreamLimits StreamingDriver Usage UsageCounter
    check_connection check_connections check_url display_url encrypt_sources encrypt_url registration_notes
    resolve_url secret_state take_result take_rows to_dicts
    """.split()  # noqa: SIM905
)
"""``mount_dashboards``: its routes are below. ``check_connection`` sends SQL of Tenantry alone."""


async def _fetch(house: House, group: UserGroup) -> Rows:
    rows = [await house.sources.fetch(group, "main", each) for each in (FORGETFUL, TEMPLATE, FORGETFUL)]
    assert rows[0] == rows[1] == rows[2]
    return owned(rows[0])


@pytest.mark.parametrize("way", [*METHODS, *FUNCTIONS])
async def test_the_ways_of_python(way: str, house: House) -> None:
    for name, expected in (("acme", ACME), ("globex", GLOBEX)):
        found = await (METHODS | FUNCTIONS)[way](house, house.groups[name])
        assert found in (None, expected)


def test_every_public_name_is_listed() -> None:
    methods = {name for name in vars(DataSources) if not name.startswith("_")}
    assert methods == {*METHODS, *METHODS_WITHOUT_SQL}
    names = {*tenantry.__all__, *package.__all__}
    assert names <= {*FUNCTIONS, *CLASSES, *NAMES_WITHOUT_SQL}


# --- the leak kit -----------------------------------------------------------------------------------------------------


async def test_the_leak_kit(tmp_path: Path) -> None:
    """It finds the leak of the forgetful query on a source without a declaration, and none with one."""
    groups = canary_groups(like={"region": "eu"}, mapping={"main": "warehouse"})
    with closing(sqlite3.connect(tmp_path / "canaries.db")) as connection, connection:
        connection.execute("create table orders (id integer, owner text, region text)")
        for number, group in enumerate(groups):
            values = (number, group.provided_id, group.variables["region"])
            connection.execute("insert into orders values (?, ?, ?)", values)
    for tables in ("", TABLES):
        directory = Directory()
        url = f"sqlite:///{tmp_path / 'canaries.db'}"
        directory.registered = [RegisteredSource("ds_1", "warehouse", groups[0].environment, url, tables=tables)]
        async with DataSources(directory, limits=Limits(connect_timeout=60.0)) as sources:
            check = Leaks(groups).check_rows("select id, owner, region from orders", sources, "main")
            if not tables:
                with pytest.raises(LeakFound):
                    await check
            else:
                await check
