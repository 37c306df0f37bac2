"""A live site in a real Chromium: alone, and mounted in both frameworks."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from axe_playwright_python.base import AXE_SCRIPT
from fastapi import FastAPI
from playwright.async_api import Page
from starlette.applications import Starlette
from starlette.routing import Mount

from engines.chromium import OpenPage, browser, chromium_path, open_page
from engines.ports import free_port
from tenantry_site import site_app

__all__ = ["browser", "chromium_path", "open_page"]


@contextmanager
def served(app: Any) -> Iterator[str]:
    """The app behind a real server, in a thread with an event loop of its own; its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1))
    thread = threading.Thread(target=lambda: server.run(sockets=[listener]))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(120)
        listener.close()


async def shows(page: Page, text: str) -> None:
    """Waits until the page has the text. (A strict policy forbids wait_for_function, which needs eval.)"""
    for _ in range(2_000):
        if text in await page.locator("body").inner_text():
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"{text!r} does not show: {await page.locator('body').inner_text()}")


ALONE = ("alone", lambda app: app, "")
STARLETTE = ("starlette", lambda app: Starlette(routes=[Mount("/docs", app)]), "/docs")


def in_fastapi(app: Any) -> Any:
    outer = FastAPI()
    outer.mount("/docs", app)
    return outer


@pytest.mark.parametrize(
    ("wrap", "mount"), [ALONE[1:], STARLETTE[1:], (in_fastapi, "/docs")], ids=["alone", "starlette", "fastapi"]
)
async def test_an_edit_shows_by_itself(docs: Path, open_page: OpenPage, wrap: Callable[[Any], Any], mount: str) -> None:
    """In an open page, which keeps its place, with a clean console and no request to another host."""
    long = "\n\n".join(f"Paragraph {number}." for number in range(200))
    (docs / "guides" / "start.md").write_text(f"---\ntitle: Start\n---\n\n{long}\n")
    with served(wrap(site_app(docs, live=True))) as url:
        seen = await open_page()
        await seen.page.goto(f"{url}{mount}/guides/start")
        await seen.page.evaluate("window.scrollTo(0, 2000)")
        await seen.page.evaluate("window.before = true")
        (docs / "guides" / "start.md").write_text(f"---\ntitle: Start\n---\n\n{long}\n\nA new end.\n")
        await shows(seen.page, "A new end.")
        assert await seen.page.evaluate("window.before") is None
        for _ in range(2_000):
            if abs(await seen.page.evaluate("window.scrollY") - 2000) < 5:
                break
            await asyncio.sleep(0.05)
        assert abs(await seen.page.evaluate("window.scrollY") - 2000) < 5
        assert seen.console == []
        assert await seen.violations() == []
        assert {f"http://{host}" for host in seen.hosts()} == {url}


async def test_what_is_wrong_shows_and_goes(docs: Path, open_page: OpenPage) -> None:
    """On the page that is being written, with the keyboard too; also a configuration that cannot be read at first."""
    good = (docs / "site.json").read_text()
    (docs / "site.json").write_text("{")
    with served(Starlette(routes=[Mount("/docs", site_app(docs, live=True))])) as url:
        seen = await open_page()
        await seen.page.goto(f"{url}/docs/guides/start")
        await shows(seen.page, "The site cannot be shown")
        (docs / "site.json").write_text(good)
        await shows(seen.page, "First")
        (docs / "guides" / "start.md").write_text("---\ntitle: Start\n---\n\n[x](nowhere)\n")
        await shows(seen.page, "1 of them on this page")
        notes = seen.page.locator(".author-notes")
        await notes.locator("summary").press("Enter")
        assert "guides/start.md:5" in await notes.inner_text()
        await seen.page.evaluate(AXE_SCRIPT)
        found = await seen.page.evaluate("axe.run('aside').then((found) => found.violations.map((each) => each.id))")
        assert found == []
        (docs / "guides" / "start.md").write_text("---\ntitle: Start\n---\n\nWell.\n")
        await shows(seen.page, "Well.")
        assert "on this page" not in await seen.page.locator(".author-notes").inner_text()
        (docs / "guides" / "start.md").unlink()
        await shows(seen.page, "There is no such page")
        assert await seen.violations() == []
        assert [line for line in seen.console if "503" not in line and "404" not in line] == []


async def test_a_server_that_starts_again_is_found(docs: Path, open_page: OpenPage) -> None:
    """And what changed meanwhile shows. Red when the page waits for the next edit."""
    port = free_port()

    def run() -> tuple[uvicorn.Server, threading.Thread]:
        config = uvicorn.Config(site_app(docs, live=True), port=port, log_config=None, timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run)
        thread.start()
        return server, thread

    server, thread = run()
    seen = await open_page()
    while not server.started:
        assert thread.is_alive(), "the server ended"
        await asyncio.sleep(0.01)
    await seen.page.goto(f"http://127.0.0.1:{port}/guides/start")
    await shows(seen.page, "First")
    server.should_exit = True
    await asyncio.to_thread(thread.join, 120)
    (docs / "guides" / "start.md").write_text("# Start\n\nWritten meanwhile.\n")
    server, thread = run()
    try:
        await shows(seen.page, "Written meanwhile.")
    finally:
        server.should_exit = True
        await asyncio.to_thread(thread.join, 120)
