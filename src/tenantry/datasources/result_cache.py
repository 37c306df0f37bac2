"""ResultCache: answers of data sources, kept in the process for as long as the host says, within a number of bytes.

An entry's key is the fingerprint of its query, which has in it the group and its revision where anything of a group was
read, and the registration of the source. An entry is used only while its age is known: one from the future is not.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from tenantry.datasources.shared_answer import SharedAnswer
from tenantry.datasources.single_flight import BoundQuery, Flights, Landing
from tenantry.errors import InvalidSettings, TenantryError


@dataclass(slots=True)
class CacheCounters:
    """What a ResultCache did since it was made. Plain integers: reading them costs nothing."""

    hits: int = 0
    """Answered from the cache."""
    stale: int = 0
    """Of these, with an answer past its time, while the source was asked for a new one."""
    misses: int = 0
    """Not answered from the cache."""
    kept: int = 0
    """Answers that were put into it."""
    refused: int = 0
    """Answers that were not: too large, of a time before the source changed, or with a value that cannot be copied."""
    evicted: int = 0
    """Entries that made room for others."""


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """``until`` (seconds since 1970) is when nobody can want it any more; ``group`` is the one that asked first."""

    key: str
    answer: SharedAnswer
    as_of: float
    until: float
    size: int
    group: bytes
    source: str


class ResultCache:
    """Keeps answers for ``seconds``, in at most ``max_bytes`` of memory; those that one group asked for in at most
    ``group_max_bytes`` (default: a quarter). ``stale_while_revalidate``: for so many seconds more an answer is given at
    once while the source is asked for a new one. ``clock`` gives seconds since 1970.

    For the event loop of its DataSources. Raises InvalidSettings for a bound that is none.
    """

    def __init__(
        self,
        *,
        seconds: float = 60.0,
        max_bytes: int = 64 * 1024 * 1024,
        group_max_bytes: int | None = None,
        stale_while_revalidate: float = 0.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        share = max_bytes // 4 if group_max_bytes is None else group_max_bytes
        _check_seconds("seconds", seconds)
        _check_seconds("stale_while_revalidate", stale_while_revalidate)
        _check_bytes("max_bytes", max_bytes)
        _check_bytes("group_max_bytes", share)
        self.counters: CacheCounters = CacheCounters()
        self.seconds: Final = seconds
        self.stale_seconds: Final = stale_while_revalidate
        self.clock: Final = clock
        self.size: int = 0
        """Bytes of what is kept."""
        self._max_bytes = max_bytes
        self._group_max_bytes = min(share, max_bytes)
        self._entries: OrderedDict[str, KeptAnswer] = OrderedDict()  # the least recently used first
        self._groups: dict[bytes, _GroupShare] = {}
        self._changed: dict[str, float] = {}  # when a source changed

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<ResultCache of {len(self)} answers, {self.size} of {self._max_bytes} bytes>"

    def find(self, key: str, max_age: float | None) -> KeptAnswer | None:
        """The entry, if it is no older than ``max_age`` seconds; None: than the cache's own ``seconds``, and those in
        which it may be stale."""
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

    def is_stale(self, entry: KeptAnswer) -> bool:
        """Whether it is past its time, and a new answer is to be asked for."""
        return self.clock() - entry.as_of > self.seconds

    def keep(self, query: BoundQuery, landing: Landing) -> bool:
        """Puts an answer in, unless it must not be or is too large. Whether it is in."""
        if query.key is None:
            return False
        source, answer = query.opened.name, landing.answer
        size = answer.size + len(query.key)
        if size > self._group_max_bytes or not answer.is_copyable or landing.as_of <= self._changed.get(source, -1.0):
            self.counters.refused += 1
            return False
        until = landing.as_of + max(self.seconds + self.stale_seconds, query.max_age or 0.0)
        self._drop(query.key)
        self._put(KeptAnswer(query.key, answer, landing.as_of, until, size, query.group, source))
        self.counters.kept += 1
        return True

    def changed(self, source: str) -> None:
        """The rows of a source have changed: what is kept of it is dropped, and no answer that began before is kept."""
        self._changed[source] = self.clock()
        for key in [key for key, entry in self._entries.items() if entry.source == source]:
            self._drop(key)

    def clear(self) -> None:
        """Drops everything."""
        for key in list(self._entries):
            self._drop(key)

    def _put(self, entry: KeptAnswer) -> None:
        share = self._groups.setdefault(entry.group, _GroupShare())
        self._entries[entry.key] = entry
        share.keys[entry.key] = None
        share.size += entry.size
        self.size += entry.size
        while share.size > self._group_max_bytes:
            self._evict(next(iter(share.keys)))
        while self.size > self._max_bytes:
            self._evict(next(iter(self._entries)))

    def _evict(self, key: str) -> None:
        self.counters.evicted += 1
        self._drop(key)

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


class _GroupShare:
    """What one group asked for first, the least recently used first."""

    __slots__ = ("keys", "size")

    def __init__(self) -> None:
        self.keys: OrderedDict[str, None] = OrderedDict()
        self.size = 0


class CachedQueries:
    """Asks the cache before a flight, and keeps what lands."""

    def __init__(self, cache: ResultCache, flights: Flights) -> None:
        self._cache = cache
        self._flights = flights
        self._refreshing: dict[str, asyncio.Task[None]] = {}

    async def ask(self, query: BoundQuery, max_age: float | None = None) -> Landing:
        """As ``Flights.ask``. ``max_age`` 0 asks the source."""
        key, cache = query.key, self._cache
        entry = None if key is None or max_age == 0 else cache.find(key, max_age)
        if entry is None:
            cache.counters.misses += 1
            return await self._flights.ask(query, max_age)
        cache.counters.hits += 1
        if max_age is None and cache.stale_seconds and cache.is_stale(entry):
            cache.counters.stale += 1
            self._refresh(entry.key, query)
        return Landing(entry.answer, None, entry.as_of, is_shared=True)

    def _refresh(self, key: str, query: BoundQuery) -> None:
        """Asks the source in the background; one at a time for a key."""
        if key not in self._refreshing:
            task = self._refreshing[key] = asyncio.get_running_loop().create_task(self._ask_again(key, query))
            query.opened.users += 1
            task.add_done_callback(lambda _: self._refreshed(key, query))

    async def _ask_again(self, key: str, query: BoundQuery) -> None:
        try:
            await self._flights.ask(query, self._cache.stale_seconds)
        except TenantryError:
            return  # the stale answer stays until its end, and the next viewer asks again

    def _refreshed(self, key: str, query: BoundQuery) -> None:
        self._refreshing.pop(key, None)
        self._flights.pools.release(query.opened)

    async def aclose(self) -> None:
        """Stops what runs in the background."""
        tasks = list(self._refreshing.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def check_max_age(max_age: Any) -> None:
    """Raises ValueError for what is no number of seconds."""
    if isinstance(max_age, bool) or not isinstance(max_age, int | float) or not 0 <= max_age < math.inf:
        raise ValueError("max_age is a number of seconds, 0 or above")


def _check_seconds(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise InvalidSettings(f"{name} is {value!r}; it takes a number of seconds, 0 or above")


def _check_bytes(name: str, value: Any) -> None:
    if type(value) is not int or value <= 0:
        raise InvalidSettings(f"{name} is {value!r}; it takes a whole number of bytes above 0")
