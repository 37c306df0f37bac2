"""The frame in a real Chromium, from a folder without a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, Route

from engines.axe import serious
from engines.chromium import OpenPage, Watched, follow
from tenantry_site.options import SiteOptions
from tests.theme import sample

SIZES = [(width, dark) for width in (1440, 768, 360) for dark in (False, True)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site with every field."""
    return sample.write(tmp_path_factory.mktemp("site"))


async def visit(open_page: OpenPage, folder: Path, path: str = "tenants/model", **options: Any) -> Watched:
    seen: Watched = await open_page(**options)
    await seen.page.goto(f"file://{folder}/{path}.html")
    return seen


async def style(page: Page, selector: str, name: str) -> str:
    found: str = await page.evaluate(
        "([selector, name]) => getComputedStyle(document.querySelector(selector))[name]", [selector, name]
    )
    return found


async def ground(page: Page) -> str:
    return await style(page, "html", "backgroundColor")


LIGHT, DARK = "rgb(255, 253, 248)", "rgb(12, 18, 20)"


@pytest.mark.parametrize(("width", "dark"), SIZES)
async def test_every_size_and_mode(open_page: OpenPage, folder: Path, width: int, dark: bool) -> None:
    """No sideways scrolling, nothing that axe calls serious, no message, no violated policy.

    Red when a colour of the text is too pale, and when the head is wider than 360 px.
    """
    seen = await visit(open_page, folder, width=width, dark=dark)
    assert await seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert await ground(seen.page) == (DARK if dark else LIGHT)
    assert await seen.page.locator(".brand img:visible").get_attribute("class") == f"only-{'dark' if dark else 'light'}"
    assert seen.console == []
    assert await seen.violations() == []
    if width != 768:  # what differs there is the room
        assert await serious(seen.page) == []  # last: it asks for the stylesheets, which a folder gives to no script


async def test_the_policy_of_a_page_holds_without_a_server(open_page: OpenPage, tmp_path: Path) -> None:
    """'self' means the folder, and what somebody got into a page does not run. Red without the meta element."""
    sample.write(tmp_path)
    made = sample.theme(sample.config())
    evil = '<p style="color: red" onclick="window.ran = 1">x</p><script>window.ran = 1</script>'
    html = made.page(sample.page("tenants/model", sample.HEADS["tenants/model"], html=evil))
    (tmp_path / "tenants/model.html").write_text(html, encoding="utf-8")
    seen = await visit(open_page, tmp_path)
    await seen.page.locator("article p").click()
    assert await seen.page.evaluate("window.ran") is None
    assert len(await seen.violations()) == 3
    assert await style(seen.page, ".head", "position") == "sticky"
    assert await seen.page.locator("html.js").count() == 1


async def test_the_mode_follows_the_system_until_it_is_chosen(open_page: OpenPage, folder: Path) -> None:
    """And is on the next page before anything is painted: without site.js, too. Red without mode.js."""
    page = (await visit(open_page, folder)).page
    toggle = page.get_by_role("button", name="Dark mode")
    assert await ground(page) == LIGHT
    await page.emulate_media(color_scheme="dark")
    assert await ground(page) == DARK
    await page.locator(".mode-toggle[aria-pressed=true]").wait_for()  # told of the change a moment later
    await toggle.click()
    assert await ground(page) == LIGHT

    async def refuse(route: Route) -> None:
        await route.abort()

    await page.route("**/site.js", refuse)
    await page.goto(f"file://{folder}/guides/first.html")
    assert await page.locator("html").get_attribute("data-mode") == "light"
    await page.unroute("**/site.js")
    await page.reload()
    await toggle.click()  # what the system says anyway is no choice: it follows the system again
    assert await page.locator("html").get_attribute("data-mode") is None
    assert await page.evaluate("localStorage.getItem('docs-mode')") is None


@pytest.mark.parametrize(
    ("toggle", "dark", "shown"),
    [({"default": "dark"}, False, DARK), ({"default": "light", "isHidden": True}, True, LIGHT), ({}, True, DARK)],
)
async def test_the_default_mode_holds_without_a_script(
    open_page: OpenPage, tmp_path: Path, toggle: dict[str, Any], dark: bool, shown: str
) -> None:
    """Written by the server. Red when only the script honours it."""
    sample.write(tmp_path, sample.config(modeToggle=toggle))
    page = (await visit(open_page, tmp_path, dark=dark, java_script_enabled=False)).page
    assert await ground(page) == shown
    assert await page.locator(".search-open, .mode-toggle").first.is_hidden()


async def test_paper_is_light_and_has_the_text_only(open_page: OpenPage, folder: Path) -> None:
    """Also of a page that is marked dark."""
    page = (await visit(open_page, folder, dark=True)).page
    await page.evaluate("document.documentElement.dataset.mode = 'dark'")
    await page.emulate_media(media="print")
    assert await ground(page) == LIGHT
    assert await page.locator("h1").is_visible()
    for selector in (".head", ".tabs", ".sidebar", ".contents", ".page-foot"):
        assert await page.locator(selector).is_hidden()


async def test_a_version_is_chosen_and_stays_chosen(open_page: OpenPage, folder: Path) -> None:
    """On a page of all versions without leaving it; on the next one before it is painted."""
    page = (await visit(open_page, folder, "tenants/limits")).page
    upgrade = page.locator(".sidebar").get_by_role("link", name="Upgrade to v")
    forward = page.locator(".steps .next:visible")
    assert await visible(upgrade) == ["Upgrade to v3"]
    assert "Upgrade to v3" in await forward.inner_text()
    await page.locator(".versions summary").click()
    await page.locator(".versions").get_by_role("link", name="v2").click()
    await page.wait_for_url(lambda url: url.endswith("tenants/limits.html"))
    assert await visible(upgrade) == ["Upgrade to v2"]
    assert "Upgrade to v2" in await forward.inner_text()
    assert "v2" in await page.locator(".versions summary").inner_text()
    await page.goto(f"file://{folder}/tenants/model.html")
    assert await visible(upgrade) == ["Upgrade to v2"]
    await page.goto(f"file://{folder}/v3/upgrade.html")
    await page.goto(f"file://{folder}/tenants/model.html")
    assert await visible(upgrade) == ["Upgrade to v3"]


async def visible(locator: Any) -> list[str]:
    return [await each.inner_text() for each in await locator.all() if await each.is_visible()]


async def test_an_anchor_of_a_version_waits_for_it(open_page: OpenPage, folder: Path) -> None:
    """SPEC: hidden until that version is selected."""
    page = (await visit(open_page, folder)).page
    anchor = page.locator(".anchors").get_by_role("link", name="Legacy notes")
    assert await anchor.is_hidden()
    await page.locator(".versions summary").click()
    await page.locator(".versions").get_by_role("link", name="v1").click()
    assert await anchor.is_visible()


async def test_without_a_script_a_version_is_a_link(open_page: OpenPage, folder: Path) -> None:
    """From a page of all versions to the first page of that one."""
    page = (await visit(open_page, folder, java_script_enabled=False)).page
    await page.locator(".versions summary").click()
    await follow(page.locator(".versions").get_by_role("link", name="v2"))
    await page.wait_for_url(lambda url: url.endswith("v2/upgrade.html"))
    assert await visible(page.locator(".pages").get_by_role("link", name="Upgrade")) == ["Upgrade to v2"]


async def test_the_keyboard_goes_past_the_head_and_through_the_menu(open_page: OpenPage, folder: Path) -> None:
    """The skip link is first; Escape closes the menu and gives the focus back."""
    page = (await visit(open_page, folder, width=360, height=740)).page
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.className") == "skip"
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    link = page.locator(".sidebar").get_by_role("link", name="Welcome aboard")
    assert await link.is_visible()
    top = await page.locator(".sidebar").bounding_box()
    assert top is not None
    assert top["y"] == 56  # below the head, however long the menu is
    await link.focus()
    await page.keyboard.press("Escape")
    assert await link.is_hidden()
    assert await page.evaluate("document.activeElement.parentElement.className") == "menu"


async def test_the_menu_and_the_contents_open_without_a_script(open_page: OpenPage, folder: Path) -> None:
    """On a narrow screen."""
    page = (await visit(open_page, folder, width=360, height=740, java_script_enabled=False)).page
    contents = page.locator(".contents").get_by_role("link", name="What is bound")
    assert await contents.is_hidden()
    await page.get_by_text("On this page").first.click()
    assert await contents.is_visible()
    await page.locator(".menu summary").click()
    await page.locator(".sidebar").get_by_text("Access").click()
    await follow(page.locator(".sidebar").get_by_role("link", name="Tokens"))
    await page.wait_for_url(lambda url: url.endswith("tenants/tokens.html"))


async def test_where_one_is_on_the_page(open_page: OpenPage, folder: Path) -> None:
    """The last heading that was passed; the last of all at the end. Red without site.js."""
    page = (await visit(open_page, folder)).page
    current = page.locator(".contents [aria-current]")
    assert await current.count() == 0
    await page.evaluate("document.getElementById('properties').scrollIntoView()")
    await page.locator(".contents [aria-current]", has_text="Properties").wait_for()
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    await page.locator(".contents [aria-current]", has_text="Limits").wait_for()
    assert await current.count() == 1


async def test_the_sidebar_keeps_its_scroll_position_and_shows_the_open_page(open_page: OpenPage, folder: Path) -> None:
    """From page to page; on the first one the open page is in sight."""
    page = (await visit(open_page, folder, "tenants/model", height=420)).page
    open_link = page.locator(".sidebar [aria-current=page]")
    box, place = await page.locator(".sidebar").bounding_box(), await open_link.bounding_box()
    assert box is not None
    assert place is not None
    assert box["y"] < place["y"] < box["y"] + box["height"]
    await page.evaluate("document.querySelector('.sidebar').scrollTop = 150")
    await follow(page.locator(".sidebar").get_by_role("link", name="The model"))
    assert await page.evaluate("document.querySelector('.sidebar').scrollTop") == 150


async def test_the_stars_are_asked_for_only_where_it_is_allowed(open_page: OpenPage, tmp_path: Path) -> None:
    """Otherwise no request leaves; without an answer the link stays plain."""
    button = {"type": "github", "url": "https://github.com/harbour/harbour"}

    async def answer(route: Route) -> None:
        await route.fulfill(json={"stargazers_count": 12345}, headers={"Access-Control-Allow-Origin": "*"})

    for options, words in ((SiteOptions(repository_facts=True), "★ 12K"), (SiteOptions(), "")):
        sample.write(tmp_path, sample.config(topbarCtaButton=button), options)
        seen: Watched = await open_page()
        await seen.page.route("https://api.github.com/**", answer)
        await seen.page.goto(f"file://{tmp_path}/tenants/model.html")
        if words:
            await seen.page.locator(".repository", has_text="12K").wait_for()
        await seen.page.wait_for_load_state("networkidle")
        hosts = seen.hosts() - {""}
        assert hosts == ({"api.github.com"} if words else set())
        assert await seen.violations() == []
        shown = await seen.page.locator(".repository").inner_text()
        assert ("12K" in shown) == bool(words)


async def test_the_other_pages_are_as_good(open_page: OpenPage, folder: Path) -> None:
    """A wide page, an API page with its methods, the 404, the menu and the search open: nothing that is serious."""
    page = (await visit(open_page, folder, "api/create-group")).page
    await page.evaluate("document.getElementById('Site-search-dialog').showModal()")
    assert await serious(page) == []
    page = (await visit(open_page, folder, "tenants/roles", width=360)).page
    await page.locator(".menu summary").click()
    assert await serious(page) == []
    for path in ("changes/releases", "404"):
        await page.goto(f"file://{folder}/{path}.html")
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


async def test_opened_groups_stay_open(open_page: OpenPage, folder: Path) -> None:
    """On the next pages, until the reader closes them. Red when each page opens only the groups of its own."""
    page = (await visit(open_page, folder)).page
    group = page.locator(".sidebar details", has=page.locator("summary", has_text="Access"))
    assert not await group.first.evaluate("e => e.open")
    await group.first.locator("summary").first.click()
    await page.goto(f"file://{folder}/tenants/sources.html")
    assert await group.first.evaluate("e => e.open")
    await group.first.locator("summary").first.press("Enter")
    await page.reload()
    assert not await group.first.evaluate("e => e.open")
