"""Trying again after a pause that grows: the one back-off of all that reconnects."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import NoReturn


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
