"""What stands behind the proxies: the API, and an app with the middleware below a path, in a thread of this process."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from tenantry import Resolver, UserGroupMiddleware, user_group
from tenantry.backends.memory.store import MemoryStore
from tenantry.groups import GroupDraft, Tag
from tenantry.middleware import DEFAULT_CARRIERS, first_of, path
from tenantry.provisioning import issue_api_token
from tenantry.provisioning.http import create_api, not_found
from tenantry.testing import make_token
from tests.provisioning.http.conftest import make_keys


@dataclass
class Upstream:
    """``asked``: the headers of each request that came through, by path. ``go_on`` lets an open stream send more.
    ``running`` is set when a query has begun, ``stopped`` when it was cancelled."""

    tenantry: str = ""
    app: str = ""
    token: str = ""
    api_token: str = ""
    asked: list[tuple[str, list[tuple[str, str]]]] = field(default_factory=list)
    go_on: threading.Event = field(default_factory=threading.Event)
    running: threading.Event = field(default_factory=threading.Event)
    stopped: threading.Event = field(default_factory=threading.Event)

    def note(self, request: Request) -> None:
        self.asked.append((request.url.path, list(request.headers.items())))

    async def first_and_last(self) -> AsyncIterator[bytes]:
        """A line, and another when the test has read the first: what is buffered on its way never gets there."""
        yield b"first\n"
        await asyncio.to_thread(self.go_on.wait, 60)
        yield b"last\n"

    async def query(self, first_rows: int) -> AsyncIterator[bytes]:
        """A query that sends its first rows, then looks for more until it is cancelled."""
        try:
            for _ in range(first_rows):
                yield b"row\n" * 1_000
            self.running.set()
            await asyncio.sleep(3_600)
        except asyncio.CancelledError:
            self.stopped.set()
            raise


def make_app(upstream: Upstream, resolver: Resolver) -> ASGIApp:
    async def me(request: Request) -> JSONResponse:
        upstream.note(request)
        scope = request.scope
        return JSONResponse({
            "group": user_group(request).provided_id,
            "root_path": scope["root_path"],
            "client": scope["client"][0],
            "url": str(request.url_for("me")),
        })  # fmt: skip

    async def stream(request: Request) -> StreamingResponse:
        user_group(request)
        return StreamingResponse(upstream.first_and_last(), media_type="application/x-ndjson")

    async def rows(request: Request) -> StreamingResponse:
        first_rows = int(request.query_params["first"])
        return StreamingResponse(upstream.query(first_rows), media_type="application/x-ndjson")

    async def live(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text(user_group(websocket).provided_id)
        await websocket.send_text(await websocket.receive_text())
        await websocket.close()

    app = Starlette(
        routes=[
            Route("/me", me, name="me"),
            Route("/embed/{token}/me", me),
            Route("/stream", stream),
            Route("/rows", rows),
            WebSocketRoute("/live", live),
        ]
    )
    return UserGroupMiddleware(app, resolver=resolver, carriers=first_of(DEFAULT_CARRIERS, path("/embed/{token}")))


def make_service(store: MemoryStore) -> Starlette:
    app = Starlette(routes=[*create_api(store, make_keys())], exception_handlers={404: not_found})
    app.router.redirect_slashes = False
    return app


@contextmanager
def serving() -> Iterator[Upstream]:
    """Both, as ``uvicorn --root-path /analytics`` would serve the app, until the end of the block."""
    upstream = Upstream()
    started = threading.Event()
    stop = threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(_serve(upstream, started, stop)))
    thread.start()
    try:
        assert started.wait(120)
        yield upstream
    finally:
        upstream.go_on.set()
        stop.set()
        thread.join(120)


async def _serve(upstream: Upstream, started: threading.Event, stop: threading.Event) -> None:
    store = MemoryStore()
    production = await store.environments.create("production", Tag.CUSTOMER)
    upstream.api_token, _ = await issue_api_token(store.api_tokens, production)
    issued = await store.groups.get_or_create(production, GroupDraft("acme", "Acme"), make_token())
    upstream.token = make_keys().mint(issued.token)
    resolver = Resolver(store, keys=make_keys(), patience=60.0)
    with socket.create_server(("127.0.0.1", 0)) as of_service, socket.create_server(("127.0.0.1", 0)) as of_app:
        apps = [(make_service(store), of_service, ""), (make_app(upstream, resolver), of_app, "/analytics")]
        servers = []
        running = []
        for app, listener, root_path in apps:
            config = uvicorn.Config(
                app, log_config=None, lifespan="off", root_path=root_path, timeout_graceful_shutdown=1
            )
            servers.append(_Server(config))
            running.append(asyncio.create_task(servers[-1].serve([listener])))
        while not all(server.started for server in servers):
            await asyncio.sleep(0.01)
        upstream.tenantry, upstream.app = (f"127.0.0.1:{each.getsockname()[1]}" for _, each, _ in apps)
        started.set()
        await asyncio.to_thread(stop.wait)
        for server in servers:
            server.should_exit = True
        await asyncio.gather(*running)
    await resolver.aclose()


class _Server(uvicorn.Server):
    """Signals belong to the thread of the tests."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
