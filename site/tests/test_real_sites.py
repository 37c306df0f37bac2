"""Whole sites that people wrote for another tool, made as they are."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from engines.corpus import each_site, needs_corpus
from tenantry_site import RenderedSite, SiteOptions, render
from tenantry_site.addresses import Addresses, page_path
from tenantry_site.config.model import Group
from tenantry_site.rendering import configuration_file
from tests.rendering.inspecting import Inspected, inspect, target

pytestmark = needs_corpus


class Real(NamedTuple):
    files: dict[str, str | bytes]
    site: RenderedSite
    pages: dict[str, Inspected]


@cache
def real(folder: Path) -> Real:
    files: dict[str, str | bytes] = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }
    site = render(files, SiteOptions())
    return Real(files, site, {path: inspect(content) for path, content in site.items() if path.endswith(".html")})


def listed(groups: tuple[Group, ...]) -> list[str]:
    found = []
    for group in groups:
        for page in group.pages:
            found += listed((page,)) if isinstance(page, Group) else [page_path(page) or ""]
    return found


@each_site
def test_every_page_of_the_navigation_is_there(folder: Path) -> None:
    """And every other page of the folder. Red when one is left out."""
    files, site, _ = real(folder)
    assert site.config is not None
    pages = listed(site.config.navigation)
    assert pages
    assert [page for page in pages if f"{page}.html" not in site] == []
    sources = [path for path in files if path.endswith((".md", ".mdx"))]
    parts = [path for path in sources if path == "README.md" or path.startswith("_snippets/")]
    assert [path for path in sources if path not in parts and f"{page_path(path)}.html" not in site] == []


@each_site
def test_every_page_is_whole(folder: Path) -> None:
    """Well-formed, each id once, one heading of level 1, nothing inline that runs or styles, nothing from elsewhere."""
    _, _, pages = real(folder)
    assert {path: found.problems for path, found in pages.items() if found.problems} == {}


@each_site
def test_every_link_leads_somewhere_or_is_reported(folder: Path) -> None:
    """Down to the headings. Red when a link is written wrongly, or a broken one passed over."""
    _, site, pages = real(folder)
    found_diagnostics = {
        (reported.path, part)
        for reported in site.diagnostics
        if reported.code.startswith("LINK")
        for part in _quoted(reported.message)
    }
    addresses = Addresses(
        {path.removesuffix(".html") for path in pages}, {path for path in site if not path.endswith((".html", ".md"))}
    )
    missing = {
        (source, resolved.path, resolved.fragment)
        for source, written in found_diagnostics
        for resolved in [addresses.resolve(page_path(source) or "", written)]
    }
    lost = []
    for path, found in pages.items():
        for link in [*found.links, *found.loads] if path != "404.html" else []:
            led = target(path, link)
            if led is None or (led[0] in site and (not led[1] or led[0] not in pages or led[1] in pages[led[0]].ids)):
                continue
            page = site_page(site, path)
            if not any(led[0] in {place, f"{place}.html"} and source.startswith(page) for source, place, _ in missing):
                lost.append((path, link))
    assert lost == []


def site_page(site: RenderedSite, path: str) -> str:
    """The page that a file is of: the first page is at index too."""
    canonical = re.search(rb'<link rel="canonical" href="([^"]+)\.html"', site[path])
    return canonical[1].decode() if canonical else path.removesuffix(".html")


def _quoted(message: str) -> list[str]:
    return re.findall("“([^”]*)”", message)


@each_site
def test_nothing_is_wrong_that_is_our_fault(folder: Path) -> None:
    """Of diagnostics there are warnings and remarks, each with a file and a place. Red when a page cannot be drawn."""
    _, site, _ = real(folder)
    assert [reported for reported in site.diagnostics if reported.severity == "error"] == []
    assert [reported for reported in site.diagnostics if not reported.path or not reported.message] == []
    assert [
        reported for reported in site.diagnostics if reported.code.startswith(("PAGE", "LINK")) and not reported.line
    ] == []


@each_site
def test_a_page_weighs_what_its_text_does(folder: Path) -> None:
    """The frame, styles and scripts stay the same however many pages there are. Red when the frame grows."""
    import gzip

    _, site, pages = real(folder)
    for path in pages:
        loads = [
            site[path],
            *(
                site[led[0]]
                for each in pages[path].loads
                if (led := target(path, each)) and led[0].startswith("assets/")
            ),
        ]
        assert sum(len(gzip.compress(content)) for content in loads) < 60_000, path


@each_site
def test_the_configuration_is_found(folder: Path) -> None:
    """By what is in it, whatever it is called."""
    files, site, _ = real(folder)
    found = configuration_file(files)
    assert found is not None
    assert site.config is not None
    assert f'"name": "{site.config.name}"'.encode() in bytes(files[found])  # type: ignore[arg-type]
