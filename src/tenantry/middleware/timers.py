from __future__ import annotations

import asyncio
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from typing import Final

from tenantry.aio import LoopLocal

# A callback may close a websocket, which takes 50 µs.
BATCH: Final = 16
"""Maximum number of callbacks in one step of the event loop."""

_MIN_INTERVAL: Final = 0.004
"""After running callbacks, TimerQueue schedules its next wake-up at least this many seconds later, unless a timer is
overdue."""


class TimerHandle:
    __slots__ = ("callback",)

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None


class TimerQueue:
    """Timers that share one timer of the event loop."""

    # Ten thousand asyncio timers would use a tenth of a CPU core.
    __slots__ = ("_handles", "_numbers", "_wakes_at")

    def __init__(self) -> None:
        self._handles: list[tuple[float, int, TimerHandle]] = []
        self._numbers = count()
        self._wakes_at = float("inf")

    def call_later(self, seconds: float, callback: Callable[[], None]) -> TimerHandle:
        loop = asyncio.get_running_loop()
        due, handle = loop.time() + seconds, TimerHandle(callback)
        heappush(self._handles, (due, next(self._numbers), handle))
        if due + _MIN_INTERVAL < self._wakes_at:
            self._wake(loop, due)
        return handle

    def _wake(self, loop: asyncio.AbstractEventLoop, when: float) -> None:
        self._wakes_at = when
        loop.call_at(when, self._run, when)

    def _run(self, when: float) -> None:
        if when != self._wakes_at:
            return  # replaced by an earlier wake-up
        # Keeps ``call_later`` from scheduling wake-ups while callbacks run; ``finally`` schedules the next.
        self._wakes_at = float("-inf")
        loop = asyncio.get_running_loop()
        now, handles = loop.time(), self._handles
        try:
            for _ in range(BATCH):
                if not handles or handles[0][0] > now:
                    return
                callback = heappop(handles)[2].callback
                if callback is not None:
                    callback()
        finally:
            self._wakes_at = float("inf")
            if handles:
                due = handles[0][0]
                self._wake(loop, now if due <= now else max(due, now + _MIN_INTERVAL))


timer_queues: LoopLocal[TimerQueue] = LoopLocal(TimerQueue)
