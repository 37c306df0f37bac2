from __future__ import annotations

from collections.abc import Collection
from typing import Final, TypeAlias

from tenantry.groups import OTHER_GROUPS, OTHER_VIEWERS
from tenantry.usage.counters import UsageTable

Row: TypeAlias = tuple[int, str, str, str, str]
"""Hour (hours since 1970), environment, group, source and viewer. In a viewer's row, which counts a whole day, the hour
is the first of that day."""
Counts: TypeAlias = tuple[int, int, int, int]
"""Queries, rows, microseconds and resolves."""

_DAY: Final = 24


class WaitingUsage(UsageTable[Row]):
    def __init__(self, limit: int) -> None:
        super().__init__(limit, lambda row: (row[0], *OTHER_GROUPS, "", row[-1] and OTHER_VIEWERS))
        self.has_seen_viewers = False
        self._counting: Collection[str] | None = None  # None: not known yet, so count all viewers
        self._names: dict[int, _ViewerNames] = {}

    def count_viewer(self, row: Row, viewer: str, counts: Counts) -> None:
        """Add the counts to the viewer's row for the day, but not to the group's row."""
        self.has_seen_viewers = True
        hour, environment, group, *_ = row
        if self._counting is None or environment in self._counting:
            day = hour - hour % _DAY
            found = self[day, environment, group, "", self._names_of(day).name((environment, group), viewer)]
            for at, count in enumerate(counts):
                found[at] += count

    def _names_of(self, day: int) -> _ViewerNames:
        if day not in self._names:
            # Keep the day before: its last counts may come after the first counts of this day.
            self._names = {each: names for each, names in self._names.items() if each >= day - _DAY}
            self._names[day] = _ViewerNames()
        return self._names[day]

    def count_viewers_in(self, environments: Collection[str]) -> None:
        self._counting, self.has_seen_viewers = environments, False
        for row in [row for row in self if row[-1] and row[1] not in environments]:
            del self[row]


class _ViewerNames:
    def __init__(self, per_group: int = 1_000, total: int = 50_000) -> None:
        self._per_group = per_group
        self._total = total
        self._count = 0
        self._known: dict[tuple[str, str], set[str]] = {}

    def name(self, group: tuple[str, str], viewer: str) -> str:
        known = self._known.get(group, set())
        if viewer not in known:
            if len(known) >= self._per_group or self._count >= self._total:
                return OTHER_VIEWERS
            self._known.setdefault(group, known).add(viewer)
            self._count += 1
        return viewer
