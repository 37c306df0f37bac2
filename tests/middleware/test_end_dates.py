"""What is open when the end date of its group comes: it ends then, and not at the next check.

The staleness bound is so long that no check comes in the time of a test but the one at the end date. What decides is
the clock of this host: it stands still until what a test opens is open, and goes on by itself then.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any

import httpx2
import pytest

from tenantry import Resolver, UserGroupMiddleware
from tenantry.groups import GroupChanges, GroupDraft, Record, Tag, UserGroup, Viewer
from tenantry.http.accessors import LAST_PART_KEY
from tenantry.middleware.long_responses import ResponseCut
from tenantry.middleware.websockets import SocketClosed, WebSocketSession
from tenantry.testing import FrozenClock, MemoryStore, make_group, make_token
from tenantry.tokens import sign_pass
from tests.middleware.sockets import RAW, Answers, Foreign, Socket, listening, until
from tests.resolver.fake import KEYS

BOUND = 3_000.0
OPEN_SECONDS = 0.4
LIMIT = 120.0


class HeldClock:
    """The time of day, which stands still until ``go``: however slow the machine is, a test begins before the end."""

    def __init__(self) -> None:
        # The end of a pass is a whole second.
        self._begun = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=OPEN_SECONDS)
        self._went: float | None = None

    def __call__(self) -> datetime:
        return self._begun + timedelta(seconds=0 if self._went is None else monotonic() - self._went)

    def go(self) -> None:
        self._went = monotonic()


class Ending:
    """A group that ends soon and its token, or a pass that does. ``reason``: the code of this end."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        self.store = MemoryStore()
        self.clock = HeldClock()
        self.resolver = Resolver(self.store, keys=KEYS, staleness=BOUND, patience=LIMIT, time_of_day=self.clock)
        self.ends = self.clock()
        self.token = b""

    async def begin(self) -> None:
        production = await self.store.environments.create("production", Tag.CUSTOMER)
        made = await self.store.groups.get_or_create(
            production, GroupDraft("acme", "Acme"), make_token(key_id=KEYS.active_id)
        )
        self.token = KEYS.mint(made.token).encode()
        self.ends = self.clock() + timedelta(seconds=OPEN_SECONDS)
        if self.reason == "user_group_expired":
            await self.store.groups.update(production, "acme", GroupChanges(expires_at=self.ends))
        else:
            end = int(self.ends.timestamp())
            self.token = sign_pass(self.token.decode(), {"iat": end - 60, "exp": end}).encode()


@pytest.fixture(params=["user_group_expired", "pass_expired"])
async def ending(request: pytest.FixtureRequest) -> AsyncIterator[Ending]:
    made = Ending(request.param)
    await made.begin()
    yield made
    await made.resolver.aclose()


def socket_of(ending: Ending) -> Socket:
    socket = Socket()
    socket.scope["headers"] = [(b"x-user-group-token", ending.token)]
    return socket


async def test_a_websocket_closes_at_the_end_date(ending: Ending) -> None:
    """4401, and the reason is the code. Red when no check is due then (checked by leaving ``ends`` out of the timer):
    the socket lives for ten minutes."""
    socket = socket_of(ending)
    running = socket.open(listening, ending.resolver)
    await until(lambda: socket.sent)
    ending.clock.go()
    await asyncio.wait_for(running, LIMIT)
    assert ending.clock() >= ending.ends
    assert socket.closing == {"type": "websocket.close", "code": 4401, "reason": ending.reason}
    assert socket.scope["goodbye"] == {"type": "websocket.disconnect", "code": 4401, "reason": ending.reason}


async def test_the_end_of_a_pass_needs_no_look_up() -> None:
    """A pass says when it ends. Red when the resolver is asked at that time: one that does not answer keeps the
    websocket open, and 200 websockets that end together take four times as long to close."""
    resolver, ends = Answers(), datetime.now(UTC) + timedelta(seconds=OPEN_SECONDS)
    resolver.staleness = resolver.lease = BOUND
    viewer = Viewer("ada", Record({}), (), ends - timedelta(seconds=60), ends, 1)
    resolver.group = make_group().with_viewer(viewer)
    socket = Socket()
    running = socket.open(listening, resolver)
    await until(lambda: socket.sent)
    resolver.hang, resolver.cached, asked = asyncio.Event(), False, resolver.asked
    await asyncio.wait_for(running, LIMIT)
    assert socket.closing == {"type": "websocket.close", "code": 4401, "reason": "pass_expired"}
    assert datetime.now(UTC) >= ends
    assert resolver.asked == asked


async def test_a_suspended_group_is_not_said_to_have_ended() -> None:
    """A resolver of an app may return one. Red when a group that has an end date always counts as ended."""
    resolver, socket = Answers(), Socket()
    resolver.group = make_group(suspended=True, expires_at=datetime.now(UTC) + timedelta(hours=1))
    await asyncio.wait_for(socket.open(listening, resolver), LIMIT)
    assert socket.closing == {"type": "websocket.close", "code": 4401, "reason": "user_group_suspended"}


async def test_nothing_passes_after_the_end_date(ending: Ending) -> None:
    """An app that keeps the loop busy: the timer is late, and the message is not sent. Red when ``_valid_until`` is the
    end of the lease."""

    async def late(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": "before"})
        ending.clock.go()
        while ending.clock() < ending.ends:
            pass
        await send({"type": "websocket.send", "text": "after"})

    socket = socket_of(ending)
    await asyncio.wait_for(socket.open(late, ending.resolver), LIMIT)
    assert socket.texts == ["before"]
    assert socket.closing == {"type": "websocket.close", "code": 4401, "reason": ending.reason}


class Paused(Answers):
    """A process that stands still for a second while it reads how long the group is good."""

    def __init__(self, ends: float) -> None:
        super().__init__()
        self.group = make_group(expires_at=datetime.now(UTC))
        self.staleness = self.lease = BOUND
        self.now = 0.0
        self.ends = ends

    def seconds_left(self, group: UserGroup) -> float:
        left = self.ends - self.now
        self.now += 1.0
        return left


async def test_nothing_passes_after_an_end_date_that_was_read_slowly() -> None:
    """Red when the clock of the connection is read after the end date: the date moves back by the pause. A busy machine
    sent a message after it."""
    resolver, socket = Paused(ends=0.5), Socket()
    session = WebSocketSession(resolver, RAW, socket.scope, socket.receive, socket.send, clock=lambda: resolver.now)
    await session.send({"type": "websocket.accept"})
    with pytest.raises(SocketClosed):
        await session.send({"type": "websocket.send", "text": "after"})
    assert socket.texts == []


async def test_a_stream_ends_at_the_end_date(ending: Ending) -> None:
    """Without an end, but for the last part that its app gave. The app is told, and so is one that only waits."""
    raised: list[BaseException] = []
    sent: list[Any] = []

    async def streaming(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x", "more_body": True, LAST_PART_KEY: lambda _: b"ended"})
        ending.clock.go()
        assert (await receive())["type"] == "http.disconnect"
        try:
            await send({"type": "http.response.body", "body": b"y", "more_body": True})
        except ResponseCut as cut:
            raised.append(cut)

    bodies = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> Any:
        for body in bodies:
            return body
        return await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "GET", "path": "/", "raw_path": b"/", "root_path": "", "query_string": b"",
        "headers": [(b"x-user-group-token", ending.token)],
    }  # fmt: skip
    await asyncio.wait_for(UserGroupMiddleware(streaming, resolver=ending.resolver)(scope, receive, send), LIMIT)
    assert ending.clock() >= ending.ends
    assert len(raised) == 1
    assert [message["body"] for message in sent[1:]] == [b"x", b"ended"]


async def test_a_request_of_a_group_that_has_ended() -> None:
    """401 with a code of its own, and words for people; the WWW-Authenticate of every 401. A later date lets the same
    token in. Red when it is an invalid_token as any other."""
    clock, store = FrozenClock(), MemoryStore()
    resolver = Resolver(store, keys=KEYS, time_of_day=clock)
    production = await store.environments.create("production", Tag.CUSTOMER)
    made = await store.groups.get_or_create(production, GroupDraft("acme", "Acme"), make_token(key_id=KEYS.active_id))
    headers = {"X-User-Group-Token": KEYS.mint(made.token)}

    async def page(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": scope["user_group"].name.encode()})

    transport = httpx2.ASGITransport(UserGroupMiddleware(page, resolver=resolver))
    async with httpx2.AsyncClient(transport=transport, base_url="http://dash.test", headers=headers) as client:
        await store.groups.update(production, "acme", GroupChanges(expires_at=clock() + timedelta(seconds=5)))
        assert (await client.get("/")).text == "Acme"
        clock.advance(5)
        await store.groups.update(production, "acme", GroupChanges(name="New"))  # what was cached is gone
        for _ in range(2):
            refused = await client.get("/")
            assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "UserGroup")
            error = refused.json()["error"]
            assert error == {"code": "user_group_expired", "message": "the access of this user group has ended"}
        shown = await client.get("/", headers={"Accept": "text/html"})
        assert "This access has ended" in shown.text
        await store.groups.update(production, "acme", GroupChanges(expires_at=clock() + timedelta(seconds=5)))
        assert (await client.get("/")).text == "New"
    await resolver.aclose()


async def test_a_clock_that_is_set_while_a_socket_is_open() -> None:
    """The next check sees it, though the resolver's next look at the clock is later. Red when the check goes round and
    round until then (checked: it used all of the processor)."""
    answers = Answers()
    answers.group = make_group(expires_at=datetime.now(UTC) + timedelta(hours=1))
    socket = Socket()
    running = socket.open(listening, answers)
    await until(lambda: answers.peeks > 2)
    answers.group = make_group(expires_at=datetime.now(UTC) - timedelta(hours=1))
    await asyncio.wait_for(running, LIMIT)
    assert socket.closing == {"type": "websocket.close", "code": 4401, "reason": "user_group_expired"}


@pytest.mark.parametrize("kind", [Answers, Foreign])
async def test_a_resolver_that_knows_no_end_dates(kind: type[Answers | Foreign]) -> None:
    """A third party's, which gives groups with one: this host's clock decides for what is open."""
    resolver = kind()
    resolver.group = make_group(expires_at=datetime.now(UTC) + timedelta(seconds=OPEN_SECONDS))
    socket = Socket()
    assert RAW in socket.scope["headers"][0]
    await asyncio.wait_for(socket.open(listening, resolver), LIMIT)
    assert socket.closing == {"type": "websocket.close", "code": 4401, "reason": "user_group_expired"}
