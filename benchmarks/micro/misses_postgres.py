"""Misses on PostgreSQL and on Valkey: one group by its handle, out of 100,000, one at a time and many at once.

The usual ways are the peers: asyncpg's pool with its defaults, SQLAlchemy's async engine with its defaults, redis-py's
async client with a pool that waits. They give a row or bytes; ``SQLStore`` and ``RedisBackend`` give user groups.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack

from benchmarks.harness import engines
from benchmarks.harness.measure import WALL, Cell, Figures, compare, repeat_async
from benchmarks.harness.population import KEYS, populate, raw, token
from benchmarks.harness.table import Aim, Table
from benchmarks.micro.misses_sqlite import GROUPS, chosen
from tenantry import Resolver
from tenantry.backends.redis.second_level import RedisBackend
from tenantry.backends.sql import SQLStore
from tenantry.database.tables import environments, groups
from tenantry.groups import Token

ROUNDS = {1: 21, 64: 11, 1_000: 7}
TEXT = "select * from user_groups join environments on environments.id = environment_id where handle = $1"
LOOK, RESOLVE = "Tenantry, SQLStore.read_at_snapshot", "Tenantry, Resolver.resolve, not cached"
POOL, CORE = "asyncpg, pool.fetchrow", "SQLAlchemy async Core (asyncpg)"
SECOND, REDIS = "Tenantry, RedisBackend.read_at_snapshot, kept there", "redis-py, GET (no parsing of the value)"

Ask = Callable[[], Awaitable[object]]


def table() -> Table:
    """Runs it. Raises EngineMissing without PostgreSQL; without Valkey its rows are left out."""
    with ExitStack() as stack:
        url = stack.enter_context(engines.postgres())
        try:
            valkey = stack.enter_context(engines.valkey())
        except engines.EngineMissing:
            valkey = None
        populate(url, GROUPS)
        return asyncio.run(_compare(url, valkey))


async def _compare(url: str, valkey: str | None) -> Table:
    figures = {}
    async with AsyncExitStack() as stack:
        asks = await _postgres(url, stack)
        if valkey is not None:
            asks |= await _valkey(url, valkey, stack)
        for size, rounds in ROUNDS.items():
            cells: dict[str, Cell] = {
                name: repeat_async(ask) if size == 1 else burst(ask, size) for name, ask in asks.items()
            }
            figures[size] = await compare(cells, rounds=rounds, clock=WALL)
    return _report(figures)


async def _postgres(url: str, stack: AsyncExitStack) -> dict[str, Ask]:
    import asyncpg
    from sqlalchemy.ext.asyncio import create_async_engine

    numbers = chosen()
    live = itertools.cycle([token(number) for number in numbers])
    handles = itertools.cycle([token(number).handle for number in numbers])
    tokens = itertools.cycle([raw(number) for number in numbers])
    store = SQLStore(url, deadline=30.0)
    stack.push_async_callback(store.aclose)
    resolver = Resolver(store, keys=KEYS, capacity=16, patience=30.0)  # far from enough: each token is a miss
    stack.push_async_callback(resolver.aclose)
    pool = await stack.enter_async_context(asyncpg.create_pool(url))
    engine = create_async_engine(url.replace("postgresql://", "postgresql+asyncpg://"))
    stack.push_async_callback(engine.dispose)
    statement = groups.select().add_columns(environments).join(environments)

    async def core() -> object:
        async with engine.connect() as connection:
            return (await connection.execute(statement.where(groups.c.handle == next(handles)))).first()

    return {
        LOOK: lambda: store.read_at_snapshot(next(live), fresh=True),
        RESOLVE: lambda: resolver.resolve(next(tokens)),
        POOL: lambda: pool.fetchrow(TEXT, next(handles)),
        CORE: core,
    }


async def _valkey(url: str, valkey: str, stack: AsyncExitStack) -> dict[str, Ask]:
    import redis.asyncio

    numbers = chosen()[:5_000]
    live: Iterator[Token] = itertools.cycle([token(number) for number in numbers])
    handles: Iterator[bytes] = itertools.cycle([token(number).handle for number in numbers])
    origin = SQLStore(url, deadline=30.0)
    stack.push_async_callback(origin.aclose)
    backend = RedisBackend(origin, valkey)
    stack.push_async_callback(backend.aclose)
    pool = redis.asyncio.BlockingConnectionPool.from_url(valkey, max_connections=50)
    client = redis.asyncio.Redis(connection_pool=pool)
    stack.push_async_callback(client.aclose)
    await backend.changes(None)
    for number in numbers:
        value = json.dumps({"id": number, "name": f"Customer {number}", "properties": {"region": "eu", "seats": 25}})
        await client.set(b"bench:" + token(number).handle, value)
        await backend.read_at_snapshot(token(number), fresh=True)
    return {
        SECOND: lambda: backend.read_at_snapshot(next(live), fresh=False),
        REDIS: lambda: client.get(b"bench:" + next(handles)),
    }


def burst(ask: Ask, size: int) -> Cell:
    """A cell of ``size`` at once."""

    async def cell(times: int) -> None:
        for _ in range(times):
            await asyncio.gather(*(ask() for _ in range(size)))

    return cell


def _report(figures: dict[int, Figures]) -> Table:
    heads = ["what"]
    for size in figures:
        heads += [f"{size:,} at once, µs each", f"× ({size:,})"]
    result = Table("One miss on PostgreSQL and Valkey, 100,000 groups, wall time (× Tenantry's read)", heads)
    for name in figures[1].rounds:
        cells = []
        for size, found in figures.items():
            cells += [f"{found.median(name) / size / 1e3:.1f}", f"{found.ratio(name, LOOK):.1f}"]
        result.add(name, *cells)
    result.aims = [
        Aim(f"SQLStore.read_at_snapshot × {POOL}, {size:,} at once", figures[size].ratio(LOOK, POOL), 1 / 5)
        for size in (64, 1_000)
    ]
    return result
