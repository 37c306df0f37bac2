"""Metrics for Prometheus (extra ``metrics``): counters that are there anyway, read when somebody asks.

metrics_app is an ASGI app that answers with them, to mount where only your Prometheus reaches it; ApiMetrics counts and
times the requests to ``/api/user`` and ``/oauth/introspect``.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, Protocol

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from tenantry.server.metrics.collectors import (
    BackendCollector,
    BusCollector,
    ResolverCollector,
    SecondLevelCollector,
    SourceCollector,
    TimedBackend,
)
from tenantry.server.metrics.top_groups import UsageCollector

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from starlette.types import Receive, Scope, Send

    from tenantry.backends.redis import RedisBackend
    from tenantry.datasources import DataSources
    from tenantry.resolver import Resolver
    from tenantry.server.metrics.collectors import CountingBus
    from tenantry.usage import UsageRecorder

__all__ = ["ApiMetrics", "TimedBackend", "metrics_app"]

_HEADERS = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]


def metrics_app(
    *,
    resolver: Resolver | None = None,
    backend: TimedBackend | None = None,
    second_level: RedisBackend | None = None,
    buses: Sequence[CountingBus] = (),
    api: ApiMetrics | None = None,
    sources: DataSources | None = None,
    usage: UsageRecorder | None = None,
    top_groups: int = 20,
) -> MetricsApp:
    """The metrics of what is given, in the text format of Prometheus or in OpenMetrics, whichever is asked for.

    They are of this process alone. No token, key or property value is ever among them; the ids of groups only if
    ``backend`` was made with ``label_groups``, and with ``usage``, the ``usage_recorder`` of a store: those of the
    ``top_groups`` that use most. It asks nobody for a token: do not mount it where the world can reach it.
    Raises InvalidSettings for less than one of them.
    """
    collectors: list[Collector] = []
    if resolver is not None:
        collectors.append(ResolverCollector(resolver))
    if backend is not None:
        collectors.append(BackendCollector(backend))
    if second_level is not None:
        collectors.append(SecondLevelCollector(second_level.counters))
    if sources is not None:
        collectors.append(SourceCollector(sources.activity))
    if usage is not None:
        collectors.append(UsageCollector(usage, top_groups))
    if buses:
        collectors.append(BusCollector(buses))
    return MetricsApp(collectors, api)


class MetricsApp:
    """``GET`` and ``HEAD`` at any path. Reads the counters when it is asked, and does nothing otherwise."""

    def __init__(self, collectors: Iterable[Collector], api: ApiMetrics | None) -> None:
        self._registry = CollectorRegistry()
        for each in collectors:
            self._registry.register(each)
        if api is not None and "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            MultiProcessCollector(self._registry)  # type: ignore[no-untyped-call]
        elif api is not None:
            self._registry.register(_RegistryCollector(api.registry))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in {"GET", "HEAD"}:
            headers = [*_HEADERS, (b"allow", b"GET, HEAD"), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 405, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
            return
        accept = b",".join(value for name, value in scope["headers"] if name == b"accept").decode("latin-1")
        encoder, media_type = choose_encoder(accept)
        body = encoder(self._registry)
        headers = [*_HEADERS, (b"content-type", media_type.encode()), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


class _RegistryCollector(Collector):
    """What another registry holds."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterable[object]:  # type: ignore[override]
        return self._registry.collect()


# --- requests to the API ----------------------------------------------------------------------------------------------

_DURATION_BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class ObservedRequest(Protocol):
    """The record that ``tenantry.provisioning.http`` makes of a request that was answered."""

    @property
    def operation(self) -> str: ...

    @property
    def status(self) -> int: ...

    @property
    def code(self) -> str: ...

    @property
    def seconds(self) -> float: ...


class ApiMetrics:
    """An observer: ``create_api(store, keys, observer=api)``, then ``metrics_app(api=api)``.

    Where ``PROMETHEUS_MULTIPROC_DIR`` is set, the processes that share that folder add up their numbers in it.
    """

    def __init__(self) -> None:
        self.registry: CollectorRegistry = CollectorRegistry()
        self._requests = Counter(
            "tenantry_api_requests",
            "Requests to the provisioning API that were answered, by operation, HTTP status and error code.",
            ["operation", "status", "code"],
            registry=self.registry,
        )
        self._durations = Histogram(
            "tenantry_api_request_duration_seconds",
            "How long requests to the provisioning API took.",
            ["operation"],
            buckets=_DURATION_BOUNDS,
            registry=self.registry,
        )

    def __call__(self, record: ObservedRequest) -> None:
        self._requests.labels(record.operation, str(record.status), record.code).inc()
        self._durations.labels(record.operation).observe(record.seconds)
