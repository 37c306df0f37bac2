"""Trying again after a pause that grows: the one back-off of all that reconnects, and the breaker."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import NoReturn

FAILURES = 5
"""So many in a row open a Breaker."""

SHORTEST_SECONDS = 0.5
LONGEST_SECONDS = 10.0
"""A pause of a Breaker is twice the one before it, within these, and up to half as long again by chance."""


class Backoff:
    """Pauses in seconds: the first is ``shortest``, each is twice the one before it, none is above ``longest``."""

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
        """All is well: the next pause is the shortest again."""
        self._next = self._shortest


async def reconnect_forever(
    connect: Callable[[], Awaitable[object]],
    ended: Callable[[Exception | None], bool],
    *,
    shortest: float,
    longest: float,
) -> NoReturn:
    """Runs ``connect``, which goes on for as long as its connection does, again and again until it is cancelled.

    ``ended`` gets what ``connect`` raised (None: it returned) and says whether the connection had been good; then the
    next pause is the ``shortest``. Pauses (seconds) vary by half, so that a fleet does not come back in step.
    """
    backoff = Backoff(shortest, longest)
    while True:
        try:
            await connect()
            error = None
        except Exception as raised:  # noqa: BLE001 - whatever it is, there is no connection now
            error = raised
        if ended(error):
            backoff.reset()
        await asyncio.sleep(backoff.next() * random.uniform(0.5, 1.5))  # noqa: S311 - no secret


class Breaker:
    """Leaves a server alone that does not answer. Pure: clock and chance are arguments.

    Closed: everybody may ask. Open: nobody, until the pause is over; then one may, and its outcome decides.
    """

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
        """Whether the server is left alone, but for a probe."""
        return self._until is not None

    def allows(self) -> bool:
        """Whether to ask now. Whoever is allowed calls ``succeeded`` or ``failed`` afterwards."""
        if self._until is None:
            return True
        now = self._clock()
        if now < self._until:
            return False
        self._until = now + self._pause  # one probe; should its outcome be lost, there is another
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
