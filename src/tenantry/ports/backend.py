"""The ports of a resolver: a backend, and how far its answers may be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tenantry.groups import Changes, LookupResult, Token, UserGroup


class Backend(Protocol):
    """Finds the group of a token: all that a third party has to write."""

    async def find(self, token: Token) -> UserGroup | None:
        """The group with this handle if the token is its live one (same version, nonce and key id), or the previous
        one within its grace; else None. The signature is already checked."""
        ...


class Slots(Protocol):
    """The ``tenantry.cache.SLOT_COUNT`` versions that all processes of a host share (a seqlock).

    A writer stores a new odd version in the group's slot before the commit and a new even one after it. An answer is
    cached under the even version read before the lookup, and is void when the slot's version differs.
    """

    @property
    def versions(self) -> Sequence[int]:
        """The live versions."""
        ...

    def copy(self) -> Sequence[int]:
        """A copy of all versions."""
        ...

    def repair(self, slot: int, version: int) -> None:
        """Ends the write in progress of a crashed writer, if the slot still has this ``version``."""
        ...


class SnapshotBackend(Backend, Protocol):
    """A backend whose answers carry a generation."""

    async def read_at_snapshot(self, token: Token, *, fresh: bool) -> LookupResult:
        """What ``find`` finds, with the generation of the snapshot. ``fresh``: ask the store of record itself, not a
        cache before it. The generation is None where it is not known: such an answer is used once."""
        ...


class LeasedBackend(SnapshotBackend, Protocol):
    """A backend whose changes can be followed, so that answers may be cached under a lease."""

    async def changes(self, since: int | None, *, lease: float = 0.0) -> Changes:
        """The changes after generation ``since`` (None: the most recent). A long list begins later than requested.
        ``lease``: the seconds after this call for which the caller uses its cache; a writer whose write it cannot see
        waits for that time. Raises StoreUnavailable."""
        ...

    @property
    def slots(self) -> Slots | None:
        """The store's slots on this host; None before the first ``changes``. A new object means: empty the cache."""
        ...
