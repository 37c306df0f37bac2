"""GroupCache: groups of tokens, bounded by CLOCK (second chance)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from threading import Lock
from typing import Final, TypeAlias

from tenantry.cache.change_log import ChangeLog
from tenantry.cache.entries import (
    BYTE_VALUES,
    CONSTANT_VERSIONS,
    MAX_CHANCES,
    MAX_SOURCES,
    NO_GENERATION,
    TABLE_BYTE,
    CachedAnswer,
    CachedSource,
    CacheEntry,
    ClockRing,
    ExpiringEntry,
    Lease,
    NegativeCache,
    PendingLoad,
    PollSnapshot,
    Sources,
    TokenIndex,
    slot_index,
)
from tenantry.groups import SOURCES_HANDLE, Changes, RegisteredSource, UserGroup

HandleTable: TypeAlias = dict[bytes, CacheEntry | tuple[CacheEntry, ...]]
"""The entries of each handle, without a tuple if there is one. The handle's first byte selects the table."""

APPLIED_AT_ONCE: Final = 25
"""Changes applied per step, which takes up to 300 µs."""


class GroupCache:
    """Caches ``capacity`` tokens, and refusals of ``unknown_capacity`` handles. Thread-safe.

    Times are seconds of a suspend-aware clock. Unless ``followed``, answers need no generation or lease.
    """

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
        "sources",
    )  # fmt: skip

    def __init__(self, capacity: int, *, unknown_capacity: int = 1_024, followed: bool = True) -> None:
        if capacity < 1 or unknown_capacity < 1:
            raise ValueError("capacity and unknown_capacity must be at least 1")
        self.index: TokenIndex = tuple({} for _ in range(BYTE_VALUES))
        self.lease: Lease = Lease(CONSTANT_VERSIONS, -inf if followed else inf)
        self.change_log: ChangeLog = ChangeLog()
        self.flushes: int = 0
        self._followed = followed
        self._capacity = capacity
        self._ring = ClockRing()
        self._by_handle: tuple[HandleTable, ...] = tuple({} for _ in range(BYTE_VALUES))
        self._negative = NegativeCache(unknown_capacity)
        self.sources: Sources = Sources(MAX_SOURCES)
        self._pending: dict[bytes, set[PendingLoad]] = {}
        self._in_progress: dict[int, tuple[int, float]] = {}
        self._versions_at_poll: Sequence[int] | None = None
        self._polled_at = -inf
        self._highest_generation = NO_GENERATION
        self._lock = Lock()

    def __len__(self) -> int:
        """Entries, dead ones included."""
        return len(self._ring)

    def entry(self, key: bytes) -> CacheEntry | None:
        """The token's entry, alive or dead."""
        return self.index[key[TABLE_BYTE]].get(key)

    def newest(self, handle: bytes, now: float) -> UserGroup | None:
        """The handle's latest usable group."""
        with self._lock:
            alive = (entry.group for entry in self._entries_of(handle) if entry.alive(now))
            return max(alive, key=_state_of, default=None)

    def refused(self, key: bytes, handle: bytes, now: float) -> bool:
        """Whether the token has no group."""
        with self._lock:
            return self._negative.has(key, handle, now)

    # --- filling ------------------------------------------------------------------------------------------------------

    def begin(self, handle: bytes, now: float, *, slot: int | None = None) -> PendingLoad:
        """Begin a load before the backend read; finish it with ``end``. ``slot`` defaults to the handle's."""
        with self._lock:
            pending = PendingLoad(handle, self.lease, slot_index(handle) if slot is None else slot)
            self._pending.setdefault(handle, set()).add(pending)
            if pending.version & 1 and self._in_progress.get(pending.slot, (0, 0.0))[0] != pending.version:
                self._in_progress[pending.slot] = (pending.version, now)
        return pending

    def requires_origin(self, pending: PendingLoad, now: float) -> bool:
        """Whether to bypass second-level caches, which may miss a local write."""
        with self._lock:
            versions_at_poll, lease = self._versions_at_poll, self.lease
            if versions_at_poll is None or pending.lease is not lease or now >= lease.until:
                return True
            return pending.version != versions_at_poll[pending.slot]

    def end(self, pending: PendingLoad) -> None:
        """End the load."""
        with self._lock:
            loads = self._pending.get(pending.handle)
            if loads is not None:
                loads.discard(pending)
                if not loads:
                    del self._pending[pending.handle]

    def is_valid(self, pending: PendingLoad, now: float) -> bool:
        """Whether a new request may share this load."""
        return pending.lease is self.lease and now < pending.lease.until and pending.is_valid()

    def may_use(self, handle: bytes, generation: int | None, now: float) -> bool:
        """Whether a second-level answer is unchanged since its generation."""
        with self._lock:
            return generation is not None and now < self.lease.until and self._unchanged_since(handle, generation)

    def store(
        self, pending: PendingLoad, key: bytes, group: UserGroup, generation: int | None, deadline: float, now: float
    ) -> bool:
        """Store the group unless it changed or a newer one is cached. True if stored."""
        with self._lock:
            if not self._can_store(pending, generation, deadline, now):
                return False
            entries = self._entries_of(pending.handle)
            if any(entry.alive(now) and _state_of(entry.group) > _state_of(group) for entry in entries):
                return False
            for entry in entries:
                if entry.key == key or not entry.alive(now) or _state_of(entry.group) < _state_of(group):
                    self._drop(entry)
            self._insert(pending, key, group, NO_GENERATION if generation is None else generation, deadline, now)
            return True

    def refuse(self, pending: PendingLoad, key: bytes, generation: int | None, deadline: float, now: float) -> bool:
        """Store a refusal. True if stored."""
        with self._lock:
            if not self._can_store(pending, generation, deadline, now):
                return False
            answer = CachedAnswer(pending, NO_GENERATION if generation is None else generation, deadline)
            self._negative.add(key, pending.handle, answer)
            entry = self.entry(key)
            if entry is not None:  # it had a group
                self._drop(entry)
            return True

    def store_source(
        self, pending: PendingLoad, key: tuple[int, str], source: RegisteredSource, generation: int, now: float
    ) -> bool:
        """Store a data source. True if stored."""
        with self._lock:
            known = self.sources.entries.get(key)
            if known is not None and known.generation > generation and known.alive(now):
                return False
            if not self._can_store(pending, generation, inf, now):
                return False
            self.sources.put(key, CachedSource(pending, generation, inf, source))
            self._highest_generation = max(self._highest_generation, generation)
            return True

    def _can_store(self, pending: PendingLoad, generation: int | None, deadline: float, now: float) -> bool:
        lease = self.lease
        if pending.lease is not lease or pending.version & 1 or lease.versions[pending.slot] != pending.version:
            return False
        if now >= deadline or now >= lease.until:
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
        """Use live slot versions; clears the cache and the lease."""
        with self._lock:
            self._reset(Lease(versions))
            self._versions_at_poll = None
            self._in_progress.clear()

    def flush(self) -> None:
        """Clear the cache and invalidate pending loads."""
        with self._lock:
            self._reset(Lease(self.lease.versions, self.lease.until))

    def evict(self, handle: bytes, generation: int, now: float) -> bool:
        """Apply a reported write. True if it dropped a usable answer."""
        with self._lock:
            self.change_log.hint(handle, generation)
            return self._evict_older(handle, generation, now)

    def begin_poll(self, now: float, versions_at_poll: Sequence[int] | None) -> PollSnapshot:
        """Begin a poll, with versions copied beforehand."""
        return PollSnapshot(now, versions_at_poll, self._highest_generation)

    def apply_changes(self, snapshot: PollSnapshot, changes: Changes, staleness: float) -> Iterator[list[float]]:
        """Evict changed groups, then renew the lease. Exhaust it: it yields ages (seconds) of changes that dropped
        usable answers."""
        with self._lock:
            if snapshot.polled_at < self._polled_at:
                return  # an older poll: nothing new, and it may look like a step back
            self._polled_at = snapshot.polled_at
            if not self.change_log.continues(changes) or changes.generation < snapshot.highest_generation:
                self.change_log.restart(changes)
                self._highest_generation = NO_GENERATION
                self._reset(Lease(self.lease.versions))
        for first in range(0, len(changes.changes), APPLIED_AT_ONCE):
            with self._lock:
                if snapshot.polled_at != self._polled_at:
                    return  # a newer answer is being applied, on another loop
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
        """Slots and versions of writes older than ``after`` seconds, left by crashed writers."""
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
        alive = False
        for entry in self._entries_of(handle):
            if entry.generation < generation:
                alive = alive or entry.alive(now)
                self._drop(entry)
        return alive

    # --- the ring -----------------------------------------------------------------------------------------------------

    def _insert(
        self, pending: PendingLoad, key: bytes, group: UserGroup, generation: int, deadline: float, now: float
    ) -> None:
        self._make_capacity(now)
        kind = CacheEntry if group.expires_at is None else ExpiringEntry
        entry = kind(pending, generation, deadline, key, group)
        self._ring.put(entry)
        self.index[key[TABLE_BYTE]][key] = entry
        self._reindex(pending.handle, (*self._entries_of(pending.handle), entry))
        self._highest_generation = max(self._highest_generation, generation)

    def _make_capacity(self, now: float) -> None:
        # Drop the next entry if it is dead, so that the cache shrinks in use; if full, the first that is dead, unused
        # since the last round, or after MAX_CHANCES.
        for chance in range(MAX_CHANCES + 1):
            entry = self._ring.advance()
            if entry is None:
                return
            full = len(self._ring) >= self._capacity
            if self._is_dead(entry, now) or (full and (not entry.seen or chance == MAX_CHANCES)):
                self._drop(entry)
                return
            if not full:
                return
            entry.seen = False

    def _is_dead(self, entry: CacheEntry, now: float) -> bool:
        lease = entry.lease  # an expired lease may be renewed, a replaced one never
        return lease is not self.lease or entry.is_over(now) or lease.versions[entry.slot] != entry.version

    def _drop(self, entry: CacheEntry) -> None:
        key, handle = entry.key, entry.group.handle
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
