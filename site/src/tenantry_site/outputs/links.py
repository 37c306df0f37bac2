"""Checks that each link on a page leads to an existing page or file, and its fragment to an existing id.

When a page is rendered, its ids and the links that may be broken are stored. These links are checked once all pages are
known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html import unescape
from posixpath import splitext

from tenantry_site.addresses import Addresses, AddressKind
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.page import Page
from tenantry_site.suggestions import PathSuggestions

CODES: dict[str, str] = {
    "LINK001": "A link leads to a page or file that does not exist.",
    "LINK002": "The fragment of a link names an id that the page does not have.",
    "LINK003": "A link leads out of the site's folder.",
    "LINK010": "A redirect leads to a page that does not exist.",
    "LINK011": "A redirect's source is not a path of this site, or its destination is not an allowed address.",
    "LINK012": "A redirect's source is the path of a page; the page is shown.",
    "LINK013": "A redirect matches addresses that cannot be listed; it works only if the site is served.",
    "LINK014": "There are more redirects with placeholders than are supported.",
}
"""Diagnostic code -> its meaning. Codes are stable."""


_IDS = re.compile(r'<[a-zA-Z][^<>]*? id="([^"]+)"')


@dataclass(frozen=True, slots=True)
class UnresolvedLink:
    """A link that may be broken."""

    target: str
    """The link as written."""
    line: int
    path: str
    """The page or file that the link names; empty if it is outside the site's folder."""
    fragment: str
    """The fragment. Unless ``missing``, only the fragment remains to be checked."""
    missing: bool
    """Whether there is nothing at ``path``."""


@dataclass(frozen=True, slots=True)
class PageLinks:
    """What the link check needs to know about a page. ``ids``: the page's ids, each between line breaks.
    ``unresolved``: the links that may be broken."""

    path: str
    source: str
    ids: str
    unresolved: tuple[UnresolvedLink, ...]


def page_links(page: Page, addresses: Addresses) -> PageLinks:
    """Collect the ids of a page, and the links on it that may be broken."""
    ids = "\n".join(["", *(unescape(found) for found in _IDS.findall(page.html)), ""])
    return PageLinks(page.path, page.source, ids, tuple(_unresolved_links(page, addresses)))


def _unresolved_links(page: Page, addresses: Addresses) -> Iterator[UnresolvedLink]:
    for link in page.links:
        address = addresses.resolve(page.path, link.target)
        if address.kind is AddressKind.MISSING:
            path = "" if address.path.startswith("..") else address.path
            yield UnresolvedLink(link.target, link.line, path, address.fragment, missing=True)
        elif address.kind is AddressKind.PAGE and address.fragment:
            yield UnresolvedLink(link.target, link.line, address.path, address.fragment, missing=False)


def check(
    pages: Iterable[PageLinks], addresses: Addresses, home: str, moved: Callable[[str], bool] = lambda _: False
) -> Iterator[Diagnostic]:
    """Report broken links. ``home``: the page at the site's root. ``moved``: whether a path has a redirect."""
    known = {page.path: page for page in pages}
    pages_near, files_near = PathSuggestions(addresses.pages), PathSuggestions(addresses.files)
    for page in known.values():
        for unresolved in page.unresolved:
            if not unresolved.missing:
                target = known.get(unresolved.path or home)
                if target is not None and not _has(target, unresolved.fragment):
                    yield _no_part(page, target, unresolved)
            elif not unresolved.path:
                yield _diagnostic(
                    page, unresolved, "LINK003", "leads out of the site's folder", "Copy the file into the folder."
                )
            elif not moved(unresolved.path):
                fix = _fix(pages_near, files_near, unresolved)
                yield _diagnostic(page, unresolved, "LINK001", "leads to a page or file that does not exist", fix)


def _has(page: PageLinks, fragment: str) -> bool:
    # Browsers support #top and text fragments (#:~:text=…) on any page
    bare = fragment.partition(":~:")[0]
    return not bare or bare.lower() == "top" or f"\n{bare}\n" in page.ids


def _no_part(page: PageLinks, target: PageLinks, unresolved: UnresolvedLink) -> Diagnostic:
    ids = target.ids.split()
    near = PathSuggestions(ids).find(unresolved.fragment)
    target_name = "this page" if target.path == page.path else target.source or target.path
    fix = f"Write #{near}." if near else f"Use the id of a heading of {target_name}, or remove the fragment."
    return _diagnostic(page, unresolved, "LINK002", f"ends in an id that {target_name} does not have", fix)


def _fix(pages: PathSuggestions, files: PathSuggestions, unresolved: UnresolvedLink) -> str:
    """The fix for a link to a missing page or file: the most similar path of the same kind, if there is one."""
    is_file = splitext(unresolved.path)[1].lower() not in {"", ".md", ".mdx", ".html"}
    known = files if is_file else pages
    near = known.find(unresolved.path) or known.find(unresolved.target.partition("#")[0].partition("?")[0].strip("/"))
    if near:
        return f"Did you mean /{near}?"
    return "Add the file, or remove the link." if is_file else "Add the page, or remove the link."


def _diagnostic(page: PageLinks, unresolved: UnresolvedLink, code: str, found: str, fix: str) -> Diagnostic:
    shown = unresolved.target if len(unresolved.target) <= 200 else f"{unresolved.target[:200]}…"
    return Diagnostic(
        Severity.WARNING, code, f"the link “{shown}” {found}", fix, line=unresolved.line, path=page.source
    )
