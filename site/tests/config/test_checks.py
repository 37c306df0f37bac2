"""One field against another, and against the files of the site."""

from __future__ import annotations

import pytest

from tenantry_site.config import loads
from tests.config.reported import read, reported

FILES = ("favicon.svg", "index.mdx", "guides/first.md", "site.json")


def test_all_is_there() -> None:
    """Red when something is said of a site whose files all exist."""
    assert reported(FILES) == []
    assert reported() == []


@pytest.mark.parametrize(
    ("page", "code", "word"),
    [
        ("guides/frist", "CFG061", "guides/first"),
        ("first", "CFG061", "guides/first"),
        ("tutorial", "CFG061", "tutorial.mdx"),
        ("Guides/First", "CFG062", "guides/first"),
        ("../other/page", "CFG060", "folder"),
        ("https://example.com", "CFG048", "url"),
        ("index", "CFG063", "once"),
        ("/index.mdx", "CFG063", "once"),
        ("./index/", "CFG063", "once"),
    ],
)
def test_a_page_that_is_not_right(page: str, code: str, word: str) -> None:
    """Red when a page that is missing, outside, misspelled or twice is not reported, or without what was meant."""
    (one,) = read(FILES, navigation=[{"group": "g", "pages": ["index", "guides/first", page]}])[1]
    assert (one.code, one.pointer) == (code, "/navigation/0/pages/2")
    assert word in one.fix


def test_pages_outside_of_the_navigation_are_reported_together() -> None:
    """Red when they are warnings, or snippets and a readme count as pages."""
    more = (*FILES, "guides/second.mdx", "_snippets/a.mdx", "snippets/b.mdx", "README.md", "guides/_draft.md")
    (one,) = read(more)[1]
    assert (one.code, one.severity) == ("CFG065", "info")
    assert "guides/second" in one.message
    assert "snippets" not in one.message
    assert "README" not in one.message


def test_no_page_exists() -> None:
    """Red when a site whose pages are elsewhere gets a warning for each."""
    pages = [f"page-{number}" for number in range(40)]
    assert reported(("favicon.svg",), navigation=[{"group": "g", "pages": pages}]) == [
        ("CFG068", "/navigation/0/pages/0")
    ]


def test_files_that_do_not_exist() -> None:
    """Red when a missing image or OpenAPI file is not reported, or one of another host is."""
    fields = {
        "favicon": "favicon.png",
        "logo": {"light": "/FAVICON.svg", "dark": "https://example.com/d.svg"},
        "openapi": ["opnapi.json", "/openapi.json"],
        "backgroundImage": "/ground.png",
    }
    found = read((*FILES, "openapi.json"), **fields)[1]
    assert [(one.code, one.pointer) for one in found] == [
        ("CFG067", "/favicon"),
        ("CFG067", "/logo/light"),
        ("CFG067", "/openapi/0"),
        ("CFG067", "/backgroundImage"),
    ]
    assert "favicon.svg" in found[1].fix
    assert "openapi.json" in found[2].fix


def test_groups_without_pages() -> None:
    """Red when an empty group is not reported, or a group without its fields is lost."""
    config, found = read(navigation=[{"group": "a", "pages": []}, {"group": "b"}, {"pages": ["index"]}])
    assert [(one.code, one.pointer) for one in found] == [
        ("CFG064", "/navigation/0/pages"),
        ("CFG043", "/navigation/1/pages"),
        ("CFG043", "/navigation/2/group"),
    ]
    assert [(group.group, group.pages) for group in config.navigation] == [("a", ()), ("b", ()), ("", ("index",))]


def test_versions() -> None:
    """Red when a version that is not listed, or a group in one of another version, is not reported."""
    inner = {"group": "b", "version": "v2", "pages": ["guides/first"]}
    config, found = read(
        versions=["v1", "v2", "v1"],
        navigation=[{"group": "a", "version": "v1", "pages": ["index", inner]}],
        anchors=[{"name": "a", "url": "guides", "version": "V1"}],
    )
    assert sorted((one.code, one.pointer) for one in found) == [
        ("CFG070", "/anchors/0/version"),
        ("CFG071", "/navigation/0/pages/1/version"),
        ("CFG075", "/versions/2"),
    ]
    assert [version.name for version in config.versions] == ["v1", "v2"]


def test_anchors_and_tabs_that_lead_nowhere() -> None:
    """Red when a prefix without pages is not reported, or matches inside a folder's name."""
    navigation = [{"group": "g", "pages": ["api-reference/orders", "guides/first", "changelog"]}]
    tabs = [
        {"name": name, "url": name}
        for name in ("api", "guides", "/guides/", "changelog", "empty", "https://example.com", "/", "moved")
    ]
    found = read(navigation=navigation, tabs=tabs, redirects=[{"source": "/moved", "destination": "/guides"}])[1]
    assert [(one.code, one.pointer) for one in found] == [("CFG072", "/tabs/0/url"), ("CFG072", "/tabs/4/url")]
    assert "api-reference" in found[0].fix
    generating = [{"name": "API", "url": "api", "openapi": "https://example.com/openapi.json"}]
    assert read(navigation=navigation, tabs=generating)[1] == []
    (deeper,) = read(navigation=[{"group": "g", "pages": ["docs/api/a"]}], tabs=[{"name": "API", "url": "api"}])[1]
    assert deeper.fix == 'did you mean "docs/api"?'


def test_redirects() -> None:
    """Red when a second redirect or a circle is not reported, or gets into the model."""
    ways = [("/a", "/b"), ("b", "/c"), ("/c/", "/a.mdx"), ("/d", "/e"), ("/d", "/f"), ("/g", "/g"), ("/x", "/a")]
    config, found = read(redirects=[{"source": source, "destination": to} for source, to in ways])
    assert [(one.code, one.pointer) for one in found] == [
        ("CFG074", "/redirects/0"),
        ("CFG074", "/redirects/1"),
        ("CFG074", "/redirects/2"),
        ("CFG073", "/redirects/4"),
        ("CFG074", "/redirects/5"),
    ]
    assert [rule.source for rule in config.redirects] == ["/d", "/x"]


def test_the_same_anchor_twice() -> None:
    """Red when an anchor or a tab that stands twice is shown twice."""
    anchor = {"name": "a", "url": "guides"}
    config, found = read(anchors=[anchor, anchor], tabs=[anchor, anchor])
    assert [one.code for one in found] == ["CFG075", "CFG075"]
    assert (len(config.anchors), len(config.tabs)) == (1, 1)


def test_many_of_one_kind_are_summed_up() -> None:
    """Red when a file of a megabyte makes a report of ten, or the rest is not counted."""
    found = read(topbarLinks=[1] * 700)[1]
    assert len(found) == 501
    assert "200 more" in found[-1].message
    broken = loads("[" + "1\n" * 700 + "]")[1]
    assert (len(broken), "199 more" in broken[-1].message) == (501, True)
