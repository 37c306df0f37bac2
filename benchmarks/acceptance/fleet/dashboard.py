"""The dashboard app of the fleet: what a host program looks like, with a socket of its own for each worker process.

``FLEET`` in the environment is its configuration as JSON. ``without`` names a defence to leave out: the controls use
it, to show that the fleet would notice.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from benchmarks.acceptance.fleet.mini_server import serve
from tenantry import Resolver, SigningKeys, UserGroupMiddleware, user_group
from tenantry.backends.sql import SQLStore


@dataclass(frozen=True)
class Plan:
    """What a dashboard needs to know. ``listen``: the address where a bus of PostgreSQL listens, if not its own;
    ``deadline``: seconds that its store may take."""

    database: str
    keys: str
    sockets: str
    staleness: float = 5.0
    redis: str | None = None
    buses: tuple[str, ...] = ()
    without: str | None = None
    listen: str | None = None
    deadline: float = 2.0

    def environment(self) -> dict[str, str]:
        """As a variable for the child."""
        return {"FLEET": json.dumps(asdict(self))}


async def show(request: Request) -> JSONResponse:
    """Who the viewer belongs to, as this worker sees it."""
    group = user_group(request)
    seen = {"id": group.provided_id, "version": group.token_version, "revision": group.revision}
    return JSONResponse({**seen, "properties": group.as_dict()["properties"], "process": os.getpid()})


async def listen(websocket: WebSocket) -> None:
    """A live dashboard: says who is there and stays open."""
    group = user_group(websocket)
    await websocket.accept()
    await websocket.send_text(group.provided_id)
    with suppress(WebSocketDisconnect):
        while True:
            await websocket.receive_text()


def create() -> Starlette:
    """The app, for ``uvicorn --factory``."""
    plan = Plan(**json.loads(os.environ["FLEET"]))
    store = SQLStore(plan.database, deadline=plan.deadline)
    resolver = _resolver(plan, store)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with _own_socket(app, Path(plan.sockets)):
            yield
        await resolver.aclose()
        await store.aclose()

    app = Starlette(routes=[Route("/", show), WebSocketRoute("/live", listen)], lifespan=lifespan)
    app.add_middleware(UserGroupMiddleware, resolver=resolver)
    return app


def _resolver(plan: Plan, store: SQLStore) -> Resolver:
    backend: Any = store
    if plan.redis is not None:
        from tenantry.backends.redis.second_level import RedisBackend

        backend = RedisBackend(store, plan.redis)
    options: dict[str, Any] = {"staleness": plan.staleness, "buses": [_bus(url, plan.listen) for url in plan.buses]}
    if plan.without == "lease":
        options["clock"] = lambda: 0.0  # a clock that stands still: no lease ever ends
    return Resolver(backend, keys=SigningKeys.from_file(plan.keys), **options)


def _bus(url: str, listen: str | None) -> Any:
    if url.startswith("redis"):
        from tenantry.backends.buses import RedisBus

        return RedisBus(url)
    from tenantry.backends.buses import PostgresBus

    return PostgresBus(url, listen_url=listen)


@asynccontextmanager
async def _own_socket(app: Starlette, folder: Path) -> AsyncIterator[None]:
    """Listens on ``<process id>.sock`` besides, in the same event loop: so that a test can ask this very worker."""
    path = folder / f"{os.getpid()}.sock"
    server = await asyncio.start_unix_server(partial(serve, app), str(path) + ".new")
    Path(f"{path}.new").rename(path)  # noqa: ASYNC240  # once, at the start: it is seen when it listens
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        server.close()
