"""Links: from what the configuration file says to what is written into a page, whatever folder the page is in.

Within the frame a link to a page or file is the way up to the site's root, and then down. It is right in every page of
the same depth, so that what is drawn once serves them all.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import quote

from markupsafe import Markup

from tenantry_site import icons
from tenantry_site.addresses import Addresses, AddressKind, html_path
from tenantry_site.diagnostic import Diagnostic, Severity

SAFE = "/@+,;=!$'()*~"
"""What is written as it is in a path. Not a colon: before the first slash it would end a scheme."""

DEFAULT_KIND = "duotone"

_ALLOW = "Put the picture into the site's folder, or allow external media."

_UP = "\N{NULL}"
"""Stands for the way up in a link that is not yet on a page; no address that was resolved has it."""


@lru_cache(maxsize=4096)
def below(path: str) -> str:
    """A path from the root of the site, as a link spells it."""
    return quote(path, safe=SAFE, errors="replace")


def up(path: str) -> str:
    """The way from a page up to the root: ``../`` for every folder that it is in."""
    return "../" * path.count("/")


def page_link(path: str) -> str:
    """A link to a page, below the root."""
    return below(html_path(path))


class Links:
    """The links of the frame. ``diagnostics`` fills with what is wrong with those that were asked for."""

    def __init__(self, addresses: Addresses, *, external_media: bool) -> None:
        self._addresses = addresses
        self._external_media = external_media
        self.diagnostics: dict[Diagnostic, None] = {}

    def link(self, target: str, pointer: str = "", page: str = "index") -> str:
        """Where a link leads, with a mark for the way up if it stays within the site: ``place`` puts the way in.

        Empty for an address that must not be written.
        """
        found = self._addresses.resolve(page, target)
        if found.kind in {AddressKind.EXTERNAL, AddressKind.REFUSED}:
            return found.href
        moved = found.kind is AddressKind.MISSING and found.path in self._addresses.moved
        if found.kind is AddressKind.MISSING and pointer and not moved:
            self._note("SITE003", f"{target!r} leads to no page or file of this site.", pointer)
        is_page = moved or found.kind is AddressKind.PAGE
        file = html_path(found.path) if is_page and found.path else found.path or "index.html"
        tail = found.href.partition("#")
        query = tail[0].partition("?")
        return _UP + below(file) + "".join(query[1:]) + "".join(tail[1:])

    def leaves(self, target: str, page: str) -> bool:
        """Whether a link leads out of the site."""
        return self._addresses.resolve(page, target).kind is AddressKind.EXTERNAL

    def picture(self, target: str, pointer: str) -> str:
        """The same for a picture; empty for one that is not there, or that this site shows nothing of."""
        found = self._addresses.resolve("index", target)
        if found.kind is AddressKind.FILE:
            return _UP + below(found.path)
        if found.kind is AddressKind.EXTERNAL and self._external_media and found.href.startswith(("https:", "http:")):
            return found.href
        if found.kind is AddressKind.EXTERNAL:
            self._note("SITE002", f"{target!r} is on another host, and is not shown.", pointer, _ALLOW)
        return ""

    def icon(self, name: str, kind: str, pointer: str) -> Markup:
        """An SVG; nothing for a name that no icon has, which is said where there is a ``pointer``."""
        drawn = icons.svg(name, kind or DEFAULT_KIND) if name else ""
        if drawn is None and pointer:
            near = icons.nearest(name)
            self._note(
                "SITE004", f"No icon is called {name!r}.", pointer, f"Write {near!r}." if near else "Leave it out."
            )
        return Markup(drawn or "")  # noqa: S704  # drawn by us

    def _note(self, code: str, message: str, pointer: str, fix: str = "Write the path of a page or file.") -> None:
        self.diagnostics[Diagnostic(Severity.WARNING, code, message, fix, pointer)] = None


def place(link: str, way_up: str) -> str:
    """A link of ``Links``, on a page from which ``way_up`` leads to the root."""
    return way_up + link[1:] if link.startswith(_UP) else link
