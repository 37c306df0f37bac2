"""Query counters by data source, and a log of slow queries. Neither contains values or SQL."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from time import monotonic
from types import TracebackType
from typing import Final

from opentelemetry.trace import SpanKind

from tenantry.datasources.query_label import TAGGED, QueryLabel
from tenantry.durations import QUERY_BOUNDS, Buckets
from tenantry.errors import TenantryError
from tenantry.sql import BoundSQL
from tenantry.tracing import Span, query_attributes
from tenantry.usage import UsageCounter

_slow_log: Final = logging.getLogger("tenantry.datasources.slow")

OK: Final = "ok"
STOPPED: Final = "stopped"
"""The outcome of a query that was stopped because all its callers left."""
OTHERS: Final = "(others)"
"""The name under which the sources after the first ``MAX_SOURCES`` are counted together."""
MAX_SOURCES: Final = 1_000


@dataclass(frozen=True, slots=True)
class Monitoring:
    """Settings for slow-query logging, query tags and usage counting."""

    slow_seconds: float | None = 10.0
    """Queries that take this long, including the wait in the queue, are logged as warnings by the logger
    ``tenantry.datasources.slow``. None: no warnings."""
    query_tags: Collection[str] = TAGGED
    """Engines (URL schemes) whose SQL gets a comment with group, source and template."""
    usage: UsageCounter | None = None
    """Counts usage (default: the store's counter)."""


class SourceCounters:
    # An execution is one run at the source; several queries may share it.

    __slots__ = (
        "bytes", "cache_hits", "durations", "executions", "joined", "queries", "rows", "running", "time_in_queue",
        "waiting",
    )  # fmt: skip

    def __init__(self) -> None:
        self.running: int = 0
        self.waiting: int = 0
        """Executions that wait for a connection now."""
        self.time_in_queue: Buckets = Buckets(QUERY_BOUNDS)
        """How long executions waited for a connection, in seconds."""
        self.durations: Buckets = Buckets(QUERY_BOUNDS)
        """How long executions ran, in seconds."""
        self.executions: Counter[str] = Counter()
        """Ended executions by outcome: ``ok``, ``stopped``, ``failed`` or an error's code."""
        self.queries: Counter[str] = Counter()
        """Ended queries by outcome, as for ``executions``. Several queries may share an execution."""
        self.cache_hits: int = 0
        self.joined: int = 0
        """Queries that joined an equal query in flight."""
        self.rows: int = 0
        self.bytes: int = 0
        """Bytes of the returned rows in memory; for a stream, bytes of the response body."""


class CountersBySource(dict[str, SourceCounters]):
    def __missing__(self, source_id: str) -> SourceCounters:
        return self.setdefault(source_id if len(self) < MAX_SOURCES else OTHERS, SourceCounters())


class Activity:
    def __init__(self, slow_seconds: float | None, usage: UsageCounter) -> None:
        self.slow_seconds: Final = slow_seconds
        self.usage: Final = usage
        self.sources: Final = CountersBySource()


class Execution:
    __slots__ = ("_activity", "_asked", "_began", "_counters", "_ended", "_is_waiting", "_label", "ran", "waited")

    def __init__(self, activity: Activity, label: QueryLabel) -> None:
        self._activity = activity
        self._label = label
        self._counters = activity.sources[label.source]
        self._asked = monotonic()
        self._began: float | None = None
        self._is_waiting = self._ended = False
        self.waited: float = 0.0
        """Seconds in the queue."""
        self.ran: float = 0.0
        """Seconds at the source."""

    def wait(self) -> None:
        if not self._is_waiting:
            self._is_waiting = True
            self._counters.waiting += 1

    def begin(self) -> None:
        if self._is_waiting:
            self._stop_waiting()
        self._began = monotonic()
        self.waited = self._began - self._asked
        self._counters.running += 1
        self._counters.time_in_queue.add(self.waited)

    def end(self, outcome: str, rows: int = 0, size: int = 0) -> None:
        if self._ended:
            return
        self._ended = True
        if self._is_waiting:
            self._stop_waiting()
        now, counters, label = monotonic(), self._counters, self._label
        if self._began is None:
            self.waited = now - self._asked
        else:
            self.ran = now - self._began
            counters.running -= 1
            counters.durations.add(self.ran)
            counters.executions[outcome] += 1
            counters.rows += rows
            counters.bytes += size
            self._activity.usage.add(
                label.environment, label.group, source=label.source, viewer=label.viewer, seconds=self.ran
            )
        slow = self._activity.slow_seconds
        if slow is not None and now - self._asked >= slow:
            _slow_log.warning(
                "slow query: template=%r source=%s environment=%r group=%r outcome=%s rows=%d seconds=%.3f "
                "seconds_in_queue=%.3f",
                label.template, label.source, label.environment, label.group, outcome, rows, self.ran, self.waited,
            )  # fmt: skip

    def _stop_waiting(self) -> None:
        self._is_waiting = False
        self._counters.waiting -= 1


class ObservedQuery(Span):
    """Counts and traces one caller's query. The query ends with the ``with`` block. With ``lasts=True`` (for streams),
    it ends when ``end`` is called or the block raises an error."""

    __slots__ = ("_has_ended", "_label", "_lasts", "activity", "cache_hit", "queue_seconds", "rows", "sql")

    def __init__(self, activity: Activity, label: QueryLabel, *, lasts: bool = False) -> None:
        attributes = {"tenantry.data_source": label.source, "tenantry.template": label.template}
        super().__init__(f"query {label.source}", attributes, kind=SpanKind.CLIENT)
        self.activity: Final = activity
        self._label = label
        self._lasts = lasts
        self._has_ended = False
        self.sql: BoundSQL | None = None
        self.rows: int | None = None
        self.cache_hit: bool = False
        self.queue_seconds: float | None = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            self.end(outcome_of(error))
        elif not self._lasts:
            self.end(OK)
        if self._token is not None:
            self._leave()

    def end(self, outcome: str) -> None:
        if self._has_ended:
            return
        self._has_ended = True
        label, counters = self._label, self.activity.sources[self._label.source]
        counters.queries[outcome] += 1
        counters.cache_hits += self.cache_hit
        self.activity.usage.add(
            label.environment, label.group, source=label.source, viewer=label.viewer, queries=1, rows=self.rows or 0
        )
        if self._span.is_recording():
            self._describe(outcome)
        self._span.end()

    def _describe(self, outcome: str) -> None:
        if self.sql is not None:
            attributes = query_attributes(self.sql.dialect, self.sql.sql)
            self._span.set_attributes(attributes)
            if operation := attributes.get("db.operation.name"):
                self.update_name(f"{operation} {self._label.source}")
        if self.rows is not None:
            self.set_attribute("db.response.returned_rows", self.rows)
        if self.queue_seconds is not None:
            self.set_attribute("tenantry.cache_hit", self.cache_hit)
            self.set_attribute("tenantry.queue_seconds", self.queue_seconds)
        if outcome != OK:
            self.set_error(outcome)


def outcome_of(error: BaseException) -> str:
    if isinstance(error, TenantryError):
        return error.code
    return "failed" if isinstance(error, Exception) else STOPPED
