"""Passes in the middleware. What they opened ends in test_end_dates.py."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocket

from tenantry import Resolver, UserGroupMiddleware, mint_pass, user_group, variables
from tenantry.groups import Record, Viewer
from tenantry.middleware import header, query
from tenantry.testing import make_group
from tests.middleware.asgi import World, http
from tests.middleware.sockets import Answers, Socket, until
from tests.resolver.fake import KEYS, FakeBackend

NAME = b"x-user-group-token"
HEADER = "X-User-Group-Token"


@pytest.mark.parametrize("warm", [False, True])
async def test_a_pass_becomes_the_group_and_vanishes(warm: bool) -> None:
    world = World()
    group, token = world.backend.issue()
    raw = mint_pass(token.decode(), "ada", {"region": "eu"}).encode()
    if warm:
        await world.resolver.resolve(raw)
    sent = await world.call(http(headers=[(NAME, raw)]))
    assert sent[0]["status"] == 200
    found = world.page.scope["user_group"]
    assert (found.handle, found.viewer.id) == (group.handle, "ada")
    assert found.variables["viewer"]["region"] == "eu"
    assert raw not in repr(world.page.scope).encode()


async def test_a_pass_and_its_token_are_two_tokens() -> None:
    world = World({"carriers": [header(), query()]})
    _, token = world.backend.issue()
    raw = mint_pass(token.decode()).encode()
    sent = await world.call(http(headers=[(NAME, raw)], query_string=b"USER_GROUP_TOKEN=" + token))
    assert json.loads(sent[1]["body"])["error"]["code"] == "ambiguous_token"


async def viewer(request: Request) -> JSONResponse:
    group = user_group(request)
    assert "viewer" in variables(request) or group.viewer is None
    return JSONResponse({"viewer": None if group.viewer is None else group.viewer.id})


async def socket(websocket: WebSocket) -> None:
    group = user_group(websocket)
    await websocket.accept()
    await websocket.send_json({"viewer": group.viewer_id})
    await websocket.close()


async def anyone(request: Request) -> JSONResponse:
    return JSONResponse({"served": True})


class Apps:
    """An app of the kind ``app``, with another of the kind ``dashboard`` mounted in it."""

    def __init__(self, **options: Any) -> None:
        backend = FakeBackend()
        resolver = self.resolver = Resolver(backend, keys=KEYS)
        _, token = backend.issue()
        self.token = token.decode()
        inner = Starlette(routes=[Route("/", viewer), WebSocketRoute("/socket", socket)])
        inner.add_middleware(UserGroupMiddleware, resolver=resolver, audience="dashboard", required=True)
        app = Starlette(
            routes=[
                Mount("/inner", inner),
                Route("/anyone", anyone),
                WebSocketRoute("/socket", socket),
                Route("/", viewer),
            ]
        )
        app.add_middleware(UserGroupMiddleware, resolver=resolver, **options)
        self.client = TestClient(app)

    def socket(self, path: str, scope: str) -> tuple[int, str | None]:
        """As ``answer``, for a websocket: 101 if it opens."""
        raw = mint_pass(self.token, "ada", scope=scope or None)
        try:
            with self.client.websocket_connect(path, headers={HEADER: raw}) as opened:
                assert opened.receive_json() == {"viewer": "ada"}
        except WebSocketDenialResponse as refusal:
            return refusal.status_code, refusal.json()["error"]["code"]
        return 101, None

    def answer(self, path: str, scope: str) -> tuple[int, str | None]:
        raw = mint_pass(self.token, "ada", scope=scope or None)
        response = self.client.get(path, headers={HEADER: raw})
        error: dict[str, Any] = response.json().get("error", {})
        return response.status_code, error.get("code")


@pytest.mark.parametrize(
    ("scope", "app", "dashboard"),
    [
        ("", 200, 200),
        ("app", 200, 403),
        ("dashboard", 403, 200),
        ("dashboard:sales", 403, 200),
        ("app dashboard", 200, 200),
        ("mcp:orders", 403, 403),
        ("apps", 403, 403),
        ("app:reports", 403, 403),  # only dashboards have names, and no app looks at them
    ],
)
def test_each_app_names_its_kind(scope: str, app: int, dashboard: int) -> None:
    """A pass that is for something else opens nothing. Red if the middleware leaves out ``may_open``."""
    apps = Apps()
    assert apps.answer("/", scope) == (app, None if app == 200 else "out_of_scope")
    assert apps.answer("/inner/", scope) == (dashboard, None if dashboard == 200 else "out_of_scope")
    assert apps.answer("/anyone", scope) == (200, None)  # this view requires no group


@pytest.mark.parametrize("scope", ["", "app", "dashboard", "app dashboard", "mcp:orders"])
def test_a_websocket_needs_the_scope_of_its_app(scope: str) -> None:
    """As a request does, also in an app within an app. Red if the websocket's handshake leaves out ``may_open``, and if
    the outer middleware refuses what the inner one would let in."""
    apps = Apps()
    for app in ("", "/inner"):
        status, code = apps.answer(f"{app}/", scope)
        assert apps.socket(f"{app}/socket", scope) == (101 if status == 200 else status, code), app


async def test_a_websocket_that_needs_no_group_never_gets_one_out_of_scope() -> None:
    """Red if a later check of the pass writes the group where the app reads it, or if nothing checks the pass."""
    answers, opened = Answers(), Socket()

    def rename(name: str) -> None:
        begun = datetime.now(UTC)
        ada = Viewer("ada", Record({}), ("mcp",), begun, begun + timedelta(hours=1), 1)
        answers.group = make_group(name=name).with_viewer(ada)

    async def public(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await receive()

    rename("Acme")
    running = opened.open(public, answers)
    await until(lambda: answers.peeks > 1)
    rename("Acme Ltd")
    seen = answers.peeks
    await until(lambda: answers.peeks > seen + 1)
    assert opened.scope["user_group"] is None
    answers.revoke()
    await asyncio.wait_for(running, 120)
    assert opened.closing == {"type": "websocket.close", "code": 4401, "reason": "invalid_token"}


def test_views_without_a_group_below_two_middlewares() -> None:
    """A page of a dashboard is such a view, and its mount may be inside an app in an app. Red if the inner one refuses
    what the outer one has let through."""
    apps = Apps()
    apps.client.app.add_middleware(UserGroupMiddleware, resolver=apps.resolver)  # type: ignore[attr-defined]
    assert apps.answer("/anyone", "dashboard") == (200, None)
    assert apps.answer("/inner/", "dashboard") == (200, None)
    assert apps.answer("/", "dashboard") == (403, "out_of_scope")


def test_required_refuses_a_pass_for_something_else_at_the_door() -> None:
    apps = Apps(required=True)
    assert apps.answer("/anyone", "dashboard") == (403, "out_of_scope")
    assert apps.answer("/anyone", "app") == (200, None)
