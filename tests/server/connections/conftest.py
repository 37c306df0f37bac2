"""A server in a thread, on a connection factory with short times, under each HTTP protocol."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from engines.http_protocols import NAMES, protocol_class
from tenantry.server.connections import ConnectionFactory, ConnectionLimits, TrackRequests

LARGE = 64 * 1024 * 1024


async def _hello(request: Request) -> Response:
    return PlainTextResponse("hello")


async def _client(request: Request) -> Response:
    return PlainTextResponse(str(request.scope["client"]))


async def _echo(request: Request) -> Response:
    try:
        body = await request.body()
    except ClientDisconnect:
        return PlainTextResponse("gone")
    return PlainTextResponse(f"{len(body)}")


async def _refuse(request: Request) -> Response:
    """Answers without a look at the body, and ends the connection."""
    return PlainTextResponse("x" * 1_000, 413, {"Connection": "close"})


class _Waits:
    """Answers without a look at the body, and then waits for the client to leave."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send

    def __await__(self) -> Generator[Any, Any, None]:
        return self._answer().__await__()

    async def _answer(self) -> None:
        await PlainTextResponse("waits")({"type": "http"}, self._receive, self._send)
        await self._receive()


async def _large(request: Request) -> Response:
    async def parts() -> Any:
        for _ in range(LARGE // 65_536):
            yield b"x" * 65_536

    return StreamingResponse(parts())


async def _slow(request: Request) -> Response:
    """At work for longer than the tests' limits, and without a need of the client."""
    await asyncio.sleep(2)
    return PlainTextResponse("done")


async def _held(request: Request) -> Response:
    """At work until the test says ``release``."""
    while not request.app.state.release.is_set():  # it is set in another thread
        await asyncio.sleep(0.02)
    return PlainTextResponse("done")


async def _events(request: Request) -> Response:
    """A stream that says a little now and then."""

    async def parts() -> Any:
        for number in range(4):
            yield b"%d" % number
            await asyncio.sleep(0.5)

    return StreamingResponse(parts())


class _Both:
    """Reads its body and sends an answer that no buffer holds, at the same time."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send

    def __await__(self) -> Generator[Any, Any, None]:
        return self._answer().__await__()

    async def _answer(self) -> None:
        sending = asyncio.create_task(self._send_all())
        while (await self._receive()).get("more_body", False):
            pass
        await sending

    async def _send_all(self) -> None:
        await self._send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(LARGE // 65_536):
            await self._send({"type": "http.response.body", "body": b"x" * 65_536, "more_body": True})
        await self._send({"type": "http.response.body", "body": b""})


def new_app(release: threading.Event) -> Starlette:
    app = Starlette(
        routes=[
            Route("/", _hello),
            Route("/client", _client),
            Route("/echo", _echo, methods=["POST"]),
            Route("/refuse", _refuse, methods=["POST"]),
            Route("/waits", _Waits, methods=["POST"]),
            Route("/large", _large),
            Route("/slow", _slow),
            Route("/held", _held),
            Route("/events", _events),
            Route("/both", _Both, methods=["POST"]),
        ]
    )
    app.state.release = release
    return app


@dataclass
class Running:
    """A server in this process."""

    address: tuple[str, int]
    factory: ConnectionFactory
    release: threading.Event
    """Ends what is at work under ``/held``."""
    errors: list[str] = field(default_factory=list)

    def ask(self, request: bytes = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") -> bytes:
        """All that comes back until the server closes."""
        with socket.create_connection(self.address, timeout=30) as connection:
            connection.sendall(request)
            return read_all(connection)


def read_all(connection: socket.socket) -> bytes:
    received = b""
    while chunk := connection.recv(65_536):
        received += chunk
    return received


def read_until(connection: socket.socket, end: bytes) -> bytes:
    received = b""
    while not received.endswith(end):
        chunk = connection.recv(65_536)
        assert chunk, received
        received += chunk
    return received


@contextmanager
def running(limits: ConnectionLimits, protocol: str, app: Any = None) -> Iterator[Running]:
    release = threading.Event()
    factory: Any = ConnectionFactory(limits, protocol_class(protocol))
    config = uvicorn.Config(
        TrackRequests(app or new_app(release)),
        http=factory,
        interface="asgi3",
        ws="none",  # as in tenantry.server.uvicorn
        log_config=None,
        lifespan="off",
        access_log=False,
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield Running(listener.getsockname(), factory, release)
        finally:
            release.set()
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()


Start = Callable[..., Running]


@pytest.fixture(params=NAMES)
def start(request: pytest.FixtureRequest) -> Iterator[Start]:
    """``start(header_seconds=…, …)``: a server with these limits."""
    managers = []

    def begin(app: Any = None, **limits: Any) -> Running:
        manager = running(ConnectionLimits(**limits), request.param, app)
        managers.append(manager)
        return manager.__enter__()

    yield begin
    for manager in managers:
        manager.__exit__(None, None, None)
