from __future__ import annotations

from threading import Lock

from tenantry.cache.entries import TABLE_BYTE, CacheEntry, ClockRing, PassEntry, TokenIndex
from tenantry.groups import UserGroup


class PassCache:
    """Caches the groups of at most ``capacity`` passes. ``index`` and ``lock`` are those of the GroupCache."""

    __slots__ = ("_capacity", "_index", "_lock", "_ring")

    def __init__(self, capacity: int, index: TokenIndex, lock: Lock) -> None:
        self._capacity = capacity
        self._index = index
        self._lock = lock
        self._ring: ClockRing[PassEntry] = ClockRing()

    def __len__(self) -> int:
        return len(self._ring)

    def store(self, key: bytes, of_token: CacheEntry, group: UserGroup, check_end_at: float, now: float) -> None:
        with self._lock:
            if not of_token.is_valid(now):
                return
            table = self._index[key[TABLE_BYTE]]
            known = table.get(key)
            if isinstance(known, PassEntry):
                self._drop(known)
            if (least_used := self._ring.to_drop(self._capacity, now)) is not None:
                self._drop(least_used)
            entry = table[key] = PassEntry(of_token, key, group, check_end_at)
            self._ring.put(entry)

    def _drop(self, entry: PassEntry) -> None:
        del self._index[entry.key[TABLE_BYTE]][entry.key]
        self._ring.remove(entry)
