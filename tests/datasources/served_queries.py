"""The app that tests of viewers who leave run under real servers: ``uvicorn tests.datasources.served_queries:app``.

``/token`` gives the token of its one group. Each view runs a query that sleeps for ten minutes on the data source of
``SOURCE_URL``, on the server that ``SOURCE_KIND`` names. With ``SIGNALS=yes`` they are stopped on signals.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext

from anyio import from_thread
from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.websockets import WebSocket

from tenantry import (
    TenantryError,
    UserGroupMiddleware,
    dashboard,
    error_handler,
    stop_on_signals,
    user_group,
    while_connected,
)
from tenantry.groups import RegisteredSource, UserGroup
from tenantry.resolver import Resolver
from tests.datasources.conftest import PRODUCTION, Directory
from tests.datasources.settings import data_sources
from tests.resolver.fake import KEYS, FakeBackend

SLEEP = {"postgresql": "select pg_sleep(600)::text as slept", "mariadb": "select sleep(600) as slept"}

directory = Directory()
directory.registered.append(RegisteredSource("ds_1", "own_1", PRODUCTION, os.environ["SOURCE_URL"]))
sources = data_sources(directory, timeout=600, connect_timeout=120)
backend = FakeBackend()
_, TOKEN = backend.issue(mapping={"main": "ds_1"})


async def ask(group: UserGroup, mark: str) -> str:
    await sources.fetch(group, "main", f"{SLEEP[os.environ['SOURCE_KIND']]}, '{mark}' as mark", {})
    return mark


async def run(connection: Request | WebSocket, mark: str) -> None:
    async with while_connected(connection):
        await ask(user_group(connection), mark)


async def token(request: Request) -> Response:
    return PlainTextResponse(TOKEN.decode())


async def plain(request: Request) -> Response:
    await run(request, "plain")
    return PlainTextResponse("")


async def several(request: Request) -> Response:
    """Panels side by side, each a block of its own, before the view has read the body."""
    await asyncio.gather(run(request, "one"), run(request, "two"))
    return PlainTextResponse("")


async def coroutine(group: UserGroup) -> str:
    """A dashboard."""
    return await ask(group, "coroutine")


def function(group: UserGroup) -> str:
    """A dashboard that runs in a thread, and asks again where its first query has failed."""
    try:
        return from_thread.run(ask, group, "function")
    except TenantryError:
        return from_thread.run(ask, group, "function, again")


async def body(request: Request) -> Response:
    """The body is there for the view after the block, and the answer may be streamed."""
    async with while_connected(request):
        await asyncio.sleep(0.05)
    text = (await request.body()).decode()

    async def parts() -> AsyncIterator[str]:
        for part in (text, " and more"):
            yield part
            await asyncio.sleep(0.05)

    return StreamingResponse(parts())


async def chat(websocket: WebSocket) -> None:
    """Echoes what came while a first, short query ran, then runs a long one."""
    await websocket.accept()
    async with while_connected(websocket):
        await websocket.send_text("first")
        await asyncio.sleep(0.3)
    for _ in range(3):
        await websocket.send_text(await websocket.receive_text())
    await run(websocket, "chat")


async def pass_on(request: Request, call_next: RequestResponseEndpoint) -> Response:
    return await call_next(request)


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    async with sources, stop_on_signals(sources) if os.environ["SIGNALS"] == "yes" else nullcontext():
        yield


queries = [
    Route("/plain", plain, methods=["GET", "POST"]),
    Route("/several", several, methods=["GET", "POST"]),
    Route("/coroutine", dashboard(coroutine)),
    Route("/function", dashboard(function)),
]
wrapped = Starlette(routes=queries, exception_handlers={TenantryError: error_handler})
wrapped.add_middleware(BaseHTTPMiddleware, dispatch=pass_on)
app = Starlette(
    routes=[
        Route("/token", token),
        Route("/body", body, methods=["POST"]),
        *queries,
        WebSocketRoute("/chat", chat),
        Mount("/wrapped", wrapped),
    ],
    exception_handlers={TenantryError: error_handler},
    lifespan=lifespan,
)
app.add_middleware(UserGroupMiddleware, resolver=Resolver(backend, keys=KEYS))
