"""GroupCache: the groups of tokens that were resolved a moment ago. Pure: no I/O; the time is an argument.

A plain dict from the canonical token bytes to a slotted entry, indexed by handle. The hit path reads ``entries`` and
one deadline, nothing more: the signature of these very bytes was checked when they were loaded, and exactly one
spelling of a token is accepted.

Bounded by CLOCK (second chance): an insert into a full cache looks at a few slots and evicts at most two entries; no
call ever walks the whole cache, and an expired entry dies when it is met.
"""

from __future__ import annotations

from threading import Lock

from cachetools import LRUCache

from tenantry.groups import UserGroup

CHANCES = 8
"""How many used entries an insert may pass over before it evicts one all the same."""

UNKNOWN_PER_HANDLE = 8
"""How many refused tokens of one handle are remembered. A group has few old tokens; more is somebody's experiment."""


class Entry:
    """A token's group until ``deadline`` (seconds of the caller's clock). ``seen`` is the second-chance bit."""

    __slots__ = ("deadline", "group", "key", "seen", "slot")

    def __init__(self, key: bytes, group: UserGroup, deadline: float, slot: int) -> None:
        self.key = key
        self.group = group
        self.deadline = deadline
        self.slot = slot
        self.seen = False


class Fill:
    """A load under way. ``void`` once its group was written to: what it reads may be shown, never stored or shared."""

    __slots__ = ("handle", "void")

    def __init__(self, handle: bytes) -> None:
        self.handle = handle
        self.void = False


class GroupCache:
    """At most ``capacity`` positive entries, and apart from them at most ``unknown_capacity`` handles with refusals.

    Reading ``entries`` needs no lock. Every method takes one, so that a store may tell of its writes from a thread of
    its own while event loops fill. A hit may be counted late by another thread; it is never wrong.
    """

    __slots__ = (
        "_by_handle", "_capacity", "_fills", "_free", "_hand", "_lock", "_slots", "_unknown", "_writing", "entries",
    )  # fmt: skip

    def __init__(self, capacity: int, *, unknown_capacity: int = 1_024) -> None:
        if capacity < 1 or unknown_capacity < 1:
            raise ValueError("capacity and unknown_capacity must be at least 1")
        self.entries: dict[bytes, Entry] = {}
        self._capacity = capacity
        self._slots: list[Entry | None] = []
        self._free: list[int] = []
        self._hand = 0
        self._by_handle: dict[bytes, tuple[Entry, ...]] = {}
        self._unknown: LRUCache[bytes, dict[bytes, float]] = LRUCache(unknown_capacity)
        self._fills: dict[bytes, set[Fill]] = {}
        self._writing: dict[bytes, int] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self.entries)

    def newest(self, handle: bytes, now: float) -> UserGroup | None:
        """The most recent live group of this handle, whatever token brought it in."""
        with self._lock:
            live = [entry.group for entry in self._by_handle.get(handle, ()) if now < entry.deadline]
        return max(live, key=_age, default=None)

    def refused(self, key: bytes, handle: bytes, now: float) -> bool:
        """True if this token was answered by "no such group" and that answer still holds."""
        with self._lock:
            known = self._unknown.get(handle)
            return known is not None and now < known.get(key, now)

    # --- filling ------------------------------------------------------------------------------------------------------

    def begin(self, handle: bytes) -> Fill:
        """To be called before the backend is asked; the answer goes to ``store`` or ``refuse``, then to ``end``."""
        fill = Fill(handle)
        with self._lock:
            self._fills.setdefault(handle, set()).add(fill)
        return fill

    def end(self, fill: Fill) -> None:
        """The load is over, however it went. Only loads under way are remembered, so this memory is bounded by them."""
        with self._lock:
            fills = self._fills.get(fill.handle)
            if fills is not None:
                fills.discard(fill)
                if not fills:
                    del self._fills[fill.handle]

    def store(self, fill: Fill, key: bytes, group: UserGroup, deadline: float, now: float) -> bool:
        """Keeps the group, unless it was written to since ``begin`` or a newer state of it is here. True if kept."""
        with self._lock:
            if self._is_stale(fill) or now >= deadline:
                return False
            siblings = self._by_handle.get(fill.handle, ())
            if any(now < entry.deadline and _age(entry.group) > _age(group) for entry in siblings):
                return False
            for entry in siblings:
                if entry.key == key or now >= entry.deadline or _age(entry.group) < _age(group):
                    self._drop(entry)
            self._insert(key, group, deadline, now)
            return True

    def refuse(self, fill: Fill, key: bytes, deadline: float) -> None:
        """Remembers that this token has no group, apart from the positive entries and never at their cost."""
        with self._lock:
            if self._is_stale(fill):
                return
            refusals = self._unknown.get(fill.handle)
            if refusals is None or len(refusals) >= UNKNOWN_PER_HANDLE:
                refusals = {}
            refusals[key] = deadline
            self._unknown[fill.handle] = refusals
            entry = self.entries.get(key)
            if entry is not None:  # it was good once, and expired
                self._drop(entry)

    # --- forgetting ---------------------------------------------------------------------------------------------------

    def changing(self, handle: bytes) -> None:
        """A write to this group begins: forget it, and keep nothing of it until ``changed``."""
        with self._lock:
            self._writing[handle] = self._writing.get(handle, 0) + 1
            self._forget(handle)

    def changed(self, handle: bytes) -> None:
        """That write is over: forget the group and void every load of it that is still under way."""
        with self._lock:
            writers = self._writing.pop(handle, 0) - 1
            if writers > 0:
                self._writing[handle] = writers
            self._forget(handle)

    def clear(self) -> None:
        """Forgets everything, and voids every load under way."""
        with self._lock:
            for fills in self._fills.values():
                for fill in fills:
                    fill.void = True
            self.entries.clear()
            self._by_handle.clear()
            self._unknown.clear()
            self._slots.clear()
            self._free.clear()
            self._hand = 0

    def _forget(self, handle: bytes) -> None:
        for fill in self._fills.get(handle, ()):
            fill.void = True
        for entry in self._by_handle.get(handle, ()):
            self._drop(entry)
        self._unknown.pop(handle, None)

    def _is_stale(self, fill: Fill) -> bool:
        return fill.void or fill.handle in self._writing

    # --- the clock ----------------------------------------------------------------------------------------------------

    def _insert(self, key: bytes, group: UserGroup, deadline: float, now: float) -> None:
        self._reap(now)
        if not self._free and len(self._slots) >= self._capacity:
            self._evict(now)
        if self._free:
            entry = Entry(key, group, deadline, self._free.pop())
            self._slots[entry.slot] = entry
        else:
            entry = Entry(key, group, deadline, len(self._slots))
            self._slots.append(entry)
        self.entries[key] = entry
        self._by_handle[group.handle] = (*self._by_handle.get(group.handle, ()), entry)

    def _reap(self, now: float) -> None:
        """Looks at one slot and drops what expired there: a cache that is used shrinks to what lives, step by step."""
        entry = self._under_hand()
        if entry is not None and now >= entry.deadline:
            self._drop(entry)

    def _evict(self, now: float) -> None:
        """Frees one slot: the first under the hand that expired or was not used since, or the one after CHANCES."""
        for chance in range(CHANCES + 1):
            entry = self._under_hand()
            if entry is None:
                return
            if not entry.seen or now >= entry.deadline or chance == CHANCES:
                self._drop(entry)
                return
            entry.seen = False

    def _under_hand(self) -> Entry | None:
        if not self._slots:
            return None
        self._hand = (self._hand + 1) % len(self._slots)
        return self._slots[self._hand]

    def _drop(self, entry: Entry) -> None:
        del self.entries[entry.key]
        self._slots[entry.slot] = None
        self._free.append(entry.slot)
        handle = entry.group.handle
        rest = tuple(other for other in self._by_handle[handle] if other is not entry)
        if rest:
            self._by_handle[handle] = rest
        else:
            del self._by_handle[handle]


def _age(group: UserGroup) -> tuple[int, int]:
    return group.revision, group.token_version
