"""The endpoints without an API token: ``/healthz`` (the process runs), ``/readyz`` (it can serve), the documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from starlette.types import Receive

from tenantry.api.headers import RequestHeaders
from tenantry.api.responses import ApiResponse, success_response
from tenantry.errors import Draining
from tenantry.ports import Store, WatchedBus
from tenantry.provisioning import Deadline

_DEGRADED = frozenset({"lost", "deaf"})


def never_draining() -> bool:
    """Of a server that does not drain."""
    return False


class HealthEndpoint:
    """``/healthz``: 200 while the process runs."""

    methods: tuple[str, ...] = ("GET", "HEAD")

    async def respond(self, method: str, headers: RequestHeaders, receive: Receive) -> ApiResponse:
        """Always 200."""
        return success_response({"success": 1, "status": "ok"})


class ReadinessEndpoint:
    """``/readyz``: asks the store, whose StoreUnavailable becomes 503 with Retry-After; 503 also while draining.

    A bus only makes things faster, so one that is lost or deaf is listed as degraded, and the status stays 200.
    """

    methods: tuple[str, ...] = ("GET", "HEAD")

    def __init__(self, store: Store, seconds: float, draining: Callable[[], bool], buses: Sequence[WatchedBus]) -> None:
        self._store = store
        self._seconds = seconds
        self._draining = draining
        self._buses = buses

    async def respond(self, method: str, headers: RequestHeaders, receive: Receive) -> ApiResponse:
        """200 when the store can be used. Raises Draining, StoreUnavailable."""
        if self._draining():
            raise Draining("this server is about to stop: send requests to another")
        await Deadline(self._seconds).read(self._store.ready())
        degraded = [f"{type(bus).__name__}: {bus.status}" for bus in self._buses if bus.status in _DEGRADED]
        return success_response({"success": 1, "status": "ready", **({"degraded": degraded} if degraded else {})})


class DocumentEndpoint:
    """An OpenAPI document, encoded once."""

    methods: tuple[str, ...] = ("GET", "HEAD")

    def __init__(self, document: dict[str, object]) -> None:
        self._response = success_response(document)

    async def respond(self, method: str, headers: RequestHeaders, receive: Receive) -> ApiResponse:
        """The document."""
        return self._response
