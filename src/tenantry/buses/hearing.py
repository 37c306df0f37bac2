"""Hearing: what came over a bus, strictly read, and how much of it a listener is told."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from tenantry.groups import read_notice
from tenantry.ports import EvictionListener

EVICTIONS = 1_000
"""So many notices in a window are passed on one by one. Of those beyond, the listener hears one flush at its end."""

WINDOW_SECONDS = 1.0
_LONGEST = 128
_HANDLE = 8


@dataclass(slots=True)
class BusCounters:
    """What a bus heard since it was made. Plain integers: reading them costs nothing."""

    heard: int = 0
    """Notices that were passed on."""
    ignored: int = 0
    """Messages that were not notices."""
    held_back: int = 0
    """Notices beyond the limit, for which there was one flush a second."""
    losses: int = 0
    """How often the connection was lost, or could not be made."""


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

    def hear(self, message: str | bytes) -> None:
        """Never raises for a message, whatever it is."""
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
