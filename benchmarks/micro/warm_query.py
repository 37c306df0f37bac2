"""A warm guarded query on PostgreSQL: read-only, timed, rolled back, nothing left in the session.

The peers are asyncpg with a read-only transaction of its own: with our guards (a timeout, and no lock left); from its
pool, which wipes the session; and on one held connection, without a timeout and without a wipe.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack
from typing import Any

from benchmarks.harness import engines
from benchmarks.harness.measure import WALL, Cell, Figures, compare, repeat_async
from benchmarks.harness.one_source import SCHEMA, OneSource, group
from benchmarks.harness.table import Aim, Table
from tenantry import DataSources
from tenantry.sql import SQLTemplate

ROUNDS = 31
ROWS = (1, 100)
OURS = "Tenantry, DataSources.fetch"
GUARDED = "asyncpg, one connection, the same guards"
POOL, HELD = "asyncpg, pool and transaction(readonly=True)", "asyncpg, one connection and transaction(readonly=True)"
TEMPLATE = "select n, n * 1.5 as amount, 'order ' || n as name from generate_series(1, {{ rows }}::integer) n"
TEXT = TEMPLATE.replace("{{ rows }}", "$1")


def table() -> Table:
    """Runs it. Raises EngineMissing without PostgreSQL."""
    with ExitStack() as stack:
        return asyncio.run(_compare(stack.enter_context(engines.postgres())))


async def _compare(url: str) -> Table:
    figures = {}
    async with AsyncExitStack() as stack:
        for rows in ROWS:
            figures[rows] = await compare(await _cells(url, rows, stack), rounds=ROUNDS, clock=WALL)
    return _report(figures)


async def _cells(url: str, rows: int, stack: AsyncExitStack) -> dict[str, Cell]:
    import asyncpg

    sources = await stack.enter_async_context(DataSources(OneSource(url)))
    pool = await stack.enter_async_context(asyncpg.create_pool(url, min_size=1, max_size=5))
    held = await asyncpg.connect(url)
    stack.push_async_callback(held.close)
    asking = group(properties={"rows": rows})
    template = SQLTemplate(TEMPLATE)

    async def ours() -> object:
        return await sources.fetch(asking, SCHEMA, template)

    async def one_transaction(connection: Any) -> object:
        async with connection.transaction(readonly=True):
            return [dict(row) for row in await connection.fetch(TEXT, rows)]

    async def guarded() -> object:
        await held.execute("begin read only; set local statement_timeout = 30000")
        found = [dict(row) for row in await held.fetch(TEXT, rows)]
        await held.execute("rollback; select pg_advisory_unlock_all()")
        return found

    async def pooled() -> object:
        async with pool.acquire() as connection:
            return await one_transaction(connection)

    peers: dict[str, Callable[[], Awaitable[object]]] = {
        OURS: ours,
        GUARDED: guarded,
        POOL: pooled,
        HELD: lambda: one_transaction(held),
    }
    return {name: repeat_async(call) for name, call in peers.items()}


def _report(figures: dict[int, Figures]) -> Table:
    heads = ["what"]
    for rows in figures:
        heads += [f"{rows} rows, µs", f"× ({rows})"]
    result = Table("One warm guarded query on PostgreSQL, wall time (× Tenantry's)", heads)
    for name in (OURS, GUARDED, POOL, HELD):
        cells = []
        for found in figures.values():
            cells += [f"{found.median(name) / 1e3:,.0f}", f"{found.ratio(name, OURS):.2f}"]
        result.add(name, *cells)
    result.aims = [
        Aim(f"DataSources.fetch × {POOL}, {rows} rows", found.ratio(OURS, POOL), 1.0) for rows, found in figures.items()
    ]
    return result
