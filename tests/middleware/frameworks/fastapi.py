"""FastAPI, with the group as a dependency."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request, WebSocket
from fastapi.responses import StreamingResponse

from tenantry import UserGroupMiddleware, user_group
from tenantry.middleware.fastapi import CurrentGroup
from tests.middleware.frameworks import starlette
from tests.middleware.frameworks.control import names, resolver, seen, with_control

api = FastAPI()
api.add_middleware(UserGroupMiddleware, resolver=resolver)


@api.get("/me")
async def me(group: CurrentGroup, request: Request) -> dict[str, Any]:
    assert group is user_group(request)
    return seen(request.scope)


@api.get("/stream")
async def stream(group: CurrentGroup) -> StreamingResponse:
    return StreamingResponse(names(group))


@api.websocket("/live")
async def live(websocket: WebSocket, group: CurrentGroup) -> None:
    assert group is user_group(websocket)
    await starlette.live(websocket)


app = with_control(api)
