"""Authors have connections of their own: they never use those of viewers, and viewers never wait for them."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

from engines.postgres import Postgres
from tenantry.datasources import Limits
from tenantry.groups import GroupChanges
from tests.editor.served import ENVIRONMENT, served_editor

SOON = 60.0
AUTHORS = 10
AT_ONCE = 2
"""Queries that run at a time. The third connection is kept for short ones, such as plans."""
MARKED = "select pid from pg_stat_activity where state = 'active' and query like '%author_' || '4711%'"
LIMITS = Limits(pool_size=3, timeout=600.0, connect_timeout=SOON)


async def test_authors_never_use_the_connections_of_viewers(postgres: Postgres, tmp_path: Path) -> None:
    """At the database: ten authors run two queries at a time, the others wait; the connections of viewers are others,
    and free. Red when ``for_authors`` returns the data sources of viewers, and with a ``pool_size`` that is not its
    own."""
    url = postgres.create_database()
    async with served_editor(tmp_path, url=url, limits=LIMITS) as site, AsyncExitStack() as left:
        environment = await site.store.environments.get(ENVIRONMENT)
        assert environment is not None
        issued = await site.store.groups.get(environment, "ha")
        assert issued is not None

        async def viewer_pid(number: int) -> int:
            sql = f"select pg_backend_pid() as pid, pg_sleep(0.1)::text, {number} as n"  # each query is another
            (row,) = await site.sources.fetch(issued.group, "main", sql)
            pid: int = row["pid"]
            return pid

        before = set(await asyncio.gather(*map(viewer_pid, range(4))))
        for number in range(AUTHORS):
            text = f"select pg_sleep(600)::text as author_4711, {number} as n"
            group = "ua" if number % 2 else "ha"
            body = {"environment": ENVIRONMENT, "group": group, "path": "queries/a.sql", "text": text}
            reader = await left.enter_async_context(site.reading("run", **body))
            assert "started" in await reader.line()
        async with asyncio.timeout(SOON):
            while len(postgres.execute(MARKED).split()) < AT_ONCE:
                await asyncio.sleep(0.05)
        await asyncio.sleep(0.5)  # nothing announces that no further query begins
        authors = postgres.execute(MARKED).split()
        async with asyncio.timeout(SOON):
            after = set(await asyncio.gather(*map(viewer_pid, range(4, 8))))
        assert len(authors) == AT_ONCE
        assert not {*map(int, authors)} & (before | after)
        # Those of viewers may be closed and opened again, but no author waits for one.
        assert len(before | after) <= 10


async def test_authors_wait_for_each_other_and_are_told(tmp_path: Path) -> None:
    """Red when the queue's time is not that of the queue."""
    slow = "with recursive n(i) as (select {} union all select i + 1 from n limit 3000000) select count(*) as c from n"
    async with served_editor(tmp_path, limits=Limits(pool_size=1, timeout=600.0, connect_timeout=SOON)) as site:
        body = {"environment": ENVIRONMENT, "group": "ha", "path": "queries/a.sql"}
        done = await asyncio.gather(*(site.lines("run", **body, text=slow.format(number)) for number in range(3)))
        waited = sorted(lines[-1]["done"]["queue_seconds"] for lines in done)
        assert waited[0] < waited[1] < waited[2]


async def test_the_query_of_a_suspended_group_goes_on(postgres: Postgres, tmp_path: Path) -> None:
    """Viewers' queries end within seconds when their group is suspended. Red when authors' queries are watched so."""
    async with served_editor(tmp_path, url=postgres.create_database(), limits=LIMITS) as site:
        environment = await site.store.environments.get(ENVIRONMENT)
        assert environment is not None
        await site.store.groups.update(environment, "ha", GroupChanges(suspended=True))
        body = {"environment": ENVIRONMENT, "group": "ha", "path": "queries/a.sql"}
        lines = await site.lines("run", **body, text="select pg_sleep(4)::text, 7 as n")
        assert lines[-1].get("done", lines[-1])["rows"] == 1
