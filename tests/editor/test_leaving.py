"""An author who leaves stops the query at the engine, on four engines; so does one who leaves a sample."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from engines.mariadb import MariaDB
from engines.postgres import Postgres
from tenantry.datasources import Limits
from tests.datasources.databases import create_database
from tests.editor.served import ENVIRONMENT, EditorSite, reachable, served_editor

SOON = 60.0
"""Seconds within which something happens on a busy machine. A query that is not stopped runs for ten minutes."""
ENDLESS = {
    "sqlite": "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) as left_4711 from n",
    "duckdb": "select count(*) as left_4711 from range(10000000000) a, range(100000) b where a.range % 7 = b.range",
    "postgresql": "select pg_sleep(600)::text as left_4711",
    "mariadb": "select sleep(600) as left_4711",
}
LIMITS = Limits(pool_size=2, timeout=600.0, connect_timeout=SOON)


def running(engine: str, site: EditorSite, request: pytest.FixtureRequest) -> Callable[[], int]:
    """A function that counts the queries that the engine runs. The engines of this process are asked by their pool."""
    if engine == "postgresql":
        postgres: Postgres = request.getfixturevalue("postgres")
        asked = "select count(*) from pg_stat_activity where state = 'active' and query like '%left_' || '4711%'"
        return lambda: int(postgres.execute(asked))
    if engine == "mariadb":
        mariadb: MariaDB = request.getfixturevalue("mariadb")
        asked = "select count(*) from information_schema.processlist where info like concat('%left_', '4711%')"
        return lambda: int(mariadb.execute(asked)[0][0])
    return lambda: sum(
        opened.pool.is_running
        for authors in site.sources._for_authors
        for opened in (*authors._open_sources._open.values(), *authors._open_sources._retired)
    )


async def until(count: Callable[[], int], wanted: int) -> None:
    async with asyncio.timeout(SOON):
        while count() != wanted:  # the engine tells nobody
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("path", ["run", "sample"])
@pytest.mark.parametrize("engine", ENDLESS)
async def test_leaving_stops_the_query(engine: str, path: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Red without ``while_connected``, without ``chunks.close``, and when tasks of a sample are not cancelled."""
    url = create_database(engine, ["create table t (i integer)"], tmp_path, request, scheme="mariadb")
    async with served_editor(tmp_path, url=url, limits=LIMITS) as site:
        count = running(engine, site, request)
        body: dict[str, Any] = {"environment": ENVIRONMENT, "group": "ha", "path": "queries/a.sql"}
        async with site.reading(path, **body, text=ENDLESS[engine]) as reader:
            if path == "run":
                assert "started" in await reader.line()
            await until(count, 1)  # the groups of a sample share it, for it reads no value of theirs
        await until(count, 0)
        lines = await site.lines("run", **body, text="select 7 as n")  # the connections are free again
        assert lines[-2] == {"rows": [[7]]}


async def test_leaving_over_a_connection(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """As a browser that aborts its request, with a real server between. Red without ``while_connected``: Starlette
    itself listens only while it sends."""
    async with served_editor(tmp_path, limits=LIMITS) as site, reachable(site) as url:
        count = running("sqlite", site, request)
        body = {"environment": ENVIRONMENT, "group": "ha", "path": "queries/a.sql", "text": ENDLESS["sqlite"]}
        headers = {"X-Tenantry-Editor": "1"}
        async with (
            httpx2.AsyncClient(timeout=SOON) as client,
            client.stream("POST", f"{url}/-/run", json=body, headers=headers) as answer,
        ):
            assert "started" in await anext(answer.aiter_lines())
            await until(count, 1)
        await until(count, 0)
