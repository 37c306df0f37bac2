"""SecondLevelCollector: what the second-level cache did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.core import Metric

    from tenantry.backends.redis import RedisCounters

_LOOKS = {"hit": "hits", "miss": "misses", "refused": "refused", "error": "errors", "skipped": "skipped"}
_WRITES = {"taken": "writes", "lost": "lost_writes"}


class SecondLevelCollector(Collector):
    """Reads the counters of a RedisBackend."""

    def __init__(self, counters: RedisCounters) -> None:
        self._counters = counters

    def collect(self) -> Iterator[Metric]:
        yield self._family("tenantry_second_level_looks", "Looks into the second-level cache, by outcome.", _LOOKS)
        yield self._family("tenantry_second_level_writes", "Entries and tombstones sent to it, by outcome.", _WRITES)

    def _family(self, name: str, documentation: str, outcomes: dict[str, str]) -> Metric:
        family = CounterMetricFamily(name, documentation, labels=["outcome"])
        for outcome, field in outcomes.items():
            family.add_metric([outcome], getattr(self._counters, field))
        return family
