"""BackendCollector: how long the backend took, and for whom it was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.core import Metric

    from tenantry.metrics.timed import TimedBackend


class BackendCollector(Collector):
    """Reads a TimedBackend."""

    def __init__(self, backend: TimedBackend) -> None:
        self._backend = backend

    def collect(self) -> Iterator[Metric]:
        durations = HistogramMetricFamily(
            "tenantry_backend_duration_seconds",
            "How long the backend took for a call: look and find read a group, changes is the poll.",
            labels=["call"],
        )
        for call, buckets in self._backend.durations.items():
            durations.add_metric([call], buckets.cumulated(), buckets.total)
        yield durations
        if self._backend.groups:
            reads = CounterMetricFamily(
                "tenantry_group_reads", "Reads of the backend that found this group.", labels=["environment", "group"]
            )
            for place, count in list(self._backend.groups.items()):
                reads.add_metric(place, count)
            yield reads
