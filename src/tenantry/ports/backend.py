from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeGuard

from tenantry.groups import Changes, LookupResult, Token, UserGroup


class Backend(Protocol):
    """Finds the group of a token. A backend needs no other method."""

    async def find(self, token: Token) -> UserGroup | None:
        """Return the group of ``token``, or None. In the grace period after a rotation, the group's previous token is
        also accepted. The caller has already checked the token's signature."""
        ...


class Slots(Protocol):
    """Version numbers, one for each slot, that all processes on a host share. They show whether a cached answer is
    still valid. ``slot_index`` returns the slot of a handle.

    A write sets an odd version before its commit, and a new even version afterwards (a seqlock). A cached answer is
    valid while its slot has the even version that it had before the answer was read. If two writes overlap, each sets a
    new even version when it ends, which invalidates all earlier answers."""

    @property
    def versions(self) -> Sequence[int]:
        """The shared versions, not a copy."""
        ...

    def copy(self) -> Sequence[int]:
        """A copy of the versions."""
        ...

    def repair(self, slot: int, version: int) -> None:
        """Set a new even version if the slot still has ``version``, the odd version of a crashed writer."""
        ...


class SnapshotBackend(Backend, Protocol):
    """A backend whose results say how recent they are: which change of the store is the last that they include."""

    async def read_at_snapshot(self, token: Token, *, fresh: bool) -> LookupResult:
        """Return the same group as ``find``, and the number of the last change that the result includes. ``fresh``: do
        not read from a second-level cache such as Redis."""
        ...


class LeasedBackend(SnapshotBackend, Protocol):
    """A backend whose groups may be cached, because it lists its changes."""

    async def changes(self, since: int | None, *, lease: float = 0.0) -> Changes:
        """Return the changes after generation ``since`` (None: the most recent changes). Old changes may be missing.

        ``lease``: the caller promises to poll again within this number of seconds, or to stop using its cache. If a
        write cannot reach the slots of every process on its host, it waits until the longest lease has ended."""
        ...

    @property
    def slots(self) -> Slots | None:
        """The store's slots on this host; may be None before the first call to ``changes``. If this property later
        returns a different object, the caller must clear its cache."""
        ...


# Use hasattr, because isinstance misses attributes that a wrapper provides by ``__getattr__`` (Python 3.12).


def has_snapshots(backend: Backend) -> TypeGuard[SnapshotBackend]:
    return hasattr(backend, "read_at_snapshot")


def is_leased(backend: Backend) -> TypeGuard[LeasedBackend]:
    return hasattr(backend, "changes")
