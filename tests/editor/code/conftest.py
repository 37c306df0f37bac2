"""The element ``<tenantry-code>`` alone on the page of the editor, under its policy."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.async_api import Browser, Page
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

from engines.chromium import Watched, launched
from engines.kept_pages import KeptPages
from tenantry.editor.page import page_routes
from tests.editor.blank_page import BLANK, blank_page

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "schemas" / "dashboard.schema.json").read_text("utf-8"))
TABLES = [
    {"name": "flights", "columns": ["day", "carrier", "origin", "Delay"], "kind": "guarded", "view": False},
    {"name": "airports", "columns": ["code", "city"], "kind": "shared", "view": False},
    {"name": "salaries", "columns": ["person", "pay"], "kind": "unlisted", "view": False},
    {"name": "sales.orders", "columns": ["id", "amount"], "kind": "open", "view": True},
]
KNOWLEDGE: dict[str, Any] = {
    "variables": [
        {"path": "user_group.properties.carrier", "type": "text", "value": "UA", "present": 412, "total": 412},
        {"path": "user_group.properties.plan", "type": "text", "value": "pro", "present": 375, "total": 412},
        {"path": "viewer.id", "type": "text", "value": None, "note": "Of the pass of a viewer."},
    ],
    "params": [{"name": "since", "type": "date", "default": "last-30-days"}],
    "fragments": ["sales/active"],
    "catalogue": {"dialect": "postgresql", "tables": TABLES, "functions": ["date_trunc", "count"], "age": 0},
    "schema": SCHEMA,
    "queries": ["by_day", "delays"],
    "mapped": ["flights"],
}

Edit = Callable[..., Awaitable[Watched]]

browser = pytest.fixture(launched, scope="package", name="browser")


async def _refused(request: Request) -> JSONResponse:
    """The rest of the page has nothing to do here."""
    error = {"code": "no_author", "message": "You are not signed in."}
    return JSONResponse({"success": 0, "error": error}, 401)


@pytest.fixture(scope="package")
def editor_url() -> Iterator[str]:
    routes = [*page_routes(), blank_page(), Route("/-/{path:path}", _refused, methods=["POST"])]
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(Starlette(routes=[Mount("/editor", routes=routes)]), log_config=None, lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/editor/"
    finally:
        server.should_exit = True
        thread.join(120)
        listener.close()


@pytest.fixture(scope="package")
def pages(browser: Browser, editor_url: str) -> KeptPages:
    """Of both modules."""
    return KeptPages(browser, editor_url + BLANK)


@pytest.fixture
async def edit(pages: KeptPages, editor_url: str) -> AsyncIterator[Edit]:
    """``await edit(text, knowledge=…, **document)``: the element with a text, in which ``‸`` is the cursor."""

    async def edited(text: str = "‸", knowledge: dict[str, Any] = KNOWLEDGE, **document: Any) -> Watched:
        options = {key: document.pop(key) for key in ("width", "dark") if key in document}
        seen = await take(**options)
        await seen.page.goto(editor_url)
        await seen.page.get_by_role("alert").wait_for()  # the page has nothing more to say on the console
        await seen.page.evaluate(
            """(knowledge) => {
              const code = document.createElement("tenantry-code");
              const main = document.createElement("main");
              main.append(code);
              document.body.replaceChildren(main);
              code.setKnowledge(knowledge);
              window.told = [];
              for (const name of ["change", "run", "save", "format"]) {
                code.addEventListener(name, () => window.told.push(name));
              }
            }""",
            knowledge,
        )
        seen.console.clear()
        await show(seen.page, text, **document)
        return seen

    async with pages.lent() as take:
        yield edited


async def until(holds: Callable[[], Awaitable[Any]], seconds: float = 60.0) -> None:
    for _ in range(int(seconds / 0.05)):
        if await holds():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it never came to be")


async def show(page: Page, text: str, **document: Any) -> None:
    """Shows another document, with the cursor at its ``‸``."""
    shown = {"path": "queries/a.sql", "language": "sql", "dialect": "postgresql"} | document
    given = shown | {"text": text.replace("‸", "")}
    await page.evaluate("(given) => document.querySelector('tenantry-code').setDocument(given)", given)
    offset = max(0, text.find("‸"))
    await page.evaluate("(offset) => document.querySelector('tenantry-code').focusAt(offset)", offset)


async def text_of(page: Page) -> str:
    """The text that the element holds."""
    text: str = await page.evaluate("document.querySelector('tenantry-code').text")
    return text


async def tell(page: Page, method: str, value: Any) -> None:
    """Calls a method of the element."""
    await page.evaluate(f"(value) => void document.querySelector('tenantry-code').{method}(value)", value)


async def offered(page: Page) -> list[str]:
    """Opens the completion and returns its entries, each with its detail."""
    await page.keyboard.press("Control+Space")
    entries = page.locator(".cm-tooltip-autocomplete li")
    await entries.first.wait_for()
    return await entries.evaluate_all(
        """(all) => all.map((each) => [".cm-completionLabel", ".cm-completionDetail"]
             .map((part) => each.querySelector(part)?.textContent ?? "").filter(Boolean).join(" = "))"""
    )
