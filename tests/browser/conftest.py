"""The demo behind a real server, in a thread with an event loop of its own."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import uvicorn

from tenantry.demo.sources import airline
from tests.demo.stage import staged


@dataclass(frozen=True)
class Served:
    """The demo's address and its tokens; ``broken`` is a group without the property ``home_airports``."""

    url: str
    tokens: dict[str, str] = field(repr=False)
    unknown: str = field(repr=False)

    def opening(self, carrier: str) -> str:
        return f"{self.url}/?USER_GROUP_TOKEN={self.tokens[carrier]}"


@pytest.fixture(scope="module")  # no longer: tests elsewhere replace asyncio.sleep, which its server waits with
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The demo's server."""
    ready: list[Served] = []
    started, stop = threading.Event(), threading.Event()

    async def serve(folder: Path) -> None:
        async with staged(folder) as stage:
            properties = {name: value for name, value in airline("UA").properties.items() if name != "home_airports"}
            stage.tokens["broken"] = await stage.add("broken", properties, airline("UA").mapping)
            listener = socket.create_server(("127.0.0.1", 0))
            server = uvicorn.Server(uvicorn.Config(stage.app, log_config=None, lifespan="off"))
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            ready.append(Served(url, stage.tokens, stage.unknown_token()))
            started.set()
            while not stop.is_set():
                await asyncio.sleep(0.05)
            server.should_exit = True
            await serving
            listener.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve(tmp_path_factory.mktemp("served"))))
    thread.start()
    try:
        assert started.wait(120)
        yield ready[0]
    finally:
        stop.set()
        thread.join(120)
