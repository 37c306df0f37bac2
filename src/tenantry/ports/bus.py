from __future__ import annotations

from typing import Protocol


class EvictionListener(Protocol):
    """Receives a bus's messages. A forged message causes at most one extra read."""

    def evict(self, handle: bytes, generation: int) -> None:
        """Called after a committed write to the group. ``generation``: the write's number."""

    def flush(self) -> None:
        """Messages may have been lost: any cached group may be stale."""


class Bus(Protocol):
    """Announces changes sooner than the next poll would. Messages may be lost, repeated or reordered."""

    async def follow(self, listener: EvictionListener) -> None:
        """Pass messages to ``listener`` until cancelled. After a lost connection, reconnect and call ``flush``."""
        ...


class WatchedBus(Bus, Protocol):
    """A bus that reports its status."""

    @property
    def status(self) -> str:
        """``idle``, ``connecting``, ``receiving``, ``lost`` (disconnected) or ``deaf`` (connected, but its test
        messages to itself do not arrive)."""
        ...


class ChangeListener(Protocol):
    """Forwards this process's changes, for example to a bus."""

    def changed(self, handle: bytes, generation: int) -> None:
        """Called after the commit, before the write returns. Must not block or raise."""
