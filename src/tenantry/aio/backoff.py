"""Backoff and a circuit breaker."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import NoReturn

FAILURES = 5
"""Failures in a row that open a Breaker."""

SHORTEST_SECONDS = 0.5
LONGEST_SECONDS = 10.0
"""A Breaker's pauses double up to this, plus up to half at random."""


class Backoff:
    """Pauses in seconds that double from ``shortest`` to ``longest``."""

    def __init__(self, shortest: float, longest: float) -> None:
        self._shortest = shortest
        self._longest = longest
        self._next = shortest

    def next(self) -> float:
        """The next pause."""
        pause = self._next
        self._next = min(2 * pause, self._longest)
        return pause

    def reset(self) -> None:
        """Return to the shortest pause."""
        self._next = self._shortest


async def reconnect_forever(
    connect: Callable[[], Awaitable[object]],
    ended: Callable[[Exception | None], bool],
    *,
    shortest: float,
    longest: float,
) -> NoReturn:
    """Run ``connect`` until cancelled. ``ended`` gets its error or None, and returns whether to reset the pause."""
    backoff = Backoff(shortest, longest)
    while True:
        try:
            await connect()
            error = None
        except Exception as raised:  # noqa: BLE001 - any error ends the connection
            error = raised
        if ended(error):
            backoff.reset()
        await asyncio.sleep(backoff.next() * random.uniform(0.5, 1.5))  # noqa: S311 - no secret


class Breaker:
    """Circuit breaker; open, it allows one probe per pause."""

    def __init__(self, *, clock: Callable[[], float], chance: Callable[[], float]) -> None:
        self._clock = clock
        self._chance = chance
        self._failures = 0
        self._backoff = Backoff(SHORTEST_SECONDS, LONGEST_SECONDS)
        self._pause = 0.0
        self._until: float | None = None
        self._probing = False

    @property
    def is_open(self) -> bool:
        """Whether calls are blocked."""
        return self._until is not None

    def allows(self) -> bool:
        """Whether to call now and report ``succeeded`` or ``failed``."""
        if self._until is None:
            return True
        now = self._clock()
        if now < self._until:
            return False
        self._until = now + self._pause  # one probe; another follows if its outcome is lost
        self._probing = True
        return True

    def succeeded(self) -> bool:
        """True if this ends an outage."""
        ended = self._until is not None
        self._failures, self._until, self._probing = 0, None, False
        self._backoff.reset()
        return ended

    def failed(self) -> bool:
        """True if this begins an outage."""
        self._failures += 1
        begins = self._until is None
        if begins and self._failures < FAILURES:
            return False
        if begins or self._probing:
            self._pause = self._backoff.next()
            self._until = self._clock() + self._pause * (1 + self._chance() / 2)
        self._probing = False
        return begins
