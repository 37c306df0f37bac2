"""Follows a bus: reconnects, checks delivery and limits messages."""
# A connection may respond but deliver no messages, for example if LISTEN goes through a transaction pooler. So a bus
# sends itself test messages (probes), on the same path as the notices of changes.

from __future__ import annotations

import asyncio
import logging
import random
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from tenantry.aio import reconnect_forever
from tenantry.database import connection_problem
from tenantry.groups import read_notice
from tenantry.ports import EvictionListener

logger: logging.Logger = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 1.0
SILENCE_SECONDS = 3.0
"""Maximum seconds to connect and subscribe. The bus also sends a PING to Redis every second: a connection to Redis that
receives nothing for this number of seconds counts as dead."""

QUIET_SECONDS = 1.0
"""A subscriber sends a probe if it has received no message for 50 to 100 % of this time (chosen at random). Every
subscriber receives that probe and starts to wait again."""

REPLY_SECONDS = 2.0
"""A probe that does not arrive within this number of seconds counts as lost, and its bus counts as deaf."""

EVICTIONS = 1_000
"""Maximum number of notices that the listener gets in one second. If there are more, a single flush at the end of the
second replaces the rest."""

WINDOW_SECONDS = 1.0
PROBE = "probe "
"""The first word of probes. No notice starts with it."""

_PROBE = PROBE.encode()
_LONGEST = 128
_HANDLE = 8
_SHORTEST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0


class BusStatus(StrEnum):
    """The state of a bus."""

    IDLE = "idle"
    CONNECTING = "connecting"
    RECEIVING = "receiving"
    """The bus receives its own probes, so notices arrive too."""
    LOST = "lost"
    DEAF = "deaf"
    """The bus is connected, but its own probes do not arrive."""


@dataclass(slots=True)
class BusCounters:
    """Counters and status of a bus."""

    heard: int = 0
    """Notices passed to the listener."""
    ignored: int = 0
    """Messages that were not notices."""
    held_back: int = 0
    """Notices beyond the limit, replaced by a flush."""
    losses: int = 0
    """Connections that failed, were lost or were deaf."""
    deaf: int = 0
    """Connections on which a probe did not arrive."""
    status: BusStatus = BusStatus.IDLE
    problem: str = ""
    """Why the last connection ended, without secrets."""


class Deaf(Exception): ...


Listen = Callable[["NotificationLimiter", Callable[[], None]], Awaitable[None]]
"""Connects, and passes messages to its first argument. Calls its second argument when the first probe has arrived.
Raises an exception if the connection is lost or a probe does not arrive."""


async def follow(listen: Listen, listener: EvictionListener, counters: BusCounters, label: str) -> None:
    """Run ``listen`` again and again until cancelled. Call ``listener.flush`` when a connection begins to deliver
    messages and when it is lost."""
    subscribed = False

    def on_delivery() -> None:
        nonlocal subscribed
        subscribed = True
        listener.flush()
        if counters.status is not BusStatus.CONNECTING:
            logger.warning("the bus on %s delivers again", label)
        counters.status = BusStatus.RECEIVING

    async def connect() -> None:
        nonlocal subscribed
        subscribed = False
        limiter = NotificationLimiter(listener, counters, asyncio.get_running_loop())
        try:
            await listen(limiter, on_delivery)
        finally:
            limiter.close()

    def ended(error: Exception | None) -> bool:
        if error is not None:
            _count(error, counters, label)
        if subscribed:
            listener.flush()
        return subscribed

    counters.status = BusStatus.CONNECTING
    try:
        await reconnect_forever(connect, ended, shortest=_SHORTEST_PAUSE, longest=_LONGEST_PAUSE)
    finally:
        counters.status = BusStatus.IDLE


def _count(error: BaseException, counters: BusCounters, label: str) -> None:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    counters.losses += 1
    status = BusStatus.DEAF if isinstance(error, Deaf) else BusStatus.LOST
    counters.deaf += status is BusStatus.DEAF
    # The message of another error may contain a secret.
    reason = str(error) if isinstance(error, Deaf) else connection_problem(error, label)
    counters.problem = (
        f"connected, but its own messages do not arrive: {reason}" if status is BusStatus.DEAF else reason
    )
    if counters.status is not status:
        counters.status = status
        logger.warning("the bus on %s is %s: %s", label, status, counters.problem)


async def probe(
    limiter: NotificationLimiter,
    publish: Callable[[str], Awaitable[object]],
    on_delivery: Callable[[], None],
    *,
    cause: str,
) -> None:
    """Send probes until one does not arrive, then raise Deaf(``cause``). Call ``on_delivery`` when the first probe
    arrives. Raises TimeoutError if ``publish`` takes too long, and the errors of ``publish``."""
    delivered = False
    while True:
        text = f"{PROBE}{secrets.token_hex(8)}"
        published = False
        arrived = limiter.expect(text)
        try:
            async with asyncio.timeout(REPLY_SECONDS):
                await publish(text)
                published = True
                await arrived
        except TimeoutError:
            if not published:
                raise
            if not arrived.done() or arrived.cancelled():
                raise Deaf(cause) from None
        if not delivered:
            delivered = True
            on_delivery()
        while await limiter.anything_within(QUIET_SECONDS * random.uniform(0.5, 1.0)):  # noqa: S311 - no secret
            pass


class NotificationLimiter:
    def __init__(self, listener: EvictionListener, counters: BusCounters, loop: asyncio.AbstractEventLoop) -> None:
        self._listener = listener
        self._counters = counters
        self._loop = loop
        self._window: asyncio.TimerHandle | None = None
        self._passed = 0
        self._held_back = False
        self._arrived = asyncio.Event()
        self._expected: tuple[str, asyncio.Future[None]] | None = None

    def expect(self, message: str) -> asyncio.Future[None]:
        arrived: asyncio.Future[None] = self._loop.create_future()
        self._expected = message, arrived
        return arrived

    async def anything_within(self, seconds: float) -> bool:
        self._arrived.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._arrived.wait()
        return self._arrived.is_set()

    def feed(self, message: str | bytes) -> None:
        self._arrived.set()
        if self._is_probe(message):
            return
        notice = None
        if len(message) <= _LONGEST:
            notice = read_notice(message if isinstance(message, str) else message.decode("latin-1"))
        if notice is None or len(notice[2]) != _HANDLE:
            self._counters.ignored += 1
            return
        if self._window is None:
            self._window = self._loop.call_later(WINDOW_SECONDS, self._end_window)
        if self._passed >= EVICTIONS:
            self._held_back = True
            self._counters.held_back += 1
            return
        self._passed += 1
        self._counters.heard += 1
        _, generation, handle = notice
        self._listener.evict(handle, generation)

    def _is_probe(self, message: str | bytes) -> bool:
        is_probe = message.startswith(_PROBE) if isinstance(message, bytes) else message.startswith(PROBE)
        if not is_probe or len(message) > _LONGEST:
            return False
        if self._expected is not None and not self._expected[1].done():
            text = message.decode("latin-1") if isinstance(message, bytes) else message
            if text == self._expected[0]:
                self._expected[1].set_result(None)
        return True

    def _end_window(self) -> None:
        self._window, self._passed = None, 0
        if self._held_back:
            self._held_back = False
            self._listener.flush()

    def close(self) -> None:
        if self._window is not None:
            self._window.cancel()
