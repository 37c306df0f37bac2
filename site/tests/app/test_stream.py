"""The stream that tells open pages of their change."""

from __future__ import annotations

import asyncio
import signal
from types import SimpleNamespace
from typing import Any

import pytest

from tenantry_site import reload
from tenantry_site.reload import ReloadStream


class Reader:
    """A browser that listens."""

    def __init__(self, version: str = "1", **options: Any) -> None:
        self.newest = version
        self.leaves = asyncio.Event()
        self.sent: list[dict[str, Any]] = []
        self.stream = ReloadStream(self._version, **options)

    async def _version(self, page: str) -> str:
        return f"{page} {self.newest}"

    async def listen(self, page: str = "guides/start") -> None:
        async def receive() -> dict[str, Any]:
            await self.leaves.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            self.sent.append(message)

        await asyncio.wait_for(self.stream(page, receive, send), 120)

    def versions(self) -> list[str]:
        text = b"".join(message.get("body", b"") for message in self.sent).decode()
        return [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reload, "_TICK_SECONDS", 0.01)


async def reported(reader: Reader, count: int) -> None:
    async with asyncio.timeout(120):
        while len(reader.versions()) < count:
            await asyncio.sleep(0.005)


async def test_each_version_is_reported_once() -> None:
    """At first the newest, for a page that was loaded before the server started again; then each new one."""
    reader = Reader()
    listening = asyncio.create_task(reader.listen())
    await reported(reader, 1)
    reader.newest = "2"
    await reported(reader, 2)
    await asyncio.sleep(0.05)
    reader.leaves.set()
    await listening
    assert reader.versions() == ["guides/start 1", "guides/start 2"]
    assert dict(reader.sent[0]["headers"])[b"content-type"].startswith(b"text/event-stream")
    assert reader.sent[-1]["more_body"] is False


async def test_it_ends_with_its_life_and_with_the_app() -> None:
    """Red when a stream holds up the end of a server."""
    await Reader(life=0.05).listen()
    reader = Reader()
    reader.stream.close()
    await reader.listen()
    assert reader.versions() == []


async def test_it_ends_when_the_server_wants_to() -> None:
    """uvicorn waits for all answers and tells nobody. Red when Ctrl-C takes half a minute."""
    server = SimpleNamespace(should_exit=False)

    class Server:
        should_exit = False

        def handle_exit(self, number: int, frame: object) -> None:
            self.should_exit = True

    server = Server()
    before = signal.signal(signal.SIGINT, server.handle_exit)
    try:
        reader = Reader()
        listening = asyncio.create_task(reader.listen())
        await reported(reader, 1)
        assert not listening.done()
        signal.raise_signal(signal.SIGINT)
        await listening
    finally:
        signal.signal(signal.SIGINT, before)


async def test_listeners_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when anybody may hold as many connections as they like; or when one that left still counts."""
    monkeypatch.setattr(reload, "LISTENERS", 1)
    reader = Reader()
    listening = asyncio.create_task(reader.listen())
    await reported(reader, 1)
    reader.sent.clear()
    await reader.listen()
    assert reader.sent[0]["status"] == 503
    reader.leaves.set()
    await listening
    reader.sent.clear()
    await reader.listen()
    assert reader.sent[0]["status"] == 200


async def test_one_that_breaks_off_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when a listener that the server cancelled, or whose line broke, counts for ever."""
    monkeypatch.setattr(reload, "LISTENERS", 1)
    reader = Reader()
    listening = asyncio.create_task(reader.listen())
    await reported(reader, 1)
    listening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listening

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    async def broken(message: dict[str, Any]) -> None:
        raise ConnectionResetError

    await reader.stream("x", receive, broken)
    assert reader.stream._listeners == 0
