"""while_connected for an HTTP request, with the server in hand."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.requests import Request

from tenantry.datasources import while_connected
from tenantry.errors import ViewerLeft
from tests.middleware.asgi import http

BODY = {"type": "http.request", "body": b"a=1", "more_body": False}
LEFT = {"type": "http.disconnect"}


class Viewer:
    """Sends the body, and ``leave()`` closes the connection."""

    def __init__(self) -> None:
        self._messages: asyncio.Queue[Any] = asyncio.Queue()
        self._messages.put_nowait(BODY)

    def leave(self) -> None:
        self._messages.put_nowait(LEFT)

    async def receive(self) -> Any:
        return await self._messages.get()


async def test_the_block_is_cancelled_when_the_viewer_leaves() -> None:
    """Red when the message that says so is not understood: the block would wait for ever."""
    viewer = Viewer()
    request = Request(http(), viewer.receive)

    async def leave() -> None:
        async with asyncio.timeout(60), while_connected(request):
            viewer.leave()
            await asyncio.Event().wait()

    with pytest.raises(ViewerLeft):
        await leave()
    assert await request.body() == BODY["body"]


async def test_the_body_is_read_once_for_all_requests_of_a_scope() -> None:
    """A dependency of FastAPI may have another Request than the view. Red when each reads the body: the second would
    wait for a message that does not come."""
    viewer, scope = Viewer(), http()
    for _ in range(2):
        async with asyncio.timeout(60), while_connected(Request(scope, viewer.receive)):
            pass
