"""Behind a real uvicorn on a real socket: http, websocket, and what its logs show."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx2
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from engines.loggers import fresh_loggers
from tenantry import UserGroupMiddleware, user_group
from tenantry.middleware import DEFAULT_CARRIERS, RedactTokens, first_of, path
from tenantry.resolver import Resolver
from tests.resolver.fake import KEYS, FakeBackend


async def page(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"{user_group(request).name} {request.url.query}")


async def chat(websocket: WebSocket) -> None:
    name = user_group(websocket).name
    await websocket.accept()
    await websocket.send_text(f"{name} {await websocket.receive_text()}")
    await websocket.close()


class Lines(logging.Handler):
    """The server's log: its lines at INFO and above, and everything down to DEBUG behind the shipped filter."""

    def __init__(self) -> None:
        super().__init__()
        self.plain: list[str] = []
        self.filtered: list[str] = []
        self.redact = RedactTokens()

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.INFO:
            self.plain.append(record.getMessage())
        self.redact.filter(record)
        self.filtered.append(self.format(record))


@dataclass
class Served:
    address: str
    backend: FakeBackend
    server: uvicorn.Server
    log: Lines


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    backend, log = FakeBackend(), Lines()
    inner = Starlette(routes=[Route("/", page), Route("/embed/{token}", page), WebSocketRoute("/chat", chat)])
    carriers = first_of(DEFAULT_CARRIERS, path("/embed/{token}"))
    app = UserGroupMiddleware(inner, resolver=Resolver(backend, keys=KEYS), carriers=carriers)
    with fresh_loggers():
        logger = logging.getLogger("uvicorn")
        logger.propagate = False
        logger.addHandler(log)
        logger.setLevel(logging.DEBUG)
        server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, ws="websockets-sansio", lifespan="off"))
        running = asyncio.create_task(server.serve())
        while not server.started:
            assert not running.done()
            await asyncio.sleep(0.01)
        host, port = server.servers[0].sockets[0].getsockname()[:2]
        yield Served(f"{host}:{port}", backend, server, log)
        server.should_exit = True
        await running


async def test_uvicorn_takes_the_middleware_for_asgi_3(served: Served) -> None:
    """A plain __call__, marked as a coroutine function. Red without the mark: uvicorn then calls it as ASGI 2."""
    assert served.server.config.interface == "asgi3"


async def test_http_and_its_access_log(served: Served) -> None:
    """In query, cookie, header and path: answered, and the access log holds no token. Red when the query is left in
    the scope."""
    _, raw = served.backend.issue()
    token = raw.decode()
    async with httpx2.AsyncClient(base_url=f"http://{served.address}", trust_env=False, timeout=120) as client:
        ways = [
            client.get("/", params={"USER_GROUP_TOKEN": token, "a": "1"}),
            client.get("/", params={"a": "1"}, headers={"Cookie": f"x=1; USER_GROUP_TOKEN={token}"}),
            client.get("/", params={"a": "1"}, headers={"USER_GROUP_TOKEN": token}),
            client.get(f"/embed/{token}", params={"a": "1"}),
        ]
        answers = [await way for way in ways]
        bad = await client.get("/", params={"USER_GROUP_TOKEN": token[:-1], "b": "2"})
    assert [answer.text for answer in answers] == ["Acme a=1"] * 4
    assert all(answer.headers["cache-control"] == "private" for answer in answers)
    assert bad.status_code == 401
    assert [line.split('"')[1] for line in served.log.plain if '"GET' in line] == [
        "GET /?a=1 HTTP/1.1",
        "GET /?a=1 HTTP/1.1",
        "GET /?a=1 HTTP/1.1",
        "GET /embed/redacted?a=1 HTTP/1.1",
        "GET /?b=2 HTTP/1.1",
    ]
    assert not any(token[:-1] in line for line in served.log.plain)


async def test_websocket_and_its_log(served: Served) -> None:
    """A real handshake with the token in the query; refused ones get a denial response with the reason. At DEBUG the
    server logs a handshake before the app runs: there only the filter can help. Red when the filter does nothing."""
    _, raw = served.backend.issue()
    address = f"ws://{served.address}/chat"
    for _ in range(2):
        async with connect(f"{address}?a=1&USER_GROUP_TOKEN={raw.decode()}", proxy=None, open_timeout=120) as socket:
            await socket.send("hello")
            assert await socket.recv() == "Acme hello"
    async with connect(
        address, additional_headers={"X-User-Group-Token": raw.decode()}, proxy=None, open_timeout=120
    ) as socket:
        await socket.send("again")
        assert await socket.recv() == "Acme again"
    for query, code in (("", b"missing_token"), ("?USER_GROUP_TOKEN=junk", b"invalid_token")):
        with pytest.raises(InvalidStatus) as caught:
            async with connect(address + query, proxy=None, open_timeout=120):
                pass
        assert caught.value.response.status_code == 401
        assert code in (caught.value.response.body or b"")
    assert any('"WebSocket /chat?a=1" [accepted]' in line for line in served.log.plain)
    assert not any(raw.decode() in line for line in served.log.plain)
    assert any("USER_GROUP_TOKEN=ugtc_[redacted]" in line for line in served.log.filtered)
    assert not any(raw.decode() in line for line in served.log.filtered)
