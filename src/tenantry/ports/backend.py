"""The ports of a resolver: a backend, and how far its answers may be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tenantry.groups import Changes, LookupResult, Token, UserGroup


class Backend(Protocol):
    """Finds the group of a token. The one method that a third party has to write."""

    async def find(self, token: Token) -> UserGroup | None:
        """The group with this handle, if the token is its live one (same version, nonce and key id), or the version
        just before while its grace lasts; else None. The signature has been checked already."""
        ...


class Slots(Protocol):
    """The slots of one host: ``tenantry.cache.SLOT_COUNT`` versions, shared by all its processes (a seqlock).

    A writer to a group stores a new odd version in its slot before the commit (a write is in progress) and a new even
    one after it, before it returns. An answer is cached under the even version that was read before asking: when they
    differ, it is void.
    """

    @property
    def versions(self) -> Sequence[int]:
        """Live: each access reads the version as it is now."""
        ...

    def copy(self) -> Sequence[int]:
        """All versions as they are now; they stay so."""
        ...

    def repair(self, slot: int, version: int) -> None:
        """Ends a write in progress if it still has this ``version``: its writer has crashed."""
        ...


class SnapshotBackend(Backend, Protocol):
    """A backend whose answers say how far they may be trusted."""

    async def read_at_snapshot(self, token: Token, *, fresh: bool) -> LookupResult:
        """What ``find`` finds, with the generation of the snapshot. ``fresh``: ask the store of record itself, not a
        cache before it. The generation is None where it is not known: such an answer is used once."""
        ...


class LeasedBackend(SnapshotBackend, Protocol):
    """A backend whose changes can be followed, so that what it answers may be cached under a lease."""

    async def changes(self, since: int | None, *, lease: float = 0.0) -> Changes:
        """The changes after generation ``since``; None: as many of the last as are at hand. A list that would take long
        to read begins later than asked. ``lease``: for how many seconds after this call the caller will use what it
        has cached; a writer whose write it cannot see has to wait for so long. Raises StoreUnavailable."""
        ...

    @property
    def slots(self) -> Slots | None:
        """This host's slots of the store; None until ``changes`` has answered once. Another object: start anew."""
        ...
