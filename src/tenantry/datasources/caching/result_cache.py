from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakSet

from tenantry.clock import clock_shift, steady_time
from tenantry.datasources.bound_query import BoundQuery, derived_key
from tenantry.datasources.caching.in_flight import InFlightQueries, QueryOutcome
from tenantry.datasources.caching.redis_results import RedisResults
from tenantry.datasources.caching.shared_answer import SharedAnswer
from tenantry.datasources.changes import ChangeTimes, SourceChanges
from tenantry.errors import InvalidSettings, TenantryError


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    key: str
    answer: SharedAnswer
    as_of: float
    """When the source was queried, in Unix seconds."""
    until: float
    """When the answer expires, in Unix seconds."""
    size: int
    group: bytes
    """The handle of the group whose query stored the answer."""
    source: str


class ResultCache:
    """Keeps results in memory for ``seconds``. The results of all groups together take at most ``max_bytes``. The
    results of one group take at most ``group_max_bytes`` (default: a quarter of ``max_bytes``).

    After ``seconds``, queries still get the old result for ``stale_while_revalidate`` more seconds, while the source is
    queried in the background. ``shared`` is a second level that processes share. ``clock`` returns Unix seconds; the
    default one ignores changes of the host's clock.

    Several DataSources may share a cache, but only in one event loop. Raises InvalidSettings for an invalid limit.
    """

    def __init__(
        self,
        *,
        seconds: float = 60.0,
        max_bytes: int = 64 * 1024 * 1024,
        group_max_bytes: int | None = None,
        stale_while_revalidate: float = 0.0,
        shared: RedisResults | None = None,
        clock: Callable[[], float] = steady_time,
    ) -> None:
        share = max_bytes // 4 if group_max_bytes is None else group_max_bytes
        _check_seconds("seconds", seconds)
        _check_seconds("stale_while_revalidate", stale_while_revalidate)
        _check_bytes("max_bytes", max_bytes)
        _check_bytes("group_max_bytes", share)
        self.seconds: Final = seconds
        self.stale_seconds: Final = stale_while_revalidate
        self.clock: Final = clock
        self.shared: Final = shared
        self.listeners: WeakSet[SourceChanges] = WeakSet()
        """The ``changes`` of all DataSources that use this cache. They are notified when this or another process
        reports changed rows."""
        if shared is not None:
            shared.caches.add(self)
        self.size: int = 0
        """Bytes of all entries."""
        self._max_bytes = max_bytes
        self._group_max_bytes = min(share, max_bytes)
        self._entries: OrderedDict[str, KeptAnswer] = OrderedDict()  # the least recently used first
        self._groups: dict[bytes, _GroupEntries] = {}
        self._changed = ChangeTimes()

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<ResultCache of {len(self)} answers, {self.size} of {self._max_bytes} bytes>"

    def find(self, key: str, max_age: float | None) -> KeptAnswer | None:
        """Return the entry for ``key`` if it is at most ``max_age`` seconds old, else None. If ``max_age`` is None, the
        entry may be as old as ``seconds`` plus ``stale_while_revalidate``."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        age = self.clock() - entry.as_of
        if not 0 <= age <= (self.seconds + self.stale_seconds if max_age is None else max_age):
            if not 0 <= age <= entry.until - entry.as_of:
                self._drop(key)
            return None
        self._entries.move_to_end(key)
        self._groups[entry.group].keys.move_to_end(key)
        return entry

    def age(self, key: str) -> float | None:
        """Return the age in seconds of a query's oldest usable result, or None without one. Results are found by
        the query's ``key`` and by keys that ``derived_key`` made from it."""
        now, derived = self.clock(), derived_key(key, "")
        kept = (
            entry.as_of
            for entry in self._entries.values()
            if entry.until >= now and (entry.key == key or entry.key.startswith(derived))
        )
        oldest = min(kept, default=None)
        return None if oldest is None else max(0.0, now - oldest)

    def is_stale(self, entry: KeptAnswer) -> bool:
        """Whether the entry is older than ``seconds``."""
        return self.clock() - entry.as_of > self.seconds

    def store_outcome(self, query: BoundQuery, outcome: QueryOutcome) -> bool:
        """Store a result in memory and in the shared level. Return whether later callers may find it there."""
        kept, shared, source = self.keep(query, outcome), self.shared, query.opened.name
        if query.key is None or shared is None or outcome.as_of <= self._changed.of(source):
            return kept
        seconds = self._seconds_to_keep(query) - (self.clock() - outcome.as_of)
        shared.write(query.key, source, outcome.as_of + clock_shift(), outcome.answer, seconds)
        return True

    def keep(self, query: BoundQuery, outcome: QueryOutcome, *, is_checked: bool = False) -> bool:
        """Store a result in memory. Return False if it is not stored: the query has no key, or the result is too large,
        cannot be copied, or (unless ``is_checked``) is older than its source's last change."""
        if query.key is None:
            return False
        source, answer = query.opened.name, outcome.answer
        size = answer.size + len(query.key)
        is_old = not is_checked and outcome.as_of <= self._changed.of(source)
        if is_old or size > self._group_max_bytes or not answer.is_copyable:
            return False
        until = outcome.as_of + self._seconds_to_keep(query)
        self._drop(query.key)
        self._put(KeptAnswer(query.key, answer, outcome.as_of, until, size, query.group.handle, source))
        return True

    def _seconds_to_keep(self, query: BoundQuery) -> float:
        return max(self.seconds + self.stale_seconds, query.max_age or 0.0)

    def changed(self, source: str | None) -> None:
        """Drop the results of a changed source (None: of all sources), and refuse to store results of queries that
        began before the change."""
        self._changed.note(source, self.clock())
        if source is None:
            self.clear()
        else:
            for key in [key for key, entry in self._entries.items() if entry.source == source]:
                self._drop(key)
        for listener in self.listeners:
            listener.notify(source)

    def clear(self) -> None:
        """Drop all results."""
        for key in list(self._entries):
            self._drop(key)

    def _put(self, entry: KeptAnswer) -> None:
        share = self._groups.setdefault(entry.group, _GroupEntries())
        self._entries[entry.key] = entry
        share.keys[entry.key] = None
        share.size += entry.size
        self.size += entry.size
        while share.size > self._group_max_bytes:
            self._drop(next(iter(share.keys)))
        while self.size > self._max_bytes:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        if entry is None:
            return
        share = self._groups[entry.group]
        del share.keys[key]
        share.size -= entry.size
        self.size -= entry.size
        if not share.keys:
            del self._groups[entry.group]


class _GroupEntries:
    __slots__ = ("keys", "size")

    def __init__(self) -> None:
        self.keys: OrderedDict[str, None] = OrderedDict()
        self.size = 0


class CachedQueries:
    def __init__(self, cache: ResultCache, in_flight: InFlightQueries) -> None:
        self._cache = cache
        self._in_flight = in_flight
        self._refreshing: dict[str, asyncio.Task[None]] = {}
        self._reading: dict[str, asyncio.Task[QueryOutcome | None]] = {}

    async def ask(self, query: BoundQuery, max_age: float | None = None) -> QueryOutcome:
        """Return a cached result, or run the query. ``max_age``: as for ``DataSources.fetch``. Raises the errors of
        ``InFlightQueries.join``."""
        shared = self._cache.shared
        if query.key is None or max_age == 0:
            return await self._in_flight.join(query, max_age)
        if shared is None or shared.is_current():
            found = self._find(query.key, query, max_age)
            if found is not None or shared is None:
                return found or await self._in_flight.join(query, max_age)
        query.opened.users += 1  # keeps the source open while the shared cache is read
        try:
            found = await self._find_shared(query.key, query, max_age, shared)
            return found or await self._in_flight.join(query, max_age)
        finally:
            query.opened.release()

    def _find(self, key: str, query: BoundQuery, max_age: float | None) -> QueryOutcome | None:
        cache = self._cache
        kept = cache.find(key, max_age)
        if kept is None:
            return None
        if max_age is None and cache.stale_seconds and cache.is_stale(kept):
            self._refresh(key, query)
        return QueryOutcome(kept.answer, None, kept.as_of, is_shared=True, is_hit=True)

    async def _find_shared(
        self, key: str, query: BoundQuery, max_age: float | None, shared: RedisResults
    ) -> QueryOutcome | None:
        if not await shared.follow():
            return None  # changes in other processes are unknown, so neither level may be used
        found = self._find(key, query, max_age)
        if found is not None:
            return found
        reading = self._reading.get(key)
        if reading is None:
            reading = asyncio.get_running_loop().create_task(self._read(key, query, shared))
            self._reading[key] = reading
            reading.add_done_callback(lambda _: self._reading.pop(key, None))
        outcome = await asyncio.shield(reading)
        if outcome is None:
            return None
        most = self._cache.seconds if max_age is None else max_age
        if not 0 <= self._cache.clock() - outcome.as_of <= most:
            return None
        return outcome

    async def _read(self, key: str, query: BoundQuery, shared: RedisResults) -> QueryOutcome | None:
        source = query.opened.name
        entry = await shared.read(key, source)
        if entry is None:
            return None
        answer = SharedAnswer(entry.result)
        answer.size = entry.size
        as_of = entry.as_of - clock_shift()
        outcome = QueryOutcome(answer, None, as_of, is_shared=True, is_hit=True)
        if entry.mark == shared.mark_of(source):  # if they differ, the source has changed since the entry was read
            self._cache.keep(query, outcome, is_checked=True)
        return outcome

    def _refresh(self, key: str, query: BoundQuery) -> None:
        if key not in self._refreshing:
            task = self._refreshing[key] = asyncio.get_running_loop().create_task(self._ask_again(key, query))
            query.opened.users += 1
            task.add_done_callback(lambda _: self._refreshed(key, query))

    async def _ask_again(self, key: str, query: BoundQuery) -> None:
        try:
            await self._in_flight.join(query, self._cache.stale_seconds)
        except TenantryError:
            return  # the old result stays, and the next query tries again

    def _refreshed(self, key: str, query: BoundQuery) -> None:
        self._refreshing.pop(key, None)
        query.opened.release()

    async def changed(self, source: str) -> None:
        """Drop the results of a changed source in all processes. Raises SourceUnavailable if the shared level does not
        answer."""
        if self._cache.shared is None:
            self._cache.changed(source)
        else:
            await self._cache.shared.mark(source)

    async def aclose(self) -> None:
        tasks = [*self._refreshing.values(), *self._reading.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._cache.shared is not None:
            await self._cache.shared.aclose()


def check_max_age(max_age: Any) -> None:
    if isinstance(max_age, bool) or not isinstance(max_age, int | float) or not 0 <= max_age < math.inf:
        raise ValueError("max_age must be a number of seconds, 0 or greater")


def _check_seconds(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise InvalidSettings(f"{name} is {value!r}; it must be a number of seconds, 0 or greater")


def _check_bytes(name: str, value: Any) -> None:
    if type(value) is not int or value <= 0:
        raise InvalidSettings(f"{name} is {value!r}; it must be a whole number of bytes greater than 0")
