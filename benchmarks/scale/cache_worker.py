"""A worker with a full cache, in a process of its own: what the cache weighs and how long it stops the event loop.

``python -m benchmarks.scale.cache_worker STORE_URL TOKENS``: fills the cache through ``resolve``, one group after
another, then has it do all its housekeeping, and prints what was seen as JSON. The store must hold more groups than
TOKENS.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.harness.population import KEYS, raw, token
from benchmarks.scale.loop_lag import Gaps, LagProbe
from tenantry import Resolver
from tenantry.backends.sql import SQLStore

MORE = 20_000
"""Tokens beyond the capacity: each one evicts another."""

STRIDE = 15_485_863
"""A prime: the tokens are asked for in no order, and in the same in every run."""

NOTHING = "nothing: no request has come yet"

USUAL_CHANGES, MOST_CHANGES = 100, 10_000
"""Written at once, for one poll to learn: twice what docs/scale.md plans with, and the most that a store tells a
worker that begins."""


def resident() -> int:
    """Bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class CacheWorker:
    """The store, a resolver with room for ``count`` tokens, and the gaps of each phase by its name."""

    def __init__(self, url: str, count: int) -> None:
        self._path = urlsplit(url).path[1:]
        self._count = count
        self._store = SQLStore(url)
        self._resolver = Resolver(self._store, keys=KEYS, capacity=count)
        self.gaps: dict[str, Gaps] = {}

    async def run(self) -> dict[str, object]:
        """Fills the cache and does the housekeeping; the figures."""
        await self._phase(NOTHING, self._nothing)
        await self._resolver.resolve(raw(0))
        await asyncio.sleep(0.2)  # the first poll
        gc.collect()
        before, start = resident(), time.perf_counter()
        await self._phase("filling it", self._fill)
        seconds = time.perf_counter() - start
        gc.collect()
        weight = (resident() - before) / self._count
        await asyncio.sleep(1.5)  # no poll has come through the collection, and the lease may have ended
        cached = sum(self._resolver.peek(raw(number)) is not None for number in range(0, self._count, 97))
        start = time.perf_counter()
        gc.collect()
        full = (time.perf_counter() - start) * 1e3
        gc.freeze()
        await asyncio.to_thread(gc.isenabled)  # the first one imports the threads' module, which takes 3 ms
        await self._phase("polls without changes", self._nothing)
        for number in (USUAL_CHANGES, MOST_CHANGES):
            await self._phase(f"a poll with {number:,} changes", partial(self._changes, number))
        await self._phase(f"{MORE:,} inserts into a full cache", self._evict)
        await self._phase("emptying the cache", self._forget)
        await self._phase(f"{MORE:,} reads after it", self._again)
        await self._resolver.aclose()
        await self._store.aclose()
        return {
            "seconds": seconds,
            "bytes": weight,
            "cached": cached / len(range(0, self._count, 97)),
            "collection": full,
            "gaps": {name: asdict(gaps) for name, gaps in self.gaps.items()},
        }

    async def _phase(self, name: str, work: Callable[[LagProbe], Awaitable[None]]) -> None:
        with LagProbe() as probe:
            await work(probe)
        self.gaps[name] = probe.gaps

    async def _fill(self, probe: LagProbe) -> None:
        for number in range(self._count):
            probe.position = number
            await self._resolver.resolve(raw(number))

    async def _nothing(self, _: LagProbe) -> None:
        await asyncio.sleep(3)

    async def _changes(self, number: int, _: LagProbe) -> None:
        await asyncio.to_thread(self._write, number)  # a turn counts this thread's time alone
        await asyncio.sleep(3)
        assert self._resolver.peek(raw(number - 1)) is None, "the poll has not learned of the changes"

    def _write(self, number: int) -> None:
        """Past the store, as by another host: this host's slots do not show it."""
        connection = sqlite3.connect(self._path, timeout=10)
        with connection:
            (last,) = connection.execute("select number from generation").fetchone()
            now = time.time_ns() // 1_000
            rows = [(last + 1 + index, token(index).handle, now) for index in range(number)]
            connection.executemany("insert into changes (generation, handle, written_at) values (?, ?, ?)", rows)
            connection.execute("update generation set number = number + ?", (number,))
        connection.close()

    async def _evict(self, probe: LagProbe) -> None:
        for number in range(self._count, self._count + MORE):
            probe.position = number
            await self._resolver.resolve(raw(number))

    async def _forget(self, _: LagProbe) -> None:
        self._resolver.flush()
        await asyncio.sleep(0.5)

    async def _again(self, probe: LagProbe) -> None:
        for number in range(MORE):
            probe.position = number
            await self._resolver.resolve(raw(number * STRIDE % self._count))


if __name__ == "__main__":
    print(json.dumps(asyncio.run(CacheWorker(sys.argv[1], int(sys.argv[2])).run())))
