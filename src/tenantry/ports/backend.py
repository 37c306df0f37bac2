from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tenantry.groups import Changes, LookupResult, Token, UserGroup


class Backend(Protocol):
    """Finds the group of a token. A third-party backend needs nothing else."""

    async def find(self, token: Token) -> UserGroup | None:
        """Return the group if the token's version, nonce and key id match its live token or one in its grace; else
        None. The signature is already checked."""
        ...


class Slots(Protocol):
    """``tenantry.cache.SLOT_COUNT`` versions shared by all processes of a host (a seqlock).

    A writer stores an odd version in the group's slot before the commit and an even one after it. A cached answer is
    valid while its slot has the even version read before the lookup."""

    @property
    def versions(self) -> Sequence[int]: ...

    def copy(self) -> Sequence[int]: ...

    def repair(self, slot: int, version: int) -> None:
        """End a crashed writer's write, if the slot still has ``version``."""
        ...


class SnapshotBackend(Backend, Protocol):
    """A backend whose results carry a generation."""

    async def read_at_snapshot(self, token: Token, *, fresh: bool) -> LookupResult:
        """Like ``find``, with the snapshot's generation; a result without one is used once. ``fresh``: bypass
        second-level caches."""
        ...


class LeasedBackend(SnapshotBackend, Protocol):
    """A backend that lists its changes, so that results can be cached under a lease."""

    async def changes(self, since: int | None, *, lease: float = 0.0) -> Changes:
        """Return the changes after generation ``since`` (None: the most recent); old changes may be missing. ``lease``:
        seconds for which the caller will use its cache; a writer whose write it cannot see waits that long. Raises
        StoreUnavailable."""
        ...

    @property
    def slots(self) -> Slots | None:
        """The store's slots on this host; None before the first ``changes``. Clear the cache when the object
        changes."""
        ...
