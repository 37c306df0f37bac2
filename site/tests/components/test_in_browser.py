"""All components on one page in a real Chromium, under the site's policy, with and without a script."""

from __future__ import annotations

import base64
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Page, Route

from engines.axe import serious
from engines.chromium import OpenPage, Watched
from tests.components.showcase import FILES, POLICY, page

HOST = "http://site.test"
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
DOCUMENT = page()


async def answer(route: Route) -> None:
    path = urlsplit(route.request.url).path
    if path in FILES:
        await route.fulfill(body=FILES[path], content_type="text/css" if path.endswith(".css") else "text/javascript")
    elif path.endswith(".png"):
        await route.fulfill(body=PIXEL, content_type="image/png")
    else:
        await route.fulfill(body=DOCUMENT, content_type="text/html", headers={"Content-Security-Policy": POLICY})


async def visit(open_page: OpenPage, fragment: str = "", **options: object) -> Watched:
    seen: Watched = await open_page(**options)
    await seen.page.context.route("**/*", answer)
    await seen.page.goto(f"{HOST}/start.html{fragment}")
    return seen


async def focused(page: Page) -> str:
    text: str = await page.evaluate("document.activeElement.textContent")
    return text


async def test_the_tabs_have_a_keyboard_path(open_page: OpenPage) -> None:
    """Arrows, Home and End; one stop of the Tab key; panels labelled. Red without the key handler."""
    seen = await visit(open_page)
    page = seen.page
    tabs = page.get_by_role("tablist").first.get_by_role("tab")
    assert [await tab.get_attribute("tabindex") for tab in await tabs.all()] == ["0", "-1", "-1"]
    await tabs.first.focus()
    walked = []
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft", "Home", "End"):
        await page.keyboard.press(key)
        walked.append(await focused(page))
    assert walked == ["pnpm", "yarn", "npm", "yarn", "npm", "yarn"]
    assert await page.get_by_role("tabpanel", name="yarn").is_visible()
    assert await page.get_by_text("Words for npm.").is_hidden()
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.getAttribute('role')") == "tabpanel"
    assert seen.console == []
    assert await seen.violations() == []


async def test_tabs_of_one_title_change_together_and_are_remembered(open_page: OpenPage) -> None:
    """In the session, not beyond it; and what was clicked stays where it is. Red without the loop over groups."""
    page = (await visit(open_page)).page
    second = page.get_by_role("tablist").nth(1).get_by_role("tab", name="pnpm")
    await second.scroll_into_view_if_needed()
    before = await second.bounding_box()
    await second.click()
    assert await second.bounding_box() == before
    for words in ("Words for pnpm.", "More for pnpm.", "pnpm <add>"):
        assert await page.get_by_text(words).is_visible(), words
    await page.reload()
    assert await page.get_by_text("Words for pnpm.").is_visible()
    assert await page.evaluate("localStorage.length") == 0


async def test_a_fragment_opens_what_it_is_in(open_page: OpenPage) -> None:
    """An accordion, a tab, an accordion in a tab; on arrival and later. Red without reveal()."""
    page = (await visit(open_page, "#deep")).page
    assert await page.get_by_text("Words of the second.").is_visible()
    await page.evaluate("location.hash = '#yarn'")
    await page.get_by_text("Nested", exact=True).wait_for()
    assert await page.get_by_text("Words in a tab.").is_hidden()
    seen = await visit(open_page, "#%")  # a fragment that is no text
    assert seen.console == []
    page = (await visit(open_page, "#nested")).page
    assert await page.get_by_text("Words in a tab.").is_visible()
    assert await page.get_by_text("Words in a tab.").evaluate("each => each.getBoundingClientRect().top < innerHeight")


KEEP = """() => {
  const soon = setTimeout;
  window.setTimeout = (run, delay) => (delay ? 0 : soon(run));
}"""
"""What goes after a while stays: a busy machine may be too late to read it."""


async def test_the_copy_button_copies_and_confirms_it(open_page: OpenPage) -> None:
    """With the clipboard's interface and without. Red when the text is taken with the button's own."""
    for secure in (True, False):
        seen = await visit(open_page)
        page = seen.page
        if not secure:
            assert await page.evaluate("navigator.clipboard === undefined")  # http and not localhost
        else:
            await page.evaluate(
                "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (t) => { window.took = t; }}})"
            )
        await page.evaluate("document.addEventListener('copy', () => { window.took = String(getSelection()); })")
        await page.evaluate(KEEP)
        button = page.locator(".code:has-text('make') .copy")
        await button.focus()
        await page.keyboard.press("Enter")
        await page.locator("[aria-live=polite]", has_text="Copied").wait_for(state="attached")
        assert await button.text_content() == "Copied"
        assert await focused(page) == "Copied"
        if secure:
            assert await page.evaluate("window.took") == "make"
        assert await seen.violations() == []


async def test_a_tooltip_comes_with_focus_and_goes_with_escape(open_page: OpenPage) -> None:
    page = (await visit(open_page)).page
    tip = page.get_by_role("tooltip", include_hidden=True)
    await page.locator(".tooltip").focus()
    assert await tip.is_visible()
    await page.keyboard.press("Escape")
    assert await tip.is_hidden()


ALL_WORDS = (
    *(f"Words of {name}." for name in ("Note", "Info", "Tip", "Check", "Warning", "Danger", "a card", "an accordion")),
    *(
        "Words of the first.",
        "Words of the second.",
        "Words for npm.",
        "Words for pnpm.",
        "More for pnpm.",
        "pnpm <add>",
    ),
    *("Words in a tab.", "Words of the first step.", "What it holds.", "A limit.", "requests.get(x)", "A caption"),
    *("Words of an update.", "Words of a snippet."),
)
CLOSED = {"Words of an accordion.", "Words of the second.", "Words in a tab.", "A limit."}


async def test_without_a_script_everything_can_be_read(open_page: OpenPage) -> None:
    """What is closed opens by itself, being <details>. Red when panels are written with `hidden`."""
    page = (await visit(open_page, java_script_enabled=False)).page
    for words in ALL_WORDS:
        found = page.get_by_text(words)
        if words in CLOSED:
            for summary in await found.locator("xpath=ancestor::details/summary").all():
                await summary.click()
        assert await found.is_visible(), words
    assert await page.locator(".copy").first.is_hidden()


async def test_on_paper_everything_is_open(open_page: OpenPage) -> None:
    """Tabs one under the other, accordions open, the tooltip in brackets. Red without the print rules."""
    page = (await visit(open_page)).page
    await page.emulate_media(media="print")
    for words in (*ALL_WORDS, "Words of a tooltip"):
        assert await page.get_by_text(words).is_visible(), words
        box = await page.get_by_text(words).bounding_box()
        assert box is not None
        assert box["height"] > 0, words
    assert await page.locator(".tab-list").first.is_hidden()


async def test_nothing_moves_when_the_script_comes(open_page: OpenPage) -> None:
    """What the script hides is hidden from the first paint on. Red without `js` on the root element."""
    seen: Watched = await open_page()
    page = seen.page

    async def without_components(route: Route) -> None:
        if route.request.url.endswith("components.js"):
            await route.fulfill(body="", content_type="text/javascript")
        else:
            await answer(route)

    heights = []
    for handler in (without_components, answer):
        await page.unroute_all()
        await page.route("**/*", handler)
        await page.goto(f"{HOST}/start.html")
        heights.append(await page.locator("main").evaluate("main => main.getBoundingClientRect().height"))
    assert heights[0] == heights[1]


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (360, True)])
async def test_nothing_serious_for_axe_and_nothing_too_wide(open_page: OpenPage, width: int, dark: bool) -> None:
    """In both modes, everything open and with the tooltip shown. What a mode changes does not depend on the width."""
    page = (await visit(open_page, width=width, dark=dark)).page
    await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    await page.locator(".tooltip").focus()
    assert await page.evaluate("document.documentElement.scrollWidth") <= width
    assert await serious(page, also=["heading-order"]) == []


async def test_eleven_types_look_different(open_page: OpenPage) -> None:
    """Of an icon with a regular glyph and of one without; a brand's apart. Red when two kinds share a rule."""
    page = (await visit(open_page)).page
    icons = await page.locator(".icon-size-5 svg").all()
    assert len(icons) == 22
    pictures = [await icon.screenshot() for icon in icons]
    for part in (pictures[1:11], pictures[12:]):  # the first of each is brands, which is solid here
        assert len(set(part)) == 10
