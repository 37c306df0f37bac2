"""``/healthz``: the process runs. ``/readyz``: it can serve. Neither needs a token."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from starlette.types import Receive

from tenantry.api.answers import Answer, success
from tenantry.api.headers import RequestHeaders
from tenantry.errors import Draining
from tenantry.ports import Store, WatchedBus
from tenantry.provisioning import Deadline

_DEGRADED = frozenset({"lost", "deaf"})


def serving() -> bool:
    """Of a server that never says that it drains."""
    return False


class HealthRoom:
    methods = ("GET", "HEAD")

    async def answer(self, method: str, headers: RequestHeaders, receive: Receive) -> Answer:
        return success({"success": 1, "status": "ok"})


class ReadyRoom:
    """Asks the store, whose StoreUnavailable becomes 503 with Retry-After; so does a server that is about to stop.

    A bus makes things faster and never true, so one that is lost or deaf is told of, and nothing more.
    """

    methods = ("GET", "HEAD")

    def __init__(self, store: Store, seconds: float, draining: Callable[[], bool], buses: Sequence[WatchedBus]) -> None:
        self._store = store
        self._seconds = seconds
        self._draining = draining
        self._buses = buses

    async def answer(self, method: str, headers: RequestHeaders, receive: Receive) -> Answer:
        if self._draining():
            raise Draining("this server is about to stop: send requests to another")
        await Deadline(self._seconds).read(self._store.ready())
        degraded = [f"{type(bus).__name__}: {bus.status}" for bus in self._buses if bus.status in _DEGRADED]
        return success({"success": 1, "status": "ready", **({"degraded": degraded} if degraded else {})})


class DocumentRoom:
    """An OpenAPI document, written once."""

    methods = ("GET", "HEAD")

    def __init__(self, document: dict[str, object]) -> None:
        self._document = success(document)

    async def answer(self, method: str, headers: RequestHeaders, receive: Receive) -> Answer:
        return self._document
