"""Caches that lack one defence each: the controls of the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from tenantry.cache import GroupCache, PendingLoad, PollSnapshot
from tenantry.cache.entries import NO_GENERATION
from tenantry.groups import Changes


class NoLease(GroupCache):
    """Follows the changes, but uses its answers whether or not the store has sent any lately."""

    def apply_changes(self, snapshot: PollSnapshot, changes: Changes, staleness: float) -> Iterator[list[float]]:
        yield from super().apply_changes(snapshot, changes, inf)


class NoFillGuard(GroupCache):
    """Keeps whatever comes, however much has passed it."""

    def _can_store(self, pending: PendingLoad, generation: int | None, deadline: float, now: float) -> bool:
        pending.lease = self.lease
        pending.version = self.lease.versions[pending.slot]
        return now < self.lease.until


class NoSlotCompare(GroupCache):
    """Does not look at what the writers of its host say."""

    def attach(self, versions: Sequence[int]) -> None:
        super().attach(bytes(len(versions)))


class NoChangeLog(GroupCache):
    """Believes a second-level cache, whatever has been written since."""

    def may_use(self, handle: bytes, generation: int | None, now: float) -> bool:
        return now < self.lease.until


class NoPollSnapshot(GroupCache):
    """Asks a second-level cache although a write on this host may have come since the last poll began."""

    def requires_origin(self, pending: PendingLoad, now: float) -> bool:
        return now >= self.lease.until


class NoLeaseForSharing(GroupCache):
    """Lets who comes share any load whose slot has the same version, though it may not know the right slots."""

    def can_join(self, pending: PendingLoad, now: float) -> bool:
        return (
            pending.lease is self.lease
            and pending.min_generation == NO_GENERATION
            and pending.lease.versions[pending.slot] == pending.version
        )
