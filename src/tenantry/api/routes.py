"""create_api: the Starlette routes of the interface; FastRouter: the shortest way to them in an app of our own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from tenantry.api.body import BODY_SECONDS
from tenantry.api.context import STORE_SECONDS, ApiContext, Observer, no_observer
from tenantry.api.endpoint import Endpoint, EndpointApp
from tenantry.api.health import DocumentEndpoint, HealthEndpoint, ReadinessEndpoint, never_draining
from tenantry.api.introspection import OAUTH_FORMAT, IntrospectionEndpoint
from tenantry.api.openapi import openapi_document
from tenantry.api.operations import OPERATIONS, ROTATION
from tenantry.api.user import KeysInFlight, UserGroupEndpoint
from tenantry.ports import Store, WatchedBus
from tenantry.tokens import KeyRing


@dataclass(frozen=True, slots=True)
class Api:
    """``app = Starlette(routes=[*api.routes, …], exception_handlers={404: tenantry.api.not_found})``, and then
    ``app.router.redirect_slashes = False``: Starlette would redirect ``/api/user//`` to ``/api/user``."""

    routes: tuple[BaseRoute, ...]

    def __iter__(self) -> Iterator[BaseRoute]:
        return iter(self.routes)


def create_api(
    store: Store,
    keys: KeyRing,
    *,
    body_seconds: float = BODY_SECONDS,
    store_seconds: float = STORE_SECONDS,
    observer: Observer = no_observer,
    draining: Callable[[], bool] = never_draining,
    contact: str | None = None,
    buses: Sequence[WatchedBus] = (),
) -> Api:
    """``/api/user``, ``/api/user/rotate`` and ``/oauth/introspect`` with and without a trailing slash (never a
    redirect), ``/openapi.json``, ``/openapi-3.2.json``, ``/healthz`` and ``/readyz``. No I/O is done here.
    ``body_seconds``: how long a client may take to send a body; ``store_seconds``: how long the store may take for one
    request, over all its calls. ``observer`` gets a record of each request that needs an API token; while ``draining``
    is true, ``/readyz`` answers 503. ``contact``: whom the OpenAPI documents name, an ``https`` address or one of mail;
    ValueError if it is neither. Of ``buses`` ``/readyz`` names those that are lost or deaf, and is 200 all the same.
    """
    context = ApiContext(store, keys, body_seconds, store_seconds, observer)
    in_flight = KeysInFlight()
    user = EndpointApp(UserGroupEndpoint(context, OPERATIONS, '{"user_group_id": "acme"}', in_flight))
    rotate = EndpointApp(UserGroupEndpoint(context, ROTATION, '{"current_token": "ugtc_…"}', in_flight))
    introspect = EndpointApp(IntrospectionEndpoint(context), OAUTH_FORMAT)
    others: dict[str, Endpoint] = {
        "/openapi.json": DocumentEndpoint(openapi_document("3.1", contact=contact)),
        "/openapi-3.2.json": DocumentEndpoint(openapi_document("3.2", contact=contact)),
        "/healthz": HealthEndpoint(),
        "/readyz": ReadinessEndpoint(store, store_seconds, draining, buses),
    }
    return Api(
        (
            Route("/api/user", user, name="user_groups"),
            Route("/api/user/", user, include_in_schema=False),
            Route("/api/user/rotate", rotate, name="rotation"),
            Route("/api/user/rotate/", rotate, include_in_schema=False),
            Route("/oauth/introspect", introspect, name="introspection"),
            Route("/oauth/introspect/", introspect, include_in_schema=False),
            *(Route(path, EndpointApp(endpoint)) for path, endpoint in others.items()),
        )
    )


class FastRouter:
    """An ASGI app in front of ``app``, which has the routes of ``create_api`` and no middleware.

    A request for one of our own paths goes straight to its EndpointApp, which needs nothing of what Starlette does on
    the way to a route: an eighth of the time of a GET. All else goes to ``app``.
    """

    def __init__(self, app: Starlette) -> None:
        self._app = app
        routes = [route for route in app.routes if isinstance(route, Route)]
        self._endpoints = {route.path: route.endpoint for route in routes if isinstance(route.endpoint, EndpointApp)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = self._endpoints.get(scope["path"]) if scope["type"] == "http" else None
        await (self._app if endpoint is None else endpoint)(scope, receive, send)
