"""The composition root: the one place that knows every part of Tenantry's own server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.routing import BaseRoute

from tenantry.api import create_api, not_found
from tenantry.backends.sql import SQLStore
from tenantry.ports import Store
from tenantry.tokens import KeyRing


def create_app(database: str, keys: KeyRing) -> Starlette:
    """The server of ``/api/user`` on the store at this URL: ``sqlite:///…`` or ``postgresql://…``. Does no I/O."""
    return compose(SQLStore(database), keys)


def compose(
    store: Store,
    keys: KeyRing,
    *,
    routes: Sequence[BaseRoute] = (),
    closing: Sequence[Callable[[], Awaitable[None]]] = (),
) -> Starlette:
    """The same on a store of yours, with more routes after its own. It ends with ``closing``, then the store."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for close in (store.aclose, *reversed(closing)):  # a stack: the last one pushed runs first
                stack.push_async_callback(close)
            yield

    app = Starlette(routes=[*create_api(store, keys), *routes], exception_handlers={404: not_found}, lifespan=lifespan)
    app.router.redirect_slashes = False  # an address of ours answers or does not; it never sends a token elsewhere
    return app
