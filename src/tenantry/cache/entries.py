"""Cached answers and the CLOCK ring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Final, TypeAlias

from cachetools import LRUCache

from tenantry.groups import RegisteredSource, UserGroup

SLOT_COUNT: Final = 65_536
"""Slots of a host. A write voids the cached answers of all handles that share its slot."""

CONSTANT_VERSIONS: Sequence[int] = bytes(SLOT_COUNT)
"""For a backend whose writers do not change slots."""

NO_GENERATION: Final = -1
"""The generation of an answer without one."""

MAX_SOURCES: Final = 4_096
"""The most cached data sources."""

NEGATIVE_PER_HANDLE: Final = 8
"""Refused tokens remembered per handle."""


def slot_index(handle: bytes) -> int:
    """The slot of a handle."""
    return handle[0] << 8 | handle[1]


class Lease:
    """Permits answers until ``until``. Polls renew it; replacing it invalidates its answers."""

    __slots__ = ("until", "versions")

    def __init__(self, versions: Sequence[int], until: float = -inf) -> None:
        self.versions: Sequence[int] = versions
        self.until: float = until


class PendingLoad:
    """A load in progress."""

    __slots__ = ("handle", "lease", "min_generation", "slot", "version")

    def __init__(self, handle: bytes, lease: Lease, slot: int) -> None:
        self.handle: bytes = handle
        self.lease: Lease = lease
        self.slot: int = slot
        self.version: int = lease.versions[slot]
        self.min_generation: int = NO_GENERATION  # of the latest eviction since

    def is_valid(self) -> bool:
        """Whether no local write or eviction followed."""
        return self.min_generation == NO_GENERATION and self.lease.versions[self.slot] == self.version


class CachedAnswer:
    """An answer, valid under ``lease``, before ``deadline``, while its slot keeps ``version``."""

    __slots__ = ("deadline", "generation", "lease", "slot", "version")

    def __init__(self, pending: PendingLoad, generation: int, deadline: float) -> None:
        self.lease: Lease = pending.lease
        self.slot: int = pending.slot
        self.version: int = pending.version
        self.generation: int = generation
        self.deadline: float = deadline

    def alive(self, now: float) -> bool:
        """Whether the answer may be used."""
        lease = self.lease  # Resolver.peek repeats this test without a call
        return now < lease.until and not self.is_over(now) and lease.versions[self.slot] == self.version

    def is_over(self, now: float) -> bool:
        """Whether ``deadline`` has passed."""
        return now >= self.deadline


class CacheEntry(CachedAnswer):
    """The group of a token."""

    __slots__ = ("following", "group", "hits", "key", "previous", "seen")

    previous: CacheEntry
    following: CacheEntry

    def __init__(self, pending: PendingLoad, generation: int, deadline: float, key: bytes, group: UserGroup) -> None:
        super().__init__(pending, generation, deadline)
        self.key: bytes = key
        self.group: UserGroup = group
        self.seen: bool = False  # the second-chance bit
        self.hits: int = 0  # since the last usage report


class ExpiringEntry(CacheEntry):
    """A group with an end date, which callers check at ``deadline``."""

    __slots__ = ("answer_deadline",)

    def __init__(self, pending: PendingLoad, generation: int, deadline: float, key: bytes, group: UserGroup) -> None:
        super().__init__(pending, generation, -inf, key, group)
        self.answer_deadline: float = deadline

    def is_over(self, now: float) -> bool:
        return now >= self.answer_deadline


class NegativeCache:
    """Tokens without a group, by handle (LRU)."""

    __slots__ = ("_handles",)

    def __init__(self, capacity: int) -> None:
        self._handles: LRUCache[bytes, dict[bytes, CachedAnswer]] = LRUCache(capacity)

    def __len__(self) -> int:
        return len(self._handles)

    def has(self, key: bytes, handle: bytes, now: float) -> bool:
        """Whether the token is refused."""
        known = self._handles.get(handle)
        return known is not None and key in known and known[key].alive(now)

    def add(self, key: bytes, handle: bytes, answer: CachedAnswer) -> None:
        """Remember a token; the ninth replaces the handle's others."""
        known = self._handles.get(handle)
        if known is None or len(known) >= NEGATIVE_PER_HANDLE:
            known = {}
        known[key] = answer
        self._handles[handle] = known

    def drop(self, handle: bytes) -> None:
        """Forget this handle."""
        if handle in self._handles:
            del self._handles[handle]


class CachedSource(CachedAnswer):
    """The registration of a data source."""

    __slots__ = ("source",)

    def __init__(self, pending: PendingLoad, generation: int, deadline: float, source: RegisteredSource) -> None:
        super().__init__(pending, generation, deadline)
        self.source: RegisteredSource = source


class Sources:
    """Data sources; the oldest is evicted first."""

    __slots__ = ("_capacity", "_oldest", "entries")

    def __init__(self, capacity: int) -> None:
        self.entries: dict[tuple[int, str], CachedSource] = {}
        self._capacity = capacity
        self._oldest = inf  # no entry has a lower generation

    def put(self, key: tuple[int, str], entry: CachedSource) -> None:
        """Add or replace an entry."""
        self.entries.pop(key, None)
        if len(self.entries) >= self._capacity:
            del self.entries[next(iter(self.entries))]
        self.entries[key] = entry
        self._oldest = min(self._oldest, entry.generation)

    def drop_older(self, generation: int, now: float) -> bool:
        """Drop older entries. True if any was usable."""
        if generation <= self._oldest:
            return False
        older = [key for key, entry in self.entries.items() if entry.generation < generation]
        alive = [self.entries.pop(key).alive(now) for key in older]
        self._oldest = min((entry.generation for entry in self.entries.values()), default=inf)
        return any(alive)


@dataclass(frozen=True, slots=True)
class PollSnapshot:
    """The state when a poll began."""

    polled_at: float
    """By a suspend-aware clock."""
    versions_at_poll: Sequence[int] | None
    """Slot versions from before the poll; None if unknown."""
    highest_generation: int
    """Of any stored answer."""


TABLE_BYTE: Final = 12
"""The byte of a token that selects its table; it has 64 possible values."""

BYTE_VALUES: Final = 256

# Growing one table of 100,000 keys would block the event loop for 3 ms.
TokenIndex: TypeAlias = tuple[dict[bytes, CacheEntry], ...]

MAX_CHANCES: Final = 8
"""The most used entries that an insert skips before it evicts one."""


class ClockRing:
    """A circular list with a hand."""

    __slots__ = ("_count", "_hand")

    def __init__(self) -> None:
        self._count = 0
        self._hand: CacheEntry | None = None

    def __len__(self) -> int:
        return self._count

    def advance(self) -> CacheEntry | None:
        """Move the hand; None if empty."""
        if self._hand is not None:
            self._hand = self._hand.following
        return self._hand

    def put(self, entry: CacheEntry) -> None:
        """Insert ``entry`` behind the hand."""
        before = entry if self._hand is None else self._hand
        after = entry if self._hand is None else self._hand.following
        entry.previous, entry.following = before, after
        before.following = after.previous = self._hand = entry
        self._count += 1

    def remove(self, entry: CacheEntry) -> None:
        """Remove ``entry``."""
        entry.previous.following, entry.following.previous = entry.following, entry.previous
        if self._hand is entry:
            self._hand = None if entry.previous is entry else entry.previous
        del entry.previous, entry.following
        self._count -= 1
