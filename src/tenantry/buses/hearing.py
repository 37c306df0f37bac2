"""Hearing: what came over a bus, strictly read, and how much of it a listener is told."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from tenantry.groups import read_notice
from tenantry.ports import EvictionListener

EVICTIONS = 1_000
"""So many notices in a window are passed on one by one. Of those beyond, the listener hears one flush at its end."""

WINDOW_SECONDS = 1.0
PROBE = "probe "
"""How the message begins that a bus sends to itself; no notice begins so."""

_PROBE = PROBE.encode()

_LONGEST = 128
_HANDLE = 8


class BusStatus(StrEnum):
    """What a bus is worth just now."""

    IDLE = "idle"
    """Nobody follows it."""
    CONNECTING = "connecting"
    RECEIVING = "receiving"
    """It gets its own messages, so it gets those of others."""
    LOST = "lost"
    """It has no connection."""
    DEAF = "deaf"
    """It is connected, and does not get its own messages."""


@dataclass(slots=True)
class BusCounters:
    """What a bus received since it was made, and its status. Reading them costs nothing."""

    heard: int = 0
    """Notices that were passed on."""
    ignored: int = 0
    """Messages that were not notices."""
    held_back: int = 0
    """Notices beyond the limit, for which there was one flush a second."""
    losses: int = 0
    """How often the connection was lost, or could not be made, or was found to be deaf."""
    deaf: int = 0
    """How often it was connected and did not get its own message."""
    status: BusStatus = BusStatus.IDLE


class Hearing:
    """One connection's notices on their way to a listener. Whatever is sent causes at most 1,000 evictions and one
    flush a second: a flood of forged notices cannot make a worker read more than it would after a flush."""

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
        """Is done when this very message has come."""
        arrived: asyncio.Future[None] = self._loop.create_future()
        self._expected = message, arrived
        return arrived

    async def anything_within(self, seconds: float) -> bool:
        """Whether any message comes in that time."""
        self._arrived.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._arrived.wait()
        return self._arrived.is_set()

    def hear(self, message: str | bytes) -> None:
        """Never raises for a message, whatever it is."""
        self._arrived.set()
        if self._is_probe(message):
            return
        notice = _read(message)
        if notice is None:
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
        self._listener.evict(*notice)

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
        """What was held back is covered by the flush of the loss."""
        if self._window is not None:
            self._window.cancel()


def _read(message: str | bytes) -> tuple[bytes, int] | None:
    if len(message) > _LONGEST:
        return None
    notice = read_notice(message if isinstance(message, str) else message.decode("latin-1"))
    if notice is None or len(notice[2]) != _HANDLE:
        return None
    return notice[2], notice[1]
