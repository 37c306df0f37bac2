from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from tenantry.durations import Buckets
from tenantry.ports import has_snapshots, is_leased, source_cache_holder_of
from tenantry.usage import recorder_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prometheus_client.core import Metric

    from tenantry.backends.buses import PostgresBus, RedisBus
    from tenantry.backends.redis import RedisCounters
    from tenantry.datasources import Activity
    from tenantry.groups import Changes, LookupResult, Token, UserGroup
    from tenantry.ports import Backend, LeasedBackend, Slots, SourceCacheHolder
    from tenantry.resolver import Resolver
    from tenantry.usage import UsageRecorder

OTHERS = "(others)"
"""The label for the sum of reads of all groups beyond ``max_groups``."""


class TimedBackend:
    """Wraps a backend and times its calls: ``Resolver(timed := TimedBackend(store), …)``, then
    ``metrics_app(resolver=resolver, backend=timed)``.

    With ``label_groups``, the wrapper also counts reads by environment and group, for at most ``max_groups`` groups.
    The wrapper has ``read_at_snapshot`` and ``changes`` only if ``backend`` has them."""

    read_at_snapshot: Callable[..., Coroutine[Any, Any, LookupResult]]
    changes: Callable[..., Coroutine[Any, Any, Changes]]

    def __init__(
        self, backend: Backend | LeasedBackend, *, label_groups: bool = False, max_groups: int = 1_000
    ) -> None:
        self.durations: dict[str, Buckets] = {"find": Buckets(), "look": Buckets(), "changes": Buckets()}
        """Durations of calls, by method. ``read_at_snapshot`` is here under its older name, ``look``."""
        self.groups: dict[tuple[str, str], int] = {}
        """Reads by (environment, group); empty without ``label_groups``."""
        self._backend: Any = backend
        self._max_groups = max_groups if label_groups else 0
        if has_snapshots(backend):
            self.read_at_snapshot = self._read_at_snapshot
        if is_leased(backend):
            self.changes = self._changes

    @property
    def slots(self) -> Slots | None:
        slots: Slots | None = self._backend.slots
        return slots

    @property
    def sources(self) -> SourceCacheHolder | None:
        return source_cache_holder_of(self._backend)

    @property
    def usage_recorder(self) -> UsageRecorder | None:
        """The backend's usage recorder."""
        return recorder_of(self._backend)

    async def find(self, token: Token) -> UserGroup | None:
        with self._timed("find"):
            group: UserGroup | None = await self._backend.find(token)
        self._count(group)
        return group

    async def _read_at_snapshot(self, token: Token, *, fresh: bool) -> LookupResult:
        with self._timed("look"):
            result: LookupResult = await self._backend.read_at_snapshot(token, fresh=fresh)
        self._count(result.group)
        return result

    async def _changes(self, since: int | None, *, lease: float = 0.0) -> Changes:
        with self._timed("changes"):
            changes: Changes = await self._backend.changes(since, lease=lease)
        return changes

    @contextmanager
    def _timed(self, call: str) -> Iterator[None]:
        begun = time.monotonic()
        try:
            yield
        finally:
            self.durations[call].add(time.monotonic() - begun)

    def _count(self, group: UserGroup | None) -> None:
        if group is None or not self._max_groups:
            return
        key = (group.environment.name, group.provided_id)
        if key not in self.groups and len(self.groups) >= self._max_groups:
            key = (group.environment.name, OTHERS)
        self.groups[key] = self.groups.get(key, 0) + 1


_BUS_OUTCOMES: Final = ("heard", "ignored", "held_back")
_CACHE_READS: Final = {"hit": "hits", "miss": "misses", "refused": "refused", "error": "errors", "skipped": "skipped"}
_CACHE_WRITES: Final = {"taken": "writes", "lost": "lost_writes"}


class ResolverCollector(Collector):
    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver

    def collect(self) -> Iterator[Metric]:
        seen = self._resolver.counters
        yield _by_outcome(
            "tenantry_tokens",
            "Checked user group tokens, by outcome: hit (from the cache), forged (malformed or not ours), "
            "refused (known to be dead), joined (shared an active read), read (asked the backend).",
            {
                "hit": seen.hits,
                "forged": seen.forged,
                "refused": seen.refused,
                "joined": seen.joined,
                "read": max(0, seen.misses - seen.forged - seen.refused - seen.joined),
            },
        )
        yield _by_outcome(
            "tenantry_backend_reads",
            "Backend reads, by outcome: found, unknown (no group for the token), stale (the group changed meanwhile, "
            "and was read again), mismatched (the backend returned another group, which was refused), failed.",
            {
                "found": max(0, seen.loads - seen.unknown - seen.stale - seen.mismatched - seen.failures),
                "unknown": seen.unknown,
                "stale": seen.stale,
                "mismatched": seen.mismatched,
                "failed": seen.failures,
            },
        )
        yield _gauge("tenantry_cached_tokens", "Tokens in the cache.", self._resolver.cached)
        if seen.polls or seen.failed_polls:  # else no polls are needed, or there was no request yet
            yield from self._lease()

    def _lease(self) -> Iterator[Metric]:
        seen, bound, age = self._resolver.counters, self._resolver.staleness, self._resolver.lease_age
        yield _by_outcome(
            "tenantry_polls",
            "Polls for changes, by outcome.",
            {"answered": seen.polls, "failed": seen.failed_polls},
        )
        yield CounterMetricFamily(
            "tenantry_evictions", "Evictions of a group from the cache after a write elsewhere.", value=seen.evicted
        )
        yield CounterMetricFamily("tenantry_flushes", "Flushes of the whole cache.", value=seen.flushed)
        yield _gauge("tenantry_staleness_bound_seconds", "Maximum age of a cached answer.", bound)
        yield _gauge(
            "tenantry_lease_left_seconds",
            "Seconds for which the cache may be used without another poll; 0: it may not be used.",
            0.0 if age is None else max(0.0, bound - age),
        )
        if age is not None:
            yield _gauge("tenantry_lease_age_seconds", "Seconds since the last answered poll began.", age)
        yield _gauge(
            "tenantry_staleness_seconds", "Delay with which the last write elsewhere was noticed.", seen.last_staleness
        )
        yield _gauge(
            "tenantry_staleness_max_seconds",
            "Maximum delay with which a write elsewhere was noticed.",
            seen.max_staleness,
        )


class BackendCollector(Collector):
    def __init__(self, backend: TimedBackend) -> None:
        self._backend = backend

    def collect(self) -> Iterator[Metric]:
        durations = HistogramMetricFamily(
            "tenantry_backend_duration_seconds",
            "Duration of backend calls: look and find read a group, changes is the poll.",
            labels=["call"],
        )
        for call, buckets in self._backend.durations.items():
            durations.add_metric([call], buckets.cumulated(), buckets.total)
        yield durations
        if self._backend.groups:
            reads = CounterMetricFamily(
                "tenantry_group_reads", "Backend reads that found this group.", labels=["environment", "group"]
            )
            for labels, count in list(self._backend.groups.items()):
                reads.add_metric(labels, count)
            yield reads


class SecondLevelCollector(Collector):
    def __init__(self, counters: RedisCounters) -> None:
        self._counters = counters

    def collect(self) -> Iterator[Metric]:
        yield _by_outcome(
            "tenantry_second_level_looks", "Look-ups in the second-level cache, by outcome.", self._read(_CACHE_READS)
        )
        yield _by_outcome(
            "tenantry_second_level_writes",
            "Entries and tombstones sent to the second-level cache, by outcome.",
            self._read(_CACHE_WRITES),
        )

    def _read(self, fields: Mapping[str, str]) -> dict[str, int]:
        return {outcome: getattr(self._counters, field) for outcome, field in fields.items()}


class BusCollector(Collector):
    def __init__(self, buses: Sequence[PostgresBus | RedisBus]) -> None:
        self._buses = buses

    def collect(self) -> Iterator[Metric]:
        notices: Counter[tuple[str, str]] = Counter()
        losses: Counter[str] = Counter()
        deaf: Counter[str] = Counter()
        receiving: dict[str, bool] = {}
        for bus in self._buses:
            name = type(bus).__name__
            losses[name] += bus.counters.losses
            deaf[name] += bus.counters.deaf
            if bus.counters.status != "idle":
                receiving[name] = receiving.get(name, True) and bus.counters.status == "receiving"
            notices.update({(name, outcome): getattr(bus.counters, outcome) for outcome in _BUS_OUTCOMES})
        messages = CounterMetricFamily(
            "tenantry_bus_notices",
            "Messages of a bus, by outcome: heard (passed on), ignored (not sent by Tenantry), held_back (too many at "
            "once: the cache was flushed instead).",
            labels=["bus", "outcome"],
        )
        for labels, count in notices.items():
            messages.add_metric(labels, count)
        yield messages
        yield _by_bus("tenantry_bus_losses", "Lost connections of a bus, including those found deaf.", losses)
        yield _by_bus("tenantry_bus_deaf", "Times a connected bus did not receive its own message.", deaf)
        receives = GaugeMetricFamily(
            "tenantry_bus_receiving",
            "1 while a bus receives its own messages, 0 while it is lost or deaf.",
            labels=["bus"],
        )
        for name, yes in receiving.items():
            receives.add_metric([name], int(yes))
        yield receives


# --- data sources -----------------------------------------------------------------------------------------------------

_GAUGES: Final = {
    "running": ("tenantry_source_running", "Running executions."),
    "waiting": ("tenantry_source_waiting", "Executions that wait for a connection."),
}
_HISTOGRAMS: Final = {
    "time_in_queue": ("tenantry_source_queue_seconds", "Time that executions waited in the queue."),
    "durations": ("tenantry_source_duration_seconds", "Duration of executions, without the queue."),
}
_COUNTERS: Final = {
    "cache_hits": ("tenantry_source_cache_hits", "Queries answered from the cache."),
    "joined": ("tenantry_source_joined", "Queries that joined an in-flight execution."),
    "rows": ("tenantry_source_rows", "Rows that the source returned."),
    "bytes": ("tenantry_source_bytes", "Bytes of memory of the returned rows; for streams, bytes of the response."),
}
_BY_OUTCOME: Final = {
    "queries": ("tenantry_source_queries", "Queries by outcome: ok, stopped (the viewer left), or an error's code."),
    "executions": ("tenantry_source_executions", "Executions by outcome: ok, stopped, or an error's code."),
}


class SourceCollector(Collector):
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


# --- families ---------------------------------------------------------------------------------------------------------


def _gauge(name: str, documentation: str, value: float) -> Metric:
    return GaugeMetricFamily(name, documentation, value=value)


def _by_outcome(name: str, documentation: str, counts: Mapping[str, float]) -> Metric:
    family = CounterMetricFamily(name, documentation, labels=["outcome"])
    for outcome, count in counts.items():
        family.add_metric([outcome], count)
    return family


def _by_bus(name: str, documentation: str, counts: Counter[str]) -> Metric:
    family = CounterMetricFamily(name, documentation, labels=["bus"])
    for bus, count in counts.items():
        family.add_metric([bus], count)
    return family
