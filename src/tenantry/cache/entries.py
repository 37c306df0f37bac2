from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Final, Generic, TypeAlias, TypeVar

from cachetools import LRUCache

from tenantry.groups import RegisteredSource, UserGroup

SLOT_COUNT: Final = 65_536
"""Number of slots (``ports.Slots``) of a store on one host. Each group has one slot. A write to a group invalidates the
cached answers of all groups with the same slot."""

CONSTANT_VERSIONS: Sequence[int] = bytes(SLOT_COUNT)
"""Slot versions that never change, for a backend without slots."""

NO_GENERATION: Final = -1
"""Stands for the generation of an answer if the backend reported no generation."""

MAX_SOURCES: Final = 4_096
"""Maximum number of cached data sources."""

NEGATIVE_PER_HANDLE: Final = 8
"""Maximum number of cached refusals (tokens without a group) for one handle."""


def slot_index(handle: bytes) -> int:
    """Return the number of the handle's slot: the first two bytes of the handle."""
    return handle[0] << 8 | handle[1]


class Lease:
    """Permits the use of cached answers until ``until``. A flush replaces the lease, so answers that were cached under
    the old one are invalid."""

    __slots__ = ("until", "versions")

    def __init__(self, versions: Sequence[int], until: float = -inf) -> None:
        self.versions: Sequence[int] = versions  # live: writers of this host change them
        self.until: float = until  # -inf once a new lease replaces this one


class Leased:
    __slots__ = ("deadline", "lease", "slot", "version")

    def __init__(self, lease: Lease, slot: int, version: int, deadline: float) -> None:
        self.lease: Lease = lease
        self.slot: int = slot
        self.version: int = version
        self.deadline: float = deadline

    def is_valid(self, now: float) -> bool:
        lease = self.lease
        return now < lease.until and now < self.deadline and lease.versions[self.slot] == self.version


class PendingLoad(Leased):
    """A read of the backend that is in progress."""

    __slots__ = ("handle", "min_generation")

    def __init__(self, handle: bytes, lease: Lease, slot: int) -> None:
        super().__init__(lease, slot, lease.versions[slot], inf)
        self.handle: bytes = handle
        self.min_generation: int = NO_GENERATION  # the generation of the newest write reported during the load


class CachedAnswer(Leased):
    __slots__ = ("generation",)

    def __init__(self, pending: PendingLoad, generation: int, deadline: float) -> None:
        super().__init__(pending.lease, pending.slot, pending.version, deadline)
        self.generation: int = generation


class CacheEntry(CachedAnswer):
    """The cached group of a token."""

    __slots__ = ("check_end_at", "following", "group", "hits", "key", "previous", "seen")

    previous: CacheEntry
    following: CacheEntry

    def __init__(self, pending: PendingLoad, generation: int, deadline: float, key: bytes, group: UserGroup) -> None:
        super().__init__(pending, generation, deadline)
        self.key: bytes = key
        self.group: UserGroup = group
        # The next time at which to compare the group's end date with the time of day. The first use of the entry
        # compares them at once, and a suspended group is refused at each use.
        self.check_end_at: float = -inf if group.may_end else inf
        self.seen: bool = False  # used since the CLOCK hand passed it
        self.hits: int = 0  # since the last usage report


class PassEntry:
    __slots__ = ("_seen", "check_end_at", "following", "group", "hits", "key", "of_token", "previous")

    previous: PassEntry
    following: PassEntry

    def __init__(self, of_token: CacheEntry, key: bytes, group: UserGroup, check_end_at: float) -> None:
        self.of_token: CacheEntry = of_token
        self.key: bytes = key
        self.group: UserGroup = group
        self.check_end_at: float = check_end_at
        self.hits: int = 0
        self._seen = False

    def is_valid(self, now: float) -> bool:
        return self.of_token.is_valid(now)

    @property
    def seen(self) -> bool:
        """Whether the pass was used since the hand of the ClockRing last passed its entry. Setting this to True also
        sets ``seen`` of the token's entry."""
        return self._seen

    @seen.setter
    def seen(self, seen: bool) -> None:
        self._seen = seen
        if seen:
            self.of_token.seen = True


class NegativeCache:
    __slots__ = ("_handles",)

    def __init__(self, capacity: int) -> None:
        self._handles: LRUCache[bytes, dict[bytes, CachedAnswer]] = LRUCache(capacity)

    def __len__(self) -> int:
        return len(self._handles)

    def has(self, key: bytes, handle: bytes, now: float) -> bool:
        known = self._handles.get(handle)
        return known is not None and key in known and known[key].is_valid(now)

    def add(self, key: bytes, handle: bytes, answer: CachedAnswer) -> None:
        known = self._handles.get(handle)
        if known is None or len(known) >= NEGATIVE_PER_HANDLE:
            known = {}
        known[key] = answer
        self._handles[handle] = known

    def drop(self, handle: bytes) -> None:
        if handle in self._handles:
            del self._handles[handle]


class CachedSource(CachedAnswer):
    __slots__ = ("source",)

    def __init__(self, pending: PendingLoad, generation: int, source: RegisteredSource) -> None:
        super().__init__(pending, generation, inf)
        self.source: RegisteredSource = source


class Sources:
    __slots__ = ("_capacity", "_oldest", "entries")

    def __init__(self, capacity: int) -> None:
        self.entries: dict[tuple[int, str], CachedSource] = {}
        self._capacity = capacity
        self._oldest = inf  # no entry has a lower generation

    def put(self, key: tuple[int, str], entry: CachedSource) -> None:
        self.entries.pop(key, None)
        if len(self.entries) >= self._capacity:
            del self.entries[next(iter(self.entries))]
        self.entries[key] = entry
        self._oldest = min(self._oldest, entry.generation)

    def drop_older(self, generation: int, now: float) -> bool:
        """Drop the entries whose generation is below ``generation``. Return True if any of them was valid."""
        if generation <= self._oldest:
            return False
        older = [key for key, entry in self.entries.items() if entry.generation < generation]
        were_valid = [self.entries.pop(key).is_valid(now) for key in older]
        self._oldest = min((entry.generation for entry in self.entries.values()), default=inf)
        return any(were_valid)


@dataclass(frozen=True, slots=True)
class PollSnapshot:
    """The state of the cache at the moment when a poll began."""

    polled_at: float
    """Time just before the poll asked the store, in seconds, on a clock that also counts while the host is
    suspended."""
    versions_at_poll: Sequence[int] | None
    """A copy of the slot versions from just before the poll; None if the slots were missing or replaced."""
    highest_generation: int
    """The highest generation of the cached answers."""


# In a token, this byte is a character of the checksum (62 tables). In a pass, it is a character of the signature (64
# tables), so a group's passes are spread over all tables.
TABLE_BYTE: Final = -2
"""The byte at this index of a token or pass selects its table in TokenIndex."""

BYTE_VALUES: Final = 256

# In a single table of 100,000 tokens, each growth of the table would block the event loop for 3 ms.
TokenIndex: TypeAlias = tuple[dict[bytes, CacheEntry | PassEntry], ...]
"""Entries by token or pass, in many small tables."""

E = TypeVar("E", CacheEntry, PassEntry)

MAX_CHANCES: Final = 8
"""Before an entry is inserted into a full cache, another is dropped. At most this many recently used entries are
skipped in the search for it."""


class ClockRing(Generic[E]):
    """Keeps entries in a circle, with a hand that points to one of them (the CLOCK algorithm)."""

    __slots__ = ("_count", "_hand")

    def __init__(self) -> None:
        self._count = 0
        self._hand: E | None = None

    def __len__(self) -> int:
        return self._count

    def advance(self) -> E | None:
        if self._hand is not None:
            self._hand = self._hand.following
        return self._hand

    def to_drop(self, capacity: int, now: float) -> E | None:
        """Move the hand. Return the entry to drop before an insert: an invalid entry or, if there are already
        ``capacity`` entries, a little used one. None if no entry must be dropped."""
        # Each insert examines at least one entry, so that a flushed cache shrinks.
        for chance in range(MAX_CHANCES + 1):
            entry = self.advance()
            if entry is None:
                return None
            full = self._count >= capacity
            if not entry.is_valid(now) or (full and (not entry.seen or chance == MAX_CHANCES)):
                return entry
            if not full:
                return None
            entry.seen = False
        return None

    def put(self, entry: E) -> None:
        before = entry if self._hand is None else self._hand
        after = entry if self._hand is None else self._hand.following
        entry.previous, entry.following = before, after
        before.following = after.previous = self._hand = entry
        self._count += 1

    def remove(self, entry: E) -> None:
        entry.previous.following, entry.following.previous = entry.following, entry.previous
        if self._hand is entry:
            self._hand = None if entry.previous is entry else entry.previous
        del entry.previous, entry.following
        self._count -= 1
