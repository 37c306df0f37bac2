"""Addresses of pages without ``.html``, for hosts that serve them so."""

from __future__ import annotations

import re
from posixpath import dirname, normpath
from urllib.parse import unquote

from playwright.async_api import Route

from engines.chromium import OpenPage
from tenantry_site import SiteOptions, render
from tests.rendering.folders import folder
from tests.rendering.test_search_in_browser import HOST, answer_from, ask

FILES = folder(
    {"redirects": [{"source": "/old", "destination": "/guides/start"}]},
    **{
        "area/index.md": "# Area\n\n[Home](/) [Start](/guides/start#x) [Itself](/area) [Other](https://a.example/b.html)\n",
        "quoted.md": '---\ndescription: Open index.html\n---\n`<a href="x.html">` and [a: b](/area/a:b)\n',
        "area/a:b.md": "# Colon\n\nquagga",
    },
)
OPTIONS = SiteOptions(base_url="https://docs.example/h", clean_urls=True)
LINK = re.compile(r'<[a-z]+ [^<>]*?(?:href="|content="0; url=)([^":]+)"')


def test_links_have_no_suffix_and_lead_to_pages() -> None:
    """On pages, in the layout, in redirects, and on the 404 page; text and other hosts are left as they are.

    Red when the sidebar, a redirect or the canonical link keeps ``.html``.
    """
    site = render(FILES, OPTIONS)
    assert {path for path in site if path.endswith(".html")} == {
        path for path in render(FILES, SiteOptions(base_url=OPTIONS.base_url)) if path.endswith(".html")
    }
    for path, content in site.items():
        if not path.endswith(".html"):
            continue
        for link in LINK.findall(content.decode()):
            assert ".html" not in link, path
            if not link.startswith("#"):
                _check_target(site, path, unquote(link.partition("#")[0].removeprefix("/h/")))
    area = site["area/index.html"].decode()
    assert 'href="../"' in area
    assert 'href="../guides/start#x"' in area
    assert 'href="https://a.example/b.html"' in area
    assert '<link rel="canonical" href="https://docs.example/h/area/">' in area
    assert 'content="Open index.html"' in site["quoted.html"].decode()
    assert '<link rel="canonical" href="https://docs.example/h/quoted">' in site["quoted.html"].decode()
    assert b"<loc>https://docs.example/h/guides/start</loc>" in site["sitemap.xml"]


def _check_target(site: dict[str, bytes], path: str, link: str) -> None:
    there = normpath(f"{dirname(path)}/{link}").lstrip("/") if path != "404.html" else link
    there = "" if there == "." else there.removesuffix("/")
    found = (there, f"{there}.html", f"{there}/index.html".lstrip("/"))
    assert any(each in site for each in found), (path, link)


async def test_the_search_leads_there(open_page: OpenPage) -> None:
    """Red when the search's script adds the suffix."""
    site = render(FILES, OPTIONS)
    seen = await open_page()

    async def answer(route: Route) -> None:
        await answer_from(route, site)

    await seen.page.route(f"{HOST}/**", answer)
    await seen.page.goto(f"{HOST}/guides/start.html")
    await seen.page.keyboard.press("/")
    assert (await ask(seen.page, "quagga"))[0] == f"{HOST}/area/a%3Ab"
    assert (await ask(seen.page, "Area"))[0] == f"{HOST}/area/"
