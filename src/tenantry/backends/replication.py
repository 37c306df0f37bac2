"""Sends a store's writes beyond this process, for server and command line."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tenantry.ports import Store

_CLOSE_SECONDS = 1.25
"""What waits is sent within a second; then there are connections to close."""


def attach_redis(store: Store, url: str) -> Callable[[], Awaitable[None]]:
    """Forward writes to the bus and second-level cache at ``url``.

    Await the returned function before closing the store: it sends pending messages within a second and never raises. No
    I/O. Raises InvalidSettings."""
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
