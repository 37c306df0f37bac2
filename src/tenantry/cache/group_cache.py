"""The cached groups, refusals and data sources of one resolver.

A load calls ``begin`` before it reads the backend. Afterwards, the answer is cached only if the lease and the slot
version are still the same and no newer change of the group is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from threading import Lock
from typing import Final, TypeAlias

from tenantry.cache.change_log import ChangeLog
from tenantry.cache.entries import (
    BYTE_VALUES,
    CONSTANT_VERSIONS,
    MAX_SOURCES,
    NO_GENERATION,
    TABLE_BYTE,
    CachedAnswer,
    CachedSource,
    CacheEntry,
    ClockRing,
    Lease,
    NegativeCache,
    PendingLoad,
    PollSnapshot,
    Sources,
    TokenIndex,
    slot_index,
)
from tenantry.cache.passes import PassCache
from tenantry.groups import SOURCES_HANDLE, Changes, RegisteredSource, UserGroup

HandleTable: TypeAlias = dict[bytes, CacheEntry | tuple[CacheEntry, ...]]
"""Entries by handle. The first byte of the handle selects the table. If a handle has only one entry, the table holds
this entry, which saves memory. Otherwise it holds a tuple of the entries."""

APPLIED_AT_ONCE: Final = 25
"""Changes applied in one step of the event loop. Such a step takes up to 300 µs."""


class GroupCache:
    """Caches groups by token and by pass. Also caches refusals (no group has this token). Holds at most
    ``capacity`` tokens, ``pass_capacity`` passes, and the refusals of ``unknown_capacity`` groups or possible groups.
    Thread-safe.

    Times are in seconds, on a clock that also counts while the host is suspended. ``followed=False`` is for a backend
    that does not list its changes: the lease never ends, and generations are ignored."""

    __slots__ = (
        "_by_handle",
        "_capacity",
        "_followed",
        "_highest_generation",
        "_in_progress",
        "_lock",
        "_negative",
        "_pending",
        "_polled_at",
        "_ring",
        "_versions_at_poll",
        "change_log",
        "flushes",
        "index",
        "lease",
        "passes",
        "sources",
    )  # fmt: skip

    def __init__(
        self, capacity: int, *, unknown_capacity: int = 1_024, pass_capacity: int = 20_000, followed: bool = True
    ) -> None:
        if min(capacity, unknown_capacity, pass_capacity) < 1:
            raise ValueError("capacity, unknown_capacity and pass_capacity must be at least 1")
        self.index: TokenIndex = tuple({} for _ in range(BYTE_VALUES))
        self.lease: Lease = Lease(CONSTANT_VERSIONS, -inf if followed else inf)
        self.change_log: ChangeLog = ChangeLog()
        self.flushes: int = 0
        self._followed = followed
        self._capacity = capacity
        self._ring: ClockRing[CacheEntry] = ClockRing()
        self._by_handle: tuple[HandleTable, ...] = tuple({} for _ in range(BYTE_VALUES))
        self._negative = NegativeCache(unknown_capacity)
        self.sources: Sources = Sources(MAX_SOURCES)
        self._pending: dict[bytes, set[PendingLoad]] = {}
        self._in_progress: dict[int, tuple[int, float]] = {}
        self._versions_at_poll: Sequence[int] | None = None
        self._polled_at = -inf
        self._highest_generation = NO_GENERATION
        self._lock = Lock()
        self.passes: PassCache = PassCache(pass_capacity, self.index, self._lock)

    def __len__(self) -> int:
        return len(self._ring)

    def entry(self, key: bytes) -> CacheEntry | None:
        """Return the entry for the token, valid or not."""
        entry = self.index[key[TABLE_BYTE]].get(key)
        return entry if isinstance(entry, CacheEntry) else None

    def newest(self, handle: bytes, now: float) -> UserGroup | None:
        """Return the newest state of this handle's group among the valid entries."""
        with self._lock:
            valid = (entry.group for entry in self._entries_of(handle) if entry.is_valid(now))
            return max(valid, key=_state_of, default=None)

    def refused(self, key: bytes, handle: bytes, now: float) -> bool:
        """Whether a valid refusal of the token is cached."""
        with self._lock:
            return self._negative.has(key, handle, now)

    # --- filling ------------------------------------------------------------------------------------------------------

    def begin(self, handle: bytes, now: float, *, slot: int | None = None) -> PendingLoad:
        """Begin a load: return it with the current lease and the version of ``slot`` (default: the handle's slot)."""
        with self._lock:
            pending = PendingLoad(handle, self.lease, slot_index(handle) if slot is None else slot)
            self._pending.setdefault(handle, set()).add(pending)
            # An odd version: a write is in progress. Note it for ``abandoned_writes``, in case the writer has crashed.
            if pending.version & 1 and self._in_progress.get(pending.slot, (0, 0.0))[0] != pending.version:
                self._in_progress[pending.slot] = (pending.version, now)
        return pending

    def requires_origin(self, pending: PendingLoad, now: float) -> bool:
        """Whether the load must bypass second-level caches, because a process on this host may have written to the
        group since the last poll."""
        with self._lock:
            versions_at_poll = self._versions_at_poll
            if versions_at_poll is None or not pending.is_valid(now):
                return True
            return pending.version != versions_at_poll[pending.slot]

    def end(self, pending: PendingLoad) -> None:
        """Forget the load."""
        with self._lock:
            loads = self._pending.get(pending.handle)
            if loads is not None:
                loads.discard(pending)
                if not loads:
                    del self._pending[pending.handle]

    def can_join(self, pending: PendingLoad, now: float) -> bool:
        """Whether a new request may use the answer of this load. It may if the lease is valid and no write was seen
        since the load began."""
        # The slots of an ended lease may be in a file that was replaced, which shows no new writes.
        return pending.min_generation == NO_GENERATION and pending.is_valid(now)

    def may_use(self, handle: bytes, generation: int | None, now: float) -> bool:
        """Whether an answer of a second-level cache (Redis) may be used: the lease has not ended, and no change to the
        group after ``generation`` is known."""
        with self._lock:
            return generation is not None and now < self.lease.until and self._unchanged_since(handle, generation)

    def store(
        self, pending: PendingLoad, key: bytes, group: UserGroup, generation: int | None, deadline: float, now: float
    ) -> bool:
        """Cache the group. Return False and cache nothing if the group may have changed since ``begin``, if a newer
        state of it is cached, or if the lease or ``deadline`` has ended."""
        with self._lock:
            if not self._can_store(pending, generation, deadline, now):
                return False
            entries = self._entries_of(pending.handle)
            if any(entry.is_valid(now) and _state_of(entry.group) > _state_of(group) for entry in entries):
                return False
            for entry in entries:
                if entry.key == key or not entry.is_valid(now) or _state_of(entry.group) < _state_of(group):
                    self._drop(entry)
            self._insert(pending, key, group, NO_GENERATION if generation is None else generation, deadline, now)
            return True

    def refuse(self, pending: PendingLoad, key: bytes, generation: int | None, deadline: float, now: float) -> bool:
        """Cache the answer that no group has this token. Return False and cache nothing if a group may have got the
        token since ``begin``, or if the lease or ``deadline`` has ended."""
        with self._lock:
            if not self._can_store(pending, generation, deadline, now):
                return False
            answer = CachedAnswer(pending, NO_GENERATION if generation is None else generation, deadline)
            self._negative.add(key, pending.handle, answer)
            entry = self.entry(key)
            if entry is not None:  # the token had a group before
                self._drop(entry)
            return True

    def store_source(
        self, pending: PendingLoad, key: tuple[int, str], source: RegisteredSource, generation: int, now: float
    ) -> bool:
        """Like ``store``, for a data source."""
        with self._lock:
            known = self.sources.entries.get(key)
            if known is not None and known.generation > generation and known.is_valid(now):
                return False
            if not self._can_store(pending, generation, inf, now):
                return False
            self.sources.put(key, CachedSource(pending, generation, source))
            self._highest_generation = max(self._highest_generation, generation)
            return True

    def _can_store(self, pending: PendingLoad, generation: int | None, deadline: float, now: float) -> bool:
        if now >= deadline or pending.version & 1 or not pending.is_valid(now):  # odd: a write was in progress
            return False
        if not self._followed:
            return pending.min_generation == NO_GENERATION
        return (
            generation is not None
            and generation >= pending.min_generation
            and self._unchanged_since(pending.handle, generation)
        )

    def _unchanged_since(self, handle: bytes, generation: int) -> bool:
        return self.change_log.changed_since(handle, generation) is False

    # --- forgetting ---------------------------------------------------------------------------------------------------

    def attach(self, versions: Sequence[int]) -> None:
        """Use ``versions`` as the slot versions. All cached answers become invalid, and nothing is cached until a poll
        extends the lease."""
        with self._lock:
            self._reset(Lease(versions))
            self._versions_at_poll = None
            self._in_progress.clear()

    def flush(self) -> None:
        """Invalidate all cached answers and pending loads. The lease still ends at the same time."""
        with self._lock:
            self._reset(Lease(self.lease.versions, self.lease.until))

    def end_lease(self) -> None:
        """End the lease. No cached answer is used until the next poll extends it."""
        with self._lock:
            self.lease.until = -inf

    def evict(self, handle: bytes, generation: int, now: float) -> bool:
        """Record a write that a bus reported, and drop the group's older entries. Return whether any of them was
        valid."""
        with self._lock:
            self.change_log.hint(handle, generation)
            return self._evict_older(handle, generation, now)

    def begin_poll(self, now: float, versions_at_poll: Sequence[int] | None) -> PollSnapshot:
        """Return a snapshot for ``apply_changes``. Call this before a poll asks the store. ``versions_at_poll``: a copy
        of the slot versions, or None if they cannot be read."""
        return PollSnapshot(now, versions_at_poll, self._highest_generation)

    def apply_changes(self, snapshot: PollSnapshot, changes: Changes, staleness: float) -> Iterator[list[float]]:
        """Drop the entries of all changed groups, then extend the lease to ``staleness`` seconds after the poll began.
        If the list of changes has a gap, or if the store was replaced or restored, clear the cache first.

        The caller must iterate to the end. Between two steps, it may let other tasks run. Each step yields the ages, in
        seconds, of the changes that dropped valid entries."""
        with self._lock:
            if snapshot.polled_at < self._polled_at:
                return  # a later poll was applied first: this older list would look as if the store had been restored
            self._polled_at = snapshot.polled_at
            if not self.change_log.continues(changes) or changes.generation < snapshot.highest_generation:
                self.change_log.restart(changes)
                self._highest_generation = NO_GENERATION
                self._reset(Lease(self.lease.versions))
        for first in range(0, len(changes.changes), APPLIED_AT_ONCE):
            with self._lock:
                if snapshot.polled_at != self._polled_at:
                    return  # another event loop has begun to apply a later poll
                ages = [
                    change.age
                    for change in self.change_log.add(changes.changes[first : first + APPLIED_AT_ONCE])
                    if self._evict_older(change.handle, change.generation, snapshot.polled_at)
                ]
            yield ages
        with self._lock:
            if snapshot.polled_at == self._polled_at:
                self.change_log.complete(changes)
                self._versions_at_poll = snapshot.versions_at_poll
                self.lease.until = max(self.lease.until, snapshot.polled_at + staleness)

    def abandoned_writes(self, now: float, after: float) -> list[tuple[int, int]]:
        """Return the number and version of each slot whose writer has probably crashed: the version is odd and has not
        changed for ``after`` seconds."""
        versions, found = self.lease.versions, []
        with self._lock:
            for slot, (version, seen_at) in list(self._in_progress.items()):
                if versions[slot] != version:
                    del self._in_progress[slot]
                elif now - seen_at > after:
                    found.append((slot, version))
        return found

    def _reset(self, lease: Lease) -> None:
        self.flushes += len(self._ring) > 0
        self.lease.until = -inf
        self.lease = lease

    def _evict_older(self, handle: bytes, generation: int, now: float) -> bool:
        for pending in self._pending.get(handle, ()):
            pending.min_generation = max(pending.min_generation, generation)
        if handle == SOURCES_HANDLE:
            return self.sources.drop_older(generation, now)
        self._negative.drop(handle)
        was_valid = False
        for entry in self._entries_of(handle):
            if entry.generation < generation:
                was_valid = was_valid or entry.is_valid(now)
                self._drop(entry)
        return was_valid

    # --- the ring -----------------------------------------------------------------------------------------------------

    def _insert(
        self, pending: PendingLoad, key: bytes, group: UserGroup, generation: int, deadline: float, now: float
    ) -> None:
        if (least_used := self._ring.to_drop(self._capacity, now)) is not None:
            self._drop(least_used)
        entry = CacheEntry(pending, generation, deadline, key, group)
        self._ring.put(entry)
        self.index[key[TABLE_BYTE]][key] = entry
        self._reindex(pending.handle, (*self._entries_of(pending.handle), entry))
        self._highest_generation = max(self._highest_generation, generation)

    def _drop(self, entry: CacheEntry) -> None:
        key, handle = entry.key, entry.group.handle
        entry.deadline = -inf  # ends the passes of this token, however many there are
        del self.index[key[TABLE_BYTE]][key]
        self._ring.remove(entry)
        self._reindex(handle, tuple(other for other in self._entries_of(handle) if other is not entry))

    # --- the entries of a handle --------------------------------------------------------------------------------------

    def _entries_of(self, handle: bytes) -> tuple[CacheEntry, ...]:
        found = self._by_handle[handle[0]].get(handle, ())
        return found if isinstance(found, tuple) else (found,)

    def _reindex(self, handle: bytes, entries: tuple[CacheEntry, ...]) -> None:
        table = self._by_handle[handle[0]]
        if entries:
            table[handle] = entries[0] if len(entries) == 1 else entries
        else:
            del table[handle]


def _state_of(group: UserGroup) -> tuple[int, int]:
    return group.revision, group.token_version
