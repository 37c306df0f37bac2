"""A cached token through the middleware, compared with a no-op and with other middleware."""

from __future__ import annotations

import asyncio
import base64
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import itsdangerous
import jwt
from starlette.authentication import AuthCredentials, AuthenticationBackend, SimpleUser
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from benchmarks.harness.measure import Cell, repeat, run
from benchmarks.harness.population import KEYS, populate, raw
from benchmarks.harness.table import Aim, Table
from tenantry import Resolver, UserGroupMiddleware
from tenantry.backends.sql import SQLStore
from tenantry.middleware import header

GROUPS = 1_000
SECRET = "a secret of the benchmark, thirty-two bytes or more"
START: Message = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]}
BODY: Message = {"type": "http.response.body", "body": b"ok"}


async def bare(scope: Scope, receive: Receive, send: Send) -> None:
    """The app behind every middleware of the table."""
    await send(dict(START, headers=list(START["headers"])))
    await send(BODY)


class NoOp:
    """A middleware that does nothing, written as one usually writes it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)


class TokenTable(AuthenticationBackend):
    """The least that an AuthenticationMiddleware can do: a header looked up in a dict."""

    def __init__(self, tokens: set[str]) -> None:
        self.tokens = tokens

    async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, SimpleUser] | None:
        token = conn.headers.get("x-user-group-token")
        return (AuthCredentials(["viewer"]), SimpleUser("acme")) if token in self.tokens else None


class BearerJWT:
    """A pure ASGI middleware that checks an HS256 JWT on each request."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        for name, value in scope["headers"]:
            if name == b"x-user-group-token":
                scope["user"] = jwt.decode(value.decode(), SECRET, algorithms=["HS256"])
        await self.app(scope, receive, send)


async def _pass(request: Any, call_next: Any) -> Any:
    return await call_next(request)


async def receive_nothing() -> Message:
    """The request has no body."""
    return {"type": "http.request", "body": b"", "more_body": False}


async def _swallow(message: Message) -> None:
    return


def scope_of(token: bytes, *, cookie: bytes | None = None) -> Callable[[], Scope]:
    """Fresh scopes of one request: ten headers, the token the sixth, its bytes new each time as from a socket."""
    buffer = bytearray(token)

    def make() -> Scope:
        headers = [
            (b"host", b"dashboards.example.com"),
            (b"user-agent", b"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"),
            (b"accept", b"text/html,application/xhtml+xml"),
            (b"accept-language", b"en-GB,en;q=0.5"),
            (b"accept-encoding", b"gzip, deflate, br"),
            (b"x-user-group-token", bytes(buffer)),
            (b"referer", b"https://app.example.com/"),
            (b"connection", b"keep-alive"),
            (b"sec-fetch-dest", b"iframe"),
            (b"cache-control", b"max-age=0") if cookie is None else (b"cookie", cookie),
        ]
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": "GET",
            "path": "/sales",
            "raw_path": b"/sales",
            "root_path": "",
            "query_string": b"",
            "headers": headers,
            "client": ("127.0.0.1", 5000),
            "server": ("127.0.0.1", 8000),
            "scheme": "http",
        }

    return make


def cell(app: ASGIApp, make: Callable[[], Scope]) -> Cell:
    """Calls of ``app``, each with a fresh scope."""

    async def calls(times: int) -> None:
        for _ in range(times):
            await app(make(), receive_nothing, _swallow)

    return calls


async def _fill(resolver: Resolver) -> None:
    for number in range(GROUPS):
        await resolver.resolve(raw(number))


def table() -> Table:
    """Runs it."""
    with tempfile.TemporaryDirectory(prefix="tenantry-bench-") as name:
        url = f"sqlite:///{Path(name) / 'tenantry.db'}"
        populate(url, GROUPS)
        resolver = Resolver(SQLStore(url), keys=KEYS, staleness=3600.0)  # hits only; each checks the slots of the host
        asyncio.run(_fill(resolver))
        return _compare(resolver)


def _compare(resolver: Resolver) -> Table:
    token = raw(GROUPS // 2)
    signed = itsdangerous.TimestampSigner(SECRET).sign(base64.b64encode(json.dumps({"user": "acme"}).encode()))
    cookie = b"theme=dark; session=" + signed + b"; _ga=GA1.2.3; consent=yes"
    bearer = jwt.encode({"sub": "acme"}, SECRET, algorithm="HS256").encode()
    plain = scope_of(token)
    figures = run(
        {
            "fresh scope only": repeat(plain),
            "app without middleware": cell(bare, plain),
            "no-op middleware": cell(NoOp(bare), plain),
            "Tenantry, all default carriers": cell(UserGroupMiddleware(bare, resolver=resolver), plain),
            "Tenantry, header carrier only": cell(
                UserGroupMiddleware(bare, resolver=resolver, carriers=header("X-User-Group-Token")), plain
            ),
            "AuthenticationMiddleware, header and dict": cell(
                AuthenticationMiddleware(bare, backend=TokenTable({token.decode()})), plain
            ),
            "SessionMiddleware, signed cookie": cell(
                SessionMiddleware(bare, secret_key=SECRET), scope_of(token, cookie=cookie)
            ),
            "PyJWT, HS256": cell(BearerJWT(bare), scope_of(bearer)),
            "no-op BaseHTTPMiddleware": cell(BaseHTTPMiddleware(bare, dispatch=_pass), plain),
        }
    )
    noop, made, floor = "no-op middleware", "fresh scope only", "app without middleware"
    result = Table(
        "A cached token, one request in process (a call makes a fresh scope, as a server does, and awaits the app)",
        ["middleware", "ns", "× no-op call", "net ns", "× without the scope"],
    )
    for name in list(figures.rounds)[1:]:
        result.add(
            name,
            f"{figures.median(name):,.0f}",
            f"{figures.ratio(name, noop):.2f}",
            f"{figures.net(name, floor):,.0f}",
            f"{figures.net_ratio(name, noop, made):.2f}",
        )
    full, alone = "Tenantry, all default carriers", "Tenantry, header carrier only"
    session = figures.net_ratio(full, "SessionMiddleware, signed cookie", floor)
    result.aims = [
        Aim("full hit, × the call through a no-op middleware", figures.ratio(full, noop), 3.75),
        Aim("header carrier only, × the call through a no-op middleware", figures.ratio(alone, noop), 3.0),
        Aim("full hit, net × SessionMiddleware's net", session, 1 / 6),
    ]
    return result
