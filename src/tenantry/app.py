"""The composition root: the one place that knows every part of Tenantry's own server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.routing import BaseRoute, Route

from tenantry.api import create_api, not_found
from tenantry.backends.sql import SQLStore
from tenantry.ports import Store
from tenantry.telling import tell_redis
from tenantry.tokens import KeyRing


def create_app(
    database: str,
    keys: KeyRing,
    *,
    redis: str | None = None,
    metrics: bool = False,
    draining: Callable[[], bool] = lambda: False,
    contact: str | None = None,
) -> Starlette:
    """The server of ``/api/user`` on the store at this URL: ``sqlite:///…`` or ``postgresql://…``. Does no I/O.

    ``redis`` is the URL of a Valkey or Redis that is told of each write. ``contact`` is whom the OpenAPI
    documents name. Raises InvalidSettings.
    """
    store = SQLStore(database)
    closing = [] if redis is None else [tell_redis(store, redis)]
    return compose(store, keys, closing=closing, metrics=metrics, draining=draining, contact=contact)


def compose(
    store: Store,
    keys: KeyRing,
    *,
    routes: Sequence[BaseRoute] = (),
    closing: Sequence[Callable[[], Awaitable[None]]] = (),
    metrics: bool = False,
    draining: Callable[[], bool] = lambda: False,
    contact: str | None = None,
) -> Starlette:
    """The same on a store of yours, with more routes after its own. It ends with ``closing``, then the store.

    With ``metrics`` it answers ``/metrics`` to everybody who can reach it; while ``draining`` gives true, ``/readyz``
    answers 503.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for close in (store.aclose, *reversed(closing)):  # a stack: the last one pushed runs first
                stack.push_async_callback(close)
            yield

    own: list[BaseRoute]
    if metrics:
        from tenantry.metrics import ApiMetrics, metrics_app  # prometheus-client, which is an extra

        observed = ApiMetrics()
        own = [*create_api(store, keys, observer=observed, draining=draining, contact=contact)]
        own.append(Route("/metrics", metrics_app(api=observed)))
    else:
        own = [*create_api(store, keys, draining=draining, contact=contact)]
    app = Starlette(routes=[*own, *routes], exception_handlers={404: not_found}, lifespan=lifespan)
    app.router.redirect_slashes = False  # an address of ours answers or does not; it never sends a token elsewhere
    return app
