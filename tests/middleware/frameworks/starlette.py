"""Starlette."""

from __future__ import annotations

from contextlib import suppress

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from tenantry import UserGroupMiddleware, user_group
from tests.middleware.frameworks.control import names, resolver, seen, with_control


async def me(request: Request) -> JSONResponse:
    return JSONResponse(seen(request.scope))


async def stream(request: Request) -> StreamingResponse:
    return StreamingResponse(names(user_group(request)))


async def live(websocket: WebSocket) -> None:
    user_group(websocket)
    await websocket.accept()
    with suppress(WebSocketDisconnect):
        while True:
            await websocket.send_text(f"{await websocket.receive_text()} {user_group(websocket).name}")


starlette = Starlette(routes=[Route("/me", me), Route("/stream", stream), WebSocketRoute("/live", live)])
starlette.add_middleware(UserGroupMiddleware, resolver=resolver)
app = with_control(starlette)
