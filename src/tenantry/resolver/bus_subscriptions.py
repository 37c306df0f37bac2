from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tenantry.aio import reconnect_forever, silence_destroy_warning
from tenantry.errors import error_location

if TYPE_CHECKING:
    from tenantry.ports import Bus, EvictionListener

logger: logging.Logger = logging.getLogger(__name__)

SHORTEST_PAUSE, LONGEST_PAUSE = 0.1, 30.0
"""Seconds to wait before the resolver subscribes to a failed bus again. The pause doubles with each failure."""

STEADY = 60.0
"""If a bus has not failed for this many seconds, the next pause is the shortest again."""

CONNECTED = 1.0
"""If a subscription has lasted this many seconds, the bus counts as connected. If it fails later, messages may have
been lost, so the cache is flushed."""


class BusSubscriptions:
    """Forwards the messages of the buses to the resolver, with one task for each bus. The tasks stop when the resolver
    is garbage-collected."""

    def __init__(self, buses: Sequence[Bus], listener: EvictionListener) -> None:
        self._buses = tuple(buses)
        self._listener = WeakListener(listener)
        self._loop: weakref.ref[asyncio.AbstractEventLoop] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._end: weakref.finalize[..., EvictionListener] | None = None

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._buses or (self._loop is not None and self._loop() is loop):
            return
        self.stop()
        self._loop = weakref.ref(loop)
        for bus in self._buses:
            task = loop.create_task(_follow_forever(bus, self._listener), name="tenantry.bus")
            silence_destroy_warning(task)
            task.add_done_callback(self._tasks.remove)
            self._tasks.append(task)
        listener = self._listener.alive()
        if listener is not None:
            self._end = weakref.finalize(listener, _cancel, self._loop, self._tasks)
            self._end.atexit = False

    def stop(self) -> list[asyncio.Task[None]]:
        tasks, loop = list(self._tasks), self._loop
        self._tasks, self._loop = [], None
        if self._end is not None:
            self._end.detach()
            self._end = None
        if loop is not None:
            _cancel(loop, tasks)
        return tasks


class WeakListener:
    def __init__(self, listener: EvictionListener) -> None:
        self.alive: weakref.ref[EvictionListener] = weakref.ref(listener)

    def evict(self, handle: bytes, generation: int) -> None:
        listener = self.alive()
        if listener is not None:
            listener.evict(handle, generation)

    def flush(self) -> None:
        listener = self.alive()
        if listener is not None:
            listener.flush()


async def _follow_forever(bus: Bus, listener: EvictionListener) -> None:
    begun = 0.0

    async def follow() -> None:
        nonlocal begun
        begun = time.monotonic()
        await bus.follow(listener)

    def ended(error: Exception | None) -> bool:
        if error is None:
            logger.error("the bus %s stopped unexpectedly", type(bus).__name__)
        else:
            logger.error("the bus %s failed: %s", type(bus).__name__, error_location(error))
        lasted = time.monotonic() - begun
        if lasted >= CONNECTED:
            listener.flush()  # the bus may have lost messages
        return lasted >= STEADY

    await reconnect_forever(follow, ended, shortest=SHORTEST_PAUSE, longest=LONGEST_PAUSE)


def _cancel(loop: weakref.ref[asyncio.AbstractEventLoop], tasks: Sequence[asyncio.Task[None]]) -> None:
    running = loop()
    if running is None:
        return
    for task in list(tasks):
        with contextlib.suppress(RuntimeError):  # the loop may be closing, in another thread
            running.call_soon_threadsafe(task.cancel)
