"""Another worker, in a process of its own, that has a group in its cache and says when it has let it go.

``python -m benchmarks.micro.follower HOW STORE_URL TOKEN [VALKEY_URL]``. It prints ``ready`` when the group is in its
cache, then the moment (seconds of the host's monotonic clock) when it is not, and begins again at each line on stdin.
"""

from __future__ import annotations

import asyncio
import sys
import time

from benchmarks.harness.population import KEYS
from tenantry import Resolver
from tenantry.backends.sql import SQLStore
from tenantry.ports import Bus

CHANNEL = "bench:changed"


class Watched(Resolver):
    """A resolver that says when a bus has made it forget."""

    notified: asyncio.Event | None = None

    def evict(self, handle: bytes, generation: int) -> None:
        super().evict(handle, generation)
        if self.notified is not None:
            self.notified.set()


async def _resolver(store: SQLStore, how: str, buses: tuple[Bus, ...], raw: bytes) -> None:
    resolver = Watched(store, keys=KEYS, buses=buses)
    while True:
        await resolver.resolve(raw)
        await asyncio.sleep(0.02)  # the bus may be about to tell of the last write once more
        if resolver.peek(raw) is None:  # or there is no lease yet
            continue
        resolver.notified = asyncio.Event()
        print("ready", flush=True)
        while resolver.peek(raw) is not None:
            if how == "poll":
                await asyncio.sleep(0.001)
            elif how != "slot":  # the slots of the host need no loop: whoever looks sees them
                await resolver.notified.wait()
        _print_time()


async def _redis_py(url: str) -> None:
    """The usual way: redis-py's pub/sub on a connection of its own, which takes the key out of a dict."""
    import redis.asyncio

    client = redis.asyncio.Redis.from_url(url)
    async with client.pubsub() as channel:
        await channel.subscribe(CHANNEL)
        async for message in channel.listen():
            if message["type"] == "subscribe":
                print("ready", flush=True)
                continue
            _print_time()
            print("ready", flush=True)


def _print_time() -> None:
    print(time.clock_gettime(time.CLOCK_MONOTONIC), flush=True)
    sys.stdin.readline()


async def _main() -> None:
    how, url, token, *valkey = sys.argv[1:]
    if how == "redis-py":
        await _redis_py(valkey[0])
        return
    buses: tuple[Bus, ...] = ()
    if how == "postgres":
        from tenantry.backends.buses import PostgresBus

        buses = (PostgresBus(url),)
    elif how == "redis":
        from tenantry.backends.buses import RedisBus

        buses = (RedisBus(valkey[0]),)
    await _resolver(SQLStore(url), how, buses, token.encode())


if __name__ == "__main__":
    asyncio.run(_main())
