"""The search in a real browser: keys, results, and what it says when there are none."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import unquote, urlsplit

import pytest
from playwright.async_api import Page, Route

from engines.chromium import OpenPage, Watched
from tenantry_site import render
from tenantry_site.outputs import SearchIndex, search_parts
from tests.outputs.pages import page as made
from tests.rendering.folders import folder

HOST = "http://site.test"
KINDS = {"html": "text/html; charset=utf-8", "js": "text/javascript", "css": "text/css", "json": "application/json"}
WORDS = (
    "---\ntitle: Words\n---\nUSER_GROUP_TOKEN is sent to `/api/user`.\n\n## Café au lait\n\nA naïve façade.\n\n"
    "## 検索エンジン\n\n全文検索の説明。\n\n## Groups\n\nTenants are groups of users; `createGroup()` makes one.\n"
)
SITE = render(
    folder(
        **{
            "words.md": WORDS,
            "hidden.md": "---\nnoindex: true\n---\nxylophone",
            "a/b c.md": "# Blank in name\n\nquagga",
            "hyphen.md": "# Hyphen\n\nA self-hosted server, and a cold-start of it.",
            "joined.md": "---\nkeywords: [kubernetes, helm chart]\n---\n# Joined\n\nA coldstart.",
            "apart.md": "# Apart\n\nA cold night. A start was made. A host is selfish.",
        }
    )
)

Open = Callable[..., Awaitable[Watched]]


@pytest.fixture
def opened(open_page: OpenPage) -> Open:
    """A page of the site, its files given by the test and by no server. ``without``: what is not there."""

    async def visit(path: str = "guides/deep/end.html", *, without: str = "\0", **more: bytes) -> Watched:
        seen = await open_page()

        async def answer(route: Route) -> None:
            await answer_from(route, SITE | more, without)

        await seen.page.route(f"{HOST}/**", answer)
        await seen.page.goto(f"{HOST}/{path}")
        return seen

    return visit


async def answer_from(route: Route, site: Mapping[str, bytes], without: str = "\0") -> None:
    """Answers a request with a file of a site, but for paths that contain ``without``."""
    path = unquote(urlsplit(route.request.url).path).removeprefix("/")
    if path in site and without not in path:
        kind = KINDS.get(path.rpartition(".")[2], "text/plain; charset=utf-8")
        await route.fulfill(body=site[path], content_type=kind)
    else:
        await route.fulfill(status=404, body="")


async def ask(page: Page, query: str) -> list[str]:
    """Types a query; the titles, headings and addresses that are shown."""
    await page.fill("#Site-search-input", "")
    await page.wait_for_selector("#Site-search-status:empty", state="attached")
    await page.fill("#Site-search-input", query)
    for _ in range(5_000):
        if await page.inner_text("#Site-search-status"):
            break
        await asyncio.sleep(0.02)
    return [await each.evaluate("a => a.href") for each in await page.query_selector_all("#Site-search-results > *")]


FOUND = {
    "anchor": "guides/start.html#first-steps",
    "heavy": "guides/deep/end.html",
    "USER_GROUP_TOKEN": "words.html",
    "userGroupToken": "words.html",
    "/api/user": "words.html",
    "CAFE": "words.html#caf%C3%A9-au-lait",
    "fâçäde": "words.html#caf%C3%A9-au-lait",
    "facade naive": "words.html#caf%C3%A9-au-lait",
    "検索": "words.html#%E6%A4%9C%E7%B4%A2%E3%82%A8%E3%83%B3%E3%82%B8%E3%83%B3",
    "説明": "words.html#%E6%A4%9C%E7%B4%A2%E3%82%A8%E3%83%B3%E3%82%B8%E3%83%B3",
    "tenant": "words.html#groups",
    "tennants": "words.html#groups",
    "createGr": "words.html#groups",
    "quagga": "a/b%20c.html",
}


async def test_what_is_found(opened: Open) -> None:
    """Words, parts of names, other accents, other capitals, a slip. Red when the script cuts words unlike the index."""
    seen = await opened()
    await seen.page.keyboard.press("/")
    found = {query: (await ask(seen.page, query))[:1] for query in FOUND}
    assert found == {query: [f"{HOST}/{first}"] for query, first in FOUND.items()}
    assert seen.console == []
    assert await seen.violations() == []


JOINED = {"hyphen.html", "joined.html"}


QUERIES = {
    "cold-start": JOINED | {"apart.html"},
    "cold start": JOINED | {"apart.html"},
    "coldstart": JOINED,
    "ColdStart": JOINED | {"apart.html"},
    "selfhosted": {"hyphen.html"},
    "self hosted server": {"hyphen.html"},
    "kubernetes": {"joined.html"},
    "helm charts": {"joined.html"},
}


async def test_words_joined_and_apart(opened: Open) -> None:
    """With a hyphen, a space or neither, in the text and in the query; and the keywords of a page. Pages that have the
    one word come before others that have its parts here and there. Red when a hyphen only cuts, or when two words of
    a query are not tried as one."""
    page = (await opened()).page
    await page.keyboard.press("/")
    for query, found in QUERIES.items():
        links = [each.removeprefix(f"{HOST}/") for each in await ask(page, query)]
        assert set(links[: len(found)]) == found, query
        if len(found) > 2:
            assert links[len(found) - 1] == "apart.html", query


async def test_keys(opened: Open) -> None:
    """Open, choose, follow, close. Red when a key is not taken, or the reader is not reported what is chosen."""
    page = (await opened()).page
    await page.keyboard.press("Control+k")
    assert await page.evaluate("document.activeElement.id") == "Site-search-input"
    found = await ask(page, "an")
    assert len(found) > 1
    chosen = "document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).href"
    assert await page.evaluate(chosen) == found[0]
    await page.keyboard.press("ArrowDown")
    assert await page.evaluate(chosen) == found[1]
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("ArrowUp")
    assert await page.evaluate(chosen) == found[-1]
    assert await page.locator("[role=option][aria-selected=true]").count() == 1
    await page.keyboard.press("Escape")
    assert not await page.evaluate("document.getElementById('Site-search-dialog').open")
    await page.keyboard.press("/")
    assert await page.input_value("#Site-search-input") == ""
    await ask(page, "cargo")
    await ask(page, "lift")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/guides/start.html#first-steps")


async def test_a_slash_that_is_typed_stays_one(opened: Open) -> None:
    """Red when the key is taken out of a field."""
    page = (await opened()).page
    await page.keyboard.press("/")
    await page.keyboard.type("a/b")
    assert await page.input_value("#Site-search-input") == "a/b"


async def test_nothing_found(opened: Open) -> None:
    """In words. Red when a page that asks not to be found is."""
    page = (await opened()).page
    await page.keyboard.press("/")
    assert await ask(page, "xylophone") == []
    assert "xylophone" in await page.inner_text("#Site-search-status")


async def test_what_was_typed_is_never_markup(opened: Open) -> None:
    """Red when results or words are written as HTML."""
    seen = await opened()
    await seen.page.keyboard.press("/")
    await ask(seen.page, "<img src=x onerror=alert(1)> steps")
    await ask(seen.page, "<img>")
    assert await seen.page.locator("#Site-search-dialog img").count() == 0
    assert await seen.violations() == []


async def test_an_index_that_cannot_be_loaded(opened: Open) -> None:
    """It says so, and tries again. Red when the dialog stays empty."""
    page = (await opened(without="search/words")).page
    await page.keyboard.press("/")
    assert await ask(page, "anchor") == []
    assert "could not be loaded" in await page.inner_text("#Site-search-status")


async def test_a_large_site(opened: Open) -> None:
    """Words of distant pages, and one that is on every page. Red when the script reads postings wrongly."""
    index = SearchIndex()
    pages = [made(f"p/{number}", ("", f"every{number} page{number % 40}")) for number in range(2600)]
    pages[2500] = made("p/2500", ("", "quokka"), title="Every")
    index.fill({each.path: search_parts(each) for each in pages}, {})
    page = (await opened(**dict(index.files()))).page
    await page.keyboard.press("/")
    assert (await ask(page, "quokka"))[0] == f"{HOST}/p/2500.html"
    assert (await ask(page, "every2345"))[0] == f"{HOST}/p/2345.html"
    assert (await ask(page, "every page39"))[0] == f"{HOST}/p/39.html"


async def test_a_query_loads_a_few_files(opened: Open) -> None:
    """And nothing from another host. Red when the whole index is fetched."""
    seen = await opened()
    assert not [each for each in seen.requests if "/search/" in each.url]
    await seen.page.keyboard.press("/")
    await ask(seen.page, "anchor")
    assert len({each.url for each in seen.requests if "/search/" in each.url}) == 3
    assert seen.hosts() == {"site.test"}
