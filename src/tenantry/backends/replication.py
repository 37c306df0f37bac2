"""Replication: who beyond this process learns of a store's writes, from the server and from the command line alike."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tenantry.ports import Store

_CLOSE_SECONDS = 1.25
"""What waits is sent within a second; then there are connections to close."""


def attach_redis(store: Store, url: str) -> Callable[[], Awaitable[None]]:
    """Sends each write of the store to the Valkey or Redis at ``url``: to its bus, and to its second-level cache.

    Returns what is to be awaited before the store is closed: it sends what waits, within a second, and never raises
    for a server that does not answer. Does no I/O. Raises InvalidSettings.
    """
    from tenantry.backends.buses import RedisBus
    from tenantry.backends.redis.second_level import RedisBackend  # redis-py, which is an extra

    listeners = (RedisBackend(store, url), RedisBus(url))
    for listener in listeners:
        store.subscribe(listener)  # the entry is voided before anybody is notified to ask for it

    async def close() -> None:
        closing = [asyncio.create_task(listener.aclose()) for listener in listeners]
        _, late = await asyncio.wait(closing, timeout=_CLOSE_SECONDS)
        for task in late:
            task.cancel()
        await asyncio.gather(*closing, return_exceptions=True)

    return close
