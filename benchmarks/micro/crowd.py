"""A thousand requests with one token that no cache has: how often the store is read, and what each of them costs.

Every cache stands before the same read of the same store, on one event loop. The caches of other libraries are asked
as their documentation shows: a decorated coroutine, with and without the lock that each of them offers.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from aiocache import SimpleMemoryCache, cached, cached_stampede
from cashews import Cache

from benchmarks.harness.population import KEYS, populate, raw
from benchmarks.harness.table import Aim, Table
from tenantry import Resolver
from tenantry.backends.sql import SQLStore
from tenantry.groups import Changes, LookupResult, Token, UserGroup
from tenantry.ports import Slots

CROWD = 1_000
ROUNDS = 15
DELAY = 0.005
"""Seconds that a read waits, as over a network, so that all requests arrive before the first answer."""

Ask = Callable[[], Awaitable[object]]


class Counting:
    """A store whose reads are counted and slow."""

    def __init__(self, store: SQLStore) -> None:
        self.reads = 0
        self._store = store

    async def find(self, token: Token) -> UserGroup | None:
        """The group of a token, counted."""
        return (await self.read_at_snapshot(token, fresh=False)).group

    async def read_at_snapshot(self, token: Token, *, fresh: bool) -> LookupResult:
        """The same at a snapshot, counted."""
        self.reads += 1
        await asyncio.sleep(DELAY)
        return await self._store.read_at_snapshot(token, fresh=fresh)

    async def changes(self, since: int | None, *, lease: float = 0.0) -> Changes:
        """Changes since a generation."""
        return await self._store.changes(since, lease=lease)

    @property
    def slots(self) -> Slots | None:
        """The store's slots."""
        return self._store.slots


def table() -> Table:
    """Runs it."""
    with tempfile.TemporaryDirectory(prefix="tenantry-bench-") as name:
        url = f"sqlite:///{Path(name) / 'tenantry.db'}"
        populate(url, 1_000)
        return asyncio.run(_compare(url))


async def _compare(url: str) -> Table:
    store = SQLStore(url)
    resolver = Resolver(Counting(store), keys=KEYS)
    token = raw(500)
    await resolver.resolve(token)  # the first request has no lease yet, and begins the polls
    reads: dict[str, list[int]] = {name: [] for name in _asks(resolver, Counting(store), token)}
    spent: dict[str, list[float]] = {name: [] for name in reads}
    for _ in range(ROUNDS):
        for name in random.sample(list(reads), len(reads)):
            counting = Counting(store)
            resolver.flush()
            before = resolver.counters.loads
            ask = _asks(resolver, counting, token)[name]
            spent[name].append(await _crowd(ask))
            reads[name].append(resolver.counters.loads - before + counting.reads)
    await resolver.aclose()
    await store.aclose()
    return _report(reads, spent)


def _asks(resolver: Resolver, counting: Counting, token: bytes) -> dict[str, Ask]:
    """What one of the crowd does, with a fresh, empty cache of each kind."""
    cashews = Cache()
    cashews.setup("mem://")
    live = KEYS.read(token)

    async def load(key: str) -> UserGroup | None:
        return await counting.find(live)

    text = token.decode()
    plain = cached(ttl=5, cache=SimpleMemoryCache, namespace=str(id(counting)))(load)
    stampede = cached_stampede(lease=2, ttl=5, cache=SimpleMemoryCache, namespace=f"s{id(counting)}")(load)
    unlocked = cashews(ttl=5, key="{key}")(load)
    locked = cashews(ttl=5, key="{key}", lock=True)(load)
    return {
        "Tenantry": lambda: resolver.resolve(token),
        "aiocache cached": lambda: plain(text),
        "aiocache cached_stampede": lambda: stampede(text),
        "cashews": lambda: unlocked(text),
        "cashews, lock=True": lambda: locked(text),
    }


async def _crowd(ask: Ask) -> float:
    """Microseconds of processor for each of the crowd."""
    start = time.thread_time()
    await asyncio.gather(*(ask() for _ in range(CROWD)))
    return (time.thread_time() - start) / CROWD * 1e6


def _report(reads: dict[str, list[int]], spent: dict[str, list[float]]) -> Table:
    result = Table(
        f"{CROWD:,} requests at once with one token that is not cached",
        ["cache", "reads", "CPU µs per request", "× Tenantry"],
    )
    for name, times in spent.items():
        ratio = statistics.median(a / b for a, b in zip(times, spent["Tenantry"], strict=True))
        result.add(name, f"{statistics.median(reads[name]):,.0f}", f"{statistics.median(times):.1f}", f"{ratio:.1f}")
    result.aims.append(Aim("reads of the store for 1,000 misses of one group", max(reads["Tenantry"]), 1))
    return result
