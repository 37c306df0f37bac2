from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.routing import BaseRoute, Route

from tenantry.backends import attach_redis
from tenantry.backends.buses import PostgresBus, RedisBus
from tenantry.backends.sql import SQLStore
from tenantry.errors import InvalidSettings, TenantryError
from tenantry.ports import Store
from tenantry.provisioning import PropertyContract
from tenantry.provisioning.http import FastRouter, Observer, create_api, not_found
from tenantry.tokens import KeyRing
from tenantry.tokens.keys import SigningKeys

if TYPE_CHECKING:
    from tenantry.server.settings import Settings
    from tenantry.sql.checks import QueryContract


def make_app(settings: Settings, draining: Callable[[], bool]) -> FastRouter:
    """Make the server's app. Raises InvalidKeys, InvalidSettings, InvalidQueries or InvalidPropertySchema."""
    database, redis, listen = settings.database, settings.redis, settings.listen_database
    keys = SigningKeys.from_file(settings.keys)
    store = SQLStore(database, keys=keys)
    return FastRouter(
        compose(
            store,
            keys,
            closing=[] if redis is None else [attach_redis(store, redis)],
            buses=[] if listen is None else [PostgresBus(database, listen_url=listen)],
            metrics=settings.metrics,
            draining=draining,
            contact=settings.api_contact,
            contract=read_contract(settings),
            source_hosts=settings.source_hosts,
        )
    )


def read_contract(chosen: Settings, *, refuses: bool | None = None) -> QueryContract | None:
    """Return a check that the saved queries still work after an update of properties, or None if the check is off.
    ``refuses``: whether it refuses an update that breaks a query; None: as the setting ``query_contract`` says.
    Raises InvalidSettings, InvalidQueries or InvalidPropertySchema."""
    if chosen.query_contract == "off" and refuses is None:
        return None
    if chosen.queries is None:
        raise InvalidSettings("--query-contract needs the folder of saved queries: name it with --queries")
    from tenantry.datasources import QueryFolder
    from tenantry.groups import read_schemas
    from tenantry.sql.checks import QueryContract

    try:
        queries, schemas = QueryFolder(chosen.queries), read_schemas(chosen.queries)
    except OSError as error:
        raise InvalidSettings(f"the folder of saved queries {chosen.queries} cannot be read: {error}") from None
    return QueryContract(queries, schemas, refuses=chosen.query_contract == "refuse" if refuses is None else refuses)


def compose(
    store: Store,
    keys: KeyRing,
    *,
    routes: Sequence[BaseRoute] = (),
    closing: Sequence[Callable[[], Awaitable[None]]] = (),
    buses: Sequence[PostgresBus | RedisBus] = (),
    metrics: bool = False,
    draining: Callable[[], bool] = lambda: False,
    contact: str | None = None,
    contract: PropertyContract | None = None,
    source_hosts: Sequence[str] = (),
) -> Starlette:
    """The server app for ``store``, with additional ``routes``.
    - ``closing``: functions that are awaited in order on shutdown, before the store closes.
    - ``draining``: while this function returns True, ``/readyz`` answers 503.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        with suppress(TenantryError):  # if the store is down, a later write creates the slots
            await store.changes(sys.maxsize)  # creates the slots now, so that no write waits for them
        async with AsyncExitStack() as stack:
            for close in (store.aclose, *reversed(closing)):  # added last, run first
                stack.push_async_callback(close)
            following = [asyncio.create_task(bus.follow(_NoCache())) for bus in buses]
            try:
                yield
            finally:
                for task in following:
                    task.cancel()
                await asyncio.gather(*following, return_exceptions=True)

    def _api(observer: Observer | None) -> tuple[Route, ...]:
        return create_api(
            store,
            keys,
            observer=observer,
            draining=draining,
            buses=buses,
            contact=contact,
            contract=contract,
            source_hosts=source_hosts,
        )

    own: list[BaseRoute]
    if metrics:
        from tenantry.server.metrics import ApiMetrics, metrics_app  # needs prometheus-client, an extra

        observed = ApiMetrics()
        own = [*_api(observed)]
        own.append(Route("/metrics", metrics_app(api=observed, buses=buses)))
    else:
        own = [*_api(None)]
    app = Starlette(routes=[*own, *routes], exception_handlers={404: not_found}, lifespan=lifespan)
    app.router.redirect_slashes = False  # after a redirect, a client may repeat its token at the new address
    return app


class _NoCache:
    def evict(self, handle: bytes, generation: int) -> None: ...

    def flush(self) -> None: ...
