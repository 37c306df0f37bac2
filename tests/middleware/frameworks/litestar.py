"""Litestar, which answers what a view raises by itself, and has messages and errors of its own."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from litestar import Litestar, Request, WebSocket, get, websocket
from litestar.exceptions import WebSocketDisconnect
from litestar.middleware import DefineMiddleware
from litestar.response import Stream

from tenantry import UserGroupMiddleware, user_group
from tests.middleware.frameworks.control import names, resolver, seen, with_control


@get("/me")
async def me(request: Request[Any, Any, Any]) -> dict[str, Any]:
    return seen(request.scope)


@get("/stream")
async def stream(request: Request[Any, Any, Any]) -> Stream:
    return Stream(names(user_group(request)))


@websocket("/live")
async def live(socket: WebSocket[Any, Any, Any]) -> None:
    user_group(socket)
    await socket.accept()
    with suppress(WebSocketDisconnect):
        while True:
            await socket.send_text(f"{await socket.receive_text()} {user_group(socket).name}")


app = with_control(Litestar([me, stream, live], middleware=[DefineMiddleware(UserGroupMiddleware, resolver=resolver)]))
