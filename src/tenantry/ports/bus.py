"""The ports of messages about changes: buses, and the two kinds of listener."""

from __future__ import annotations

from typing import Protocol


class EvictionListener(Protocol):
    """Takes the messages of a bus. Both methods make a cache ask again: a false message costs a read, nothing else."""

    def evict(self, handle: bytes, generation: int) -> None:
        """The group with this handle was written to, in this generation."""

    def flush(self) -> None:
        """The bus may have lost messages: nothing that is cached is known to be new."""


class Bus(Protocol):
    """Notifies of changes sooner than the next poll would. It may lose, repeat and reorder: nothing rests on it."""

    async def follow(self, listener: EvictionListener) -> None:
        """Listens until it is cancelled, through every loss of its connection; ``flush`` after each."""
        ...


class WatchedBus(Bus, Protocol):
    """A bus that knows whether its messages arrive, for ``/readyz``."""

    @property
    def status(self) -> str:
        """``idle``, ``connecting``, ``receiving``, ``lost`` (no connection), or ``deaf``: connected, and its own
        messages do not come."""
        ...


class ChangeListener(Protocol):
    """Called for each write of a store in this process, to send it to others."""

    def changed(self, handle: bytes, generation: int) -> None:
        """A rotation, update or deletion was committed. Called before the writer returns: it must not wait or raise."""
