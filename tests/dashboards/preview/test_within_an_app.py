"""Previews in an app that a middleware is around: the key of a session opens its dashboard, and nothing else."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from tenantry import Resolver, UserGroupMiddleware, user_group
from tenantry.groups import GroupDraft
from tenantry.testing import make_token
from tests.dashboards.preview.conftest import PANELS, Previewed
from tests.dashboards.served import SOON, reading
from tests.resolver.fake import KEYS, FakeBackend

pytestmark = pytest.mark.usefixtures("mount_inside")

HEADER = "X-User-Group-Token"
VIEWS_OF_THE_APP = ("/own", "/public", "/feed", "/api/user", "/dashboards/sales/flights", "/nothing")


def is_bad_token(answer: Any) -> bool:
    return (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_token")


@pytest.mark.parametrize("path", VIEWS_OF_THE_APP)
async def test_the_key_is_a_bad_token_for_every_view_of_the_app(app: Previewed, path: str) -> None:
    """Also for a view that needs no group, and for one that streams without an end. Red when a request with a key is
    one without a token: public views answered 200."""
    session = await app.session()
    async with asyncio.timeout(SOON):
        assert is_bad_token(await app.client.get(path, headers={HEADER: session}))
    assert (await app.panels(session)).status_code == 200


async def test_a_view_that_streams_is_ended(app: Previewed) -> None:
    """Its viewer has the refusal and has left, and the server tells a view so by ``send`` alone (ASGI 2.4). Red when
    parts are dropped in silence: the view streamed for ever."""
    async with reading(app.app, f"{app.prefix}/feed", {}, {HEADER: "ugpv_" + "a" * 43}, "GET"):
        await asyncio.sleep(0)


async def test_a_mistake_of_a_view_stays_its_own(app: Previewed) -> None:
    """The answer is 401, and the server hears of the mistake. Red when every exception is swallowed."""
    session = await app.session()
    with pytest.raises(RuntimeError, match="a mistake of the view"):
        await app.client.get("/broken", headers={HEADER: session})


async def test_the_app_does_not_see_the_key(app: Previewed) -> None:
    """As it does not see a token: it is out of the headers, and what is in the scope shows nothing. Red when the
    header is left to the mount, and when the scope holds the key as text."""
    session = await app.session()
    assert (await app.panels(session)).status_code == 200
    assert app.seen
    assert session not in "".join(app.seen)


@pytest.mark.parametrize("rest", ["a" * 43, "a" * 42, "", "a" * 44, "é" * 43], ids=range(5))
async def test_what_only_looks_like_a_key_opens_nothing(app: Previewed, rest: str) -> None:
    """Neither the dashboard nor a view. Red when the guard takes a key without looking for its session."""
    key = f"ugpv_{rest}"
    for path in (PANELS, "/own", "/public"):
        headers = [(HEADER.encode(), key.encode())]
        assert is_bad_token(await app.client.post(path, json={}, headers=headers))


async def test_a_session_that_has_ended_is_a_bad_token(app: Previewed) -> None:
    """Red when the middleware judges by the form of the key alone."""
    session = await app.session()
    app.clock.advance(600)
    assert is_bad_token(await app.panels(session))


async def test_a_key_comes_in_the_header_of_the_token_alone(app: Previewed) -> None:
    """As it does without a middleware: a cookie, an address and other headers do not carry it. Red when whatever the
    carriers of the middleware find is passed on."""
    session = await app.session()
    elsewhere: list[dict[str, Any]] = [
        {"headers": {"Cookie": f"USER_GROUP_TOKEN={session}"}},
        {"headers": {"Authorization": f"UserGroup {session}"}},
        {"headers": {"USER_GROUP_TOKEN": session}},
        {"params": {"USER_GROUP_TOKEN": session}},
    ]
    for each in elsewhere:
        assert is_bad_token(await app.client.post(PANELS, json={}, **each))


async def test_a_key_and_a_token_are_two_tokens(app: Previewed) -> None:
    """Nobody knows then as whom to answer. Red when one of them is taken."""
    session, token = await app.session(), make_token(key_id=KEYS.active_id)
    await app.store.groups.get_or_create(app.environment, GroupDraft("own", "Own"), token)
    both = {HEADER: session, "Cookie": f"USER_GROUP_TOKEN={KEYS.mint(token)}"}
    answer = await app.client.post(PANELS, json={}, headers=both)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "ambiguous_token")


async def test_a_bad_token_stays_a_bad_token(app: Previewed) -> None:
    """Also one that a mount of dashboards would see. Red when the middleware lets through what it cannot resolve."""
    token = KEYS.mint(make_token(key_id=KEYS.active_id))
    for bad in (token, token[:-1] + "!", "x", "ugpv", ""):
        for path in (PANELS, "/own", "/public"):
            assert is_bad_token(await app.client.post(path, json={}, headers={HEADER: bad}))


def test_a_door_that_needs_a_token_lets_no_key_through() -> None:
    """With ``required=True`` views may rely on a group, so none is run. Red when the key goes to the app in spite of
    it."""

    def view(request: Request) -> Response:
        called.append(request.url.path)
        return PlainTextResponse("for groups")

    called: list[str] = []
    resolver = Resolver(FakeBackend(), keys=KEYS)
    viewer = TestClient(UserGroupMiddleware(Starlette(routes=[Route("/", view)]), resolver=resolver, required=True))
    assert is_bad_token(viewer.get("/", headers={HEADER: "ugpv_" + "a" * 43}))
    assert called == []


def test_a_websocket_takes_no_key() -> None:
    """No preview has one. Red when keys are passed on to websockets."""

    async def echo(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text(user_group(websocket).name)

    app = Starlette(routes=[WebSocketRoute("/ws", echo)])
    app.add_middleware(UserGroupMiddleware, resolver=Resolver(FakeBackend(), keys=KEYS))
    with (
        pytest.raises(WebSocketDisconnect),
        TestClient(app).websocket_connect("/ws", headers={HEADER: "ugpv_" + "a" * 43}),
    ):
        pass
