"""The ports of messages about changes: buses, and the two kinds of listener."""

from __future__ import annotations

from typing import Protocol


class EvictionListener(Protocol):
    """Receives the messages of a bus. A false message costs a read, nothing else."""

    def evict(self, handle: bytes, generation: int) -> None:
        """Called when the group with this handle was written, in this generation."""

    def flush(self) -> None:
        """Called when messages may be lost: every cached answer may be stale."""


class Bus(Protocol):
    """Notifies of changes before the next poll. It may lose, repeat and reorder messages."""

    async def follow(self, listener: EvictionListener) -> None:
        """Listens until cancelled; reconnects, and calls ``flush`` after each loss."""
        ...


class WatchedBus(Bus, Protocol):
    """A bus that reports its status to ``/readyz``."""

    @property
    def status(self) -> str:
        """``idle``, ``connecting``, ``receiving``, ``lost`` (no connection), or ``deaf`` (connected, but its own
        messages do not arrive)."""
        ...


class ChangeListener(Protocol):
    """Passes the writes of this process on to others."""

    def changed(self, handle: bytes, generation: int) -> None:
        """Called after a commit and before the writer returns; must not wait or raise."""
