"""Tabs and anchors: which pages they mark, and where they lead."""

from __future__ import annotations

import pytest

from tenantry_site.navigation import Navigation, SitePart
from tenantry_site.navigation.tree import PathPrefixes, prefix_of
from tenantry_site.page import FrontMatter
from tests.navigation.site import navigation, paths

GROUPS = [{"group": "All", "pages": ["start", "api/users", "api/events/list", "api-reference/x", "guides/a"]}]
TABS = [{"name": "API", "url": "api"}, {"name": "Events", "url": "/api/events/"}]
ANCHORS = [{"name": "Guides", "url": "guides"}, {"name": "Events", "url": "api/events"}]


def part(site: Navigation, path: str) -> SitePart:
    return site.view(path).scope.part


def test_a_prefix_ends_with_a_segment() -> None:
    """``api`` marks ``api/users`` and not ``api-reference/x``. Red when str.startswith decides."""
    site = navigation(GROUPS, tabs=TABS)
    assert part(site, "api/users").tab == 0
    assert part(site, "api-reference/x").tab is None


def test_the_longest_prefix_wins_whatever_the_order() -> None:
    """Red when the first that fits wins."""
    for tabs in (TABS, TABS[::-1]):
        site = navigation(GROUPS, tabs=tabs)
        assert tabs[part(site, "api/events/list").tab or 0]["name"] == "Events"


@pytest.mark.parametrize(
    ("url", "prefix"),
    [
        ("api", "api"),
        ("/api/", "api"),
        ("./api.mdx", "api"),
        ("/", ""),
        ("api#x", "api"),
        ("https://elsewhere.example/api", None),
        ("//elsewhere.example", None),
        ("mailto:a@example.com", None),
        ("../out", None),
        ("http://[", None),
    ],
)
def test_what_marks_pages_and_what_is_a_link(url: str, prefix: str | None) -> None:
    """Page references of every spelling, and addresses."""
    assert prefix_of(url) == prefix


def test_the_first_of_two_equal_prefixes_counts() -> None:
    """And a prefix may be a whole page, or everything."""
    assert PathPrefixes(["a/b", "a/b", "/"]).find("a/b") == 0
    assert PathPrefixes(["a/b", "a/b", "/"]).find("c") == 2
    assert PathPrefixes([]).find("c") is None


def test_a_page_has_a_tab_and_an_anchor_each_found_for_itself() -> None:
    """With both on one site the sidebar shows what shares both. Red when an anchor takes a page out of its tab."""
    site = navigation(GROUPS, tabs=TABS[:1], anchors=ANCHORS)
    assert part(site, "api/users") == SitePart(0, None)
    assert part(site, "api/events/list") == SitePart(0, 1)
    assert part(site, "guides/a") == SitePart(None, 0)
    assert part(site, "start") == SitePart(None, None)
    assert site.view("api/users").next == ()
    assert paths(site.view("start").next) == ["api-reference/x"]


def test_tabs_lead_to_their_first_page_and_the_first_tab_to_what_no_other_has() -> None:
    """The name of the first tab is that of primaryTab, else that of the top anchor."""
    tabs = [*TABS, {"name": "Blog", "url": "https://blog.example"}, {"name": "Nothing", "url": "nowhere"}]
    site = navigation(GROUPS, tabs=tabs, primaryTab={"name": "Docs"})
    drawn = site.tabs(site.view("api/users").scope)
    assert [(tab.name, paths(tab.targets) or tab.url, tab.current) for tab in drawn] == [
        ("Docs", ["start"], False),
        ("API", ["api/users"], True),
        ("Events", ["api/events/list"], False),
        ("Blog", "https://blog.example", False),
    ]
    assert navigation(GROUPS, tabs=tabs).tabs(site.view("start").scope)[0].name == "Documentation"
    assert navigation(GROUPS).tabs(site.view("start").scope) == ()


def test_no_first_tab_where_another_has_everything() -> None:
    """A tab of the root takes all pages. Red when the first tab is always drawn."""
    site = navigation(GROUPS, tabs=[{"name": "All", "url": "/"}, TABS[0]])
    assert [tab.name for tab in site.tabs(site.view("start").scope)] == ["All", "API"]


def test_a_tab_may_lead_to_pages_that_the_navigation_does_not_name() -> None:
    """They are reachable all the same."""
    heads = {"changes/old": FrontMatter(), "changes/new": FrontMatter(), "changesets": FrontMatter()}
    site = navigation(GROUPS, heads, tabs=[{"name": "Changes", "url": "changes"}])
    assert paths(site.tabs(site.view("start").scope)[1].targets) == ["changes/new"]
    assert part(site, "changes/old").tab == 0
    assert site.view("changes/old").listed is False


def test_an_anchor_leads_within_the_open_tab_if_it_can() -> None:
    """Else to its first page of all."""
    groups = [{"group": "G", "pages": ["guides/a", "api/events/one", "api/users", "guides/b"]}]
    site = navigation(groups, tabs=TABS[:1], anchors=ANCHORS)
    leads = {anchor.name: paths(anchor.targets) for anchor in site.anchors(site.view("api/users").scope)}
    assert leads == {"Documentation": ["api/users"], "Guides": ["guides/a"], "Events": ["api/events/one"]}


def test_the_top_anchor_is_drawn_with_others_or_when_it_was_named() -> None:
    """With the file's name, icon and icon type, or their defaults."""
    scope = navigation(GROUPS).view("start").scope
    assert navigation(GROUPS).anchors(scope) == ()
    top = navigation(GROUPS, anchors=ANCHORS).anchors(scope)[0]
    assert (top.name, top.icon, top.icon_type, top.current) == ("Documentation", "book-open", "duotone", True)
    named = navigation(GROUPS, topAnchor={"name": "Home", "icon": "house", "iconType": "thin"}).anchors(scope)[0]
    assert (named.name, named.icon, named.icon_type) == ("Home", "house", "thin")


def test_a_hidden_anchor_is_shown_on_its_own_pages_only() -> None:
    """isDefaultHidden. Red when it is ignored, or when it hides the anchor there too."""
    site = navigation(GROUPS, anchors=[{**ANCHORS[0], "isDefaultHidden": True}])
    assert [each.name for each in site.anchors(site.view("start").scope)] == ["Documentation"]
    assert [each.name for each in site.anchors(site.view("guides/a").scope)] == ["Documentation", "Guides"]
