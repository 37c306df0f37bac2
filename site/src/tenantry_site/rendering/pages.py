"""Pages: each page of a site drawn and framed, and drawn again only when something that it shows has changed."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from html import escape
from posixpath import dirname, normpath

from tenantry_site.addresses import html_path
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.outputs import PageLinks, SearchPart, page_links, search_parts
from tenantry_site.page import Page
from tenantry_site.rendering.manuscripts import Manuscript
from tenantry_site.rendering.plan import Plan

_ADDRESS = re.compile(r'(<[a-zA-Z][^<>]*? (?:href|src|poster)=")([^"#?][^"]*)"')
_ABSOLUTE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|/")


@dataclass(slots=True)
class Drawn:
    """A page as it was drawn. ``page`` is let go of where nothing is remembered."""

    manuscript: Manuscript
    reader: object
    api: object
    page: Page | None
    page_links: PageLinks
    parts: tuple[SearchPart, ...]
    diagnostics: tuple[Diagnostic, ...]
    request_headers: frozenset[str]
    theme: object = None
    """What framed it last; None if that was before it was drawn again."""


class Pages:
    """The pages of one site by their paths. ``remember``: keep them, to frame them anew without reading them anew."""

    def __init__(self, *, remember: bool) -> None:
        self._remember = remember
        self._drawn: dict[str, Drawn] = {}

    def draw(self, plan: Plan, path: str) -> Drawn:
        """The page, drawn now or before; its ``page`` is there unless it was framed before."""
        manuscript = plan.manuscripts[path]
        known = self._drawn.get(path)
        if known is not None and (known.manuscript, known.reader, known.api) == (manuscript, plan.reader, plan.api):
            return known
        page = _read(plan, path, manuscript)
        drawn = self._drawn[path] = Drawn(
            manuscript=manuscript,
            reader=plan.reader,
            api=plan.api,
            page=page,
            page_links=page_links(page, plan.addresses),
            parts=search_parts(page),
            diagnostics=(*manuscript.diagnostics, *page.diagnostics),
            request_headers=page.request_headers,
        )
        return drawn

    def frame(self, plan: Plan, path: str) -> tuple[Page, bytes] | None:
        """The page and the whole HTML of it; None if it would be the same as the last time."""
        drawn = self.draw(plan, path)
        if drawn.theme is plan.theme or drawn.page is None:
            return None
        page = drawn.page
        drawn.theme = plan.theme
        if not self._remember:
            drawn.page = None
        return page, plan.theme.page(page).encode("utf-8", "replace")

    def keep(self, paths: Collection[str]) -> None:
        """Lets go of all other pages."""
        for path in self._drawn.keys() - paths:
            del self._drawn[path]


def _read(plan: Plan, path: str, manuscript: Manuscript) -> Page:
    source, text = manuscript.source, plan.text(manuscript)
    try:
        page = plan.reader.read(source or f"{path}.md", text)
        if not source:
            page = replace(page, source="", title=manuscript.head.title, front=manuscript.head)
        return plan.api.draw(page)
    except Exception as error:  # noqa: BLE001  # one page that we fail at must not take the site with it
        message = f"the page could not be drawn ({type(error).__name__}); this is a mistake of Tenantry"
        said = Diagnostic(Severity.ERROR, "SITE105", message, "Report it, with the file.", path=source or path)
        html = f"<p>This page could not be drawn.</p>\n<pre>{escape(text)}</pre>"
        return Page(path, source, manuscript.head.title, manuscript.head, html, diagnostics=(said,))


def at_root(page: Page) -> Page:
    """The page as if it stood at ``index``: what it links to is where it was."""
    folder = dirname(html_path(page.path))
    if not folder:
        return replace(page, path="index")

    def moved(found: re.Match[str]) -> str:
        if _ABSOLUTE.match(found[2]):
            return found[0]
        end = min((place for place in map(found[2].find, "?#") if place >= 0), default=len(found[2]))
        return f'{found[1]}{normpath(f"{folder}/{found[2][:end]}")}{found[2][end:]}"'

    return replace(page, path="index", html=_ADDRESS.sub(moved, page.html))
