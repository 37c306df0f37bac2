"""Two groups on one data source: neither can keep the other from its rows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tenantry import DataSources
from tenantry.datasources.caching.in_flight import InFlightQuery
from tenantry.datasources.pool.fair_queue import Turn
from tenantry.errors import InvalidSettings, SourceUnavailable
from tenantry.groups import UserGroup
from tests.datasources.conftest import Directory, duckdb_file, group, sqlite_file

# Some ten milliseconds on any machine, and longer on a busy one.
SLOW = "with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000) select count(*) as n from n"


def slow(number: int, text: str = SLOW) -> str:
    """Another query of the same length: equal ones that are under way are one."""
    return f"{text} where {number} = {number}"


ENGINES = {"sqlite": sqlite_file, "duckdb": duckdb_file}


def two_groups() -> tuple[UserGroup, UserGroup]:
    first = group("acme", main="ds_1")
    return first, replace(group("globex", main="ds_1"), handle=b"87654321")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("pool_size", [1, 3])
async def test_a_visitor_does_not_wait_for_a_neighbours_queue(
    engine: str,
    pool_size: int,
    directory: Directory,
    open_sources: Callable[..., DataSources],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Red when each query waits for the source in the order of arrival: then 30 have their turn before the visitor.

    What counts is who begins: how many end while the visitor's query runs is the machine's affair."""
    directory.add(1, ENGINES[engine](tmp_path / "orders.db", "both"))
    sources = open_sources(pool_size=pool_size, connect_timeout=600.0)
    neighbour, visitor = two_groups()
    begun: list[bytes] = []
    ended: list[str] = []
    begin = InFlightQuery._begin

    def counted(flight: InFlightQuery, turn: Turn) -> None:
        begun.append(flight.query.group.handle)
        begin(flight, turn)

    monkeypatch.setattr(InFlightQuery, "_begin", counted)

    async def query(of: UserGroup, number: int) -> None:
        assert (await sources.fetch(of, "main", slow(number)))[0]["n"] == 5_000
        ended.append(of.provided_id)

    neighbours = [asyncio.create_task(query(neighbour, number)) for number in range(30)]
    async with asyncio.timeout(60):
        while not ended:
            await asyncio.sleep(0.001)
    before = len(begun)
    await query(visitor, 30)
    assert begun.index(visitor.handle) - before <= pool_size + 1, "more began than had been given a turn, and one turn"
    await asyncio.gather(*neighbours)


async def test_a_group_may_be_held_to_a_part_of_the_pool(
    directory: Directory, open_sources: Callable[..., DataSources], tmp_path: Path
) -> None:
    """Red without ``group_pool_size``: all three connections are the neighbour's."""
    directory.add(1, sqlite_file(tmp_path / "orders.db", "both"))
    sources = open_sources(pool_size=3, group_pool_size=2, connect_timeout=60.0)
    neighbour, visitor = two_groups()
    endless = SLOW.replace("5000", "2000000000")
    running = [asyncio.create_task(sources.fetch(neighbour, "main", slow(n, endless))) for n in range(10)]
    await asyncio.sleep(0.05)
    assert (await sources.fetch(visitor, "main", "select 1 as n")) == [{"n": 1}]
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


async def test_a_full_queue_answers_at_once(
    directory: Directory, open_sources: Callable[..., DataSources], tmp_path: Path
) -> None:
    """503 with Retry-After for the group that fills it, and a place for the other."""
    directory.add(1, sqlite_file(tmp_path / "orders.db", "both"))
    sources = open_sources(pool_size=1, max_waiting=5, group_max_waiting=3, connect_timeout=60.0)
    neighbour, visitor = two_groups()
    queries = [asyncio.create_task(sources.fetch(neighbour, "main", slow(number))) for number in range(4)]
    await asyncio.sleep(0)
    with pytest.raises(
        SourceUnavailable, match="the queue of data source ds_1 is full: 3 queries wait, 3 of them from this user"
    ) as full:
        await sources.fetch(neighbour, "main", slow(4))
    assert full.value.retry_after == 1
    assert await sources.fetch(visitor, "main", "select 1 as n") == [{"n": 1}]
    await asyncio.gather(*queries)


@pytest.mark.parametrize("share", [0, 6, 1.5, True])
async def test_a_share_that_is_none(share: object, open_sources: Callable[..., DataSources]) -> None:
    with pytest.raises(InvalidSettings, match="group_pool_size"):
        open_sources(pool_size=5, group_pool_size=share)
