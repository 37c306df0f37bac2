"""A reader who types the title of a page finds that page, in the docs of Tenantry and in sites of others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from engines.chromium import OpenPage
from engines.corpus import each_site, needs_corpus
from tenantry_site import render
from tests.rendering.test_search_in_browser import HOST, answer_from

ASK_ALL = """async (queries) => {
    const input = document.getElementById("Site-search-input"), status = document.getElementById("Site-search-status");
    const all = [];
    for (const query of queries) {
        for (const value of ["", query]) {
            input.value = value;
            input.dispatchEvent(new Event("input"));
            while (!status.textContent === !!value) await new Promise((done) => setTimeout(done, 2));
        }
        all.push([...document.getElementById("Site-search-results").children].map((each) => each.href));
    }
    return all;
}"""
"""Types each query; returns the addresses that are shown for it."""
DOCS = Path(__file__).resolve().parents[3] / "docs"


def _files(folder: Path) -> dict[str, str | bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _titles(site: Mapping[str, bytes]) -> dict[str, str]:
    """Path of each page -> its title, as the index has them."""
    index = json.loads(site["search/index.json"])
    return {path: title for name in index["parts"] for path, title, *_ in json.loads(site[f"search/{name}"])}


async def test_own_docs(open_page: OpenPage) -> None:
    await _each_title_finds_its_page(DOCS, open_page)


@needs_corpus
@each_site
async def test_sites_of_others(folder: Path, open_page: OpenPage) -> None:
    await _each_title_finds_its_page(folder, open_page)


async def _each_title_finds_its_page(folder: Path, open_page: OpenPage) -> None:
    """Among the eight results for each page, and as the first for 95 % of them. Red when the
    likeness of titles does not count: 94 % then."""
    site = render(_files(folder))
    titles = _titles(site)
    page = (await open_page()).page
    await page.route(f"{HOST}/**", lambda route: answer_from(route, site))
    await page.goto(f"{HOST}/{next(iter(titles))}.html")
    await page.keyboard.press("/")
    found = await page.evaluate(ASK_ALL, list(titles.values()))
    places = {path: _rank(path, results) for path, results in zip(titles, found, strict=True)}
    assert {path for path, place in places.items() if place is None} == set()
    assert sum(place == 0 for place in places.values()) >= 0.95 * len(titles), places


def _rank(path: str, results: list[str]) -> int | None:
    paths = [unquote(urlsplit(each).path) for each in results]
    return paths.index(f"/{path}.html") if f"/{path}.html" in paths else None
