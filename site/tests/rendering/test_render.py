"""A whole site out of files in memory."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.hypothesis_profile import examples
from tenantry_site import RenderedSite, Severity, SiteOptions, render
from tenantry_site.markdown import PageReader
from tenantry_site.page import Page
from tests.rendering.folders import DOCUMENT, SVG, folder, without
from tests.rendering.inspecting import inspect, target


def found_diagnostics(site: RenderedSite) -> list[tuple[str, str]]:
    """What is more than a remark."""
    return [(reported.code, reported.path) for reported in site.diagnostics if reported.severity is not Severity.INFO]


def test_every_page_is_there_whole() -> None:
    """Listed and hidden pages, their Markdown, the assets; every link leads to a file. Red when one is lost."""
    site = render(folder())
    assert found_diagnostics(site) == []
    assert site.config is not None
    pages = {path for path in site if path.endswith(".html")}
    assert pages == {
        "index.html",
        "guides/start.html",
        "guides/links.html",
        "guides/deep/end.html",
        "hidden.html",
        "404.html",
        "guides/index.html",
        "guides/deep/index.html",
    }
    assert site["logo.svg"] == SVG
    assert site["guides/links.md"].decode().startswith("# Links")
    assert {"llms.txt", "search/index.json"} <= site.keys()
    assert not {"README.html", "_snippets/shared.html", "site.json", "sitemap.xml"} & site.keys()
    for path in pages - {"404.html"}:
        found = inspect(site[path])
        assert found.problems == [], path
        for link in [*found.links, *found.loads]:
            led = target(path, link)
            assert led is None or led[0] in site, (path, link)
            assert led is None or not led[1] or led[1] in inspect(site[led[0]]).ids, (path, link)


def test_an_index_without_a_title_has_the_name_of_its_folder_everywhere() -> None:
    """Red when the page and the sidebar make different titles of its path."""
    config = {"name": "A", "navigation": [{"group": "G", "pages": ["start", "how-to/index"]}]}
    site = render({"site.json": json.dumps(config), "start.md": "# Start", "how-to/index.md": "Text."})
    assert "<title>How to – A</title>" in site["how-to/index.html"].decode()
    assert "How to</a>" in "".join(site["start.html"].decode().split("\n"))
    assert "Index" not in site["start.html"].decode()


def test_styles_and_scripts_are_named_for_their_content() -> None:
    """Red when a name does not change with the content."""
    one, other = render(folder()), render(folder({"colors": {"primary": "#123456"}}))
    styles = [
        next(path for path in site if path.startswith("assets/site.") and path.endswith(".css"))
        for site in (one, other)
    ]
    assert styles[0] != styles[1]
    assert [path for path in one if path.endswith(".js")] == [path for path in other if path.endswith(".js")]


TAB = {"name": "API", "url": "api", "openapi": "openapi.json"}


def test_it_is_the_same_every_time() -> None:
    """Red when the order of files or of sets gets into the site."""
    files = folder({"tabs": [TAB]}, **{"openapi.json": DOCUMENT})
    assert dict(render(files)) == dict(render(dict(reversed(files.items()))))


def test_the_first_page_is_where_the_site_begins() -> None:
    """Without a page called index: with links that are right there. Red when they are those of its folder."""
    files = without(folder(), "index.md")
    text = "[Sister](./links?a=1#b) [Hidden](/hidden#cargo) [Out](https://x.test) ![p](/logo.svg)\n\n[#](#x)"
    site = render(files | {"guides/start.mdx": f"---\ntitle: S\n---\n{text}\n"})
    found = inspect(site["index.html"])
    assert found.problems == []
    assert {"guides/links.html?a=1#b", "hidden.html#cargo", "https://x.test", "#x"} <= set(found.links)
    assert [each for each in found.loads if each.endswith(".svg")] == ["logo.svg", "logo.svg"]
    assert b'<link rel="canonical" href="guides/start.html">' in site["index.html"]


def test_a_base_url_adds_what_needs_one() -> None:
    """Red when sitemap or robots come without, or not with it."""
    site = render(folder(), SiteOptions(base_url="https://example.com/docs"))
    assert b"<loc>https://example.com/docs/guides/start.html</loc>" in site["sitemap.xml"]
    assert "robots.txt" in site
    assert b'<link rel="canonical" href="https://example.com/docs/guides/start.html">' in site["guides/start.html"]


def test_a_page_that_asks_not_to_be_found() -> None:
    """Red when it is in the sitemap, in llms.txt or in the search."""
    page = "---\ntitle: Secret\nnoindex: true\n---\nxylophone"
    site = render(folder(**{"guides/start.mdx": page}), SiteOptions(base_url="https://e.test"))
    assert b"xylophone" in site["guides/start.html"]
    for path, content in site.items():
        if path.startswith("search/") or path in {"sitemap.xml", "llms.txt"}:
            assert b"xylophone" not in content, path
            assert b"guides/start" not in content, path


def test_operations_get_pages_and_groups() -> None:
    """Of a tab's OpenAPI document that no page names. Red when they are unlisted, untitled or not searchable."""
    site = render(folder({"tabs": [TAB]}, **{"openapi.json": DOCUMENT}))
    page = site["api/users/list-users.html"]
    assert inspect(page).problems == []
    assert b'href="api/users/list-users.html"' in site["index.html"]
    assert b"list-users" in site["llms.txt"]
    assert site.config is not None
    assert len(site.config.navigation) == 2


def test_a_page_is_titled_by_its_operation() -> None:
    """Red when the sidebar shows the name of the file."""
    files = folder({"tabs": [TAB]}, **{"openapi.json": DOCUMENT, "hidden.md": "---\nopenapi: GET /users\n---\n"})
    site = render(files)
    assert "<h1>List users</h1>" in site["hidden.html"].decode()
    assert not any(path.startswith("api/") for path in site)


def test_a_playground_may_call_the_servers_of_its_document() -> None:
    """And nothing else may; with a relay, no page calls anything. Red when a browser would block the call."""
    files = folder({"tabs": [TAB]}, **{"openapi.json": DOCUMENT})
    page = "api/users/list-users.html"
    assert b"connect-src &#39;self&#39; https://api.example.com;" in render(files)[page]
    assert b"connect-src &#39;self&#39;;" in render(files)["index.html"]
    assert b"api.example.com;" not in render(files, SiteOptions(relay="_relay"))[page]


def test_a_page_is_titled_by_its_heading() -> None:
    """By the first outside of code, without its markup; else by its file. Red when sidebar and page differ."""
    text = "```sh\n# not this\n```\n\n~~~\n```\n# nor this\n~~~\n\n# The *right* [one](x) `here` #\n"
    navigation = [{"group": "G", "pages": ["index", "a", "getting-started"]}]
    site = render(folder({"navigation": navigation}, **{"a.md": text, "getting-started.md": "No heading.\n"}))
    for path in ("index.html", "a.html"):
        assert "The right one here" in "".join(inspect(site[path]).text), path
        assert b"Getting started</span>" in site[path]
    assert b"<h1>Getting started</h1>" in site["getting-started.html"]


def test_one_page_that_we_fail_at_does_not_take_the_site_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """It shows its text, and an error says so. Red when the exception gets through."""
    read = PageReader.read

    def fail(self: PageReader, source: str, text: str) -> Page:
        if source == "hidden.md":
            raise RecursionError
        return read(self, source, text)

    monkeypatch.setattr(PageReader, "read", fail)
    site = render(folder(**{"hidden.md": "# H\n\n<script>alert(1)</script> cargo\n"}))
    assert found_diagnostics(site) == [("SITE105", "hidden.md")]
    assert inspect(site["hidden.html"]).problems == []
    assert b"cargo" in site["hidden.html"]
    assert b"Welcome" in site["index.html"]


def test_a_site_that_begins_with_a_playground_leads_there() -> None:
    """The form knows its way to the relay from where it is. Red when a copy of it stands at the root."""
    page = "---\ntitle: T\napi: GET https://api.example.com/x\n---\n"
    site = render(without(folder(), "index.md") | {"guides/start.mdx": page})
    assert b"url=guides/start.html" in site["index.html"]


def test_versions_are_named_in_the_search() -> None:
    """Red when two pages of one title in two versions cannot be told apart."""
    groups = [{"group": "Old", "version": "v1", "pages": ["index"]}, {"group": "New", "pages": ["hidden"]}]
    site = render(folder({"versions": ["v1", "v2"], "navigation": groups}))
    shown = b"".join(content for path, content in site.items() if path.startswith("search/parts."))
    assert "Old · v1".encode() in shown
    assert b'"New"' in shown


def test_redirects_are_pages() -> None:
    """Red when a redirect is lost, or a link to an old address is called broken."""
    rules = [{"source": "/old", "destination": "/guides/start"}, {"source": "/x", "destination": "javascript:alert(1)"}]
    files = folder({"redirects": rules}, **{"hidden.md": "# H\n\n[Old](/old) [Lost](/lost)\n"})
    site = render(files)
    assert b"url=guides/start.html" in site["old.html"]
    assert [reported.message for reported in site.diagnostics if reported.code == "LINK001"] == [
        "the link “/lost” leads to a page or file that does not exist"
    ]
    assert "x.html" not in site


def test_two_files_of_one_page() -> None:
    """Red when one of them is lost without a word."""
    site = render(folder(**{"hidden.mdx": "# The richer one\n"}))
    assert b"The richer one" in site["hidden.html"]
    assert found_diagnostics(site) == [("SITE101", "hidden.md")]


def test_pages_that_differ_in_capitals_only() -> None:
    """Red when a disk may lose one of them without a word."""
    assert found_diagnostics(render(folder(**{"Hidden.md": "# H\n"}))) == [("SITE102", "hidden.md")]


@pytest.mark.parametrize("path", ["../up.md", "/abs.md", "a//b.md", "a/./b.md", "a\\b.md", "a\nb.md", "\ud800.md", ""])
def test_a_path_that_leaves_the_folder_is_left_out(path: str) -> None:
    """Red when a finished file could be written anywhere else."""
    site = render(folder(**{path: "# X\n"}))
    assert [code for code, _ in found_diagnostics(site)] == ["SITE103"]
    assert set(site) == set(render(folder()))


def test_hidden_files_and_what_would_run_are_not_published() -> None:
    """Red when a secret, a script or the sources of the site are among the finished files."""
    more: dict[str, str | bytes] = {
        ".env": b"SECRET=1",
        "a/.git/config.json": b"{}",
        "evil.html": b"<script>",
        "evil.js": b"alert(1)",
        "x.css": b"",
        "package.json": b'{"name": "x"}',
    }
    assert set(render(folder(**more))) == set(render(folder()))


def test_snippets_are_pages_when_the_navigation_names_them() -> None:
    navigation = [{"group": "G", "pages": ["index", "_snippets/shared", "README", "CONTRIBUTING"]}]
    site = render(folder({"navigation": navigation}, **{"CONTRIBUTING.md": "# Help\n"}))
    assert {"_snippets/shared.html", "README.html", "CONTRIBUTING.html"} <= site.keys()


def test_files_for_contributors_are_no_pages() -> None:
    """Red when they are published. A page whose name is not in capitals is one."""
    files = dict.fromkeys(("CLAUDE.md", "guides/AGENTS.md", "CONTRIBUTING.mdx", "contributing.md"), "# For programs\n")
    site = render(folder(**files))
    assert [path for path in site if path.endswith(".html") and path not in render(folder())] == ["contributing.html"]


def test_a_file_that_is_only_imported_is_no_page() -> None:
    """Red when the part is a page of its own, or is not put into the one that imports it."""
    page = 'import One from "/parts/one.mdx"\n\n# H\n\n<One />\n'
    site = render(folder(**{"parts/one.mdx": "Part **one**.\n", "hidden.md": page}))
    assert "parts/one.html" not in site
    assert b"Part <strong>one</strong>" in site["hidden.html"]


def test_the_authors_own_page_for_404() -> None:
    assert b"Lost at sea" in render(folder(**{"404.md": "# Lost at sea\n"}))["404.html"]


def test_the_authors_own_robots() -> None:
    site = render(folder(**{"robots.txt": "User-agent: x\n"}), SiteOptions(base_url="https://e.test"))
    assert site["robots.txt"] == b"User-agent: x\n"


def test_bytes_that_are_not_text() -> None:
    """Red when a page that is not UTF-8 raises, or is taken without a word."""
    site = render(folder(**{"hidden.md": b"# Caf\xe9\n\nText"}))
    assert "Caf\N{REPLACEMENT CHARACTER}" in site["hidden.html"].decode()
    assert found_diagnostics(site) == [("SITE104", "hidden.md")]


@pytest.mark.parametrize(
    ("content", "code"), [("", "CFG002"), ("{", "CFG011"), ("[]", "CFG020"), (b"\xff\xfe\x00", "CFG004")]
)
def test_a_configuration_that_cannot_be_read(content: str | bytes, code: str) -> None:
    """No files, and the reason. Red when half a site is made of nothing."""
    site = render(folder(**{"site.json": content}))
    assert (dict(site), site.config) == ({}, None)
    assert (code, "site.json") in [(reported.code, reported.path) for reported in site.diagnostics]


def test_no_configuration() -> None:
    site = render({"index.md": "# X\n"})
    assert [reported.code for reported in site.diagnostics] == ["SITE100"]
    assert site == {}


def test_no_pages() -> None:
    """Red when a site that lost all its pages raises."""
    site = render({"site.json": json.dumps({"name": "X", "navigation": [{"group": "G", "pages": ["a"]}]})})
    assert "SITE106" in [reported.code for reported in site.diagnostics]
    assert "404.html" in site


TEXTS = st.one_of(st.text(max_size=200), st.binary(max_size=200))
PATHS = st.one_of(
    st.sampled_from(["index.md", "a/b.mdx", "openapi.json", "site.json", "a.md", "a.mdx", "_snippets/x.mdx", "x.yaml"]),
    st.text(max_size=12).map(lambda name: f"{name}.md"),
)
PIECES = [
    *("---\n", "title: X\n", "openapi: GET /users\n", "api: POST /x\n", "url: javascript:x\n", "# H\n", "## H\n"),
    *("<Card ", ">", "</Card>", "<Tabs>", "{", "}", "import X from './x.mdx'\n", "[a](b#c)", "![x](javascript:1)"),
    *("|a|b|\n|-|-|\n", "```py\n", "`", "<script>", "&", "\x00", "é", "\n\n"),
]
MARKDOWN = st.lists(st.sampled_from(PIECES), max_size=20).map("".join)


@given(st.dictionaries(PATHS, st.one_of(TEXTS, MARKDOWN), max_size=5), MARKDOWN)
@settings(max_examples=examples(40), deadline=None)
def test_nothing_in_a_folder_raises(files: dict[str, str | bytes], page: str) -> None:
    """Any bytes under any names. Red when a page fails (SITE105), or a finished file is not whole."""
    for config in ({}, {"tabs": [TAB], "openapi": ["openapi.json", "x.yaml"]}):
        site = render(folder(config) | files | {"hidden.md": page})
        assert "SITE105" not in [reported.code for reported in site.diagnostics]
        for path, content in site.items():
            assert ".." not in path.split("/")
            if path.endswith(".html") and "hidden" in path:
                problems = inspect(content).problems
                assert problems == [], page
