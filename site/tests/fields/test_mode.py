"""The field ``modeToggle`` in a browser: the mode, the toggle, and no flash. docs/site-fields.md names these tests."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Route

from engines.chromium import OpenPage
from tests.fields.stage import made, style, visit


@pytest.mark.parametrize("chosen", [None, "light", "dark"])
@pytest.mark.parametrize("dark", [False, True])
async def test_mode_toggle(open_page: OpenPage, tmp_path: Path, chosen: str | None, dark: bool) -> None:
    """Unset, the mode is the system's; else that of the file, until the reader chooses, and the choice stays."""
    out = made(tmp_path, modeToggle={"default": chosen} if chosen else {})
    page = (await visit(open_page, out, dark=dark)).page
    before = await style(page, "html", "backgroundColor")
    is_dark = before != "rgb(255, 255, 255)"
    assert is_dark == (dark if chosen is None else chosen == "dark")
    await page.locator(".mode-toggle").click()
    after = await style(page, "html", "backgroundColor")
    assert after != before
    await page.reload()
    assert await style(page, "html", "backgroundColor") == after


async def test_mode_toggle_hidden(open_page: OpenPage, tmp_path: Path) -> None:
    """With a default it is the only mode, whatever the system says."""
    out = made(tmp_path, modeToggle={"default": "light", "isHidden": True})
    page = (await visit(open_page, out, dark=True)).page
    assert await page.locator(".mode-toggle").count() == 0
    assert await style(page, "html", "backgroundColor") == "rgb(255, 255, 255)"
    await page.evaluate("localStorage.setItem('docs-mode', 'dark')")  # chosen while there was a toggle
    await page.reload()
    assert await style(page, "html", "backgroundColor") == "rgb(255, 255, 255)"


FRAMES = """
window.frames = [];
const look = () => {
  if (document.querySelector("h1")) frames.push(getComputedStyle(document.documentElement).backgroundColor);
  requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""


@pytest.mark.parametrize(
    ("toggle", "dark", "kept"),
    [({"default": "light"}, False, "dark"), ({"default": "dark"}, True, "light"), ({}, True, "light"), ({}, True, "")],
)
async def test_mode_toggle_without_a_flash(
    open_page: OpenPage, tmp_path: Path, toggle: dict[str, str], dark: bool, kept: str
) -> None:
    """Each frame from the first on has the mode that was chosen, on a slow line too.

    Red when the script of the mode does not block, or does not stand before what is painted.
    """
    page = (await visit(open_page, made(tmp_path, modeToggle=toggle), dark=dark)).page
    await page.evaluate("(mode) => mode && localStorage.setItem('docs-mode', mode)", kept)
    await page.add_init_script(FRAMES)

    async def slowly(route: Route) -> None:
        await asyncio.sleep(0.2)
        await route.continue_()

    await page.route("**/*.js", slowly)
    await page.reload()
    grounds: list[str] = []
    for _ in range(2_000):  # a busy machine paints late
        grounds = await page.evaluate("frames")
        if len(grounds) > 2:
            break
        await asyncio.sleep(0.05)
    shown = kept or ("dark" if dark else "light")
    assert len(grounds) > 2
    assert {"light" if ground == "rgb(255, 255, 255)" else "dark" for ground in grounds} == {shown}
    assert len(set(grounds)) == 1
