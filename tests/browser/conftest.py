"""The demo behind a real server, in a thread with an event loop of its own: Tenantry and the product, a port each."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

import pytest
import uvicorn
from playwright.async_api import Browser

from engines.chromium import OpenPage
from engines.kept_pages import KeptPages
from tenantry.editor import EditorAuthor, EditorSessions
from tenantry.groups import Author
from tenantry.server.uvicorn import by_port, url_of
from tests.demo.stage import put_flights, staged


@dataclass(frozen=True)
class Served:
    """Where Tenantry is, and where the product that embeds it; a one-time link to the editor; the tokens of the
    airlines."""

    url: str
    product: str
    editor: str = field(repr=False)
    tokens: dict[str, str] = field(repr=False)


@pytest.fixture(scope="module")  # no longer: tests elsewhere replace asyncio.sleep, which its server waits with
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The demo's server."""
    ready: list[Served] = []
    started, stop = threading.Event(), threading.Event()
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    url, product = map(url_of, listeners)
    folder = tmp_path_factory.mktemp("served")
    put_flights(folder, tmp_path_factory)

    async def serve() -> None:
        async with staged(folder, url, product) as stage:
            app = by_port(stage.app, {listeners[1]: stage.product})
            config = uvicorn.Config(
                app, interface="asgi3", log_config=None, lifespan="off", timeout_graceful_shutdown=1
            )
            server = uvicorn.Server(config)
            serving = asyncio.create_task(server.serve(sockets=listeners))
            code = await EditorSessions(stage.store).issue(EditorAuthor("analyst"), Author("operator"))
            ready.append(Served(url, product, f"{url}/editor/#code={code}", stage.tokens))
            started.set()
            while not stop.is_set():
                await asyncio.sleep(0.05)
            server.should_exit = server.force_exit = True
            await serving

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert started.wait(120)
        yield ready[0]
    finally:
        stop.set()
        thread.join(120)
        for listener in listeners:
            listener.close()


@pytest.fixture(scope="module")
def pages(browser: Browser) -> KeptPages:
    """Of one module, as its browser."""
    return KeptPages(browser)


@pytest.fixture
async def open_page(pages: KeptPages) -> AsyncIterator[OpenPage]:
    """``await open_page(width=…, height=…, dark=…)``: a page in a context of its own, which an earlier test may have
    had. Only the demo's editor stores anything in the browser, and its test is alone in its module."""
    async with pages.lent() as take:
        yield take
