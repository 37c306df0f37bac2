"""Under the three servers that people use, each a process of its own: what one of them forgives, another does not.

A websocket's handshake is where they differ most: uvicorn raises on a second answer, granian makes a 200 of it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.middleware.servers import SERVERS, Server, started

pytestmark = pytest.mark.slow


@dataclass
class Served:
    server: Server
    token: str

    @property
    def address(self) -> str:
        return self.server.address

    @property
    def cookie(self) -> dict[str, str]:
        return {"Cookie": f"USER_GROUP_TOKEN={self.token}"}

    async def refusal(self, path: str, headers: dict[str, str]) -> tuple[int, bytes]:
        """Status and body of a handshake that must not succeed."""
        with pytest.raises(InvalidStatus) as caught:
            async with connect(f"ws://{self.address}{path}", additional_headers=headers, proxy=None, open_timeout=120):
                pass
        response = caught.value.response
        return response.status_code, bytes(response.body or b"")


@pytest.fixture(params=SERVERS, scope="module")
async def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    log = tmp_path_factory.mktemp("served") / "log"
    async with started(request.param, "tests.middleware.served_app:app", log) as server, server.client() as client:
        yield Served(server, (await client.get("/token")).text)


async def test_a_websocket_with_a_cookie_from_another_origin_is_403(served: Served) -> None:
    """And one from the own origin, an allowed one, or no browser is open. Red without the OriginCheck: the data of the
    group is sent to a page of evil.example."""
    for origin in ("https://evil.example", "null", f"http://{served.address}0"):
        status, body = await served.refusal("/chat", {**served.cookie, "Origin": origin})
        assert status == 403
        assert json.loads(body)["error"]["code"] == "origin_not_allowed"
    for extra in ({}, {"Origin": f"http://{served.address}"}, {"Origin": "https://app.example"}):
        async with connect(
            f"ws://{served.address}/chat", additional_headers={**served.cookie, **extra}, proxy=None, open_timeout=120
        ) as chat:
            assert await chat.recv() == "Acme eu"
    async with connect(
        f"ws://{served.address}/chat?USER_GROUP_TOKEN={served.token}",
        origin="https://evil.example",
        proxy=None,
        open_timeout=120,
    ) as chat:
        assert await chat.recv() == "Acme eu"  # who names the token in the address knows it


async def test_a_writing_request_with_a_cookie_from_another_origin_is_403(served: Served) -> None:
    """POST is refused before the view, GET is not."""
    async with served.server.client() as client:
        evil = {**served.cookie, "Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
        refused = await client.post("/group", headers=evil)
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "origin_not_allowed")
        for headers in (
            served.cookie,
            {**evil, "Sec-Fetch-Site": "same-origin"},
            {**served.cookie, "Origin": f"http://{served.address}"},
        ):
            assert (await client.post("/group", headers=headers)).json() == {"name": "Acme", "region": "eu"}
        assert (await client.get("/group", headers=evil)).status_code == 200


async def test_an_error_before_accept_is_the_answer_of_the_handshake(served: Served) -> None:
    """With the error's own status and reason. Red when error_handler gives back a Response:
    granian answers 200, uvicorn and hypercorn raise."""
    for path, status, code in (("/refused", 422, "missing_variable"), ("/down", 503, "source_unavailable")):
        for headers in ({}, served.cookie):
            answer, body = await served.refusal(path, headers)
            assert (answer, json.loads(body)["error"]["code"]) == (status, code)
    assert (await served.refusal("/chat", {}))[0] == 401
    assert "RuntimeError" not in served.server.log.read_text()


@pytest.mark.parametrize("path", ["/late", "/class"])
async def test_an_error_in_an_open_websocket_closes_it(served: Served, path: str) -> None:
    """1008 with the code, whichever WebSocket the handler is given. Red when the handler answers a handshake that is
    over: uvicorn raises, and the client sees 1006 or 1011."""
    for headers in ({}, served.cookie):
        async with AsyncExitStack() as stack:
            opened = await stack.enter_async_context(
                connect(f"ws://{served.address}{path}", additional_headers=headers, proxy=None, open_timeout=120)
            )
            if path == "/late":
                assert await opened.recv() == "open"
            else:
                await opened.send("hello")
            with pytest.raises(ConnectionClosed) as caught:
                await opened.recv()
            assert caught.value.rcvd is not None
            assert (caught.value.rcvd.code, caught.value.rcvd.reason) == (1008, "missing_variable")
    assert "RuntimeError" not in served.server.log.read_text()
