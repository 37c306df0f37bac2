"""No token, a bad token, a group: the three outcomes, and the faults beside them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenantry.errors import MissingToken
from tenantry.middleware import UserGroupMiddleware, header, path
from tenantry.resolver import Resolver
from tests.middleware.asgi import Page, World, call, http, values
from tests.resolver.fake import FOREIGN_KEYS, KEYS, token_of, unknown_token

NAME = b"x-user-group-token"


@pytest.mark.parametrize("warm", [False, True])
async def test_a_good_token_becomes_the_group_and_vanishes(warm: bool) -> None:
    """On a miss and on a hit the app finds the group and no trace of the token."""
    world = World()
    group, token = world.backend.issue()
    if warm:
        await world.resolver.resolve(token)
    sent = await world.call(http(headers=[(b"host", b"h"), (NAME, token)]))
    assert sent[0]["status"] == 200
    assert world.page.scope["user_group"] is group
    assert world.page.scope["headers"] == [(b"host", b"h")]
    assert token not in repr(world.page.scope).encode()


async def test_no_token_is_none_and_the_app_runs() -> None:
    """An app that asks for no group serves everybody; the key is there, with None."""
    world = World()
    sent = await world.call(http())
    assert sent[0]["status"] == 200
    assert world.page.scope["user_group"] is None


async def test_a_group_that_somebody_else_left_there_is_overwritten() -> None:
    """A foreign object under our key is not taken for a group."""
    world = World()
    await world.call(http(user_group="admin"))
    assert world.page.scope["user_group"] is None


async def test_required_refuses_at_the_door() -> None:
    """required=True answers 401 before the app is called."""
    world = World({"required": True})
    sent = await world.call(http())
    assert (sent[0]["status"], world.page.scope) == (401, None)
    assert values(sent, b"www-authenticate") == [b"UserGroup"]
    assert json.loads(sent[1]["body"])["error"]["code"] == "missing_token"


async def test_missing_token_of_the_app_is_401() -> None:
    """A view that needs the group and has none is answered 401, not 500. Red when the guard does not catch."""
    world = World(page=Page(error=MissingToken("none")))
    sent = await world.call(http())
    assert sent[0]["status"] == 401
    assert values(sent, b"cache-control") == [b"no-store"]


async def test_missing_token_after_the_response_began_is_raised() -> None:
    """What was begun cannot be replaced: the server must see the error."""

    async def late(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise MissingToken("late")

    with pytest.raises(MissingToken):
        await World(page=late).call(http())


@pytest.mark.parametrize("error", [MissingToken("none"), ValueError("a bug"), None])
async def test_a_500_is_held_until_its_cause_is_known(error: Exception | None) -> None:
    """A mounted app's own 500 is replaced when MissingToken caused it, and goes out unchanged otherwise."""

    async def broken(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 500, "headers": []})
        await send({"type": "http.response.body", "body": b"oops"})
        if error is not None:
            raise error

    world = World(page=broken)
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    if isinstance(error, ValueError):
        with pytest.raises(ValueError, match="a bug"):
            await world.app(http(), None, send)  # type: ignore[arg-type]  # the app never receives
    else:
        await world.app(http(), None, send)  # type: ignore[arg-type]  # the app never receives
    assert sent[0]["status"] == (401 if isinstance(error, MissingToken) else 500)
    assert len(sent) == 2


async def test_a_long_500_streams_on() -> None:
    """Holding a 500 back is bounded."""

    async def endless(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 500, "headers": []})
        for _ in range(100):
            await send({"type": "http.response.body", "body": b"x", "more_body": True})
        raise MissingToken("too late")

    world = World(page=endless)
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    with pytest.raises(MissingToken):
        await world.app(http(), None, send)  # type: ignore[arg-type]  # the app never receives
    assert len(sent) == 101


async def test_carriers_may_be_a_list() -> None:
    """A list of carriers is first_of() of them."""
    world = World({"carriers": [header("X-A"), header("X-B")], "required": True})
    group, token = world.backend.issue()
    await world.call(http(headers=[(b"x-b", token)]))
    assert world.page.scope["user_group"] is group
    assert (await world.call(http(headers=[(NAME, token)])))[0]["status"] == 401


def bad_tokens() -> list[bytes]:
    world = World()
    group, token = world.backend.issue()
    return [b"", b"x", token[:-1], token + b"x", token_of(group, keys=FOREIGN_KEYS), unknown_token(), b" " * 97]


@pytest.mark.parametrize("bad", bad_tokens(), ids=["empty", "short", "cut", "long", "foreign", "unknown", "blank"])
async def test_a_bad_token_is_401_whatever_the_app(bad: bytes) -> None:
    """Empty, short, long, foreign or unknown: the app is never called, and the answer is the same."""
    world = World()
    sent = await world.call(http(headers=[(NAME, bad)]))
    assert (sent[0]["status"], world.page.scope) == (401, None)
    assert json.loads(sent[1]["body"])["error"]["code"] == "invalid_token"


async def test_a_dead_store_is_503_with_retry_after() -> None:
    """Fail closed, and say when to come back."""
    world = World()
    _, token = world.backend.issue()
    world.backend.error = OSError("down")
    sent = await world.call(http(headers=[(NAME, token)]))
    assert (sent[0]["status"], world.page.scope) == (503, None)
    assert values(sent, b"retry-after") == [b"1"]


async def test_two_different_tokens_are_400_and_neither_is_shown() -> None:
    """Whatever the carriers; both are out of the scope that the server logs from."""
    world = World()
    (_, one), (_, two) = world.backend.issue(), world.backend.issue()
    scope = http(query=b"USER_GROUP_TOKEN=" + two, headers=[(NAME, one)])
    sent = await world.call(scope)
    assert (sent[0]["status"], world.page.scope) == (400, None)
    assert one not in repr(scope).encode()
    assert two not in repr(scope).encode()


async def test_mounted_twice_the_inner_keeps_the_group() -> None:
    """The inner one does no second read and needs no token; where the outer found none, the inner looks again."""
    world = World()
    group, token = world.backend.issue()
    inner = World({"carriers": path("/embed/{token}"), "required": True}, page=world.page, backend=world.backend)
    outer = UserGroupMiddleware(inner.app, resolver=world.resolver)
    await call(outer, http(headers=[(NAME, token)]))
    assert world.page.scope["user_group"] is group
    assert world.backend.reads == 1
    await call(outer, http(path=f"/embed/{token.decode()}/sales"))
    assert world.page.scope["user_group"] is group
    assert world.page.scope["path"] == "/embed/redacted/sales"


async def test_mounted_twice_the_inner_environment_holds() -> None:
    """An inner resolver of one environment refuses the group of another, whoever found it. Red when the middleware
    lets every group pass that it finds in the scope."""
    world = World()
    group, token = world.backend.issue()
    assert group.environment.name == "production"
    for environment, status in (("production", 200), ("staging", 401)):
        page = Page()
        staging = Resolver(world.backend, keys=KEYS, environment=environment)
        outer = UserGroupMiddleware(UserGroupMiddleware(page, resolver=staging), resolver=world.resolver)
        scope = http(headers=[(NAME, token)])
        sent = await call(outer, scope)
        assert sent[0]["status"] == status
        assert (page.scope is None) == (status == 401)
        assert (scope["user_group"] is None) == (status == 401)


async def test_the_message_and_headers_of_an_app_are_not_changed() -> None:
    """An app that sends one constant message for every request keeps it as it is. Red when added_to() adds in
    place."""
    constant = [(b"content-type", b"text/plain")]
    start = {"type": "http.response.start", "status": 200, "headers": constant}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(start)

    world = World({"carriers": header("X-Token")}, page=app)
    _, token = world.backend.issue()
    for _ in range(2):
        sent = await world.call(http(headers=[(b"x-token", token)]))
    assert start["headers"] is constant
    assert constant == [(b"content-type", b"text/plain")]
    assert sent[0]["headers"] == [*constant, (b"vary", b"X-Token"), (b"cache-control", b"private")]


@pytest.mark.parametrize(("given", "returned"), [(b"req-1", True), (b'"req-1"', False), (b"a\x07", False)])
@pytest.mark.parametrize("token", [None, b"", b"nonsense"])
async def test_an_error_returns_the_request_id(given: bytes, returned: bool, token: bytes | None) -> None:
    """Of no token where one is required, and of a bad one."""
    world = World({"required": True})
    headers = [(b"x-request-id", given)] if token is None else [(b"x-request-id", given), (NAME, token)]
    sent = await world.call(http(headers=headers))
    assert sent[0]["status"] == 401
    assert values(sent, b"x-request-id") == ([given] if returned else [])
    assert json.loads(sent[1]["body"]).get("request_id") == (given.decode() if returned else None)
