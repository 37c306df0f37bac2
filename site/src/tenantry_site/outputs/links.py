"""Links: whether every link of every page leads somewhere, down to the heading that it names.

Each page is looked at when it is drawn, and only what cannot be decided then is kept: which headings it has, and which
of another page its links name.
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

_IDS = re.compile(r'<[a-zA-Z][^<>]*? id="([^"]+)"')


@dataclass(frozen=True, slots=True)
class Loose:
    """A link that may lead nowhere: to ``path`` (empty: out of the folder), and there to ``fragment``."""

    target: str
    line: int
    path: str
    fragment: str
    missing: bool


@dataclass(frozen=True, slots=True)
class Linked:
    """What is kept of a page: its ``ids``, a line each, and its links that may lead nowhere."""

    path: str
    source: str
    ids: str
    loose: tuple[Loose, ...]


def linked(page: Page, addresses: Addresses) -> Linked:
    """Looks at one page."""
    ids = "\n".join(["", *(unescape(found) for found in _IDS.findall(page.html)), ""])
    return Linked(page.path, page.source, ids, tuple(_loose(page, addresses)))


def _loose(page: Page, addresses: Addresses) -> Iterator[Loose]:
    for link in page.links:
        address = addresses.resolve(page.path, link.target)
        if address.kind is AddressKind.MISSING:
            path = "" if address.path.startswith("..") else address.path
            yield Loose(link.target, link.line, path, address.fragment, missing=True)
        elif address.kind is AddressKind.PAGE and address.fragment:
            yield Loose(link.target, link.line, address.path, address.fragment, missing=False)


def check(
    pages: Iterable[Linked], addresses: Addresses, home: str, moved: Callable[[str], bool] = lambda _: False
) -> Iterator[Diagnostic]:
    """What leads nowhere. ``home`` is the page that the site begins with; ``moved`` knows the redirects."""
    known = {page.path: page for page in pages}
    pages_near, files_near = PathSuggestions(addresses.pages), PathSuggestions(addresses.files)
    for page in known.values():
        for loose in page.loose:
            if not loose.missing:
                target = known.get(loose.path or home)
                if target is not None and not _has(target, loose.fragment):
                    yield _no_part(page, target, loose)
            elif not loose.path:
                yield _said(page, loose, "LINK003", "leads out of the site's folder", "Copy the file into the folder.")
            elif not moved(loose.path):
                yield _said(page, loose, "LINK001", "leads to nothing", _remedy(pages_near, files_near, loose))


def _has(page: Linked, fragment: str) -> bool:
    # A browser takes #top, and text fragments, on any page.
    bare = fragment.partition(":~:")[0]
    return not bare or bare.lower() == "top" or f"\n{bare}\n" in page.ids


def _no_part(page: Linked, target: Linked, loose: Loose) -> Diagnostic:
    ids = target.ids.split()
    near = PathSuggestions(ids).find(loose.fragment)
    place = "this page" if target.path == page.path else target.source or target.path
    fix = f"Write #{near}." if near else f"Name a heading of {place}, or none."
    return _said(page, loose, "LINK002", f"names a part that {place} does not have", fix)


def _remedy(pages: PathSuggestions, files: PathSuggestions, loose: Loose) -> str:
    """The nearest file for what has a file's suffix, else the nearest page; from the page's folder, or the site's."""
    is_file = splitext(loose.path)[1].lower() not in {"", ".md", ".mdx", ".html"}
    known = files if is_file else pages
    near = known.find(loose.path) or known.find(loose.target.partition("#")[0].partition("?")[0].strip("/"))
    if near:
        return f"Did you mean /{near}?"
    return "Add the file, or remove the link." if is_file else "Add the page, or remove the link."


def _said(page: Linked, loose: Loose, code: str, found: str, fix: str) -> Diagnostic:
    shown = loose.target if len(loose.target) <= 200 else f"{loose.target[:200]}…"
    return Diagnostic(Severity.WARNING, code, f"the link “{shown}” {found}", fix, line=loose.line, path=page.source)
