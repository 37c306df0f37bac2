"""Links, redirects, tabs and typed addresses that name a folder: they lead to its first page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest

from tenantry_site import RenderedSite, build, render, site_app
from tests.app.wire import ask

PAGES = {
    "index.md": "# Home\n",
    "guides/first.md": "# Alpha\n",
    "guides/start.md": "# Start here\n\n## Part\n",
    "guides/deep/end.md": "# End\n",
    "api/index.md": "# The API\n",
    "api/users.md": "# Users\n",
    "unlisted/b.md": "# B\n",
    "unlisted/a.md": "# A\n",
    "both.md": "# Both\n",
    "both/inner.md": "# Inner\n",
}
NAVIGATION = [
    {"group": "Begin", "pages": ["index", "guides/start", "guides/first", "guides/deep/end"]},
    {"group": "API", "pages": ["api/users", "api/index", "both", "both/inner"]},
]
FIRST = {
    "guides": "guides/start",
    "guides/deep": "guides/deep/end",
    "api": "api/index",
    "unlisted": "unlisted/a",
    "both": "both",
}
"""Each folder and its page: its own, else ``index``, else the first of the navigation, else the first by its path."""


def files(home: str = "# Home\n", **config: Any) -> dict[str, str]:
    return {"site.json": json.dumps({"name": "Acme", "navigation": NAVIGATION, **config}), **PAGES, "index.md": home}


def found(site: RenderedSite) -> set[str]:
    return {f"{one.code} {one.path}" for one in site.diagnostics if one.code.startswith(("LINK", "SITE0"))}


@pytest.mark.parametrize("folder", FIRST)
def test_a_link_to_a_folder_leads_to_its_first_page(folder: str) -> None:
    """However it is written. Red when only pages and files are looked up."""
    home = f"""# Home

[a](/{folder}) [b](/{folder}/) [c]({folder}) [d](./{folder}/) [e](/{folder}#) [f](/{folder}/?x=1)

<Card title="g" href="/{folder}" />
<a href="/{folder}/">h</a>
<CustomButton href="/{folder}">i</CustomButton>
"""
    site = render(files(home))
    hrefs = re.findall(
        r'<a (?:class="[^"]*" )?href="([^"#?]*)[^"]*"[^>]*>(?:<[^>]*>)*([a-i])<', site["index.html"].decode()
    )
    assert [letter for _, letter in hrefs] == list("abcdefghi")
    assert {href for href, _ in hrefs} == {f"{FIRST[folder]}.html"}
    assert found(site) == set()


@pytest.mark.parametrize(
    "written", ["/guides/index", "guides/index.html", "/guides/index.md", "/guides.html", "guides.mdx"]
)
def test_a_link_may_name_the_index_that_a_folder_lacks(written: str) -> None:
    """The server leads from all of them. Red when only the folder itself is looked up."""
    site = render(files(f"[x]({written}#part)\n"))
    assert 'href="guides/start.html#part"' in site["index.html"].decode()
    assert found(site) == set()


def test_from_a_page_in_a_folder_too() -> None:
    site = render({**files(), "guides/first.md": "[a](../api) [b](deep) [c](/unlisted#nowhere) [d](..)\n"})
    text = site["guides/first.html"].decode()
    for href in ("../api/index.html", "deep/end.html", "../unlisted/a.html#nowhere"):
        assert f'href="{href}"' in text
    assert found(site) == {"LINK002 guides/first.md"}, "the fragment is looked for on the page that is meant"


@pytest.mark.parametrize(
    "config",
    [
        {"topbarLinks": [{"name": "Guides", "url": "/guides"}]},
        {"topbarCtaButton": {"name": "Guides", "url": "guides/"}},
        {"logo": {"light": "/l.svg", "dark": "/l.svg", "href": "/guides"}},
        {"tabs": [{"name": "Guides", "url": "guides"}]},
        {"tabs": [{"name": "Guides", "url": "/guides/"}]},
        {"anchors": [{"name": "Guides", "url": "guides", "icon": "book"}]},
        {"footerSocials": {"website": "/guides"}},
    ],
    ids=lambda config: next(iter(config)),
)
def test_the_frame_leads_to_it(config: dict[str, Any]) -> None:
    """Red when the frame of a page writes a folder as it stands."""
    site = render({**files(**config), "l.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>"})
    assert '"guides/start.html"' in site["index.html"].decode().replace("href=", "")
    assert '"../guides/start.html"' in site["api/users.html"].decode()
    assert found(site) == set()


def test_a_redirect_may_lead_to_a_folder() -> None:
    """A written one and one with a placeholder. Red when the target of a redirect is not looked up as a link is."""
    rules = [{"source": "/old", "destination": "/guides#part"}, {"source": "/was/:name*", "destination": "/:name*"}]
    site = render(files(redirects=rules))
    assert b'url=guides/start.html#part"' in site["old.html"]
    assert found(site) == set()


def test_a_folder_that_was_moved_is_where_the_redirect_leads() -> None:
    site = render(files("[x](/guides)\n", redirects=[{"source": "/guides", "destination": "/api/users"}]))
    assert b"url=api/users.html" in site["guides.html"]
    assert found(site) == set()


def test_a_folder_that_was_moved_is_so_without_a_server() -> None:
    """On a plain host, and from the disk. Red when a link to it, or its address with the slash, needs a redirect."""
    home = "[x](/guides) [y](/guides/?a#b) [z](/old)\n"
    rules = [{"source": "/guides", "destination": "/api/users"}, {"source": "/old", "destination": "/guides"}]
    site = render(files(home, redirects=rules))
    assert b"url=../api/users.html" in site["guides/index.html"]
    for href in ("guides.html", "guides.html?a#b", "old.html"):
        assert f'href="{href}"' in site["index.html"].decode()
    assert b"url=api/users.html" in site["old.html"]
    assert found(site) == set()


@pytest.mark.parametrize("key", ["topbarLinks", "tabs", "anchors"])
@pytest.mark.parametrize("folder", ["was", "/was/"])
def test_the_frame_follows_a_redirect(key: str, folder: str) -> None:
    """Red when the frame knows pages alone: it warned of the link, and left tabs and anchors out without a word."""
    part = {"name": "Guides", "url": folder, **({"icon": "book"} if key == "anchors" else {})}
    site = render(files(redirects=[{"source": "/was", "destination": "/guides"}], **{key: [part]}))
    assert 'href="was.html"' in site["index.html"].decode()
    assert 'href="../was.html"' in site["api/users.html"].decode()
    assert b"url=guides/start.html" in site["was.html"]
    assert found(site) == set()


def test_a_built_folder_has_a_page_that_leads_on(tmp_path: Path) -> None:
    """For who types the address, or comes from elsewhere. No search, no sitemap and no list names it."""
    _written(tmp_path / "docs")
    build(tmp_path / "docs", tmp_path / "out")
    for folder, page in FIRST.items():
        index = tmp_path / "out" / folder / "index.html"
        if page != folder:
            assert index.is_file(), folder
        if page.rpartition("/")[2] not in ("index", "both"):
            assert f'url={page.removeprefix(f"{folder}/")}.html"' in index.read_text("utf-8")
    assert not (tmp_path / "out" / "both" / "index.html").exists()
    assert "guides/index" not in (tmp_path / "out" / "llms.txt").read_text("utf-8")


@pytest.mark.parametrize("root", ["", "/docs"])
async def test_a_served_site_leads_on(root: str, tmp_path: Path) -> None:
    """With and without the slash, in one step. Red when the app answers 404, or serves the page that leads on."""
    _written(tmp_path)
    app = site_app(tmp_path)
    for folder, page in {**FIRST, "both": "both"}.items():
        for address in (folder, f"{folder}/", f"{folder}/index", f"{folder}/index.html"):
            got = await ask(app, f"/{address}?q=1", root_path=root)
            if address in ("both", "api/", "api/index", "api/index.html"):
                assert got.status == 200, address
                continue
            if address.startswith("both/index"):
                assert got.status == 404
                continue
            assert got.status == 308, address
            clean = urljoin(f"/{address}", got.headers["location"]).partition("?")[0]
            last = await ask(app, clean, root_path=root)
            assert (last.status, clean.strip("/")) == (200, page.removesuffix("/index")), address
            assert got.headers["location"].endswith("?q=1")


def _written(folder: Path) -> None:
    for path, text in files().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
