"""ReadAhead: messages of a websocket that are read before its app asks for them come to the app, all and in order."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from tenantry.aio.read_ahead import MAX_BYTES, MAX_MESSAGES, ReadAhead
from tenantry.datasources import while_connected
from tenantry.errors import MiddlewareMissing, ViewerLeft
from tenantry.http.accessors import VIEWER_KEY
from tenantry.middleware.token_watch import REVOKED
from tenantry.middleware.websockets import WebSocketSession
from tests.middleware.sockets import RAW, Answers, Socket

DISCONNECT = {"type": "websocket.disconnect", "code": 1001}


class Client:
    """A server's receive, and how many messages it has given."""

    def __init__(self) -> None:
        self.sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.given = 0
        self.receivers = 0

    def post(self, *bodies: bytes) -> None:
        for body in bodies:
            self.sent.put_nowait({"type": "http.request", "body": body, "more_body": True})

    def say(self, *texts: str) -> None:
        for text in texts:
            self.sent.put_nowait({"type": "websocket.receive", "text": text})

    async def receive(self) -> dict[str, Any]:
        self.receivers += 1
        assert self.receivers == 1, "two receive at once"
        try:
            message = await self.sent.get()
        finally:
            self.receivers -= 1
        self.given += 1
        return message


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_reader_beside_it_misses_nothing() -> None:
    """The app receives in a task of its own while another waits for the end: each message comes to it at once. Red when
    both ask the server: one of two messages stays with the wrong one until the next comes."""
    client = Client()
    ahead, got = ReadAhead(client.receive), list[str]()

    async def read() -> None:
        while (message := await ahead())["type"] != "websocket.disconnect":
            got.append(message["text"])

    for reader_first in (True, False):
        tasks = [asyncio.create_task(work) for work in ((read(), ahead.wait_left())[:: 1 if reader_first else -1])]
        await settle()
        for number in range(5):
            client.say(str(number))
            await settle()
            assert got.pop() == str(number)
        if reader_first:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
    client.sent.put_nowait(DISCONNECT)
    await asyncio.wait_for(asyncio.gather(*tasks), 60)
    assert await asyncio.wait_for(ahead.wait_left(), 60) is None  # it is known now


@pytest.mark.parametrize(("texts", "most"), [(["x"] * (3 * MAX_MESSAGES), MAX_MESSAGES), (["x" * MAX_BYTES] * 5, 1)])
async def test_what_is_kept_is_bounded(texts: list[str], most: int) -> None:
    """A client that sends without end fills no memory; the app gets it all. Red without the bound, and where nobody
    reads on once there is space."""
    client = Client()
    ahead = ReadAhead(client.receive)
    client.say(*texts)
    waiting = asyncio.create_task(ahead.wait_left())
    for _ in range(4):
        await settle()
    assert client.given == most
    assert [(await ahead())["text"] for _ in texts] == texts
    client.sent.put_nowait(DISCONNECT)
    await asyncio.wait_for(waiting, 60)
    assert await ahead() == DISCONNECT


async def test_what_is_kept_of_a_body_is_bounded() -> None:
    """Red when only messages of websockets are counted."""
    client = Client()
    ahead = ReadAhead(client.receive)
    client.post(*[b"x" * MAX_BYTES] * 3)
    waiting = asyncio.create_task(ahead.wait_left())
    await settle()
    assert client.given == 1
    waiting.cancel()


async def test_a_websocket_that_is_closed_here_has_left(answers: Answers) -> None:
    """4401 stops what is under way, also if the client never answers the close. Red without ``mark_left``."""
    socket = Socket()
    session = WebSocketSession(answers, RAW, socket.scope, Client().receive, socket.send)
    await session.send({"type": "websocket.accept"})
    waiting = asyncio.create_task(socket.scope[VIEWER_KEY].wait_left())
    await settle()
    answers.revoke()
    await asyncio.wait_for(waiting, 60)
    assert socket.closing is not None
    assert socket.closing["code"] == REVOKED


async def test_a_close_ends_the_receive_of_the_server(answers: Answers) -> None:
    """granian sends no close while a receive is under way: with an app that waits for its client, a rotation did not
    close the websocket before the client said something. Red without ``interrupt``. The app is not cancelled."""
    client, sent = Client(), list[dict[str, Any]]()

    async def send(message: Any) -> None:
        while client.receivers:
            await asyncio.sleep(0)
        sent.append(message)

    session = WebSocketSession(answers, RAW, Socket().scope, client.receive, send)
    await session.send({"type": "websocket.accept"})
    app = asyncio.create_task(session.receive())
    await settle()
    answers.revoke()
    assert (await asyncio.wait_for(app, 60))["code"] == REVOKED
    async with asyncio.timeout(60):
        while len(sent) < 2:
            await asyncio.sleep(0)
    assert (sent[1]["type"], sent[1]["code"]) == ("websocket.close", REVOKED)


async def test_a_server_that_cleans_up_when_its_receive_is_cancelled() -> None:
    """The reader waits for it. Red when the reader does not pass on what the server then waits for."""
    is_clean = asyncio.Event()

    async def receive() -> dict[str, Any]:
        try:
            await asyncio.Event().wait()
        finally:
            await is_clean.wait()
        return DISCONNECT

    reading = asyncio.create_task(ReadAhead(receive)())
    await settle()
    reading.cancel()
    await settle()
    assert not reading.done()
    is_clean.set()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(reading, 60)


async def test_a_cancelled_reader_loses_no_message() -> None:
    """One that has come in the moment in which its reader is cancelled is there for the next, as ``wait_for`` around a
    receive needs it. Red when the server's receive runs in a task of its own."""
    client = Client()
    ahead = ReadAhead(client.receive)
    reader = asyncio.create_task(ahead())
    await settle()
    client.say("first", "second")
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert [(await ahead())["text"] for _ in range(2)] == ["first", "second"]


async def test_a_reader_that_is_cancelled_as_the_websocket_closes_is_cancelled() -> None:
    """Red when every CancelledError after a close becomes a message."""
    ahead = ReadAhead(Client().receive)
    reader = asyncio.create_task(ahead())
    await settle()
    ahead.mark_left()
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader


class Connection:
    """A websocket as while_connected takes one."""

    def __init__(self, client: Client) -> None:
        self.ahead = ReadAhead(client.receive)
        self.scope: dict[str, Any] = {"type": "websocket", VIEWER_KEY: self.ahead}


async def stay(connection: Any) -> None:
    async with while_connected(connection):
        await asyncio.sleep(600)


async def test_a_block_ends_as_it_should() -> None:
    """ViewerLeft for a viewer who leaves, also at once for one who has left; a cancellation from elsewhere stays one,
    and so does an error. Red when each CancelledError becomes ViewerLeft."""
    connection: Any = Connection(client := Client())
    with pytest.raises(ZeroDivisionError):
        async with while_connected(connection):
            _ = 1 / 0
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(stay(connection), 0.01)
    asyncio.get_running_loop().call_later(0.01, client.sent.put_nowait, DISCONNECT)
    with pytest.raises(ViewerLeft):
        async with while_connected(connection):
            await stay(connection)
    with pytest.raises(ViewerLeft):
        async with while_connected(connection):
            raise AssertionError("it began")
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    with pytest.raises(MiddlewareMissing):
        async with while_connected(_without_middleware()):
            pass


def _without_middleware() -> Any:
    bare: Any = Connection(Client())
    del bare.scope[VIEWER_KEY]
    return bare


async def test_a_block_that_takes_no_notice_goes_on() -> None:
    """Its task is not left cancelled. Red without ``uncancel``."""
    connection: Any = Connection(client := Client())
    client.sent.put_nowait(DISCONNECT)
    async with while_connected(connection):
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(600)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


@pytest.fixture
def answers() -> Answers:
    return Answers()
