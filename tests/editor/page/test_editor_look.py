"""How the editor looks and what it weighs: every size and mode, axe, the policy, the console, the bundles."""

from __future__ import annotations

from importlib.resources import files

import pytest
from playwright.async_api import expect

from engines.axe import serious
from tenantry.editor.page import CHUNKS
from tests.editor.page.conftest import Visit, reload, shows, write
from tests.editor.page.stand_in import DASHBOARD, StandIn

pytestmark = pytest.mark.slow

BUNDLES = files("tenantry") / "static" / "bundles"
SIZES = [(1440, False), (820, False), (390, False), (1440, True)]
"""The dark mode has other colours, whatever the width."""
LARGEST_LOAD = 145_000
LARGEST_CHUNK = 25_000


@pytest.mark.parametrize(("width", "dark"), SIZES)
async def test_every_size_and_mode(stand_in: StandIn, visit: Visit, width: int, dark: bool) -> None:
    """No sideways scrolling, nothing that axe calls serious, a clean console, no violation. In the dark only
    the colours differ: nothing else is asked again."""
    only = ["color-contrast", "link-in-text-block"] if dark else []
    seen = await visit(width=width, dark=dark)
    page = seen.page
    await page.get_by_role("button", name="Run", exact=True).click()
    await page.locator(".rows tbody tr").first.wait_for()
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for tab in ("Table", "Chart", "Bound SQL", "Compare", "Sample", "History"):
        await page.get_by_role("tab", name=tab).click()
        assert await serious(page, only=only, also=("region", "heading-order")) == [], tab
    await page.locator(f".file[data-path='{DASHBOARD}']").click()
    await page.locator(".preview iframe").wait_for()
    assert await serious(page, only=only) == []
    assert seen.console == []
    assert await seen.violations() == []


async def test_what_opens_can_be_used_by_everybody(stand_in: StandIn, visit: Visit) -> None:
    """The search of groups, the viewer, the menu and dialogs, each open while axe looks."""
    page = (await visit()).page
    await write(page, "select {{ wrong }}")
    await page.get_by_label("Problems").wait_for()
    for name in ("As United Air Lines", "Viewer None", "Menu of the file"):
        await page.get_by_role("button", name=name).click()
        if name.startswith("As"):
            await page.get_by_role("option").first.wait_for()
        assert await serious(page) == [], name
        await page.keyboard.press("Escape")
    await page.get_by_role("button", name="New file in Queries").click()
    assert await serious(page) == []


async def test_the_tab_key_goes_through_the_page_in_order(stand_in: StandIn, visit: Visit) -> None:
    """Head, files, tabs, commands, text: few steps from the first to the text, each with a visible focus."""
    page = (await visit()).page
    await page.get_by_role("heading", name="SQL editor").click()
    found = []
    for _ in range(30):
        await page.keyboard.press("Tab")
        at = "(({ classList, localName, textContent }) => [localName, classList[0] ?? '', textContent.slice(0, 12)])"
        found.append(await page.evaluate(f"{at}(document.activeElement)"))
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        if await page.evaluate("Boolean(document.activeElement.closest('tenantry-code'))"):
            break
        assert await page.evaluate(outline) != "none", found[-1]
    classes = [name for _, name, _ in found]
    order = [classes.index(each) for each in ("choice", "file", "tab-name", "button")]
    assert order == sorted(order)
    assert len(found) < 20


async def test_a_phone_shows_and_runs(stand_in: StandIn, visit: Visit) -> None:
    """Nothing is written there, also when a page becomes narrow while a file is open; the open file is in sight, also
    among the tabs of a page that becomes narrower, and the page does not scroll sideways. Red when a narrow page offers
    Save, a fix or another way to write, and when what is hidden from sight in the list of files makes the page wider.
    """
    stand_in.files |= {f"queries/numbered_{number}.sql": "select {{ wrong }}" for number in range(20)}
    page = (await visit()).page
    for number in (10, 11, 12, 13, 14, 15, 9):
        last = page.locator(f".file[data-path='queries/numbered_{number}.sql']")
        await last.click()
        await expect(page.locator(".tab[aria-current]")).to_contain_text(f"numbered_{number}.sql")
    await write(page, "select {{ wrong }} as typed")
    await expect(page.get_by_role("button", name="Fix")).to_be_visible()
    await page.set_viewport_size({"width": 820, "height": 800})
    await expect(page.locator(".tab[aria-current]")).to_be_in_viewport(ratio=1)
    await page.set_viewport_size({"width": 390, "height": 800})
    for name in ("Save", "Format", "New file in Queries", "Fix"):
        await expect(page.get_by_role("button", name=name, exact=True)).to_be_hidden()
    await expect(page.get_by_role("button", name="Log out")).to_be_visible()
    await expect(last).to_be_in_viewport()
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.get_by_role("button", name="Menu of the file").click()
    await page.get_by_role("menuitem").first.wait_for()
    entries = await page.get_by_role("menuitem").all_inner_texts()
    assert entries == ["Read the catalogue again", "Commit message…"]
    await page.keyboard.press("Escape")
    await write(page, "select 1")
    await page.get_by_role("button", name="Run", exact=True).click()
    await page.locator(".rows tbody tr").first.wait_for()
    assert stand_in.bodies("run")[-1]["text"] == "select {{ wrong }} as typed"
    await page.set_viewport_size({"width": 1440, "height": 900})
    for name in ("Save", "Fix"):
        await expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()


async def test_the_line_between_text_and_result_moves_by_keys(stand_in: StandIn, visit: Visit) -> None:
    """And is where it was after a reload. Red when only the mouse moves it."""
    page = (await visit()).page
    line = page.get_by_role("separator")
    before = await line.get_attribute("aria-valuenow")
    await line.press("ArrowDown")
    after = await line.get_attribute("aria-valuenow")
    assert before != after
    await reload(page)
    await expect(line).to_have_attribute("aria-valuenow", str(after))


def test_the_bundles_are_small() -> None:
    """By brotli: what the editor loads before an author can write, and what each other bundle adds."""
    sizes = {name: len((BUNDLES / f"{name}.br").read_bytes()) for name in ("editor.js", "editor.css")}
    assert sum(sizes.values()) <= LARGEST_LOAD, sizes
    added = {name: len((BUNDLES / f"{name}.br").read_bytes()) for name in CHUNKS}
    assert max(added.values()) <= LARGEST_CHUNK, added


async def test_typing_over_a_selection_keeps_the_policy(stand_in: StandIn, visit: Visit) -> None:
    """Chromium gives the new text the look of the old one by an inline style. Brackets still go around a selection. Red
    when the browser replaces the selection by itself."""
    seen = await visit()
    for key, text in (("x", "x"), ("(", "(x)")):
        await seen.page.locator("tenantry-code").click()
        await seen.page.keyboard.press("ControlOrMeta+a")
        await seen.page.keyboard.type(key)
        await shows(seen.page, text)
    assert seen.console == []
    assert await seen.violations() == []
