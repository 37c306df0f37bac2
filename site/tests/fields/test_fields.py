"""Every field of SPEC 2.2, from the text of the file to what a browser shows. docs/site-fields.md names these tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page

from engines.chromium import OpenPage, follow
from tenantry_site import SiteOptions
from tests.fields.stage import NAVIGATION, made, style, texts, visit
from tests.platforms import PLATFORMS

SIDEBAR = ".sidebar .pages a"


async def test_name(open_page: OpenPage, tmp_path: Path) -> None:
    page = (await visit(open_page, made(tmp_path))).page
    assert await page.title() == "Home – Acme"
    assert await texts(page, ".brand") == ["Acme"]


async def test_navigation(open_page: OpenPage, tmp_path: Path) -> None:
    """Groups in groups; the open page is marked; previous and next follow the order; what is not named is hidden."""
    groups = [{"group": "Begin", "pages": ["index", {"group": "Inner", "pages": ["guides/start", "guides/next"]}]}]
    page = (await visit(open_page, made(tmp_path, navigation=groups), "guides/start")).page
    assert await texts(page, SIDEBAR) == ["Home", "Start", "Next"]
    assert await page.locator(f"{SIDEBAR}[aria-current=page]").inner_text() == "Start"
    assert "Home" in await page.locator("a.previous").inner_text()
    await follow(page.locator("a.next"))
    assert await page.locator("h1").inner_text() == "Next"
    assert await page.locator("a.next").count() == 0
    await page.goto(page.url.replace("guides/next", "unlisted"))
    assert await page.locator("h1").inner_text() == "Unlisted"
    assert "Unlisted" not in await texts(page, SIDEBAR)


@pytest.mark.parametrize("dark", [False, True])
async def test_logo(open_page: OpenPage, tmp_path: Path, dark: bool) -> None:
    """One of two by the mode; a click leads to ``href``."""
    logo = {"light": "/light.svg", "dark": "/dark.svg", "href": "/guides/next"}
    page = (await visit(open_page, made(tmp_path, logo=logo), dark=dark)).page
    seen = page.locator(".brand img:visible")
    assert await seen.count() == 1
    assert ("dark.svg" if dark else "light.svg") in str(await seen.get_attribute("src"))
    assert await seen.evaluate("(image) => image.naturalWidth") > 0
    await follow(seen)
    assert await page.locator("h1").inner_text() == "Next"


async def test_logo_as_one_path(open_page: OpenPage, tmp_path: Path) -> None:
    """It stands for both modes, and leads home."""
    page = (await visit(open_page, made(tmp_path, logo="/light.svg"), "guides/next", dark=True)).page
    assert "light.svg" in str(await page.locator(".brand img:visible").get_attribute("src"))
    await follow(page.locator(".brand"))
    assert await page.locator("h1").inner_text() == "Home"


async def test_favicon(open_page: OpenPage, tmp_path: Path) -> None:
    page = (await visit(open_page, made(tmp_path, favicon="/light.svg"), "guides/start")).page
    assert await page.locator("link[rel=icon]").get_attribute("href") == "../light.svg"


@pytest.mark.parametrize("dark", [False, True])
async def test_colors(open_page: OpenPage, tmp_path: Path, dark: bool) -> None:
    """``primary`` and ``light`` are the accents of the modes, ``dark`` and ``background`` the grounds."""
    ground = {"light": "#fffdf0", "dark": "#101820"}
    colors = {"primary": "#a02060", "light": "#ff80c0", "dark": "#600040", "background": ground}
    button = {"name": "Go", "url": "/guides/start"}
    page = (await visit(open_page, made(tmp_path, colors=colors, topbarCtaButton=button), dark=dark)).page
    accent = "rgb(255, 128, 192)" if dark else "rgb(160, 32, 96)"
    assert await style(page, f"{SIDEBAR}[aria-current=page]", "color") == accent
    assert await style(page, "html", "backgroundColor") == ("rgb(16, 24, 32)" if dark else "rgb(255, 253, 240)")
    assert await style(page, ".tools-button, a.cta, a.button", "backgroundColor") == "rgb(96, 0, 64)"


@pytest.mark.parametrize(("given", "dark"), [("light", False), ("dark", True)])
async def test_background_of_one_mode(open_page: OpenPage, tmp_path: Path, given: str, dark: bool) -> None:
    """Real files often give one side: the other mode keeps the ground it has without any."""
    sanitize = (await visit(open_page, made(tmp_path / "plain"), dark=not dark)).page
    usual = await style(sanitize, "html", "backgroundColor")
    out = made(tmp_path / "one", colors={"primary": "#a02060", "background": {given: "#336699"}})
    page = (await visit(open_page, out, dark=dark)).page
    assert await style(page, "html", "backgroundColor") == "rgb(51, 102, 153)"
    await page.emulate_media(color_scheme="light" if dark else "dark")
    assert await style(page, "html", "backgroundColor") == usual


async def test_topbar_links(open_page: OpenPage, tmp_path: Path) -> None:
    links = [{"name": "Status", "url": "https://status.example"}, {"name": "Begin", "url": "/guides/start"}]
    page = (await visit(open_page, made(tmp_path, topbarLinks=links))).page
    assert await texts(page, ".top-links a") == ["Status", "Begin"]
    assert await page.locator(".top-links a").first.get_attribute("href") == "https://status.example"
    await follow(page.locator(".top-links a", has_text="Begin"))
    assert await page.locator("h1").inner_text() == "Start here"


async def test_topbar_cta_button(open_page: OpenPage, tmp_path: Path) -> None:
    """A link; or a repository, of which nothing is asked unless that is allowed."""
    link = {"type": "link", "name": "Sign in", "url": "https://app.example"}
    page = (await visit(open_page, made(tmp_path / "link", topbarCtaButton=link))).page
    button = page.locator(".head").get_by_role("link", name="Sign in")
    assert await button.get_attribute("href") == "https://app.example"
    code = {"type": "github", "url": "https://github.com/acme/things"}
    seen = await visit(open_page, made(tmp_path / "code", topbarCtaButton=code))
    assert "acme/things" in await seen.page.locator(".head").inner_text()
    assert seen.hosts() == set()


async def test_versions(open_page: OpenPage, tmp_path: Path) -> None:
    """A dropdown in the order of the file; what has another version is hidden."""
    groups = [
        {"group": "Both", "pages": ["index"]},
        {"group": "New", "version": "v2", "pages": ["guides/next"]},
        {"group": "Old", "version": "v1", "pages": ["old/notes"]},
    ]
    page = (await visit(open_page, made(tmp_path, navigation=groups, versions=["v2", "v1"]))).page
    assert await texts(page, SIDEBAR) == ["Home", "Next"]
    await page.locator(".versions summary").click()
    assert await texts(page, ".versions ul a") == ["v2", "v1"]
    await page.locator(".versions ul a", has_text="v1").click()
    assert await texts(page, SIDEBAR) == ["Home", "Old notes"]


async def test_versions_within_versions(open_page: OpenPage, tmp_path: Path) -> None:
    """A page says its own version in its head; a group within a group is hidden with it; elsewhere is a link."""
    inner = {"group": "Inner", "pages": ["old/notes"]}
    groups = [
        {"group": "Both", "pages": ["index", "newer", {"group": "Only v2", "version": "v2", "pages": ["guides/next"]}]},
        {"group": "Outer", "version": "v1", "pages": ["guides/start", inner]},
    ]
    versions = ["v2", "v1", {"name": "v0", "url": "https://v0.example/docs"}]
    page = (await visit(open_page, made(tmp_path, navigation=groups, versions=versions))).page
    await _unfold(page)
    assert await texts(page, SIDEBAR) == ["Home", "Newer", "Next"]
    await page.locator(".versions summary").click()
    elsewhere = page.locator(".versions ul a", has_text="v0")
    assert await elsewhere.get_attribute("href") == "https://v0.example/docs"
    await page.locator(".versions ul a", has_text="v1").click()
    await _unfold(page)
    assert await texts(page, SIDEBAR) == ["Home", "Start", "Old notes"]
    assert await texts(page, ".group-title") == ["Both", "Outer"]


async def _unfold(page: Page) -> None:
    await page.evaluate("document.querySelectorAll('.pages details').forEach((each) => { each.open = true; })")


ANCHORS: list[dict[str, Any]] = [
    {"name": "Guides", "icon": "book", "iconType": "solid", "url": "guides", "color": "#a02060"},
    {
        "name": "Old",
        "icon": "clock",
        "url": "old",
        "isDefaultHidden": True,
        "color": {"from": "#112233", "to": "#445566"},
    },
    {"name": "Chat", "icon": "github", "iconType": "brands", "url": "https://chat.example"},
]


async def test_anchors(open_page: OpenPage, tmp_path: Path) -> None:
    """By the beginning of paths, or a link; with icon, ground and gradient; a hidden one waits until one is inside."""
    groups = [*NAVIGATION, {"group": "Old", "pages": ["old/notes"]}]
    out = made(tmp_path, anchors=ANCHORS, navigation=groups)
    page = (await visit(open_page, out)).page
    assert [each.split("\n")[0].rstrip("↗") for each in await texts(page, ".anchors a")] == [
        "Documentation",
        "Guides",
        "Chat",
    ]
    guides = page.locator(".anchors a", has_text="Guides")
    book = await guides.locator(".anchor-icon").inner_html()
    assert 'class="icon icon-solid' in book
    chat = page.locator(".anchors a", has_text="Chat")
    assert await chat.get_attribute("href") == "https://chat.example"
    assert await chat.locator(".anchor-icon svg.icon-brands").is_visible()
    assert await chat.locator(".anchor-icon").inner_html() != book
    assert (
        await guides.locator(".anchor-icon").evaluate("(e) => getComputedStyle(e).backgroundColor")
        == "rgb(160, 32, 96)"
    )
    await follow(guides)
    assert await texts(page, SIDEBAR) == ["Start", "Next"]
    assert await page.locator(".anchors a[aria-current]").inner_text() == "Guides"
    await page.goto(f"file://{out}/old/notes.html")
    old = page.locator(".anchors a", has_text="Old")
    assert await old.is_visible()
    ground = await old.locator(".anchor-icon").evaluate("(e) => getComputedStyle(e).backgroundImage")
    assert ground.startswith("linear-gradient")
    assert "rgb(17, 34, 51)" in ground


async def test_the_icon_types_look_different(open_page: OpenPage, tmp_path: Path) -> None:
    """Of an icon that is drawn in them. Red when ``iconType`` is not passed on."""
    kinds = ["duotone", "light", "sharp-solid", "solid", "thin"]
    anchors = [{"name": kind, "icon": "bell", "iconType": kind, "url": f"https://{kind}.example"} for kind in kinds]
    page = (await visit(open_page, made(tmp_path, anchors=anchors))).page
    rendered = [await each.inner_html() for each in (await page.locator(".anchors .anchor-icon").all())[1:]]
    assert len(set(rendered)) == len(kinds)


async def test_anchors_of_a_version(open_page: OpenPage, tmp_path: Path) -> None:
    anchors = [{"name": "Legacy", "icon": "clock", "url": "old", "version": "v1"}]
    groups = [{"group": "Both", "pages": ["index", "old/notes"]}]
    out = made(tmp_path, anchors=anchors, navigation=groups, versions=["v2", "v1"])
    page = (await visit(open_page, out)).page
    assert "Legacy" not in await texts(page, ".anchors a")
    assert await texts(page, SIDEBAR) == ["Home"]
    await page.locator(".versions summary").click()
    await page.locator(".versions ul a", has_text="v1").click()
    assert "Legacy" in await texts(page, ".anchors a")
    elsewhere = [{"name": "Wiki", "icon": "book", "url": "https://wiki.example", "version": "v1"}]
    out = made(tmp_path, anchors=elsewhere, navigation=groups, versions=["v2", "v1"])
    page = (await visit(open_page, out)).page
    assert "Wiki" not in "".join(await texts(page, ".anchors a"))
    await page.locator(".versions summary").click()
    await page.locator(".versions ul a", has_text="v1").click()
    assert "Wiki" in "".join(await texts(page, ".anchors a"))


TOPS: dict[str, dict[str, dict[str, str]]] = {
    "unset": {},
    "same": {"topAnchor": {"icon": "book-open", "iconType": "duotone"}},
    "icon": {"topAnchor": {"name": "Handbook", "icon": "compass"}},
    "type": {"topAnchor": {"name": "Handbook", "iconType": "solid"}},
}


async def test_top_anchor(open_page: OpenPage, tmp_path: Path) -> None:
    """``Documentation``, ``book-open``, ``duotone`` where the file says nothing else. Red when one is not passed on."""
    rendered = {}
    for name, top in TOPS.items():
        page = (await visit(open_page, made(tmp_path / name, anchors=ANCHORS[:1], **top))).page
        assert await texts(page, ".anchors a") == [top.get("topAnchor", {}).get("name", "Documentation"), "Guides"]
        rendered[name] = await page.locator(".anchors .anchor-icon").first.inner_html()
    assert rendered["unset"] == rendered["same"]
    assert len(set(rendered.values())) == len(TOPS) - 1


async def test_tabs(open_page: OpenPage, tmp_path: Path) -> None:
    """By whole segments of a path: ``apis`` is not of ``api``; an address elsewhere is a link."""
    tabs = [{"name": "Reference", "url": "api"}, {"name": "Blog", "url": "https://blog.example"}]
    groups = [*NAVIGATION, {"group": "Else", "pages": ["apis"]}]
    page = (await visit(open_page, made(tmp_path, tabs=tabs, navigation=groups))).page
    assert await texts(page, ".tabs a") == ["Documentation", "Reference", "Blog"]
    assert await page.locator(".tabs a", has_text="Blog").get_attribute("href") == "https://blog.example"
    assert await texts(page, SIDEBAR) == ["Home", "Start", "Next", "Apis"]
    await follow(page.locator(".tabs a", has_text="Reference"))
    assert await page.locator(".tabs a[aria-current]").inner_text() == "Reference"
    assert "Home" not in await texts(page, SIDEBAR)


async def test_footer_socials(open_page: OpenPage, tmp_path: Path) -> None:
    """The nine of the time of SPEC, and a newer one; each has a name that is read out, and a picture."""
    names = [*PLATFORMS, "x"]
    socials = {name: f"https://{name}.example/acme" for name in names}
    page = (await visit(open_page, made(tmp_path, footerSocials=socials))).page
    links = await page.locator(".socials a").all()
    assert [await each.get_attribute("href") for each in links] == list(socials.values())
    for each in links:
        assert await each.get_attribute("aria-label")
        assert await each.locator("svg").is_visible()


async def test_feedback(open_page: OpenPage, tmp_path: Path) -> None:
    options = SiteOptions(repository="https://github.com/acme/things/tree/main/docs")
    both = made(tmp_path / "both", options, feedback={"suggestEdit": True, "raiseIssue": True})
    page = (await visit(open_page, both, "guides/start")).page
    edit = page.get_by_role("link", name="Edit this page")
    assert await edit.get_attribute("href") == "https://github.com/acme/things/edit/main/docs/guides/start.md"
    issue = await page.get_by_role("link", name="Raise an issue").get_attribute("href")
    assert str(issue).startswith("https://github.com/acme/things/issues/new?title=")
    for suggest, issues in ((False, False), (True, False), (False, True)):
        out = made(tmp_path / "one", options, feedback={"suggestEdit": suggest, "raiseIssue": issues})
        page = (await visit(open_page, out, "guides/start")).page
        assert await page.get_by_role("link", name="Edit this page").count() == suggest
        assert await page.get_by_role("link", name="Raise an issue").count() == issues
    page = (await visit(open_page, made(tmp_path / "none", options), "guides/start")).page
    assert await page.locator(".page-links a").all_inner_texts() == ["View as Markdown"]


async def test_background_image(open_page: OpenPage, tmp_path: Path) -> None:
    page = (await visit(open_page, made(tmp_path, backgroundImage="/ground.svg"), "guides/start")).page
    grounds = await page.evaluate(
        "[...document.querySelectorAll('*')].flatMap((e) => ['', '::before', '::after']"
        ".map((part) => getComputedStyle(e, part || null).backgroundImage)).filter((image) => image.includes('ground'))"
    )
    assert len(grounds) == 1
    assert "/out/ground" in grounds[0]


async def test_redirects(open_page: OpenPage, tmp_path: Path) -> None:
    out = made(tmp_path, redirects=[{"source": "/gone/page", "destination": "/guides/next"}])
    page = (await open_page()).page
    await page.goto(f"file://{out}/gone/page.html")
    await page.wait_for_url("**/guides/next.html")
    assert await page.locator("h1").inner_text() == "Next"


async def test_group_icons(open_page: OpenPage, tmp_path: Path) -> None:
    groups = [{"group": "Begin", "icon": "rocket", "iconType": "solid", "pages": ["index"]}, *NAVIGATION[1:]]
    page = (await visit(open_page, made(tmp_path, navigation=groups))).page
    assert await page.locator(".group-title").first.locator("svg.icon-solid path").count() == 1
    assert await page.locator(".group-title").nth(1).locator("svg").count() == 0


async def test_primary_tab(open_page: OpenPage, tmp_path: Path) -> None:
    out = made(tmp_path, tabs=[{"name": "Reference", "url": "api"}], primaryTab={"name": "Handbook"})
    page = (await visit(open_page, out)).page
    assert await texts(page, ".tabs a") == ["Handbook", "Reference"]


async def test_colors_of_anchors(open_page: OpenPage, tmp_path: Path) -> None:
    colors = {"primary": "#2f5bd8", "anchors": {"from": "#102030", "to": "#405060"}}
    anchors = [{"name": "Guides", "icon": "book", "url": "guides"}]
    page = (await visit(open_page, made(tmp_path, colors=colors, anchors=anchors))).page
    ground = await style(page, ".anchors a:has-text('Guides') .anchor-icon", "backgroundImage")
    assert ground.startswith("linear-gradient")
    assert "rgb(16, 32, 48)" in ground
