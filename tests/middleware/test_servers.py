"""Under the three servers that people use, each a process of its own: what one of them forgives, another does not.

A websocket's handshake is where they differ most: uvicorn raises on a second answer, granian makes a 200 of it.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from engines.ports import free_port

APP = "tests.middleware.served_app:app"
ROOT = Path(__file__).parents[2]
SERVERS = {
    "uvicorn": ["uvicorn", APP, "--port", "{port}", "--ws", "websockets-sansio"],
    "uvicorn-wsproto": ["uvicorn", APP, "--port", "{port}", "--ws", "wsproto", "--http", "h11"],
    "hypercorn": ["hypercorn", APP, "--bind", "127.0.0.1:{port}"],
    "granian": ["granian", APP, "--interface", "asgi", "--host", "127.0.0.1", "--port", "{port}"],
}


@dataclass
class Served:
    address: str
    token: str
    log: Path

    @property
    def cookie(self) -> dict[str, str]:
        return {"Cookie": f"USER_GROUP_TOKEN={self.token}"}

    async def refusal(self, path: str, headers: dict[str, str]) -> tuple[int, bytes]:
        """Status and body of a handshake that must not succeed."""
        with pytest.raises(InvalidStatus) as caught:
            async with connect(f"ws://{self.address}{path}", additional_headers=headers, proxy=None):
                pass
        response = caught.value.response
        return response.status_code, bytes(response.body or b"")


@pytest.fixture(params=SERVERS, scope="module")
async def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    log = tmp_path_factory.mktemp("served") / "log"
    port = free_port()
    command = [part.format(port=port) for part in SERVERS[request.param]]
    with log.open("wb") as lines:
        process = subprocess.Popen([sys.executable, "-m", *command], cwd=ROOT, stdout=lines, stderr=lines)
    try:
        address = f"127.0.0.1:{port}"
        yield Served(address, await token_of(address, process, log), log)
    finally:
        process.terminate()
        try:
            process.wait(120)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


async def token_of(address: str, process: subprocess.Popen[bytes], log: Path) -> str:
    async with asyncio.timeout(90), httpx2.AsyncClient(trust_env=False, timeout=120) as client:
        while True:
            assert process.poll() is None, log.read_text()
            try:
                return (await client.get(f"http://{address}/token")).text
            except httpx2.TransportError:
                await asyncio.sleep(0.05)


async def test_a_websocket_with_a_cookie_from_another_origin_is_403(served: Served) -> None:
    """And one from the own origin, an allowed one, or no browser is open. Red without the OriginCheck: the data of the
    group is sent to a page of evil.example."""
    for origin in ("https://evil.example", "null", f"http://{served.address}0"):
        status, body = await served.refusal("/chat", {**served.cookie, "Origin": origin})
        assert status == 403
        assert json.loads(body)["error"]["code"] == "origin_not_allowed"
    for extra in ({}, {"Origin": f"http://{served.address}"}, {"Origin": "https://app.example"}):
        async with connect(
            f"ws://{served.address}/chat", additional_headers={**served.cookie, **extra}, proxy=None
        ) as chat:
            assert await chat.recv() == "Acme eu"
    async with connect(
        f"ws://{served.address}/chat?USER_GROUP_TOKEN={served.token}", origin="https://evil.example", proxy=None
    ) as chat:
        assert await chat.recv() == "Acme eu"  # who names the token in the address knows it


async def test_a_writing_request_with_a_cookie_from_another_origin_is_403(served: Served) -> None:
    """POST is refused before the view, GET is not."""
    async with httpx2.AsyncClient(base_url=f"http://{served.address}", trust_env=False, timeout=120) as client:
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
    assert "RuntimeError" not in served.log.read_text()


@pytest.mark.parametrize("path", ["/late", "/class"])
async def test_an_error_in_an_open_websocket_closes_it(served: Served, path: str) -> None:
    """1008 with the code, whichever WebSocket the handler is given. Red when the handler answers a handshake that is
    over: uvicorn raises, and the client sees 1006 or 1011."""
    for headers in ({}, served.cookie):
        async with AsyncExitStack() as stack:
            opened = await stack.enter_async_context(
                connect(f"ws://{served.address}{path}", additional_headers=headers, proxy=None)
            )
            if path == "/late":
                assert await opened.recv() == "open"
            else:
                await opened.send("hello")
            with pytest.raises(ConnectionClosed) as caught:
                await opened.recv()
            assert caught.value.rcvd is not None
            assert (caught.value.rcvd.code, caught.value.rcvd.reason) == (1008, "missing_variable")
    assert "RuntimeError" not in served.log.read_text()
