"""Renders pages. A page is rendered again only if its inputs have changed."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from posixpath import dirname, normpath

from tenantry_site.addresses import html_path
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.outputs import PageLinks, SearchPart, markdown, page_links, search_parts
from tenantry_site.page import Page
from tenantry_site.rendering.site_model import SiteModel
from tenantry_site.rendering.source_files import SourcePage
from tenantry_site.templating import render_template

_ADDRESS = re.compile(r'(<[a-zA-Z][^<>]*? (?:href|src|poster)=")([^"#?][^"]*)"')
_ABSOLUTE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|/")


@dataclass(slots=True)
class RenderedPage:
    """A rendered page, with the inputs from which it was rendered. ``page``: None once it is laid out, unless pages are
    rendered incrementally."""

    source_page: SourcePage
    reader: object
    api: object
    page: Page | None
    page_links: PageLinks
    parts: tuple[SearchPart, ...]
    diagnostics: tuple[Diagnostic, ...]
    request_headers: frozenset[str]
    markdown: bytes = b""
    """The page's Markdown file."""
    theme: object = None
    """The theme that last laid out the page; None if the page has been rendered again since."""


class RenderedPages:
    """Renders the pages of one site. ``incremental``: keep the rendered pages in memory, so that they need not be read
    again when the layout changes."""

    def __init__(self, *, incremental: bool) -> None:
        self._incremental = incremental
        self._rendered: dict[str, RenderedPage] = {}

    def render(self, model: SiteModel, path: str) -> RenderedPage:
        """The page at ``path``, from the cache if its inputs are unchanged."""
        source_page = model.source_pages[path]
        known = self._rendered.get(path)
        if known is not None and (known.source_page, known.reader, known.api) == (source_page, model.reader, model.api):
            return known
        page = _read(model, path, source_page)
        rendered = self._rendered[path] = RenderedPage(
            source_page=source_page,
            reader=model.reader,
            api=model.api,
            page=page,
            page_links=page_links(page, model.addresses),
            parts=search_parts(page),
            diagnostics=(*source_page.diagnostics, *page.diagnostics),
            request_headers=page.request_headers,
            markdown=markdown(page),
        )
        return rendered

    def lay_out(self, model: SiteModel, path: str) -> tuple[Page, bytes] | None:
        """The page and its whole HTML; None if neither the page nor the theme has changed since the last call."""
        rendered = self.render(model, path)
        if rendered.theme is model.theme or rendered.page is None:
            return None
        page = rendered.page
        rendered.theme = model.theme
        if not self._incremental:
            rendered.page = None
        return page, model.theme.page(page).encode("utf-8", "replace")

    def retain(self, paths: Collection[str]) -> None:
        """Drop all pages except those at ``paths``."""
        for path in self._rendered.keys() - paths:
            del self._rendered[path]


def _read(model: SiteModel, path: str, source_page: SourcePage) -> Page:
    source, text = source_page.source, model.text(source_page)
    try:
        page = model.reader.read(source or f"{path}.md", text)
        if not source:
            page = replace(page, source="", title=source_page.front.title, front=source_page.front)
        return model.api.render(page)
    except Exception as error:  # noqa: BLE001  # a bug of ours on one page must not prevent the whole site
        message = f"the page could not be rendered ({type(error).__name__}); this is a bug in Tenantry"
        diagnostic = Diagnostic(Severity.ERROR, "SITE105", message, "Report it, with the file.", path=source or path)
        html = str(render_template("theme/unrendered", text=text))
        return Page(path, source, source_page.front.title, source_page.front, html, diagnostics=(diagnostic,))


_PAGE_LINK = re.compile(rb'(<[a-zA-Z][^<>]*? (?:href="|content="0; url=))(?!//)([^":?#]+)\.html(?=["?#])')


def clean_links(html: bytes) -> bytes:
    """The HTML with links to pages without ``.html``: ``guides/start``, and ``guides/`` for ``guides/index.html``."""

    def link(found: re.Match[bytes]) -> bytes:
        folder, slash, name = found[2].rpartition(b"/")
        return found[1] + (found[2] if name != b"index" else folder + slash or b"./")

    return _PAGE_LINK.sub(link, html)


def at_root(page: Page) -> Page:
    """A copy of the page for the path ``index``, with its relative links adjusted."""
    folder = dirname(html_path(page.path))
    if not folder:
        return replace(page, path="index")

    def moved(found: re.Match[str]) -> str:
        if _ABSOLUTE.match(found[2]):
            return found[0]
        end = min((at for at in map(found[2].find, "?#") if at >= 0), default=len(found[2]))
        return f'{found[1]}{normpath(f"{folder}/{found[2][:end]}")}{found[2][end:]}"'

    return replace(page, path="index", html=_ADDRESS.sub(moved, page.html))
