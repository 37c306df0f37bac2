"""A response that streams ends with its token, within the staleness bound; every other response costs nothing more."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import StreamingResponse

from tenantry import UserGroupMiddleware
from tenantry.errors import InvalidToken, StoreUnavailable
from tenantry.groups import UserGroup
from tenantry.http.accessors import GROUP_CHANGED, LAST_PART_KEY
from tenantry.middleware import long_responses
from tenantry.middleware.long_responses import LongResponse, ResponseCut
from tenantry.testing import make_environment, make_group

LIMIT = 120.0
TOKEN = b"a token"
Message = MutableMapping[str, Any]
App = Callable[[Any, Any, Any], Awaitable[None]]


class Answers:
    """A resolver: the group is good until ``revoke``, and the store answers while ``up``."""

    environment = None
    staleness = 0.25

    def __init__(self) -> None:
        self.group: UserGroup | None = make_group(properties={"region": 1}, mapping={"main": "warehouse"})
        self.up = True
        self.peeks = 0

    @property
    def lease_age(self) -> float | None:
        return 0.0 if self.up else None

    def seconds_left(self, group: UserGroup) -> float:
        return group.seconds_left(datetime.now(UTC))

    def peek(self, raw: bytes) -> UserGroup | None:
        self.peeks += 1
        return self.group if self.up else None

    async def resolve(self, raw: bytes) -> UserGroup:
        if not self.up:
            raise StoreUnavailable("down")
        if self.group is None:
            raise InvalidToken(InvalidToken.MESSAGE)
        return self.group


def group_of(answers: Answers) -> UserGroup:
    assert answers.group is not None
    return answers.group


def _watches() -> list[LongResponse]:
    gc.collect()
    return [each for each in gc.get_objects() if isinstance(each, LongResponse)]


class Exchanged:
    """One request to an app behind the middleware; ``left``: the client goes."""

    def __init__(self, answers: Answers, app: App) -> None:
        self.messages: list[Message] = []
        self.left = asyncio.Event()
        self._body = iter([{"type": "http.request", "body": b"", "more_body": False}])
        self.scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "method": "GET",
            "path": "/",
            "query_string": b"",
            "headers": [(b"host", b"x"), (b"x-user-group-token", TOKEN)],
        }
        self.task = asyncio.ensure_future(self._run(UserGroupMiddleware(app, resolver=answers)))

    async def _run(self, app: Any) -> None:
        await app(self.scope, self._receive, self._send)

    async def _receive(self) -> Message:
        for message in self._body:
            return message
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        self.messages.append(message)

    @property
    def parts(self) -> int:
        return sum(message["type"] == "http.response.body" for message in self.messages)

    async def until(self, parts: int) -> None:
        async with asyncio.timeout(LIMIT):
            while self.parts < parts:
                await asyncio.sleep(0.005)

    async def end(self) -> BaseException | None:
        async with asyncio.timeout(LIMIT):
            await asyncio.wait({self.task})
        return self.task.exception()


async def endless(pause: float = 0.005) -> AsyncIterator[bytes]:
    while True:
        yield b"x"
        await asyncio.sleep(pause)


async def streaming(scope: Any, receive: Any, send: Any) -> None:
    await StreamingResponse(endless())(scope, receive, send)


async def silent(scope: Any, receive: Any, send: Any) -> None:
    """Sends one part, and then nothing for ever."""
    await StreamingResponse(endless(10_000))(scope, receive, send)


async def sending_alone(scope: Any, receive: Any, send: Any) -> None:
    """Never receives."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    async for part in endless():
        await send({"type": "http.response.body", "body": part, "more_body": True})


@pytest.mark.parametrize("app", [streaming, silent, sending_alone])
async def test_a_stream_ends_with_its_token(app: App) -> None:
    """Whether the app sends, is silent, or never looks whether its client is there. It is left without an end. Red when
    ``receive`` is the server's own (the silent one), or ``send`` looks only at its first part."""
    answers = Answers()
    response = Exchanged(answers, app)
    await response.until(1 if app is silent else 50)
    answers.group = None
    error = await response.end()
    assert error is None or isinstance(error, ResponseCut)
    assert response.messages[-1]["more_body"]
    parts = response.parts
    await asyncio.sleep(0.05)
    assert response.parts == parts


@pytest.mark.parametrize("reason", ["invalid_token", GROUP_CHANGED])
async def test_an_app_may_say_how_its_response_ends(reason: str) -> None:
    """With one of its parts: then it has an end, and the app sees that nobody is there. What it said is for us alone.
    Red when a last part is sent to an app that did not ask for one, and when every reason is the token's."""
    answers, seen = Answers(), []
    changed = partial(replace, group_of(answers), revision=2)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await Request(scope, receive).body()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"", "more_body": True, LAST_PART_KEY: str.encode})
        seen.extend([(await receive())["type"], (await receive())["type"]])  # while it is ended, and after that

    response = Exchanged(answers, app)
    await response.until(1)
    answers.group = changed(name="Another") if reason == GROUP_CHANGED else None
    assert await response.end() is None
    first, last = response.messages[1:]
    assert LAST_PART_KEY not in first
    assert last == {"type": "http.response.body", "body": reason.encode()}
    assert seen == ["http.disconnect"] * 2


@pytest.mark.parametrize("app", [streaming, silent])
async def test_a_stream_ends_when_nobody_knows(app: App) -> None:
    """The store cannot be asked for longer than the bound."""
    answers = Answers()
    response = Exchanged(answers, app)
    await response.until(1)
    answers.up = False
    await response.end()
    assert response.messages[-1]["more_body"]


OTHERS: list[dict[str, Any]] = [
    {"properties": {"region": "us"}},
    {"properties": {"region": True}},
    {"properties": None},
    {"mapping": None},
    {"mapping": {"main": "other"}},
    {"name": "Acme Ltd"},
    {"environment": make_environment(name="staging")},
]
"""What makes another record of that of ``Answers``."""


@pytest.mark.parametrize("app", [streaming, silent])
@pytest.mark.parametrize("other", OTHERS, ids=str)
async def test_a_stream_ends_with_the_record_that_it_began_with(app: App, other: dict[str, Any]) -> None:
    """Though its token is good: a host's own stream, too. Red when ``_renewed`` is always true; and for ``True`` when
    records are compared with ``==``."""
    answers = Answers()
    response = Exchanged(answers, app)
    await response.until(1)
    answers.group = replace(group_of(answers), revision=2, **other)
    await response.end()
    assert response.messages[-1]["more_body"], "without an end"


SAME: list[dict[str, Any]] = [
    {},
    {"revision": 2},
    {"revision": 2, "expires_at": datetime(2999, 1, 1, tzinfo=UTC)},
    {"revision": 2, "token_version": 2, "grace_until": datetime(2999, 1, 1, tzinfo=UTC)},
    {"environment": make_environment(grace_seconds=60)},
]


@pytest.mark.parametrize("same", SAME, ids=str)
async def test_a_stream_of_a_good_token_goes_on(same: dict[str, Any]) -> None:
    """Through many checks, and ends when its client goes. Red when a check that is good ends it, and when another
    revision does."""
    answers = Answers()
    response = Exchanged(answers, streaming)
    await response.until(1)
    answers.group = replace(group_of(answers), **same)
    before = answers.peeks
    async with asyncio.timeout(LIMIT):
        while answers.peeks < before + 20:
            await asyncio.sleep(0.01)
    assert not response.task.done()
    response.left.set()
    assert await response.end() is None


async def test_a_stream_that_ends_is_checked_no_more() -> None:
    """And the last part of it gets through. Red when the last part does not stop the checks."""
    answers, kept = Answers(), []

    async def three(scope: Any, receive: Any, send: Any) -> None:
        kept.append(send)  # else the watch would be released with it
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for number in range(3):
            await send({"type": "http.response.body", "body": b"x", "more_body": number < 2})

    response = Exchanged(answers, three)
    assert await response.end() is None
    assert response.parts == 3
    (watch,) = _watches()
    assert watch._timer is None
    before = answers.peeks
    await asyncio.sleep(answers.staleness)
    assert answers.peeks == before


async def test_an_app_that_fails_leaves_nothing_behind() -> None:
    """In the middle of its response, without a last part. Red when the timer holds the response: it was checked for
    ever."""
    answers = Answers()

    async def failing(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x", "more_body": True})
        raise RuntimeError("of the app")

    response = Exchanged(answers, failing)
    assert isinstance(await response.end(), RuntimeError)
    del response
    assert not _watches()


async def test_a_response_of_one_part_is_not_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the app reads its body first. Red when every response makes a watch."""
    answers, made = Answers(), []
    monkeypatch.setattr(long_responses, "LongResponse", made.append)

    async def plain(scope: Any, receive: Any, send: Any) -> None:
        await Request(scope, receive).body()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x"})

    response = Exchanged(answers, plain)
    assert await response.end() is None
    assert not made
    assert answers.peeks == 1


async def test_a_client_that_leaves_is_seen() -> None:
    """By an app that waits for it, before and while it streams. Red when the message of the server is lost."""
    seen: list[str] = []

    async def waiting(scope: Any, receive: Any, send: Any) -> None:
        await Request(scope, receive).body()
        listener = asyncio.ensure_future(receive())
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x", "more_body": True})
        seen.append((await listener)["type"])
        seen.append((await receive())["type"])

    response = Exchanged(Answers(), waiting)
    await response.until(1)
    response.left.set()
    assert await response.end() is None
    assert seen == ["http.disconnect", "http.disconnect"]
