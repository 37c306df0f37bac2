from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Literal

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from tenantry.clock import utc_now
from tenantry.errors import Draining
from tenantry.ports import Clock, Store, WatchedBus
from tenantry.provisioning import Deadline, PropertyContract
from tenantry.provisioning.http.bulk import BulkEndpoint
from tenantry.provisioning.http.contact import read_contact
from tenantry.provisioning.http.data_sources import DataSourcesEndpoint
from tenantry.provisioning.http.endpoint import JSON, STORE_SECONDS, ApiContext, Endpoint, Observer, json_response
from tenantry.provisioning.http.introspection import IntrospectionEndpoint
from tenantry.provisioning.http.operations import OPERATIONS, ROTATION
from tenantry.provisioning.http.passes import PASSES, REVOCATION
from tenantry.provisioning.http.request import BODY_SECONDS, ApiRequest
from tenantry.provisioning.http.rotations import RotationsEndpoint
from tenantry.provisioning.http.user import KeysInFlight, UserGroupEndpoint
from tenantry.provisioning.http.users import UserGroupsEndpoint
from tenantry.tokens import KeyRing

_DEGRADED = frozenset({"lost", "deaf"})
_KEYS_SECONDS = 1.0


class DocumentEndpoint(Endpoint):
    def __init__(self, make: Callable[[], bytes]) -> None:
        super().__init__("GET", "HEAD")
        self._make = make

    async def respond(self, request: ApiRequest) -> Response:
        return Response(self._make(), media_type=JSON)


@lru_cache(maxsize=8)
def _openapi_json(version: Literal["3.1", "3.2"], contact: str | None) -> bytes:
    from tenantry.provisioning.http.openapi import openapi_document  # takes a twentieth of a server's start

    return bytes(json_response(openapi_document(version, contact=contact)).body)


class ReadinessEndpoint(Endpoint):
    """``/readyz``: the status is 503 if the store is unavailable or the server is shutting down. If a bus receives no
    messages or the key file cannot be read, the status is 200, with ``degraded`` in the response."""

    def __init__(
        self,
        store: Store,
        keys: KeyRing,
        seconds: float,
        draining: Callable[[], bool],
        buses: Sequence[WatchedBus],
    ) -> None:
        super().__init__("GET", "HEAD")
        self._store = store
        self._keys = keys
        self._seconds = seconds
        self._draining = draining
        self._buses = buses

    async def respond(self, request: ApiRequest) -> Response:
        if self._draining():
            raise Draining("this server is about to stop: send requests to another server")
        await Deadline(self._seconds).read(self._store.ready())
        degraded = [f"{type(bus).__name__}: {bus.status}" for bus in self._buses if bus.status in _DEGRADED]
        self._keys.refresh(within=_KEYS_SECONDS)
        if self._keys.problem is not None:  # only the log names the file
            degraded.append(f"{type(self._keys).__name__}: unreadable")
        return json_response({"success": 1, "status": "ready", **({"degraded": degraded} if degraded else {})})


def create_api(
    store: Store,
    keys: KeyRing,
    *,
    body_seconds: float = BODY_SECONDS,
    store_seconds: float = STORE_SECONDS,
    observer: Observer | None = None,
    draining: Callable[[], bool] = lambda: False,
    contact: str | None = None,
    buses: Sequence[WatchedBus] = (),
    contract: PropertyContract | None = None,
    time_of_day: Clock = utc_now,
    source_hosts: Sequence[str] = (),
) -> tuple[Route, ...]:
    """Make the routes of ``/api`` and ``/oauth``, of the OpenAPI documents and of the health checks, for
    ``Starlette(routes=[*create_api(…), …], exception_handlers={404: tenantry.provisioning.http.not_found})``. Does no
    I/O.

    Also set ``app.router.redirect_slashes = False``. Otherwise Starlette redirects ``/api/user//`` to ``/api/user``.

    - ``body_seconds``: time limit in seconds to receive a body or the next part of a bulk body.
    - ``store_seconds``: time limit, in seconds, for all store calls of a request or bulk batch together.
    - ``observer``: is called with each answered request to ``/api`` and ``/oauth``, except OPTIONS requests, 405
      responses and requests whose path contains an encoded slash.
    - ``draining``: while it returns True, ``/readyz`` answers 503, and bulk requests and rotations of many groups end
      early.
    - ``contact``: the operator's web or email address, for the OpenAPI documents. Any other string raises ValueError.
    - ``buses``: the buses whose status ``/readyz`` reports.
    - ``contract``: checks properties before they are written.
    - ``time_of_day``: the clock by which ``/oauth/introspect`` decides whether a group or pass has ended.
    - ``source_hosts``: hosts that may be named in data sources registered over HTTP: ``db.example.com``,
      ``db.example.com:5432``, ``*.example.com``, or ``*`` for any. Anything else raises ValueError.
    """
    if contact is not None:
        read_contact(contact)
    context = ApiContext(store, keys, body_seconds, store_seconds, observer, contract, time_of_day=time_of_day)
    in_flight = KeysInFlight()
    user = UserGroupEndpoint(context, OPERATIONS, '{"user_group_id": "acme"}', in_flight)
    rotate = UserGroupEndpoint(context, ROTATION, '{"current_token": "ugtc_…"}', in_flight)
    passes = UserGroupEndpoint(context, PASSES, '{"user_group_id": "acme", "viewer_id": "ann"}', in_flight)
    revoke = UserGroupEndpoint(context, REVOCATION, '{"user_group_id": "acme", "viewer_id": "ann"}', in_flight)
    users, bulk = UserGroupsEndpoint(context), BulkEndpoint(context, draining)
    rotations = RotationsEndpoint(context, draining)
    introspect, sources = IntrospectionEndpoint(context), DataSourcesEndpoint(context, source_hosts)
    alive = bytes(json_response({"success": 1, "status": "ok"}).body)
    others: dict[str, Endpoint] = {
        "/openapi.json": DocumentEndpoint(partial(_openapi_json, "3.1", contact)),
        "/openapi-3.2.json": DocumentEndpoint(partial(_openapi_json, "3.2", contact)),
        "/healthz": DocumentEndpoint(lambda: alive),
        "/readyz": ReadinessEndpoint(store, keys, store_seconds, draining, buses),
    }
    named: dict[str, tuple[str, Endpoint]] = {
        "/api/user": ("user_groups", user),
        "/api/user/rotate": ("rotation", rotate),
        "/api/user/passes": ("passes", passes),
        "/api/user/viewers/revoke": ("revocation", revoke),
        "/api/users": ("list", users),
        "/api/users/bulk": ("bulk", bulk),
        "/api/users/rotate": ("rotations", rotations),
        "/api/data-sources": ("data_sources", sources),
        "/oauth/introspect": ("introspection", introspect),
    }
    return (
        *(Route(path, endpoint, name=name) for path, (name, endpoint) in named.items()),
        *(Route(f"{path}/", endpoint, include_in_schema=False) for path, (_, endpoint) in named.items()),
        *(Route(path, endpoint) for path, endpoint in others.items()),
    )


class FastRouter:
    """Passes API requests to the endpoints of ``create_api`` in ``app.routes``, and other requests to ``app``.
    Give ``app`` no middleware: API requests would bypass it."""

    # Skipping the app saves a tenth of the time of a GET (decision 86).
    def __init__(self, app: Starlette) -> None:
        self._app = app
        routes = [route for route in app.routes if isinstance(route, Route)]
        self._endpoints = {route.path: route.endpoint for route in routes if isinstance(route.endpoint, Endpoint)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = self._endpoints.get(scope["path"]) if scope["type"] == "http" else None
        await (self._app if endpoint is None else endpoint)(scope, receive, send)
