"""Line: a connection that is made again and again, for as long as somebody follows the bus."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable

from tenantry.buses.hearing import BusCounters, BusStatus, Hearing
from tenantry.buses.probe import Deaf
from tenantry.ports import EvictionListener

logger = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 1.0
SILENCE_SECONDS = 3.0
"""A connection that has said nothing for so long, though it was asked each second, is dead."""

_SHORTEST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0

Listen = Callable[[Hearing, Callable[[], None]], Awaitable[None]]
"""Connects, calls what it was given once it gets its own messages, and goes on until the connection is lost, or passes
nothing on any more: then it raises."""


async def follow(listen: Listen, listener: EvictionListener, counters: BusCounters, label: str) -> None:
    """Runs until it is cancelled. ``listener.flush()`` after each loss and at each new beginning, for nobody knows what
    was said in between. A bus that is connected and passes nothing on is lost as one that has no connection."""
    counters.status = BusStatus.CONNECTING
    try:
        await _follow(listen, listener, counters, label)
    finally:
        counters.status = BusStatus.IDLE


async def _follow(listen: Listen, listener: EvictionListener, counters: BusCounters, label: str) -> None:
    loop = asyncio.get_running_loop()
    pause = _SHORTEST_PAUSE
    while True:
        subscribed = False

        def begin() -> None:
            nonlocal subscribed
            subscribed = True
            listener.flush()
            if counters.status is not BusStatus.CONNECTING:
                logger.warning("the bus on %s is heard again", label)
            counters.status = BusStatus.RECEIVING

        hearing = Hearing(listener, counters, loop)
        try:
            await listen(hearing, begin)
        except Exception as error:  # noqa: BLE001 - whatever it is, the bus is silent now
            _count(_cause(error), counters, label)
        finally:
            hearing.close()
        if subscribed:
            listener.flush()
            pause = _SHORTEST_PAUSE
        await asyncio.sleep(pause * (0.5 + random.random()))  # noqa: S311 - so that a fleet does not come back at once
        pause = min(2 * pause, _LONGEST_PAUSE)


def _count(error: BaseException, counters: BusCounters, label: str) -> None:
    """Counts a loss, and logs it if the one before was not of its kind."""
    counters.losses += 1
    status = BusStatus.DEAF if isinstance(error, Deaf) else BusStatus.LOST
    counters.deaf += status is BusStatus.DEAF
    if counters.status is not status:
        counters.status = status
        if status is BusStatus.DEAF:
            logger.warning("the bus on %s is deaf: connected, but its own messages do not come: %s", label, error)
        else:
            # Without its text, which may hold anything.
            logger.warning("the bus on %s is lost: %s", label, type(error).__name__)


def _cause(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
