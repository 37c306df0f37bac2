"""Telling: who beyond this process hears of a store's writes, from the server and from the command line alike."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tenantry.ports import Store

_FAREWELL_SECONDS = 1.25
"""What waits is sent within a second; then there are connections to close."""


def tell_redis(store: Store, url: str) -> Callable[[], Awaitable[None]]:
    """From now on the Valkey or Redis at ``url`` is told of each write: its bus, and its second-level cache.

    Gives what is to be awaited before the store is closed: it sends what waits, within a second, and never
    raises for a server that does not answer. Does no I/O. Raises InvalidSettings.
    """
    from tenantry.backends.redis import RedisBackend  # redis-py, which is an extra
    from tenantry.buses import RedisBus

    told = (RedisBackend(store, url), RedisBus(url))
    for each in told:
        store.subscribe(each)  # the entry is voided before anybody is told to ask for it

    async def close() -> None:
        farewells = [asyncio.create_task(each.aclose()) for each in told]
        _, late = await asyncio.wait(farewells, timeout=_FAREWELL_SECONDS)
        for task in late:
            task.cancel()
        await asyncio.gather(*farewells, return_exceptions=True)

    return close
