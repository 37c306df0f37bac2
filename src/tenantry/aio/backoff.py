from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import NoReturn

FAILURES = 5
"""Consecutive failures that open a Breaker."""

SHORTEST_SECONDS = 0.5
LONGEST_SECONDS = 10.0
"""A Breaker's pauses double, from SHORTEST_SECONDS up to LONGEST_SECONDS. A random time is added to each pause, at most
half of its length."""


class Backoff:
    """Computes pauses in seconds. Each is twice as long as the one before, from ``shortest`` up to ``longest``."""

    def __init__(self, shortest: float, longest: float) -> None:
        self._shortest = shortest
        self._longest = longest
        self._next = shortest

    def next(self) -> float:
        pause = self._next
        self._next = min(2 * pause, self._longest)
        return pause

    def reset(self) -> None:
        self._next = self._shortest


async def reconnect_forever(
    connect: Callable[[], Awaitable[object]],
    ended: Callable[[Exception | None], bool],
    *,
    shortest: float,
    longest: float,
) -> NoReturn:
    """Call ``connect`` again and again until cancelled. The pauses grow from ``shortest`` to ``longest`` seconds. Each
    pause is varied at random by up to half. After each call, ``ended`` gets the call's exception, or None. If ``ended``
    returns True, the next pause is the shortest."""
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
    """A circuit breaker. FAILURES consecutive failures open it. While it is open, it allows only one trial call (a
    probe) after each pause."""

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
        return self._until is not None

    def allows(self) -> bool:
        """Whether the caller may make its call now. If so, the caller must then call ``succeeded`` or ``failed``."""
        if self._until is None:
            return True
        now = self._clock()
        if now < self._until:
            return False
        self._until = now + self._pause  # if the outcome of this probe is never reported, another probe follows
        self._probing = True
        return True

    def succeeded(self) -> bool:
        """Report a success. Return True if the breaker was open."""
        ended = self._until is not None
        self._failures, self._until = 0, None
        self._backoff.reset()
        return ended

    def failed(self) -> bool:
        """Report a failure. Return True if it opened the breaker."""
        self._failures += 1
        begins = self._until is None
        if begins and self._failures < FAILURES:
            return False
        if begins or self._probing:
            self._pause = self._backoff.next()
            self._until = self._clock() + self._pause * (1 + self._chance() / 2)
        self._probing = False
        return begins
