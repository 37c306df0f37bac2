"""Pages of a browser that one test takes over from another: a new one starts a process of the browser, which compiles
the scripts again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal

from engines.chromium import CRASH, OpenPage, Watched, watched_page

if TYPE_CHECKING:
    from playwright.async_api import Browser


class KeptPages:
    """Each page has a context of its own. Between tests cookies are deleted, and what else pages store only if the
    blank page does it.

    ``blank``: the address of an empty page. A page with a Cross-Origin-Opener-Policy needs one of its own origin with
    the same policy: after another, the browser starts a new process all the same."""

    def __init__(self, browser: Browser, blank: str = "about:blank") -> None:
        self._browser = browser
        self._blank = blank
        self._idle: list[Watched] = []

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[OpenPage]:
        """``take`` for one test. At its end, the pages that it has taken are given back."""
        taken: list[Watched] = []

        async def take(**options: Any) -> Watched:
            taken.append(await self.take(**options))
            return taken[-1]

        yield take
        for seen in taken:
            await self.give_back(seen)

    async def take(self, width: int = 1440, height: int = 900, dark: bool = False) -> Watched:
        """A blank page of this size."""
        scheme: Literal["dark", "light"] = "dark" if dark else "light"
        if not self._idle:
            return await watched_page(self._browser, width, height, color_scheme=scheme)
        seen = self._idle.pop()
        await seen.page.emulate_media(media="null", color_scheme=scheme)
        if seen.page.viewport_size != {"width": width, "height": height}:
            await seen.page.set_viewport_size({"width": width, "height": height})
        return seen

    async def give_back(self, seen: Watched) -> None:
        """Makes it blank again: what it does ends, and so does what its test has done to it, apart from scripts and
        clocks. A page that is closed or has crashed, and one with others beside it, is not kept."""
        page, context = seen.page, seen.page.context
        if context.pages != [page] or CRASH in seen.lost:
            await context.close()
            return
        await page.unroute_all()
        await context.set_offline(False)
        await context.clear_cookies()
        await page.goto(self._blank)
        for each in (seen.console, seen.requests, seen.lost):
            each.clear()
        self._idle.append(seen)
