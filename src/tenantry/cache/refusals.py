"""Refusals: the tokens that were answered by "no such group", kept apart from the groups and never at their cost."""

from __future__ import annotations

from cachetools import LRUCache

from tenantry.cache.entry import Answer

PER_HANDLE = 8
"""How many refused tokens of one handle are remembered. A group has few old tokens; more is somebody's experiment."""


class Refusals:
    """Refused tokens of at most ``capacity`` handles, the least recently used handle going first."""

    __slots__ = ("_handles",)

    def __init__(self, capacity: int) -> None:
        self._handles: LRUCache[bytes, dict[bytes, Answer]] = LRUCache(capacity)

    def __len__(self) -> int:
        return len(self._handles)

    def has(self, key: bytes, handle: bytes, now: float) -> bool:
        known = self._handles.get(handle)
        if known is None or key not in known:
            return False
        return known[key].alive(now)

    def add(self, key: bytes, handle: bytes, answer: Answer) -> None:
        known = self._handles.get(handle)
        if known is None or len(known) >= PER_HANDLE:
            known = {}
        known[key] = answer
        self._handles[handle] = known

    def drop(self, handle: bytes) -> None:
        if handle in self._handles:
            del self._handles[handle]
