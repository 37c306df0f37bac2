from __future__ import annotations

from typing import Protocol


class EvictionListener(Protocol):
    """Receives a bus's messages. A false message costs one read."""

    def evict(self, handle: bytes, generation: int) -> None:
        """Handle a write to the group, committed in this generation."""

    def flush(self) -> None:
        """Handle a possible loss of messages: any cached answer may be stale."""


class Bus(Protocol):
    """Announces changes before the next poll. Messages may be lost, repeated or reordered."""

    async def follow(self, listener: EvictionListener) -> None:
        """Listen until cancelled; reconnect and call ``flush`` after each loss."""
        ...


class WatchedBus(Bus, Protocol):
    @property
    def status(self) -> str:
        """``idle``, ``connecting``, ``receiving``, ``lost`` (disconnected) or ``deaf`` (connected, but its probes do
        not arrive)."""
        ...


class ChangeListener(Protocol):
    """Forwards this process's writes."""

    def changed(self, handle: bytes, generation: int) -> None:
        """Called between commit and return; must not block or raise."""
