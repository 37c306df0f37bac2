"""ApiMetrics: the requests to ``/api/user`` and ``/oauth/introspect``, counted and timed."""

from __future__ import annotations

from typing import Final, Protocol

from prometheus_client import CollectorRegistry, Counter, Histogram

_DURATION_BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class ObservedRequest(Protocol):
    """The record that ``tenantry.api`` makes of a request that was answered."""

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
        self.registry = CollectorRegistry()
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
