"""The theme that the host sets, in the real page of a dashboard: every key can be given and taken back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.async_api import Frame, Page

from engines.chromium import OpenPage
from tenantry.groups import GroupChanges
from tenantry.tokens import KeyRing, SigningKey
from tests.browser.embedding.frames import dashboards, until
from tests.browser.embedding.sites import Sites, serving
from tests.dashboards.served import write_files

FILES = {"sales/regions.yaml": "title: Sales\nrows:\n  - {text: Nothing was sold yet.}\n"}
DOT = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
OTHER_DOT = "data:image/gif;base64,R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw=="
LOOK = """() => {
  const {mode, corner, density} = document.documentElement.dataset;
  const style = getComputedStyle(document.querySelector("h1"));
  const logo = document.querySelector(".logo:not([hidden])")?.src ?? null;
  const accent = document.adoptedStyleSheets[0].cssRules[0].style.getPropertyValue("--accent"); // in light mode
  return {mode, corner, density, font: style.fontFamily.split(",")[0], accent, logo};
}"""
GROUPS: dict[str, Any] = {"accent": "#7a1f5c", "corner": "round", "logo": DOT}
NONE: dict[str, Any] = dict.fromkeys(("mode", "corner", "density", "logo")) | {"font": "system-ui", "accent": "#2f5bd8"}


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Sites]:
    with serving(KeyRing([SigningKey("k1", b"7" * 32)]), write_files(tmp_path, FILES)) as served:
        yield served


async def test_every_key_can_be_taken_back(open_page: OpenPage, real: Sites) -> None:
    """What the host sets is its whole theme: a key that it no longer gives is the group's again, or as always; nor does
    ``setTheme(null)`` fail. Red when keys are added up: accent, corner, density and font stayed; red when null is sent
    to the frame, which threw."""
    production = await real.store.environments.get("production")
    assert production is not None
    properties = {"carrier": "HA", "theme": GROUPS}
    await real.store.groups.update(production, "acme", GroupChanges(properties=properties))
    seen = await open_page()
    await seen.page.goto(f"{real.host}/?{urlencode({'groups': 'acme'})}")
    groups = NONE | GROUPS
    await _looks(seen.page, real, groups)
    whole = {"mode": "dark", "accent": "#224466", "corner": "square", "density": "compact", "font": "Georgia, serif"}
    for theme, look in (
        (whole | {"logo": OTHER_DOT}, whole | {"font": "Georgia", "logo": OTHER_DOT}),
        ({"density": "compact", "mode": "auto"}, groups | {"density": "compact"}),
        ({"accent": "teal"}, groups | {"accent": "#007777"}),
        ({}, groups),
        (whole, groups | whole | {"font": "Georgia"}),
        (None, groups),
    ):
        await seen.page.locator("#acme").evaluate("(element, theme) => element.setTheme(theme)", theme)
        await _looks(seen.page, real, look)
    assert seen.console == []
    assert await seen.violations() == []


async def test_what_cannot_be_used_is_named(open_page: OpenPage, real: Sites) -> None:
    """In the console, each once, with its rule; the rest of the theme counts, and an image of another site is not even
    asked for. What is no theme at all is an error of the caller. Red when they are left out in silence."""
    seen = await open_page()
    await seen.page.goto(f"{real.host}/?{urlencode({'groups': 'acme'})}")
    frame = await _looks(seen.page, real, NONE)
    wrong = {"accent": "rgb(0 0 0 / 50%)", "corner": "oval", "logo": f"{real.evil}/logo.png", "colour": "red"}
    wrong |= {"palette": ["#123456", "none"], "background": "#777777"}
    element = seen.page.locator("#acme")
    for density in ("compact", None):
        await element.evaluate("(element, theme) => element.setTheme(theme)", wrong | {"density": density})
        await _looks(seen.page, real, NONE | {"density": density})
    said = [text for text in seen.console if "of the theme" in text]
    assert [text.split("Tenantry: ")[1].split(" of the theme")[0] for text in said] == [*wrong]
    assert said[1].endswith('corner of the theme is "oval": it takes square or round')
    assert len(seen.console) == len(said)
    assert await frame.evaluate("document.querySelectorAll('.logo[src]').length") == 0
    for method in ("setTheme", "setFilters"):
        failed = await element.evaluate(
            "(element, method) => { try { element[method]('dark'); } catch (error) { return String(error); } }", method
        )
        assert failed == f"TypeError: {method}() takes an object, or null"


async def _looks(page: Page, sites: Sites, expected: dict[str, Any]) -> Frame:
    """The frame, once it looks exactly so."""

    async def found() -> Frame | None:
        for frame in dashboards(page, sites):
            if await frame.locator("main h1").count() and await frame.evaluate(LOOK) == expected:
                return frame
        return None

    frame: Frame = await until(found, f"a page that looks so: {expected}")
    return frame
