"""What the cache holds: leases, answers of the store (groups, refusals and data sources), and loads under way; and
where it holds them: tables by token, and a ring in which CLOCK (second chance) finds what to evict.

Tables and ring grow in small parts: to grow one table of a million keys takes 100 ms at once, of 15,000 still one.
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

REFUSALS_PER_HANDLE: Final = 8
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


class Fill:
    """A load under way: the slot's ``version`` when it began, and the generation (``floor``) of an eviction since."""

    __slots__ = ("floor", "handle", "lease", "slot", "version")

    def __init__(self, handle: bytes, lease: Lease, slot: int) -> None:
        self.handle: bytes = handle
        self.lease: Lease = lease
        self.slot: int = slot
        self.version: int = lease.versions[slot]
        self.floor: int = NO_GENERATION

    def is_valid(self) -> bool:
        """True while no write on this host has begun or ended since, and nothing was evicted."""
        return self.floor == NO_GENERATION and self.lease.versions[self.slot] == self.version


class CachedAnswer:
    """An answer of ``generation``: good under ``lease``, before ``deadline``, while its slot has this ``version``."""

    __slots__ = ("deadline", "generation", "lease", "slot", "version")

    def __init__(self, fill: Fill, generation: int, deadline: float) -> None:
        self.lease: Lease = fill.lease
        self.slot: int = fill.slot
        self.version: int = fill.version
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
    """The group of a token. ``seen`` is the second-chance bit, ``position`` where it is in the ring, ``hits`` how often
    it was used since usage was put together."""

    __slots__ = ("group", "hits", "key", "position", "seen")

    def __init__(
        self, fill: Fill, generation: int, deadline: float, key: bytes, group: UserGroup, position: int
    ) -> None:
        super().__init__(fill, generation, deadline)
        self.key: bytes = key
        self.group: UserGroup = group
        self.position: int = position
        self.seen: bool = False
        self.hits: int = 0


class ExpiringEntry(CacheEntry):
    """The group of a token, where the group has an end date, which is a time of day: this cache does not know that.

    It is used without a look at the time of day until ``deadline``, which whoever looks moves on; at first each use
    wants one. ``answer_deadline`` is that of the answer itself: it is alive until then, but for its end date.
    """

    __slots__ = ("answer_deadline",)

    def __init__(
        self, fill: Fill, generation: int, deadline: float, key: bytes, group: UserGroup, position: int
    ) -> None:
        super().__init__(fill, generation, -inf, key, group, position)
        self.answer_deadline: float = deadline

    def is_over(self, now: float) -> bool:
        """True when the answer has had its time, whatever the end date says."""
        return now >= self.answer_deadline


class Refusals:
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
        if known is None or len(known) >= REFUSALS_PER_HANDLE:
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

    def __init__(self, fill: Fill, generation: int, deadline: float, source: RegisteredSource) -> None:
        super().__init__(fill, generation, deadline)
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


ROW_BYTE, TABLE_BYTE = 12, 13
"""Bytes of a token that belong to its handle, each a character of base64 (one of 64): they choose one of 512 tables.
Each hit looks there without a call: ``index[key[ROW_BYTE]][key[TABLE_BYTE]]``."""

_TABLES: Final = 8  # of a row, which names each of them many times, so that any character leads to one
_ASCII: Final = 128

TokenTable: TypeAlias = dict[bytes, CacheEntry]
TokenIndex: TypeAlias = tuple[tuple[TokenTable, ...], ...]


def new_index() -> TokenIndex:
    """Empty tables, by two characters of a token."""

    def new_row() -> tuple[TokenTable, ...]:
        tables: tuple[TokenTable, ...] = tuple({} for _ in range(_TABLES))
        return tables * (_ASCII // _TABLES)

    return tuple(new_row() for _ in range(_ASCII))


MAX_CHANCES: Final = 8
"""How many used entries an insert may pass over before it evicts one all the same."""

ROW_SIZE: Final = 4_096
"""How many positions a row has. A list of a million is moved as a whole when it grows."""

_NONE_FREE: Final = -1


class ClockRing:
    """At most ``capacity`` positions, in rows, and a hand that goes round. No call looks at more than a few of them.

    A free position holds the number of the one that was freed before it: the list of free ones takes no memory.
    """

    __slots__ = ("_capacity", "_count", "_first_free", "_hand", "_made", "_rows")

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._rows: list[list[CacheEntry | int]] = []
        self._made = 0
        self._count = 0
        self._first_free = _NONE_FREE
        self._hand = 0

    def __len__(self) -> int:
        return self._count

    def advance(self) -> CacheEntry | None:
        """Moves the hand on by one position, and gives the entry that is there."""
        if not self._made:
            return None
        self._hand = (self._hand + 1) % self._made
        entry = self._rows[self._hand // ROW_SIZE][self._hand % ROW_SIZE]
        return None if isinstance(entry, int) else entry

    def is_full(self) -> bool:
        """True if an entry must be removed before the next is put in."""
        return self._count >= self._capacity

    def free_position(self) -> int:
        """The position of the next entry to be put in. The ring must not be full."""
        position = self._first_free
        if position == _NONE_FREE:
            position = self._made
            if position % ROW_SIZE == 0:
                self._rows.append([])
            self._rows[-1].append(_NONE_FREE)
            self._made += 1
        return position

    def put(self, entry: CacheEntry) -> None:
        """At its position, which ``free_position`` gave."""
        row, column = self._rows[entry.position // ROW_SIZE], entry.position % ROW_SIZE
        next_free = row[column]
        if isinstance(next_free, int):
            self._first_free = next_free
            self._count += 1
        row[column] = entry

    def remove(self, entry: CacheEntry) -> None:
        """Frees its position."""
        self._rows[entry.position // ROW_SIZE][entry.position % ROW_SIZE] = self._first_free
        self._first_free = entry.position
        self._count -= 1
