"""Sitemap, robots, llms.txt, and a page as Markdown."""

from __future__ import annotations

import json
from xml.etree import ElementTree

from tenantry_site import render
from tenantry_site.config.model import Group, SiteConfig
from tenantry_site.outputs import breadcrumbs, llms, markdown, robots, sitemap
from tenantry_site.page import FrontMatter
from tests.outputs.pages import page

CONFIG = SiteConfig(
    name="Site",
    navigation=(
        Group(group="Start", pages=("index", Group(group="Inner", pages=("a/b",)))),
        Group(group="", pages=("/c.mdx", "gone")),
    ),
)
HEADS = {
    "index": FrontMatter(title="Home", description="All of it."),
    "a/b": FrontMatter(title="A [b]"),
    "c": FrontMatter(title="C", noindex=True),
}


def test_sitemap() -> None:
    """Red when an address is not absolute or not escaped."""
    root = ElementTree.fromstring(sitemap("https://example.com/d&s/", ["index", "a&b/ü", "a/index"]))
    found = [each.text for each in root.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
    base = "https://example.com/d&s"
    assert found == [f"{base}/", f"{base}/a&b/%C3%BC.html", f"{base}/a/"]
    assert b"Sitemap: https://example.com/docs/sitemap.xml" in robots("https://example.com/docs/")


def test_llms() -> None:
    """Groups in their order, links to Markdown. Red when a page that asks not to be found is listed."""
    made = llms("Site", HEADS, ["index", "a/b", "c"], breadcrumbs(CONFIG), None).decode()
    assert made == (
        "# Site\n\n> All of it.\n\n## Start\n\n- [Home](index.md): All of it.\n\n"
        "## Start / Inner\n\n- [A \\[b\\]](a/b.md)\n"
    )
    assert "(https://x.test/docs/a/b.md)" in llms("S", HEADS, ["a/b"], {}, "https://x.test/docs").decode()


def test_llms_full() -> None:
    """The text of the listed pages, with snippets expanded. Red when a page that asks not to be found is in it."""
    one = '---\ntitle: One\n---\n<Snippet file="s.mdx" />\n'
    files = {"a.mdx": one, "b.md": "# Two\n\nText.\n", "c.md": "---\nnoindex: true\n---\nxylophone\n"}
    navigation = [{"group": "G", "pages": ["b", "a", "c"]}]
    config = json.dumps({"name": "Site", "navigation": navigation})
    site = render({**files, "snippets/s.mdx": "Shared.\n", "site.json": config})
    assert site["llms-full.txt"] == b"# Site\n\n---\n\n# Two\n\nText.\n\n---\n\n# One\n\nShared.\n"
    own = render({**files, "llms-full.txt": b"mine", "site.json": config})
    assert own["llms-full.txt"] == b"mine"


def test_breadcrumbs() -> None:
    assert breadcrumbs(CONFIG) == {"index": ("Start",), "a/b": ("Start", "Inner"), "c": (), "gone": ()}


def test_markdown() -> None:
    """Red when a page has two titles."""
    assert markdown(page("a", ("", "Text."), description="Short.")) == b"# A\n\n> Short.\n\nText.\n"
    assert markdown(page("a", ("", "# Own\n\nText."))) == b"# Own\n\nText.\n"
