"""What the buses' tests listen with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from tenantry.ports import Bus


class RecordingListener:
    """An EvictionListener that records its calls."""

    def __init__(self) -> None:
        self.evicted: list[tuple[bytes, int]] = []
        self.flushes = 0

    def evict(self, handle: bytes, generation: int) -> None:
        self.evicted.append((handle, generation))

    def flush(self) -> None:
        self.flushes += 1


@asynccontextmanager
async def following(*buses: Bus) -> AsyncIterator[list[RecordingListener]]:
    """A listener for each bus, once all of them have begun to listen."""
    listeners = [RecordingListener() for _ in buses]
    tasks = [asyncio.create_task(bus.follow(listener)) for bus, listener in zip(buses, listeners, strict=True)]
    try:
        await until(lambda: all(listener.flushes for listener in listeners))
        yield listeners
    finally:
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in ended), ended


async def until(is_so: Callable[[], object]) -> None:
    """Waits until it is so; fails after two minutes."""
    for _ in range(12_000):
        if is_so():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never became so")
