"""What a fleet costs its servers, piece by piece: a poll, a burst of misses, a rotation, a second-level entry.

The figures of docs/scale.md are multiplied out of these. PostgreSQL runs without fsync here, as in the tests: a
rotation on a real disk adds the disk's own time, in which it holds the row of the generation.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import statistics
from contextlib import AsyncExitStack
from functools import partial

from benchmarks.harness.measure import WALL, compare
from benchmarks.harness.population import ENVIRONMENT, token
from benchmarks.harness.table import Table
from benchmarks.micro.misses_postgres import burst
from benchmarks.micro.rotations import AT_ONCE, Rotations
from tenantry.backends.redis.second_level import RedisBackend
from tenantry.backends.sql import SQLStore

ENTRIES = 20_000
BURST = 500
ROUNDS = 9


def costs(url: str, groups: int, valkey: str | None) -> Table:
    """Of the PostgreSQL at ``url`` with so many groups, and of a Valkey, if there is one."""
    result = Table(f"What a fleet costs its servers, {groups:,} groups", ["what", "figure"])
    asyncio.run(_postgres(result, url, groups))
    if valkey is not None:
        asyncio.run(_valkey(result, url, valkey))
    return result


async def _postgres(result: Table, url: str, groups: int) -> None:
    async with AsyncExitStack() as stack:
        store = SQLStore(url, deadline=20.0)
        stack.push_async_callback(store.aclose)
        live = itertools.cycle([token(number) for number in random.sample(range(groups), ENTRIES)])
        generation = (await store.changes(None)).generation
        cells = {
            "polls": burst(partial(store.changes, generation), 64),
            "misses": burst(lambda: store.read_at_snapshot(next(live), fresh=True), BURST),
        }
        figures = await compare(cells, rounds=ROUNDS, clock=WALL)
        result.add("polls per second, 64 at once, client and server on one machine", _rate(figures.median("polls"), 64))
        result.add(
            f"misses per second, {BURST} at once, client and server on one machine",
            _rate(figures.median("misses"), BURST),
        )
        environment = await store.environments.get(ENVIRONMENT)
        assert environment is not None
        rotations = Rotations(store, environment)
        for tasks in (1, AT_ONCE):
            rates = [len(found) * tasks / sum(found) for found in [await rotations.run(tasks) for _ in range(5)]]
            result.add(f"rotations per second without fsync, {tasks} at once", f"{statistics.median(rates):,.0f}")


async def _valkey(result: Table, url: str, valkey: str) -> None:
    import redis.asyncio

    async with AsyncExitStack() as stack:
        origin = SQLStore(url, deadline=20.0)
        stack.push_async_callback(origin.aclose)
        backend = RedisBackend(origin, valkey)
        client = redis.asyncio.Redis.from_url(valkey)
        stack.push_async_callback(client.aclose)
        await backend.changes(None)
        before = (await client.info("memory"))["used_memory"]
        for number in range(ENTRIES):
            await backend.read_at_snapshot(token(number), fresh=True)
        await backend.aclose()  # writes what waits
        kept = await client.dbsize()
        used = (await client.info("memory"))["used_memory"] - before
        result.add("bytes of Valkey's memory per entry", f"{used / kept:,.0f}")


def _rate(nanoseconds: float, size: int) -> str:
    return f"{size / nanoseconds * 1e9:,.0f}"
