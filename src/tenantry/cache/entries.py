"""What the cache holds: leases, answers of the store (groups, refusals and data sources), and loads under way; and
where it holds them: tables by token, and a ring in which CLOCK (second chance) finds what to evict.

To grow one table of 100,000 keys holds up the event loop for 3 ms, so the keys are in 64 tables: 0.4 ms at a million.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Final, TypeAlias

from cachetools import LRUCache

from tenantry.groups import RegisteredSource, UserGroup

SLOT_COUNT: Final = 65_536
"""How many slots a host has. A write to either of two handles that share one voids what is cached of both."""

CONSTANT_VERSIONS: Sequence[int] = bytes(SLOT_COUNT)
"""Versions that never change, for a backend whose writers announce nothing."""

NO_GENERATION: Final = -1
"""The generation of an answer of a backend that has none."""

MAX_SOURCES: Final = 4_096
"""How many registrations of data sources are cached. To forget them all takes half a millisecond."""

NEGATIVE_PER_HANDLE: Final = 8
"""How many refused tokens of one handle are remembered. A group has few old tokens; more is somebody's experiment."""


def slot_index(handle: bytes) -> int:
    """The slot of this handle: its first two bytes. Handles are random, so they spread evenly."""
    return handle[0] << 8 | handle[1]


class Lease:
    """Answers may be used ``until`` then (suspend-aware clock), and each while its slot has the same version.

    Every answer holds the lease that it was stored under. A poll renews it for all of them at once; to forget them all
    is to end it for good and begin another, however many they are.
    """

    __slots__ = ("until", "versions")

    def __init__(self, versions: Sequence[int], until: float = -inf) -> None:
        self.versions: Sequence[int] = versions
        self.until: float = until


class PendingLoad:
    """A load under way: the slot's ``version`` when it began, and the generation (``floor``) of an eviction since."""

    __slots__ = ("handle", "lease", "min_generation", "slot", "version")

    def __init__(self, handle: bytes, lease: Lease, slot: int) -> None:
        self.handle: bytes = handle
        self.lease: Lease = lease
        self.slot: int = slot
        self.version: int = lease.versions[slot]
        self.min_generation: int = NO_GENERATION

    def is_valid(self) -> bool:
        """True while no write on this host has begun or ended since, and nothing was evicted."""
        return self.min_generation == NO_GENERATION and self.lease.versions[self.slot] == self.version


class CachedAnswer:
    """An answer of ``generation``: good under ``lease``, before ``deadline``, while its slot has this ``version``."""

    __slots__ = ("deadline", "generation", "lease", "slot", "version")

    def __init__(self, pending: PendingLoad, generation: int, deadline: float) -> None:
        self.lease: Lease = pending.lease
        self.slot: int = pending.slot
        self.version: int = pending.version
        self.generation: int = generation
        self.deadline: float = deadline

    def alive(self, now: float) -> bool:
        """True if it may be used now. The same test is written out in Resolver.peek, without a call."""
        lease = self.lease
        return now < lease.until and not self.is_over(now) and lease.versions[self.slot] == self.version

    def is_over(self, now: float) -> bool:
        """True when it has had its time, whatever comes."""
        return now >= self.deadline


class CacheEntry(CachedAnswer):
    """The group of a token. ``seen`` is the second-chance bit, ``previous`` and ``following`` are its neighbours in the
    ring, ``hits`` counts its uses since usage was put together."""

    __slots__ = ("following", "group", "hits", "key", "previous", "seen")

    previous: CacheEntry
    following: CacheEntry

    def __init__(self, pending: PendingLoad, generation: int, deadline: float, key: bytes, group: UserGroup) -> None:
        super().__init__(pending, generation, deadline)
        self.key: bytes = key
        self.group: UserGroup = group
        self.seen: bool = False
        self.hits: int = 0


class ExpiringEntry(CacheEntry):
    """The group of a token, where the group has an end date, which is a time of day: this cache does not know that.

    It is used without a look at the time of day until ``deadline``, which whoever looks moves on; at first each use
    wants one. ``answer_deadline`` is that of the answer itself: it is alive until then, but for its end date.
    """

    __slots__ = ("answer_deadline",)

    def __init__(self, pending: PendingLoad, generation: int, deadline: float, key: bytes, group: UserGroup) -> None:
        super().__init__(pending, generation, -inf, key, group)
        self.answer_deadline: float = deadline

    def is_over(self, now: float) -> bool:
        """True when the answer has had its time, whatever the end date says."""
        return now >= self.answer_deadline


class NegativeCache:
    """Tokens that have no group, of at most ``capacity`` handles, the least recently used handle going first. They are
    bounded apart from the groups, and never at their cost."""

    __slots__ = ("_handles",)

    def __init__(self, capacity: int) -> None:
        self._handles: LRUCache[bytes, dict[bytes, CachedAnswer]] = LRUCache(capacity)

    def __len__(self) -> int:
        return len(self._handles)

    def has(self, key: bytes, handle: bytes, now: float) -> bool:
        """True if this token has no group, by an answer that may be used now."""
        known = self._handles.get(handle)
        return known is not None and key in known and known[key].alive(now)

    def add(self, key: bytes, handle: bytes, answer: CachedAnswer) -> None:
        """This token has no group. The ninth token of a handle makes the others go."""
        known = self._handles.get(handle)
        if known is None or len(known) >= NEGATIVE_PER_HANDLE:
            known = {}
        known[key] = answer
        self._handles[handle] = known

    def drop(self, handle: bytes) -> None:
        """Forgets all tokens of this handle."""
        if handle in self._handles:
            del self._handles[handle]


class CachedSource(CachedAnswer):
    """The registration of a data source."""

    __slots__ = ("source",)

    def __init__(self, pending: PendingLoad, generation: int, deadline: float, source: RegisteredSource) -> None:
        super().__init__(pending, generation, deadline)
        self.source: RegisteredSource = source


class Sources:
    """Registrations by environment and by the id that a mapping names, at most ``capacity``: the oldest go first. They
    are bounded apart from the groups. A write to any data source voids all that are older: they are seldom written."""

    __slots__ = ("_capacity", "_oldest", "entries")

    def __init__(self, capacity: int) -> None:
        self.entries: dict[tuple[int, str], CachedSource] = {}
        self._capacity = capacity
        self._oldest = inf  # no entry is of a generation below this

    def put(self, key: tuple[int, str], entry: CachedSource) -> None:
        """Adds or replaces one."""
        self.entries.pop(key, None)
        if len(self.entries) >= self._capacity:
            del self.entries[next(iter(self.entries))]
        self.entries[key] = entry
        self._oldest = min(self._oldest, entry.generation)

    def drop_older(self, generation: int, now: float) -> bool:
        """Forgets what is older than this generation. True if any of it could still be used."""
        if generation <= self._oldest:
            return False
        older = [key for key, entry in self.entries.items() if entry.generation < generation]
        alive = [self.entries.pop(key).alive(now) for key in older]
        self._oldest = min((entry.generation for entry in self.entries.values()), default=inf)
        return any(alive)


@dataclass(frozen=True, slots=True)
class PollSnapshot:
    """What was known when a poll began; what it brings is compared with that.

    ``polled_at`` (suspend-aware clock) is when the store was asked; ``versions_at_poll`` are those of all slots just
    before, None if they were not known; ``highest_generation`` is that of any answer stored by then.
    """

    polled_at: float
    versions_at_poll: Sequence[int] | None
    highest_generation: int


TABLE_BYTE: Final = 12
"""The byte of a token that chooses its table: ``index[key[TABLE_BYTE]]``. It belongs to the handle, which is random,
and is a character of base64: one of 64."""

BYTE_VALUES: Final = 256

TokenIndex: TypeAlias = tuple[dict[bytes, CacheEntry], ...]

MAX_CHANCES: Final = 8
"""How many used entries an insert may pass over before it evicts one all the same."""


class ClockRing:
    """A circular linked list of entries with a hand that goes round. No call looks at more than one entry and its
    neighbours."""

    __slots__ = ("_count", "_hand")

    def __init__(self) -> None:
        self._count = 0
        self._hand: CacheEntry | None = None

    def __len__(self) -> int:
        return self._count

    def advance(self) -> CacheEntry | None:
        """Moves the hand on to the next entry and returns it; None if the ring is empty."""
        if self._hand is not None:
            self._hand = self._hand.following
        return self._hand

    def put(self, entry: CacheEntry) -> None:
        """Adds ``entry`` where the hand is: it is the last that the hand comes to."""
        before = entry if self._hand is None else self._hand
        after = entry if self._hand is None else self._hand.following
        entry.previous, entry.following = before, after
        before.following = after.previous = self._hand = entry
        self._count += 1

    def remove(self, entry: CacheEntry) -> None:
        """Takes ``entry`` out, and its references to its neighbours with it."""
        entry.previous.following, entry.following.previous = entry.following, entry.previous
        if self._hand is entry:
            self._hand = None if entry.previous is entry else entry.previous
        del entry.previous, entry.following
        self._count -= 1
