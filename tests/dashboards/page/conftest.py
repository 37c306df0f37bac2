"""A dashboard's page in the browser, fed by a stand-in for the server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
from playwright.async_api import Browser, Frame, Locator, Page

from engines.chromium import OpenPage, Watched, launched
from engines.kept_pages import KeptPages
from tests.dashboards.page.stand_in import StandIn, served

Visit = Callable[..., Awaitable[Watched]]

PATIENCE = 60.0
"""Seconds that a test waits for what must come: a busy machine must not fail it."""
PAUSE = 0.05
"""Seconds between two questions: each goes through three processes."""


browser = pytest.fixture(launched, scope="package", name="browser")
"""One for all modules: each start takes a second of a processor."""


@pytest.fixture(scope="package")
def server() -> Iterator[StandIn]:
    with served() as stand_in:
        yield stand_in


@pytest.fixture
def stand_in(server: StandIn) -> StandIn:
    server.clear()
    return server


@pytest.fixture
def live(stand_in: StandIn) -> Iterator[StandIn]:
    """The stand-in, whose answers stay open where a page asks for it."""
    stand_in.stays_open = True
    yield stand_in
    stand_in.stays_open = False


@pytest.fixture(scope="package")
def pages(browser: Browser) -> KeptPages:
    """Of all modules."""
    return KeptPages(browser)


@pytest.fixture
async def visit(open_page: OpenPage, pages: KeptPages) -> AsyncIterator[Visit]:
    """``await visit(address)``: the page, once every panel has come; ``settle=False``: at once. ``clock=True``: its
    clock can be put forward. With a clock or options of a context, it is a new page."""

    async def visited(address: str, *, settle: bool = True, clock: bool = False, **options: Any) -> Watched:
        if clock or not options.keys() <= {"width", "height", "dark"}:
            seen = await open_page(**options)
        else:
            seen = await take(**options)
        if clock:
            await seen.page.clock.install()
        await seen.page.goto(address)
        if settle:
            await come(seen)
        return seen

    async with pages.lent() as take:
        yield visited


async def come(seen: Watched) -> None:
    """Waits until nothing is under way. The policy forbids what Playwright would wait with."""
    script = """() => document.querySelector("main .dashboard, main .notice") !== null
        && document.querySelectorAll("[data-state=waiting]").length === 0"""
    await until(lambda: seen.page.evaluate(script))


async def pickers_came(page: Page) -> None:
    """Waits until the page has loaded what opens below its controls, which it asks for once it is idle."""
    await loads(page, "pickers.js")


async def loads(page: Page, bundle: str) -> None:
    """Waits until the page has loaded and run this bundle by itself."""
    script = """(bundle) => performance.getEntriesByType("resource")
        .some(({ name, responseEnd }) => name.endsWith(`/${bundle}`) && responseEnd > 0)"""
    await until(lambda: page.evaluate(script, bundle))
    await has_run(page, bundle)


async def has_run(page: Page | Frame, bundle: str) -> None:
    """Waits until this bundle is there, and what waited for it has gone on."""
    address = await page.locator(f"meta[data-file='{bundle}']").get_attribute("content")
    await page.evaluate("async (address) => void (await import(address))", address)


async def box_of(element: Locator) -> dict[str, float]:
    """Where it is: x, y, width, height."""
    box = await element.bounding_box()
    assert box is not None
    return {name: float(value) for name, value in box.items() if isinstance(value, int | float)}


async def until(holds: Callable[[], Awaitable[Any]]) -> None:
    """Waits for a condition."""
    for _ in range(int(PATIENCE / PAUSE)):
        if await holds():
            return
        await asyncio.sleep(PAUSE)
    raise AssertionError("it never came to be")
