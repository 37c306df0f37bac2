"""Pages for tests: read with a small site around them."""

from __future__ import annotations

from collections.abc import Mapping

from tenantry_site.addresses import Addresses
from tenantry_site.markdown import PageReader
from tenantry_site.page import Page

PAGES = ("index", "guides/start", "guides/more", "api/index")
FILES = ("images/a.png", "clip.mp4")


def reader(snippets: Mapping[str, str] | None = None, *, external_media: bool = False) -> PageReader:
    return PageReader(Addresses(PAGES, FILES), snippets or {}, external_media=external_media)


def read(text: str, source: str = "guides/start.mdx", snippets: Mapping[str, str] | None = None) -> Page:
    return reader(snippets).read(source, text)


def codes(page: Page) -> list[str]:
    return [each.code for each in page.diagnostics]
