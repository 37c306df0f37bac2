"""What the buses' tests listen with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from tenantry.aio import publish_queue
from tenantry.backends.buses import postgres, redis, subscription
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


PATIENCE = 60.0


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that are not about silence: a busy machine may stand still for seconds, and then no bus is lost, no
    message is sent twice, and none is given up."""
    for module in (postgres, redis):
        monkeypatch.setattr(module, "SILENCE_SECONDS", PATIENCE)
    monkeypatch.setattr(subscription, "REPLY_SECONDS", PATIENCE)
    monkeypatch.setattr(redis, "_PUBLISH_SECONDS", PATIENCE)
    monkeypatch.setattr(publish_queue, "CLOSE_SECONDS", PATIENCE)


async def until_heard(listener: RecordingListener, notify: Callable[[], object]) -> None:
    """Notifies until it is heard: a bus that takes silence for a loss may be between two connections."""
    for _ in range(60):
        notify()
        with suppress(TimeoutError):
            async with asyncio.timeout(2):
                await until(lambda: listener.evicted)
            return
    raise AssertionError("it was never heard")


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
