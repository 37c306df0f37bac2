"""What a page with dashboards shows, waited for: a strict policy forbids ``wait_for_function``, which needs eval."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlencode

from playwright.async_api import Error, Frame, Page

from engines.chromium import OpenPage, Watched
from tests.browser.embedding.sites import Sites

SECONDS = 60
NAME = "dashboards/sales/regions"
"""The path of a dashboard."""

Condition = Callable[[], Awaitable[Any]]


async def until(condition: Condition, what: str | Callable[[], str]) -> Any:
    """The first true value of the condition, asked for again and again; ``what`` is said when there is none."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            if value := await condition():
                return value
        except Error:  # the document is just being replaced
            pass
        await asyncio.sleep(0.05)
    raise AssertionError(f"not within {SECONDS} s: {what if isinstance(what, str) else what()}")


async def embed(open_page: OpenPage, sites: Sites, groups: str, **query: str) -> Watched:
    """The product's page with an element for each of the groups, all of which show their panels."""
    seen = await open_page()
    await seen.page.goto(f"{sites.host}/?{urlencode({'groups': groups, **query})}")
    await until(lambda: _all_there(seen.page, sites, groups.split()), lambda: f"{groups} shown; {there(seen, sites)}")
    return seen


def there(seen: Watched, sites: Sites) -> str:
    """What there is in place of a frame that did not come, for the message of a failure."""
    frames = [frame.url for frame in seen.page.frames]
    asked = [line.split(" ")[:2] for line in sites.requests]
    return f"frames {frames}; console {seen.console}; lost {seen.lost}; asked {asked}"


async def _all_there(page: Page, sites: Sites, groups: list[str]) -> bool:
    found = [await shown(frame) for frame in dashboards(page, sites)]
    return sorted(each["answer"]["group"] for each in found if "answer" in each) == sorted(groups)


def dashboards(page: Page, sites: Sites) -> list[Frame]:
    """The frames of dashboards, in the order of the page."""
    return [frame for frame in page.frames if frame.url.startswith((sites.dashboards, sites.own_host))]


async def first_of(page: Page, sites: Sites, count: int) -> Frame | None:
    """The first of so many frames, when all of them are loaded."""
    found = dashboards(page, sites)
    for frame in found:
        await frame.wait_for_load_state()
    return found[0] if len(found) == count else None


async def shown(frame: Frame) -> dict[str, Any]:
    """What the page of a dashboard shows; empty while it shows nothing."""
    text = await frame.evaluate("document.querySelector('output')?.textContent ?? ''")
    return json.loads(text) if text else {}


async def shows(frame: Frame, **expected: Any) -> dict[str, Any]:
    """Waits until the frame shows all of these; what it shows then."""

    async def fits() -> dict[str, Any] | None:
        found = await shown(frame)
        return found if all(found.get(name) == value for name, value in expected.items()) else None

    found: dict[str, Any] = await until(fits, f"{expected} in {frame.url}")
    return found


async def press(frame: Frame, name: str) -> None:
    """Clicks a button of the dashboard."""
    await frame.locator(f"[data-name={name}]").click()


async def frame_of(page: Page, sites: Sites, group: str) -> Frame:
    """The frame that shows this group."""

    async def found() -> Frame | None:
        for frame in dashboards(page, sites):
            if (await shown(frame)).get("answer", {}).get("group") == group:
                return frame
        return None

    result: Frame = await until(found, f"a frame of {group}")
    return result


async def noted(page: Page) -> dict[str, Any]:
    """What the host's page has noted: how often it was asked for tokens, events, origins of messages. Waits until its
    script runs."""
    result: dict[str, Any] = await until(lambda: page.evaluate("window.noted"), "the host's script")
    return result
