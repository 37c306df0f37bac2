"""Prometheus metrics (extra ``metrics``)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from tenantry.errors import InvalidSettings
from tenantry.server.metrics.collectors import (
    BackendCollector,
    BusCollector,
    ResolverCollector,
    SecondLevelCollector,
    SourceCollector,
    TimedBackend,
)
from tenantry.server.metrics.top_groups import UsageCollector
from tenantry.server.metrics.worker_sums import WorkerSums

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from starlette.types import Receive, Scope, Send

    from tenantry.backends.buses import PostgresBus, RedisBus
    from tenantry.backends.redis import RedisBackend
    from tenantry.datasources import DataSources
    from tenantry.provisioning.http import RequestRecord
    from tenantry.resolver import Resolver
    from tenantry.usage import UsageRecorder

__all__ = ["ApiMetrics", "TimedBackend", "metrics_app"]

_HEADERS = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]


def metrics_app(
    *,
    resolver: Resolver | None = None,
    backend: TimedBackend | None = None,
    second_level: RedisBackend | None = None,
    buses: Sequence[PostgresBus | RedisBus] = (),
    api: ApiMetrics | None = None,
    sources: DataSources | None = None,
    usage: UsageRecorder | None = None,
    top_groups: int = 20,
) -> MetricsApp:
    """An ASGI app that serves these objects' metrics, as Prometheus text or OpenMetrics.

    The app requires no token: mount it where only Prometheus can reach it. Metrics contain no token, key or property
    value. They contain group ids only if ``backend`` has ``label_groups``, or if ``usage`` (a store's
    ``usage_recorder``) is given. For ``usage``, only the ``top_groups`` groups with the highest usage are named.
    Processes that share the folder ``PROMETHEUS_MULTIPROC_DIR`` report the sums of their counters. Raises
    InvalidSettings if ``top_groups`` is below 1, or if that folder cannot be written."""
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
    def __init__(self, collectors: Sequence[Collector], api: ApiMetrics | None) -> None:
        self._registry = CollectorRegistry()
        folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
        if folder and collectors:
            try:
                collectors = [WorkerSums(Path(folder), collectors)]
            except OSError as error:
                raise InvalidSettings(
                    f"PROMETHEUS_MULTIPROC_DIR: cannot write to {folder}: {error.strerror}. Create this folder, "
                    "writable by the user that runs the app, or unset the variable"
                ) from None
        for each in collectors:
            self._registry.register(each)
        if api is not None and folder:
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
    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterable[object]:  # type: ignore[override]
        return self._registry.collect()


# --- requests to the API ----------------------------------------------------------------------------------------------

_DURATION_BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class ApiMetrics:
    """Metrics of API requests. Pass the object to ``create_api`` as ``observer`` and to ``metrics_app`` as ``api``."""

    def __init__(self) -> None:
        self.registry: CollectorRegistry = CollectorRegistry()
        self._requests = Counter(
            "tenantry_api_requests",
            "Answered requests to the provisioning API, by operation, HTTP status and error code.",
            ["operation", "status", "code"],
            registry=self.registry,
        )
        self._durations = Histogram(
            "tenantry_api_request_duration_seconds",
            "Duration of requests to the provisioning API.",
            ["operation"],
            buckets=_DURATION_BOUNDS,
            registry=self.registry,
        )

    def __call__(self, record: RequestRecord) -> None:
        self._requests.labels(record.operation, str(record.status), record.code).inc()
        self._durations.labels(record.operation).observe(record.seconds)
