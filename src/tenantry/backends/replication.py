from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tenantry.ports import Store

_CLOSE_SECONDS = 1.25
"""A second to send pending messages, and a quarter of a second to close connections."""


def attach_redis(store: Store, url: str) -> Callable[[], Awaitable[None]]:
    """Forward the store's writes to the cache and the bus in Redis at ``url``.

    Await the returned function before you close the store: it sends the pending messages for at most a second, and
    raises no errors. ``attach_redis`` itself raises InvalidSettings."""
    from tenantry.backends.buses import RedisBus
    from tenantry.backends.redis.second_level import RedisBackend  # needs redis-py, which is an extra

    listeners = (RedisBackend(store, url), RedisBus(url))
    for listener in listeners:
        store.subscribe(listener)  # the cache first: a reader that the bus notifies then finds the change in the cache

    async def close() -> None:
        closing = [asyncio.create_task(listener.aclose()) for listener in listeners]
        _, late = await asyncio.wait(closing, timeout=_CLOSE_SECONDS)
        for task in late:
            task.cancel()
        await asyncio.gather(*closing, return_exceptions=True)

    return close
