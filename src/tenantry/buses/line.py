"""Line: a connection that is made again and again, for as long as somebody follows the bus."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable

from tenantry.buses.hearing import BusCounters, Hearing
from tenantry.ports import EvictionListener

logger = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 1.0
SILENCE_SECONDS = 3.0
"""A connection that has said nothing for so long, though it was asked each second, is dead."""

_SHORTEST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0

Listen = Callable[[Hearing, Callable[[], None]], Awaitable[None]]
"""Connects, calls what it was given once it is subscribed, and hears until the connection is lost: then it raises."""


async def follow(listen: Listen, listener: EvictionListener, counters: BusCounters, label: str) -> None:
    """Runs until it is cancelled. ``listener.flush()`` after each loss and at each new beginning, for nobody knows what
    was said in between."""
    loop = asyncio.get_running_loop()
    pause, down = _SHORTEST_PAUSE, False
    while True:
        subscribed = False

        def begin() -> None:
            nonlocal subscribed, down
            subscribed = True
            listener.flush()
            if down:
                down = False
                logger.warning("the bus on %s is heard again", label)

        hearing = Hearing(listener, counters, loop)
        try:
            await listen(hearing, begin)
        except Exception as error:  # noqa: BLE001 - whatever it is, the bus is silent now
            counters.losses += 1
            if not down:
                down = True
                logger.warning("the bus on %s is lost: %s", label, _name(error))
        finally:
            hearing.close()
        if subscribed:
            listener.flush()
            pause = _SHORTEST_PAUSE
        await asyncio.sleep(pause * (0.5 + random.random()))  # noqa: S311 - so that a fleet does not come back at once
        pause = min(2 * pause, _LONGEST_PAUSE)


def _name(error: BaseException) -> str:
    """What went wrong, without its text, which may hold anything."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return type(error).__name__
