"""The HTML of the frame."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from tenantry_site.options import SiteOptions
from tenantry_site.page import FrontMatter
from tests.theme.sample import CONFIG, HEADS, config, page, theme

EVIL = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>&{{7*7}}"


class Seen(HTMLParser):
    """The elements of a page, in their order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def all(self, tag: str, **having: str) -> list[dict[str, str | None]]:
        return [
            attributes
            for name, attributes in self.elements
            if name == tag and all(value in (attributes.get(key.rstrip("_")) or "") for key, value in having.items())
        ]


def draw(path: str = "tenants/model", options: SiteOptions | None = None, **changes: Any) -> str:
    return theme(config(**changes), options).page(page(path, HEADS[path]))


def see(path: str = "tenants/model", options: SiteOptions | None = None, **changes: Any) -> Seen:
    return Seen(draw(path, options, **changes))


def test_the_frame_has_its_landmarks_and_one_heading() -> None:
    """Skip link, head, navigation, main, one h1."""
    html = draw()
    seen = Seen(html)
    assert html.startswith('<!doctype html>\n<html lang="en" dir="ltr"')
    assert len(seen.all("h1")) == len(seen.all("main")) == 1
    assert seen.all("a", class_="skip")[0]["href"] == "#Site-content"
    assert seen.all("title")
    assert "<title>Tenants, groups and what each may see – Harbour</title>" in html


def test_no_page_has_anything_inline() -> None:
    """Neither style nor handler nor script text. Red when a template gets a style attribute."""
    for path in HEADS:
        for tag, attributes in see(path).elements:
            assert not [name for name in attributes if name == "style" or name.startswith("on")], tag
    assert all(each.get("src") for each in see().all("script"))
    assert see().all("style") == []


def test_every_link_of_the_frame_leads_to_a_page_or_file_of_the_site() -> None:
    """From every folder. Red when the way up is left out."""
    made = theme(config())
    known = {f"{path}.html" for path in HEADS} | {f"{path}.md" for path in HEADS} | {"index.html"}
    known |= {"assets/site.css", "assets/site.js", "assets/mode.js", "favicon.svg", "logo/light.svg", "logo/dark.svg"}
    for path, front in HEADS.items():
        seen = Seen(made.page(page(path, front)))
        for _, attributes in seen.elements:
            for name in ("href", "src"):
                target = attributes.get(name)
                if target and not re.match(r"[a-z]+:|#", target):
                    ups = target.count("../")
                    assert ups == path.count("/"), target
                    assert target.replace("../", "").partition("#")[0] in known, target


def test_the_open_page_is_marked_and_its_groups_are_open() -> None:
    """Once in the sidebar. Red when the mark is left out, or is kept in the drawing for the next page."""
    made = theme(config())
    for path in ("tenants/roles", "tenants/tokens", "tenants/roles"):
        seen = Seen(made.page(page(path, HEADS[path])))
        current = [each["href"] for each in seen.all("a") if each.get("aria-current") == "page"]
        assert current == [f"../{path}.html"]
    opened = [each for each in seen.all("details") if "data-group" in each and "open" in each]
    assert len(opened) == 2


def test_logo_favicon_and_name() -> None:
    """Both logos, swapped by the mode; one for both; none: the name. The link is the logo's."""
    images = see().all("img")
    assert [(each["src"], each["class"], each["alt"]) for each in images] == [
        ("../logo/light.svg", "only-light", "Harbour"),
        ("../logo/dark.svg", "only-dark", "Harbour"),
    ]
    assert see().all("a", class_="brand")[0]["href"] == "../start/welcome.html"
    assert [each.get("class") for each in see(logo="/logo/dark.svg").all("img")] == [None]
    assert see(logo=None).all("img") == []
    assert see(logo=None).all("a", class_="brand")[0]["href"] == "../index.html"
    assert see().all("link", rel="icon")[0]["href"] == "../favicon.svg"
    assert see(favicon=None).all("link", rel="icon")[0]["href"] == "data:,"


def test_top_links_and_the_call_to_action() -> None:
    """A button with its name; for a repository a plain link, with its owner and name."""
    assert see().all("a", class_="button")[0]["href"] == "https://console.harbour.example"
    assert "Open console" in draw()
    assert {each["href"] for each in see().all("a", href="status")} == {"https://status.harbour.example"}
    host = {"type": "github", "url": "https://github.com/harbour/harbour"}
    link = see(topbarCtaButton=host).all("a", class_="repository")[0]
    assert link["href"] == "https://github.com/harbour/harbour"
    assert "data-repository-facts" not in link
    assert ">harbour/harbour<" in draw(topbarCtaButton=host)
    asking = see(topbarCtaButton=host, options=SiteOptions(repository_facts=True)).all("a", class_="repository")[0]
    assert asking["data-repository-facts"] == "harbour/harbour"
    assert see(topbarCtaButton=None).all("a", class_="button") == []


def test_anchors_tabs_and_socials() -> None:
    """Icons and their classes; a hidden anchor on its own pages only; the versions' marks."""
    html = draw()
    assert "Internals" not in html
    assert "Internals" in draw("internals/engine")
    assert 'class="anchor-icon anchor-icon-0"' in html
    assert '<li data-shown-in="2"><a href="../legacy/notes.html"' in html
    current = [each["href"] for each in see("api/get-group").all("a") if each.get("aria-current") == "true"]
    assert current == ["../api/get-group.html"] * 3  # the version, the tab and, within it, the top anchor
    assert [each["aria-label"] for each in see().all("a") if each.get("aria-label")] == [
        "Website",
        "GitHub",
        "X",
        "Discord",
        "Hacker News",
        "LinkedIn",
    ]
    assert 'class="tabs"' not in draw(tabs=None)


def test_the_modes_of_the_toggle() -> None:
    """Unset: the system. A default is written by the server, so that it holds without a script; hidden: no toggle."""

    def root(toggle: dict[str, Any]) -> tuple[str | None, str | None, bool]:
        seen = see(modeToggle=toggle)
        html = seen.all("html")[0]
        return html.get("data-mode"), html.get("data-default-mode"), bool(seen.all("button", class_="mode-toggle"))

    assert root({}) == (None, "", True)
    assert root({"default": "dark"}) == ("dark", "dark", True)
    assert root({"default": "dark", "isHidden": True}) == ("dark", None, False)
    assert root({"isHidden": True}) == (None, None, False)


def test_versions() -> None:
    """The page says which it belongs to, and the first is meant where it belongs to all."""
    html = see().all("html")[0]
    assert (html["data-version"], html["data-versions"], html["data-site"]) == ("0", "0 1 2", "Harbour")
    assert see("v2/upgrade").all("html")[0]["data-versions"] == "1"
    choices = [each for each in see("v2/upgrade").all("a") if "data-choose" in each]
    assert [(each["href"], "data-stays" in each) for each in choices] == [
        ("../v3/upgrade.html", False),
        ("../v2/upgrade.html", True),
        ("../legacy/notes.html", False),
    ]
    assert "data-version" not in see(versions=None).all("html")[0]
    assert 'class="versions"' not in draw(versions=None)


def test_steps_of_a_page_in_all_versions() -> None:
    """One for each version. Red when the step of the first version is shown in all."""
    steps = [(each["href"], each.get("data-shown-in")) for each in see("tenants/limits").all("a", rel="next")]
    assert steps == [("../v3/upgrade.html", "0"), ("../v2/upgrade.html", "1")]


def test_feedback() -> None:
    """Only what was asked for, and only where a repository is known; else it is said."""
    known = SiteOptions(repository="https://github.com/h/h/tree/main/docs")
    html = draw(options=known)
    assert 'href="https://github.com/h/h/edit/main/docs/tenants/model.mdx"' in html
    assert "https://github.com/h/h/issues/new?title=Docs%3A%20Tenants" in html
    assert "Edit this page" not in draw(options=known, feedback={"raiseIssue": True})
    made = theme(config())
    assert "Edit this page" not in made.page(page("tenants/model", HEADS["tenants/model"]))
    assert [reported.code for reported in made.diagnostics] == ["SITE001"]
    assert theme(config(), known).diagnostics == ()


def test_what_is_not_shown_is_reported() -> None:
    """A logo of another host, a link to nowhere, an icon that does not exist: with the place in the file."""
    made = theme(
        config(
            logo="https://cdn.example/logo.svg",
            topbarLinks=[{"name": "Gone", "url": "/gone"}],
            anchors=[{"name": "A", "icon": "no-such-icon", "url": "guides"}],
            feedback={},
        )
    )
    html = made.page(page("guides/first", HEADS["guides/first"]))
    assert "cdn.example" not in html
    assert {(reported.code, reported.pointer) for reported in made.diagnostics} == {
        ("SITE002", "/logo"),
        ("SITE003", "/topbarLinks/0/url"),
        ("SITE004", "/anchors/0/icon"),
    }
    assert "cdn.example" in draw(options=SiteOptions(external_media=True), logo="https://cdn.example/logo.svg")


def test_metadata() -> None:
    """Description, Open Graph, what the page itself says, and the address that it is published under."""
    front = FrontMatter(
        title="T", description="D", keywords=("a", "b"), noindex=True,
        meta={"og:image": "/x.png", "og:title": "Own", "twitter:card": "summary", "viewport": "1", "bad name": "x"},
    )  # fmt: skip
    made = theme(config(), SiteOptions(base_url="https://docs.example/h/"), {"a/b": front})
    seen = Seen(made.page(page("a/b", front)))
    names = {each["name"]: each["content"] for each in seen.all("meta") if each.get("name")}
    properties = {each["property"]: each["content"] for each in seen.all("meta") if each.get("property")}
    assert (names["description"], names["keywords"], names["robots"]) == ("D", "a, b", "noindex")
    assert names["twitter:card"] == "summary"
    assert names["viewport"] == "width=device-width, initial-scale=1"
    assert "bad name" not in names
    assert (properties["og:title"], properties["og:image"]) == ("Own", "/x.png")
    assert properties["og:url"] == seen.all("link", rel="canonical")[0]["href"] == "https://docs.example/h/a/b.html"
    assert see().all("link", rel="canonical") == []


def test_the_first_page_at_the_root() -> None:
    """A copy of it is drawn where it stands, and belongs where its original does."""
    front = HEADS["start/welcome"]
    html = theme(config()).page(page("index", front), of="start/welcome")
    seen = Seen(html)
    assert seen.all("link", rel="canonical")[0]["href"] == "start/welcome.html"
    assert [each["href"] for each in seen.all("a") if each.get("aria-current") == "page"] == ["start/welcome.html"]


def test_the_policy_opens_for_a_playground_without_a_relay_only() -> None:
    """To the API's origins, and to those of the page. Red when every page may reach them."""

    def connect(options: SiteOptions, **parts: Any) -> str:
        front = FrontMatter(title="A", api="POST https://other.example/v1/x")
        made = theme(config(api={"baseUrl": ["https://api.example/v1"]}), options, {"a": front})
        seen = Seen(made.page(page("a", front, **parts)))
        policy = seen.all("meta", content="default-src")[0]["content"] or ""
        return next(rule for rule in policy.split("; ") if rule.startswith("connect-src"))

    playground = {"parts": frozenset({"playground"})}
    assert connect(SiteOptions()) == "connect-src 'self'"
    assert connect(SiteOptions(), **playground) == "connect-src 'self' https://api.example https://other.example"
    assert connect(SiteOptions(relay="_relay"), **playground) == "connect-src 'self'"


def test_on_this_page() -> None:
    """Headings to the third level; none on a wide page."""
    assert [each["href"] for each in see().all("a", href="#")][1:4] == [
        "#from-a-token-to-rows",
        "#what-is-bound",
        "#what-is-escaped",
    ]
    assert 'class="contents"' not in draw("changes/releases")


def test_not_found() -> None:
    """Its links hold at any address."""
    html = theme(config(), SiteOptions(base_url="https://h.example/docs")).not_found()
    assert 'href="/docs/assets/site.css"' in html
    assert 'href="/docs/start/welcome.html"' in html
    assert 'content="noindex"' in html
    assert 'href="../../assets/site.css"' in theme(config()).not_found("../../")
    assert 'href="/assets/site.css"' in theme(config()).not_found()


def _evil(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _evil(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_evil(inner) for inner in value]
    return value + EVIL if isinstance(value, str) else value


def test_nothing_of_a_file_or_page_escapes_its_element() -> None:
    """Every text of the configuration and of a page's head is hostile. Red when a template says ``|safe``."""
    hostile: dict[str, Any] = {}
    for key, value in CONFIG.items():
        hostile[key] = value if key in {"colors", "modeToggle", "feedback", "navigation"} else _evil(value)
    for each in (*hostile["anchors"], hostile["topAnchor"], hostile["topbarCtaButton"]):
        each.pop("iconType", None)
        each.pop("color", None)
    hostile["topbarCtaButton"]["type"] = "link"
    heads = {
        path: FrontMatter(
            title=EVIL, sidebar_title=EVIL, description=EVIL, icon=EVIL, url=EVIL, keywords=(EVIL,),
            meta={"og:x": EVIL, EVIL: EVIL}, version=EVIL,
        )
        for path in HEADS
    }  # fmt: skip
    made = theme(
        config(**hostile), SiteOptions(base_url="https://x.example/" + EVIL, repository="https://g/" + EVIL), heads
    )
    for drawn in (made.page(page("tenants/model", heads["tenants/model"], html="")), made.not_found(EVIL)):
        seen = Seen(drawn)
        assert all(set(each) <= {"src", "defer"} and each["src"] for each in seen.all("script"))
        assert [each for each in seen.all("img") if each.get("src") == "x"] == []
        assert not [name for _, attributes in seen.elements for name in attributes if name.startswith("on")]
        assert "{{7*7}}" in drawn


@pytest.mark.parametrize("scheme", ["javascript:alert(1)", "data:text/html,x", "vbscript:x", " JavaScript:alert(1)"])
def test_no_address_runs_anything(scheme: str) -> None:
    """A model that was made by hand holds such. Red when links are written unresolved."""
    changes: dict[str, Any] = {
        "logo": {"light": scheme, "dark": scheme, "href": scheme},
        "favicon": scheme,
        "topbarLinks": [{"name": "x", "url": scheme}],
        "topbarCtaButton": {"name": "x", "url": scheme},
        "anchors": [{"name": "x", "url": scheme}],
        "tabs": [{"name": "x", "url": scheme}],
        "versions": [{"name": "v3", "url": scheme}, "v2"],
        "footerSocials": {"website": scheme},
        "backgroundImage": scheme,
    }
    html = draw("tenants/model", **changes)
    assert not [
        target
        for _, attributes in Seen(html).elements
        for target in (attributes.get("href"), attributes.get("src"))
        if target and re.match(r"(?i)\s*(javascript|data:text|vbscript)", target)
    ]


def test_a_page_weighs_the_same_in_a_site_of_any_size() -> None:
    """Everything around the text, at 50 pages and at 3,000. Red when the whole navigation is in every page."""
    sizes = []
    for count in (50, 3000):
        heads = {f"g{n // 10}/p{n}": FrontMatter(title=f"Page {n:05}") for n in range(count)}
        groups = [{"group": f"G{g}", "pages": [f"g{g}/p{g * 10 + n}" for n in range(10)]} for g in range(count // 10)]
        made = theme(config(navigation=groups), None, heads)
        sizes.append(len(made.page(page("g2/p21", heads["g2/p21"]))))
    assert sizes[1] < sizes[0] * 1.6
