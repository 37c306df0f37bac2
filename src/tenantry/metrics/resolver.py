"""ResolverCollector: what a resolver did, and how much its answers may be trusted just now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prometheus_client.core import Metric

    from tenantry.resolver import Resolver


class ResolverCollector(Collector):
    """Reads a Resolver's counters, when it is asked: a hit costs nothing more."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver

    def collect(self) -> Iterator[Metric]:
        done = self._resolver.counters
        yield _counter(
            "tenantry_tokens",
            "User group tokens that were looked at, by outcome: hit (from the cache), forged (malformed or not ours), "
            "refused (known to be dead), joined (waited for a read that was under way), read (asked the backend).",
            {
                "hit": done.hits,
                "forged": done.forged,
                "refused": done.refused,
                "joined": done.joined,
                "read": max(0, done.misses - done.forged - done.refused - done.joined),
            },
        )
        yield _counter(
            "tenantry_backend_reads",
            "Reads of the backend, by outcome: found, unknown (no group of this token), stale (written to since, and "
            "asked again), mismatched (of another group than asked for, and refused), failed.",
            {
                "found": max(0, done.loads - done.unknown - done.stale - done.mismatched - done.failures),
                "unknown": done.unknown,
                "stale": done.stale,
                "mismatched": done.mismatched,
                "failed": done.failures,
            },
        )
        yield _gauge("tenantry_cached_tokens", "Tokens in the cache.", self._resolver.cached)
        if done.polls or done.failed_polls:  # else the backend has nothing to poll, or nobody has asked yet
            yield from self._lease()

    def _lease(self) -> Iterator[Metric]:
        done, bound, age = self._resolver.counters, self._resolver.staleness, self._resolver.lease_age
        yield _counter(
            "tenantry_polls", "Polls for changes, by outcome.", {"answered": done.polls, "failed": done.failed_polls}
        )
        yield CounterMetricFamily(
            "tenantry_evictions", "Writes elsewhere that took a group out of the cache.", value=done.evicted
        )
        yield CounterMetricFamily("tenantry_flushes", "How often the whole cache was forgotten.", value=done.flushed)
        yield _gauge("tenantry_staleness_bound_seconds", "The age that no answer exceeds.", bound)
        yield _gauge(
            "tenantry_lease_left_seconds",
            "For how long the cache may be used without another poll; 0: it is not used.",
            0.0 if age is None else max(0.0, bound - age),
        )
        if age is not None:
            yield _gauge("tenantry_lease_age_seconds", "Since the last poll that was answered began.", age)
        yield _gauge(
            "tenantry_staleness_seconds", "How late the last write elsewhere was heard of.", done.last_staleness
        )
        yield _gauge("tenantry_staleness_max_seconds", "How late any write elsewhere was heard of.", done.max_staleness)


def _gauge(name: str, documentation: str, value: float) -> Metric:
    return GaugeMetricFamily(name, documentation, value=value)


def _counter(name: str, documentation: str, counts: Mapping[str, float]) -> Metric:
    family = CounterMetricFamily(name, documentation, labels=["outcome"])
    for outcome, count in counts.items():
        family.add_metric([outcome], count)
    return family
