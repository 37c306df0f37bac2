from __future__ import annotations

from typing import Protocol


class EvictionListener(Protocol):
    """Receives the messages of a bus. A forged message does no harm: until two polls have ended, the resolver reads the
    group from the store instead of its cache."""

    def evict(self, handle: bytes, generation: int) -> None:
        """The bus calls this after a write to the group has been committed. ``generation``: the number of the write."""

    def flush(self) -> None:
        """The bus calls this when it may have lost messages. Any cached group may then be stale."""


class Bus(Protocol):
    """Reports changes to other processes before their next poll. Messages may be lost, repeated or reordered."""

    async def follow(self, listener: EvictionListener) -> None:
        """Pass each message to ``listener`` until cancelled. If the connection is lost, connect again and call
        ``listener.flush``."""
        ...


class WatchedBus(Bus, Protocol):
    """A bus that reports its status."""

    @property
    def status(self) -> str:
        """The state of the connection. To check it, the bus sends itself test messages.
        - ``idle``: ``follow`` is not running.
        - ``connecting``: no test message has arrived yet.
        - ``receiving``: test messages arrive.
        - ``lost``: the connection is lost.
        - ``deaf``: the bus is connected, but test messages do not arrive."""
        ...


class ChangeListener(Protocol):
    """Gets each change that this process writes."""

    def changed(self, handle: bytes, generation: int) -> None:
        """The store calls this after the commit and before the write returns. Do not block or raise here."""
