"""dashboard(): a renderer ends when its viewer leaves, unless it may write; and no message of the client is lost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import StreamingResponse

from tenantry import while_connected
from tenantry.dashboards.endpoint import dashboard
from tenantry.dashboards.protocol.panel_request import PanelsRequest, read_request
from tenantry.errors import ViewerLeft
from tests.dashboards.helpers import GROUP

SOON = 60.0
BODY = {"type": "http.request", "body": b"sent", "more_body": False}
DISCONNECT = {"type": "http.disconnect"}


class Server:
    """A server with one request: what its client sends, and what it is sent."""

    def __init__(self, renderer: Any, method: str = "GET", **scope: Any) -> None:
        self.client: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.sent: list[Any] = []
        self.began, self.went_on = asyncio.Event(), asyncio.Event()
        self.scope = {
            "type": "http", "method": method, "path": "/", "headers": [], "query_string": b"", "user_group": GROUP,
            "server": self, **scope,
        }  # fmt: skip
        self.endpoint = dashboard(renderer)

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    async def run(self) -> int:
        """The status of the answer."""
        await asyncio.wait_for(self.endpoint(self.scope, self.client.get, self.send), SOON)
        status: int = self.sent[0]["status"]
        return status

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


async def waits(request: Request) -> str:
    server: Server = request.scope["server"]
    server.began.set()
    await asyncio.wait_for(server.went_on.wait(), SOON)
    return "rendered"


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_a_coroutine_is_cancelled(method: str) -> None:
    """It neither has to read the body before. Red when the endpoint awaits the renderer alone."""
    server = Server(waits, method)
    running = asyncio.create_task(server.run())
    await asyncio.wait_for(server.began.wait(), SOON)  # nothing was received yet
    server.client.put_nowait(BODY)
    server.client.put_nowait(DISCONNECT)
    assert await running == 499


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
async def test_what_may_write_is_not_cut_off(method: str) -> None:
    """Red when every method is watched."""
    server = Server(waits, method)
    running = asyncio.create_task(server.run())
    await asyncio.wait_for(server.began.wait(), SOON)
    server.client.put_nowait(DISCONNECT)
    await asyncio.sleep(0.05)
    server.went_on.set()
    assert await running == 200


def in_thread(request: Request) -> str:
    from anyio import from_thread

    return from_thread.run(waits, request)


async def test_a_thread_goes_on() -> None:
    """What it awaits that is no query is not cancelled. Red when its task is cancelled: the thread goes on unseen, and
    the limit of threads with it."""
    server = Server(in_thread)
    running = asyncio.create_task(server.run())
    await asyncio.wait_for(server.began.wait(), SOON)
    server.client.put_nowait(DISCONNECT)
    await asyncio.sleep(0.05)
    assert not running.done()
    server.went_on.set()
    assert await running == 200


async def reads_body(request: Request) -> str:
    await asyncio.sleep(0.01)
    return (await request.body()).decode()


async def reads_within(request: Request) -> str:
    async with while_connected(request):
        return await reads_body(request)


async def streams(request: Request) -> StreamingResponse:
    async def parts() -> Any:
        for part in (b"a", b"b"):
            yield part
            await asyncio.sleep(0.01)

    return StreamingResponse(parts())


@pytest.mark.parametrize(("renderer", "body"), [(reads_body, b"sent"), (reads_within, b"sent"), (streams, b"ab")])
async def test_no_message_is_lost(renderer: Any, body: bytes) -> None:
    """The body is there for the renderer, also in a block of its own; Starlette listens while it streams.

    Red when the endpoint receives what it does not keep.
    """
    server = Server(renderer)
    server.client.put_nowait(BODY)
    assert await server.run() == 200
    assert server.body == body


async def test_a_viewer_who_has_left_before() -> None:
    """A view around it has noticed already: nothing is rendered."""
    server = Server(waits)
    server.client.put_nowait(DISCONNECT)
    request = Request(server.scope, server.client.get)
    with pytest.raises(ViewerLeft):
        async with while_connected(request):
            pass
    assert await server.run() == 499
    assert not server.began.is_set()


async def forever() -> Any:
    return {"type": "http.request", "body": b"", "more_body": False}


async def test_a_receive_that_never_waits() -> None:
    """As tests of apps have them: the loop is not held up. Red when messages are read without a bound."""
    server = Server(reads_body)
    await asyncio.wait_for(server.endpoint(server.scope, forever, server.send), SOON)
    assert server.sent[0]["status"] == 200


async def test_a_viewer_who_leaves_before_the_panels_are_asked_for() -> None:
    """It ends quietly, as later. Red when Starlette's own error goes through, which a server logs as a traceback."""

    async def receive() -> dict[str, Any]:
        return DISCONNECT

    with pytest.raises(ViewerLeft):
        await read_request(Request({"type": "http", "method": "POST", "headers": []}, receive), PanelsRequest)
