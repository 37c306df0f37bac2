"""Watch: one timer for all live websockets of an event loop, which are looked at a few at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from typing import Final
from weakref import WeakKeyDictionary

SLICE: Final = 16
"""How many are looked at before the loop may do other work. Each may turn out to have to be closed, which is 50 µs."""

PAUSE: Final = 0.004
"""Seconds between two wakings of the timer, unless some are overdue."""


class Visit:
    """A look that is to be made, unless it is cancelled: then nothing here holds on to whom it was for."""

    __slots__ = ("look",)

    def __init__(self, look: Callable[[], None]) -> None:
        self.look: Callable[[], None] | None = look

    def cancel(self) -> None:
        self.look = None


class Watch:
    """Ten thousand timers of asyncio's own cost a tenth of a core, and all that are due run in one go."""

    __slots__ = ("__weakref__", "_numbers", "_visits", "_wakes_at")

    def __init__(self) -> None:
        self._visits: list[tuple[float, int, Visit]] = []
        self._numbers = count()
        self._wakes_at = float("inf")

    @staticmethod
    def of(loop: asyncio.AbstractEventLoop) -> Watch:
        """The one of this loop. To be called on it."""
        watch = _watches.get(loop)
        if watch is None:
            watch = _watches[loop] = Watch()
        return watch

    def after(self, seconds: float, look: Callable[[], None]) -> Visit:
        """Calls ``look`` in so many seconds, or a little later where many are due."""
        loop = asyncio.get_running_loop()
        due, visit = loop.time() + seconds, Visit(look)
        heappush(self._visits, (due, next(self._numbers), visit))
        if due + PAUSE < self._wakes_at:
            self._wake(loop, due)
        return visit

    def _wake(self, loop: asyncio.AbstractEventLoop, when: float) -> None:
        self._wakes_at = when
        loop.call_at(when, self._walk, when)

    def _walk(self, when: float) -> None:
        if when != self._wakes_at:
            return  # an earlier waking has taken the place of this one
        self._wakes_at = float("-inf")  # nobody else is to wake it now
        loop = asyncio.get_running_loop()
        now = loop.time()
        try:
            self._look_at_some(now)
        finally:
            self._wakes_at = float("inf")
            if self._visits:
                due = self._visits[0][0]
                self._wake(loop, now if due <= now else max(due, now + PAUSE))

    def _look_at_some(self, now: float) -> None:
        visits = self._visits
        for _ in range(SLICE):
            if not visits or visits[0][0] > now:
                return
            visit = heappop(visits)[2]
            if visit.look is not None:
                visit.look()


_watches: WeakKeyDictionary[asyncio.AbstractEventLoop, Watch] = WeakKeyDictionary()
