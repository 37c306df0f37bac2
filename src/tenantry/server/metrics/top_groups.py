from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from tenantry.errors import InvalidSettings
from tenantry.groups import OTHER_GROUPS

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from tenantry.usage import UsageRecorder

_FAMILIES: Final = (
    ("tenantry_group_query_seconds", "Seconds for which this group used a connection of a data source.", 1e-6),
    ("tenantry_group_queries", "Queries of this group, with any outcome.", 1),
    ("tenantry_group_resolves", "Tokens resolved to this group.", 1),
    ("tenantry_group_rows", "Rows returned to this group.", 1),
)
"""(name, help text, unit) of each count. Groups are ranked by the first count, then by the next."""

_HOUR: Final = 3_600.0
_CANDIDATES: Final = 10_000

_Group: TypeAlias = tuple[str, str]
_Counts: TypeAlias = list[int]
"""Counts in the order of ``_FAMILIES``: microseconds, queries, resolves, rows."""


class TopGroups:
    """Counts the usage of at most ``limit`` groups by name, and the total of all others. Once an hour, it chooses these
    groups again: those with the highest usage in that hour. The count of a new group starts at 0."""

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        if limit < 1:
            raise InvalidSettings("top_groups must be at least 1")
        self.named: dict[_Group, _Counts] = {}
        self.others: _Counts = [0] * len(_FAMILIES)
        self._limit = limit
        self._clock = clock
        self._began = clock()
        self._recent: dict[_Group, _Counts] = {}

    def add(
        self,
        environment: str,
        group: str,
        *,
        source: str = "",
        viewer: str | None = None,
        resolves: int = 0,
        queries: int = 0,
        rows: int = 0,
        seconds: float = 0.0,
    ) -> None:
        now = self._clock()
        if now - self._began >= _HOUR:
            self._began = now
            self._choose()
        key, more = (environment, group), (round(seconds * 1e6), queries, resolves, rows)
        if key not in self.named and len(self.named) < self._limit:
            self.named[key] = [0] * len(_FAMILIES)
        _add(self.named.get(key, self.others), more)
        if key in self._recent or len(self._recent) < _CANDIDATES:
            _add(self._recent.setdefault(key, [0] * len(_FAMILIES)), more)

    def _choose(self) -> None:
        recent, self._recent = self._recent, {}
        most = sorted(recent, key=recent.__getitem__, reverse=True)
        chosen = [*most, *(key for key in self.named if key not in recent)][: self._limit]
        self.named = {key: self.named.get(key, [0] * len(_FAMILIES)) for key in chosen}


def _add(counts: _Counts, more: tuple[int, ...]) -> None:
    for at, count in enumerate(more):
        counts[at] += count


class UsageCollector(Collector):
    def __init__(self, recorder: UsageRecorder, top_groups: int) -> None:
        self._recorder = recorder
        self._top = TopGroups(top_groups)
        recorder.observers.append(self._top)

    def collect(self) -> Iterator[Metric]:
        self._recorder.collect_hits()
        yield GaugeMetricFamily(
            "tenantry_usage_waiting_rows", "Usage rows that are not yet in the store.", self._recorder.waiting
        )
        found = [*self._top.named.items(), (OTHER_GROUPS, self._top.others)]
        for at, (name, documentation, unit) in enumerate(_FAMILIES):
            family = CounterMetricFamily(name, documentation, labels=["environment", "group"])
            for labels, counts in found:
                family.add_metric(labels, counts[at] * unit)
            yield family
