"""create_api: the Starlette routes of the interface, for an app to take in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from starlette.routing import BaseRoute, Route

from tenantry.api.body import BODY_SECONDS
from tenantry.api.door import Door, Room
from tenantry.api.health import DocumentRoom, HealthRoom, ReadyRoom, serving
from tenantry.api.idempotency import InFlight
from tenantry.api.introspect import FORM_TERMS, IntrospectionRoom
from tenantry.api.openapi import openapi_document
from tenantry.api.operations import OPERATIONS, ROTATION
from tenantry.api.service import STORE_SECONDS, Service
from tenantry.api.user import UserRoom
from tenantry.api.visit import Observer, unobserved
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
    observer: Observer = unobserved,
    draining: Callable[[], bool] = serving,
    contact: str | None = None,
    buses: Sequence[WatchedBus] = (),
) -> Api:
    """``/api/user``, ``/api/user/rotate`` and ``/oauth/introspect`` with and without a trailing slash (never a
    redirect), ``/openapi.json``, ``/openapi-3.2.json``, ``/healthz`` and ``/readyz``. No I/O is done here.
    ``body_seconds``: how long a client may take to send a body; ``store_seconds``: how long the store may take for one
    request, over all its calls. ``observer`` is told of each request that needs an API token; while ``draining`` is
    true, ``/readyz`` answers 503. ``contact``: whom the OpenAPI documents name, an ``https`` address or one of mail;
    ValueError if it is neither. Of ``buses`` ``/readyz`` names those that are lost or deaf, and is 200 all the same.
    """
    service = Service(store, keys, body_seconds, store_seconds, observer)
    in_flight = InFlight()
    user = Door(UserRoom(service, OPERATIONS, '{"user_group_id": "acme"}', in_flight))
    rotate = Door(UserRoom(service, ROTATION, '{"current_token": "ugtc_…"}', in_flight))
    introspect = Door(IntrospectionRoom(service), FORM_TERMS)
    rooms: dict[str, Room] = {
        "/openapi.json": DocumentRoom(openapi_document("3.1", contact=contact)),
        "/openapi-3.2.json": DocumentRoom(openapi_document("3.2", contact=contact)),
        "/healthz": HealthRoom(),
        "/readyz": ReadyRoom(store, store_seconds, draining, buses),
    }
    return Api(
        (
            Route("/api/user", user, name="user_groups"),
            Route("/api/user/", user, include_in_schema=False),
            Route("/api/user/rotate", rotate, name="rotation"),
            Route("/api/user/rotate/", rotate, include_in_schema=False),
            Route("/oauth/introspect", introspect, name="introspection"),
            Route("/oauth/introspect/", introspect, include_in_schema=False),
            *(Route(path, Door(room)) for path, room in rooms.items()),
        )
    )
