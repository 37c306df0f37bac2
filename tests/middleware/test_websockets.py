"""A websocket that is open while its group is rotated, updated or cannot be looked up. Resolver and server in hand."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from tenantry import UserGroupMiddleware, user_group
from tenantry.errors import InvalidToken
from tenantry.middleware.websockets import SocketClosed, WebSocketSession
from tenantry.testing import make_group
from tests.middleware.sockets import RAW, Answers, Foreign, Socket, listening, until


@pytest.fixture
def answers() -> Answers:
    return Answers()


async def test_a_rotated_token_closes_the_socket(answers: Answers) -> None:
    """4401 to the client, a disconnect with the same code to the app, which ends by itself.

    Red when nobody checks again: the socket lives for ever.
    """
    socket = Socket()
    running = socket.open(listening, answers)
    await until(lambda: answers.peeks > 5)
    assert socket.closing is None
    answers.revoke()
    await asyncio.wait_for(running, 120)
    assert socket.closing == {"type": "websocket.close", "code": 4401, "reason": "invalid_token"}
    assert socket.scope["goodbye"] == {"type": "websocket.disconnect", "code": 4401, "reason": "invalid_token"}


async def test_an_app_that_only_sends_gets_an_os_error(answers: Answers) -> None:
    """Red when later sends are dropped silently: an app that never receives would send for ever."""
    sends = 0

    async def ticker(scope: Any, receive: Any, send: Any) -> None:
        nonlocal sends
        await receive()
        await send({"type": "websocket.accept"})
        try:
            while True:
                await send({"type": "websocket.send", "text": "tick"})
                sends += 1
                await asyncio.sleep(0.001)
        except OSError as error:
            scope["raised"] = error
            await send({"type": "websocket.close"})  # what a tidy app does; there is nothing left to close
            raise

    socket = Socket()
    running = socket.open(ticker, answers)
    await until(lambda: sends > 5)
    answers.revoke()
    await asyncio.wait_for(running, 120)  # what the app got does not come back to the server as a crash
    assert isinstance(socket.scope["raised"], SocketClosed)
    assert socket.sent[-1]["code"] == 4401
    assert len(socket.texts) == sends


async def test_starlette_sees_a_client_that_has_gone(answers: Answers) -> None:
    """With Starlette both are a WebSocketDisconnect; one that an app lets through from ``send`` is no crash."""
    codes: list[int] = []

    async def receives(websocket: WebSocket) -> None:
        await websocket.accept()
        try:
            await websocket.receive_text()
        except WebSocketDisconnect as gone:
            codes.append(gone.code)

    async def sends(websocket: WebSocket) -> None:
        await websocket.accept()
        while True:
            await websocket.send_text(user_group(websocket).name)
            await asyncio.sleep(0.001)

    app = Starlette(routes=[WebSocketRoute("/receives", receives), WebSocketRoute("/sends", sends)])
    sockets = [Socket(), Socket()]
    for socket, path in zip(sockets, ("/receives", "/sends"), strict=True):
        socket.scope["path"] = path
    running = [socket.open(app, answers) for socket in sockets]
    await until(lambda: sockets[1].texts and len(sockets[0].sent) == 1)
    answers.revoke()
    await asyncio.wait_for(asyncio.gather(*running), 120)
    assert codes == [4401]
    assert [socket.sent[-1]["code"] for socket in sockets] == [4401, 4401]


async def test_what_an_app_raises_is_still_raised(answers: Answers) -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await Socket().open(broken, answers)


async def test_an_update_shows(answers: Answers) -> None:
    """Red when the scope keeps the record of the handshake."""
    socket = Socket()
    answers.group = make_group(name="Acme")
    running = socket.open(listening, answers)
    socket.say("a")
    await until(lambda: socket.texts)
    answers.group = make_group(name="Acme Ltd")
    await until(lambda: socket.scope["user_group"] is answers.group)
    socket.say("b")
    await until(lambda: len(socket.texts) == 2)
    assert socket.texts == ["a Acme", "b Acme Ltd"]
    socket.incoming.put_nowait({"type": "websocket.disconnect", "code": 1001})
    await running
    assert socket.scope["goodbye"]["code"] == 1001
    assert socket.closing is None


async def test_a_store_that_is_down_closes_before_the_lease_ends(answers: Answers) -> None:
    """The cache would go on answering for a moment; the socket is closed, since there may be no check before its end.

    Red when ``lease_age`` is not looked at: the socket would live until the first check after the lease.
    """
    socket = Socket()
    running = socket.open(listening, answers)
    await until(lambda: answers.peeks > 3)
    answers.lease = 0.0005
    await asyncio.wait_for(running, 120)
    assert socket.closing == {"type": "websocket.close", "code": 1013, "reason": "store_unavailable"}
    assert answers.asked == 1  # at the handshake


@pytest.mark.parametrize("lease", [0.02, None])
@pytest.mark.parametrize("how", ["refuses", "hangs", "crashes"])
async def test_a_question_without_an_answer_closes_in_time(
    answers: Answers, how: str, lease: float | None, caplog: pytest.LogCaptureFixture
) -> None:
    """Down, black hole, or a fault of a foreign backend. Red when a failed check means: go on."""
    socket = Socket()
    answers.lease = lease
    running = socket.open(listening, answers)
    await until(lambda: answers.peeks > 3)
    if how == "refuses":
        answers.break_down()
    elif how == "crashes":
        answers.error = ZeroDivisionError("password=hunter2")
    else:
        answers.cached, answers.hang = False, asyncio.Event()
    await asyncio.wait_for(running, 120)
    assert socket.closing == {"type": "websocket.close", "code": 1013, "reason": "store_unavailable"}
    assert "hunter2" not in caplog.text
    assert ("ZeroDivisionError" in caplog.text) == (how == "crashes")


async def test_a_moment_without_an_answer_is_survived(answers: Answers) -> None:
    """What is known is good for the lease: one failed question does not close ten thousand sockets."""
    socket = Socket()
    running = socket.open(listening, answers)
    await until(lambda: answers.peeks > 3)
    answers.break_down()
    await until(lambda: answers.asked > 4)
    answers.error = None
    peeks = answers.peeks
    await until(lambda: answers.peeks > peeks + 4)
    assert socket.closing is None
    running.cancel()
    await asyncio.wait({running})


async def test_nothing_passes_after_what_is_known_has_ended(answers: Answers) -> None:
    """A process that was stopped (SIGSTOP, a sleeping machine) wakes with a message at hand, in and out: its group is
    checked first. Red when only the timer checks: one message would slip by."""
    now = 0.0
    socket = Socket()
    live = WebSocketSession(answers, RAW, socket.scope, socket.receive, socket.send, clock=lambda: now)
    await live.send({"type": "websocket.accept"})
    await live.send({"type": "websocket.send", "text": "before"})
    now = 61.0
    answers.revoke()
    with pytest.raises(SocketClosed):
        await live.send({"type": "websocket.send", "text": "after"})
    assert socket.texts == ["before"]
    assert socket.closing is not None

    socket, again = Socket(), Answers()
    live = WebSocketSession(again, RAW, socket.scope, socket.receive, socket.send, clock=lambda: now)
    await live.send({"type": "websocket.accept"})
    assert (await live.receive())["type"] == "websocket.connect"
    socket.say("delete everything")
    now = 200.0
    again.revoke()
    assert (await live.receive())["code"] == 4401
    assert (await live.receive())["code"] == 4401


async def test_a_token_that_dies_before_the_app_accepts(answers: Answers) -> None:
    """Red when checks begin only after the acceptance: a slow app would open a socket to a group that was cut off."""

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        answers.revoke()
        await send({"type": "websocket.accept"})

    socket = Socket()
    await socket.open(slow, answers)
    assert [message["type"] for message in socket.sent] == ["websocket.close"]


async def test_a_peek_that_raises_does_not_end_the_looks(answers: Answers) -> None:
    """Red when the timer's callback lets it through: nobody would check again, and the socket would live for ever."""

    def broken(_: bytes) -> None:
        raise ZeroDivisionError

    socket = Socket()
    running = socket.open(listening, answers)
    await until(lambda: answers.peeks > 3)
    answers.peek = broken  # type: ignore[assignment,method-assign]
    await until(lambda: answers.asked > 3)
    assert socket.closing is None
    answers.revoke()
    await asyncio.wait_for(running, 120)
    assert socket.sent[-1]["code"] == 4401


async def test_a_resolver_without_bound_and_lease() -> None:
    """Five seconds are taken for the staleness bound, and each check asks."""
    socket, foreign = Socket(), Foreign()
    running = socket.open(listening, foreign)
    socket.say("a")
    await until(lambda: socket.texts)
    running.cancel()
    await asyncio.wait({running})
    assert socket.closing is None


@pytest.mark.parametrize("how", ["returns", "raises", "closes", "denies", "is cancelled", "client leaves"])
async def test_the_looks_end_with_the_app(answers: Answers, how: str) -> None:
    """However it ends, nothing is left behind. Red when the timer is not cancelled: it would check for ever, and
    tell an app that has closed the socket of another close."""
    accepted = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        if how == "denies":
            await send({"type": "websocket.http.response.start", "status": 403, "headers": []})
            return
        await send({"type": "websocket.accept"})
        accepted.set()
        if how == "raises":
            raise ZeroDivisionError
        if how == "closes":
            await send({"type": "websocket.close", "code": 1000})
            answers.revoke()
            await asyncio.sleep(0.05)
            scope["goodbye"] = await receive()
        if how in {"is cancelled", "client leaves"}:
            await receive()

    socket = Socket()
    running = socket.open(app, answers)
    if how == "is cancelled":
        await accepted.wait()
        running.cancel()
    if how == "client leaves":
        socket.incoming.put_nowait({"type": "websocket.disconnect", "code": 1001})
    await asyncio.gather(running, return_exceptions=True)
    peeks = answers.peeks
    answers.revoke()
    await asyncio.sleep(0.1)
    assert answers.peeks == peeks
    assert socket.closing is None or socket.closing["code"] == 1000
    assert how != "closes" or socket.scope["goodbye"]["code"] == 1006
    assert [task for task in asyncio.all_tasks() if task.get_name() == "tenantry.live"] == []
    del running
    gc.collect()
    assert [thing for thing in gc.get_objects() if type(thing) is WebSocketSession] == []


@pytest.mark.parametrize("ends", ["fails", "hangs"])
async def test_a_close_that_does_not_arrive_is_not_logged(
    answers: Answers, ends: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A client that left is no fault of the server. Red when nobody reads the error of the close, or its end."""
    monkeypatch.setattr("tenantry.middleware.websockets._CLOSE_SECONDS", 0.01)

    class Left(Socket):
        async def send(self, message: Any) -> None:
            if message["type"] == "websocket.close":
                if ends == "hangs":
                    await asyncio.Event().wait()
                raise OSError("the client has left")
            await super().send(message)

    socket = Left()
    running = socket.open(listening, answers)
    await until(lambda: answers.peeks > 1)
    answers.revoke()
    await asyncio.wait_for(running, 120)
    await until(lambda: all(task.get_name() != "tenantry.live" for task in asyncio.all_tasks()))
    del running
    gc.collect()
    assert [record.getMessage() for record in caplog.records if record.name == "asyncio"] == []


async def test_a_socket_without_a_group_is_left_alone(answers: Answers) -> None:
    async def public(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await receive()

    socket = Socket()
    socket.scope["headers"] = []
    running = socket.open(public, answers)
    await until(lambda: socket.sent)
    socket.say("bye")
    await running
    assert answers.peeks == answers.asked == 0
    assert socket.scope["user_group"] is None


async def test_mounted_twice_the_outer_one_looks(answers: Answers) -> None:
    inner = Answers()
    socket = Socket()
    running = socket.open(UserGroupMiddleware(listening, resolver=inner), answers)
    await until(lambda: answers.peeks > 3)
    answers.revoke()
    await asyncio.wait_for(running, 120)
    assert inner.peeks == inner.asked == 0
    assert [message["type"] for message in socket.sent].count("websocket.close") == 1


async def test_the_token_is_nowhere_in_the_scope(answers: Answers) -> None:
    socket = Socket()
    running = socket.open(listening, answers)
    await until(lambda: answers.peeks > 3)
    assert RAW.decode() not in repr(socket.scope)
    answers.error = InvalidToken(InvalidToken.MESSAGE)
    await running
    assert RAW.decode() not in repr((socket.scope, socket.sent))


async def test_a_socket_is_not_accepted_when_all_that_is_known_ends(answers: Answers) -> None:
    """The cache answers, and its lease has no time left for a next check. Red when only a read can mark it as revoked:
    the acceptance would pass first."""
    answers.lease = 0.0005
    socket = Socket()
    live = WebSocketSession(answers, RAW, socket.scope, socket.receive, socket.send)
    with pytest.raises(SocketClosed):
        await live.send({"type": "websocket.accept"})
    assert [message["type"] for message in socket.sent] == ["websocket.close"]
