from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeGuard

from tenantry.groups import Changes, LookupResult, Token, UserGroup


class Backend(Protocol):
    """Finds the group of a token. A backend needs no other method."""

    async def find(self, token: Token) -> UserGroup | None:
        """Return the group with this live token; in a grace period, also with its previous token. None if no group has
        the token. The caller has checked the signature."""
        ...


class Slots(Protocol):
    """Versions that all processes of a host share, one in each of ``tenantry.cache.SLOT_COUNT`` slots. ``slot_index``
    maps a handle to a slot.

    A version is odd during a write, and a new even one afterwards (a seqlock). A cached answer is valid while the slot
    has the even version from before the look-up."""

    @property
    def versions(self) -> Sequence[int]:
        """The shared versions, not a copy: they change whenever a process writes."""
        ...

    def copy(self) -> Sequence[int]:
        """A copy of the versions."""
        ...

    def repair(self, slot: int, version: int) -> None:
        """If the slot still has this odd version of a crashed writer, make it even."""
        ...


class SnapshotBackend(Backend, Protocol):
    """Reports each result's generation: the number of the last change included in it."""

    async def read_at_snapshot(self, token: Token, *, fresh: bool) -> LookupResult:
        """Like ``find``, with the generation of the snapshot. ``fresh``: bypass second-level caches."""
        ...


class LeasedBackend(SnapshotBackend, Protocol):
    """A backend that lists its changes. A caller that polls them may cache results that have a generation."""

    async def changes(self, since: int | None, *, lease: float = 0.0) -> Changes:
        """Return the changes after generation ``since`` (None: the most recent). Old changes may be missing. ``lease``:
        seconds within which the caller will poll again or stop using its cache. A write waits for the longest lease to
        end, unless all processes on the writer's host share its slots."""
        ...

    @property
    def slots(self) -> Slots | None:
        """The store's slots on this host; None before the first call of ``changes``. If the object changes, a caller
        must clear its cache."""
        ...


# By hasattr, because isinstance misses attributes that a wrapper provides by ``__getattr__`` (Python 3.12).


def has_snapshots(backend: Backend) -> TypeGuard[SnapshotBackend]:
    return hasattr(backend, "read_at_snapshot")


def is_leased(backend: Backend) -> TypeGuard[LeasedBackend]:
    return hasattr(backend, "changes")
