from __future__ import annotations

from typing import TYPE_CHECKING

from tenantry.errors import InvalidToken

if TYPE_CHECKING:
    from tenantry.cache import CacheEntry, GroupCache
    from tenantry.groups import UserGroup, Viewer
    from tenantry.ports import Clock, MonotonicClock
    from tenantry.resolver.loading import Counters


class EndDates:
    __slots__ = ("_cache", "_clock", "_counters", "_staleness", "_time_of_day")

    def __init__(
        self, cache: GroupCache, counters: Counters, staleness: float, clock: MonotonicClock, time_of_day: Clock
    ) -> None:
        self._cache = cache
        self._counters = counters
        self._staleness = staleness
        self._clock = clock
        self._time_of_day = time_of_day

    def seconds_left(self, group: UserGroup) -> float:
        return group.seconds_left(self._time_of_day())

    def valid_entry(self, key: bytes) -> CacheEntry | None:
        entry = self._cache.entry(key)
        return entry if entry is not None and entry.is_valid(self._clock()) else None

    def use(self, entry: CacheEntry, viewer: Viewer | None = None) -> UserGroup:
        """Count a hit and return the entry's group, with ``viewer`` if given. Raises UserGroupExpired,
        UserGroupSuspended or PassRevoked."""
        entry.seen = True
        group = entry.group
        try:
            if group.may_end:
                self.check(group, entry)
            if viewer is not None:
                group = group.with_viewer(viewer)
        except InvalidToken:
            self._counters.misses += 1
            self._counters.refused += 1
            raise
        self._counters.hits += 1
        return group

    def check(self, group: UserGroup, entry: CacheEntry | None) -> None:
        """Raise UserGroupSuspended, UserGroupExpired or PassExpired if the group's access has ended."""
        now, moment = self._clock(), self._time_of_day()
        group.require_access(moment)
        if entry is not None:
            # Check again within the staleness bound even if the end date is later: someone may set the machine's clock.
            entry.check_end_at = now + min(group.seconds_left(moment), self._staleness)
