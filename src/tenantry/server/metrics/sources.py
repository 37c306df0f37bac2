"""SourceCollector: the counters of data sources as metrics, read on request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from tenantry.datasources import Activity

_GAUGES: Final = {
    "running": ("tenantry_source_running", "Executions that have a turn now."),
    "waiting": ("tenantry_source_waiting", "Executions that wait for a turn."),
}
_HISTOGRAMS: Final = {
    "time_in_queue": ("tenantry_source_queue_seconds", "How long executions waited for their turn."),
    "durations": ("tenantry_source_duration_seconds", "How long executions took, from their turn to their end."),
}
_COUNTERS: Final = {
    "cache_hits": ("tenantry_source_cache_hits", "Queries that were answered from the cache."),
    "joined": ("tenantry_source_joined", "Queries that were answered by an execution that was under way."),
    "rows": ("tenantry_source_rows", "Rows that the source gave."),
    "bytes": ("tenantry_source_bytes", "What these took in memory; of streams, their bodies."),
}
_BY_OUTCOME: Final = {
    "queries": ("tenantry_source_queries", "What viewers got: ok, stopped (they left), or an error's code."),
    "executions": ("tenantry_source_executions", "What came of executions: ok, stopped, or an error's code."),
}


class SourceCollector(Collector):
    """Reads the activity of a DataSources."""

    def __init__(self, activity: Activity) -> None:
        self._activity = activity

    def collect(self) -> Iterator[Metric]:
        sources = list(self._activity.sources.items())
        for field, (name, documentation) in _GAUGES.items():
            gauge = GaugeMetricFamily(name, documentation, labels=["source"])
            for source, counters in sources:
                gauge.add_metric([source], getattr(counters, field))
            yield gauge
        for field, (name, documentation) in _HISTOGRAMS.items():
            histogram = HistogramMetricFamily(name, documentation, labels=["source"])
            for source, counters in sources:
                buckets = getattr(counters, field)
                histogram.add_metric([source], buckets.cumulated(), buckets.total)
            yield histogram
        for field, (name, documentation) in _COUNTERS.items():
            counter = CounterMetricFamily(name, documentation, labels=["source"])
            for source, counters in sources:
                counter.add_metric([source], getattr(counters, field))
            yield counter
        for field, (name, documentation) in _BY_OUTCOME.items():
            outcomes = CounterMetricFamily(name, documentation, labels=["source", "outcome"])
            for source, counters in sources:
                for outcome, count in list(getattr(counters, field).items()):
                    outcomes.add_metric([source, outcome], count)
            yield outcomes
