from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeGuard

from tenantry.groups import Changes, LookupResult, Token, UserGroup


class Backend(Protocol):
    """Finds the group of a token. A backend needs no other method."""

    async def find(self, token: Token) -> UserGroup | None:
        """Return the group to which ``token`` belongs, or None. During a grace period, the group's previous token is
        also accepted. The caller has already checked the token's signature."""
        ...


class Slots(Protocol):
    """The version of each slot of a store, shared by all processes on a host. ``slot_index`` returns the slot of a
    handle.

    A write makes the version odd before its commit, and gives the slot a new even version afterwards (a seqlock). A
    cached answer is valid while its slot has the even version that it had before the answer was read. Each of two
    overlapping writes sets a new version at its end, which invalidates all answers that were cached before."""

    @property
    def versions(self) -> Sequence[int]:
        """The shared versions themselves, not a copy."""
        ...

    def copy(self) -> Sequence[int]:
        """A copy of the versions."""
        ...

    def repair(self, slot: int, version: int) -> None:
        """End the write of a crashed writer: if the slot still has this odd version, give the slot a new even one."""
        ...


class SnapshotBackend(Backend, Protocol):
    """A backend that reports a generation with each result: the number of the last change that the result includes."""

    async def read_at_snapshot(self, token: Token, *, fresh: bool) -> LookupResult:
        """Return the same group as ``find``, with the generation of the snapshot. With ``fresh``, second-level caches
        are bypassed."""
        ...


class LeasedBackend(SnapshotBackend, Protocol):
    """A backend that lists its changes."""

    async def changes(self, since: int | None, *, lease: float = 0.0) -> Changes:
        """Return the changes after generation ``since`` (None: the most recent changes). The list may lack old changes.
        ``lease``: the caller promises that, within this number of seconds, it polls again or stops using its cache. A
        write waits until the longest lease has ended, unless all processes on its host use the same slots."""
        ...

    @property
    def slots(self) -> Slots | None:
        """The store's slots on this host; may be None before the first call of ``changes``. If this property returns
        another object than before, the caller must clear its cache."""
        ...


# Use hasattr, because isinstance misses attributes that a wrapper provides by ``__getattr__`` (Python 3.12).


def has_snapshots(backend: Backend) -> TypeGuard[SnapshotBackend]:
    return hasattr(backend, "read_at_snapshot")


def is_leased(backend: Backend) -> TypeGuard[LeasedBackend]:
    return hasattr(backend, "changes")
