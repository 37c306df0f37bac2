"""The app that tests run under real servers: ``uvicorn tests.middleware.served_app:app``.

``/token`` gives the token of its one group, so that the tests need nothing of this process.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, FastAPI, WebSocket
from starlette.endpoints import WebSocketEndpoint
from starlette.responses import PlainTextResponse
from starlette.routing import WebSocketRoute

from tenantry import Record, TenantryError, UserGroup, UserGroupMiddleware, error_handler, user_group, variables
from tenantry.errors import MissingVariable, SourceUnavailable
from tenantry.resolver import Resolver
from tests.resolver.fake import KEYS, FakeBackend

GROUP = Annotated[UserGroup, Depends(user_group)]
VARIABLES = Annotated[Record, Depends(variables)]

backend = FakeBackend()
_, TOKEN = backend.issue(properties={"region": "eu"})

app = FastAPI()
app.add_middleware(UserGroupMiddleware, resolver=Resolver(backend, keys=KEYS), allowed_origins=["https://app.example"])
app.add_exception_handler(TenantryError, error_handler)


@app.get("/token")
async def token() -> PlainTextResponse:
    return PlainTextResponse(TOKEN.decode())


@app.api_route("/group", methods=["GET", "POST"])
async def group(found: GROUP, known: VARIABLES) -> dict[str, Any]:
    return {"name": found.name, "region": known["region"]}


@app.websocket("/chat")
async def chat(websocket: WebSocket, found: GROUP, known: VARIABLES) -> None:
    await websocket.accept()
    await websocket.send_text(f"{found.name} {known['region']}")
    await websocket.close()


@app.websocket("/refused")
async def refused(websocket: WebSocket) -> None:
    """An error of ours before the app accepts."""
    raise MissingVariable("region has no value", names=["region"])


@app.websocket("/down")
async def down(websocket: WebSocket) -> None:
    """The same, with a status of the server's."""
    raise SourceUnavailable("the data source cannot be reached", retry_after=7)


@app.websocket("/late")
async def late(websocket: WebSocket) -> None:
    """An error of ours in an open websocket."""
    await websocket.accept()
    await websocket.send_text("open")
    raise MissingVariable("region has no value", names=["region"])


class Late(WebSocketEndpoint):
    """The same in an endpoint that makes its own WebSocket: the handler is given another one."""

    encoding = "text"

    async def on_receive(self, websocket: WebSocket, data: str) -> None:
        raise MissingVariable("region has no value", names=["region"])


app.router.routes.append(WebSocketRoute("/class", Late))
