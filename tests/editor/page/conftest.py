"""The editor's page in the browser, fed by a stand-in for the server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from playwright.async_api import Browser, Error, Page, expect

from engines.chromium import Watched, launched
from engines.kept_pages import KeptPages
from tests.editor.blank_page import BLANK
from tests.editor.page.stand_in import StandIn, served

Visit = Callable[..., Awaitable[Watched]]
PATIENCE = 60.0
PAUSE = 0.05
"""Seconds between two questions: each goes through three processes."""
expect.set_options(timeout=PATIENCE * 1000)

browser = pytest.fixture(launched, scope="package", name="browser")


@pytest.fixture(scope="package")
def server() -> Iterator[StandIn]:
    with served() as stand_in:
        yield stand_in


@pytest.fixture
def stand_in(server: StandIn) -> StandIn:
    server.clear()
    return server


@pytest.fixture(scope="package")
def pages(browser: Browser, server: StandIn) -> KeptPages:
    """Of all modules."""
    return KeptPages(browser, server.url + BLANK)


@pytest.fixture
async def visit(pages: KeptPages, stand_in: StandIn) -> AsyncIterator[Visit]:
    """``await visit()``: the editor with its first file open."""

    async def visited(*, settle: bool = True, fragment: str = "", **options: Any) -> Watched:
        seen = await take(**options)
        await seen.page.goto(stand_in.url + fragment)
        if settle:
            await opened(seen.page)
        return seen

    async with pages.lent() as take:
        yield visited


async def opened(page: Page) -> None:
    """Waits until a file is open and can be run: without a group the page refuses to."""
    await page.locator(".tab[aria-current]").wait_for(state="attached")
    await page.locator(".results").wait_for(state="attached")
    await expect(page.locator(".head .group-control .choice-text")).not_to_have_text("Choose a group")


async def reload(page: Page) -> None:
    await page.reload()
    await opened(page)


async def until(holds: Callable[[], Awaitable[Any] | Any]) -> None:
    """Waits for a condition."""
    for _ in range(int(PATIENCE / PAUSE)):
        with suppress(Error):  # the document is just being replaced
            found = holds()
            if await found if isinstance(found, Awaitable) else found:
                return
        await asyncio.sleep(PAUSE)
    raise AssertionError("it never came to be")


async def text_of(page: Page) -> str:
    """What the code view shows."""
    text: str = await page.evaluate("document.querySelector('tenantry-code').text")
    return text


async def shows(page: Page, text: str) -> None:
    """Waits until the code view shows this text."""

    async def is_shown() -> bool:
        return await text_of(page) == text

    await until(is_shown)


async def write(page: Page, text: str) -> None:
    """Replaces the whole text, as by keys."""
    await page.evaluate("document.querySelector('tenantry-code').focus()")
    await page.keyboard.press("ControlOrMeta+a")
    await page.keyboard.insert_text(text)
