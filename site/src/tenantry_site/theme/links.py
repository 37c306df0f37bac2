"""Links of the layout, which are in the configuration file or on the feedback buttons.

Internal links are kept relative to the site's root until a page's depth is known, so that pages in folders of equal
depth can share HTML.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, urlsplit

from markupsafe import Markup

from tenantry_site import icons
from tenantry_site.addresses import SAFE, Addresses, AddressKind, html_path
from tenantry_site.diagnostic import Diagnostic, Severity

DEFAULT_KIND = "duotone"

_ALLOW = "Put the image into the site's folder, or allow external media."

_UP = "\N{NULL}"
"""Prefix of internal links, which ``resolve_link`` replaces by the path to the root. No other link begins with it."""


@lru_cache(maxsize=4096)
def quote_path(path: str) -> str:
    """Percent-encode a path from the site's root."""
    return quote(path, safe=SAFE, errors="replace")


def path_to_root(path: str) -> str:
    """The relative path from a page to the root: one ``../`` for each folder."""
    return "../" * path.count("/")


def page_link(path: str) -> str:
    """A link to a page, relative to the root."""
    return quote_path(html_path(path))


class Links:
    """Resolves the links, images and icons of the layout. ``diagnostics``: a dict whose keys are the problems found so
    far."""

    def __init__(self, addresses: Addresses, *, external_media: bool) -> None:
        self._addresses = addresses
        self._external_media = external_media
        self.diagnostics: dict[Diagnostic, None] = {}

    def link(self, target: str, pointer: str = "", page: str = "index") -> str:
        """The address of a link; empty if it is unsafe. The address of an internal link begins with a placeholder,
        which ``resolve_link`` replaces.

        ``pointer``: JSON pointer of the field, for the diagnostic about a missing page; empty: no diagnostic. ``page``:
        the page to which ``target`` is relative.
        """
        found = self._addresses.resolve(page, target)
        if found.kind in {AddressKind.EXTERNAL, AddressKind.REFUSED}:
            return found.href
        moved = found.kind is AddressKind.MISSING and found.path in self._addresses.moved
        if found.kind is AddressKind.MISSING and pointer and not moved:
            self._report("SITE003", f"{target!r} is not a page or file of this site.", pointer)
        is_page = moved or found.kind is AddressKind.PAGE
        file = html_path(found.path) if is_page and found.path else found.path or "index.html"
        tail = found.href.partition("#")
        query = tail[0].partition("?")
        return _UP + quote_path(file) + "".join(query[1:]) + "".join(tail[1:])

    def is_external(self, target: str, page: str) -> bool:
        """Whether a link leads to another site."""
        return self._addresses.resolve(page, target).kind is AddressKind.EXTERNAL

    def picture(self, target: str, pointer: str) -> str:
        """The address of an image, to pass to ``resolve_link``; empty if the file is missing, or on another host
        without ``SiteOptions.external_media``."""
        found = self._addresses.resolve("index", target)
        if found.kind is AddressKind.FILE:
            return _UP + quote_path(found.path)
        if found.kind is AddressKind.EXTERNAL and self._external_media and found.href.startswith(("https:", "http:")):
            return found.href
        if found.kind is AddressKind.EXTERNAL:
            self._report("SITE002", f"{target!r} is on another host and is not shown.", pointer, _ALLOW)
        return ""

    def icon(self, name: str, kind: str, pointer: str) -> Markup:
        """An icon as SVG; empty for an unknown name, which is reported unless ``pointer`` is empty."""
        svg = icons.svg(name, kind or DEFAULT_KIND) if name else ""
        if svg is None and pointer:
            near = icons.nearest(name)
            self._report(
                "SITE004", f"No icon is called {name!r}.", pointer, f"Write {near!r}." if near else "Leave it out."
            )
        return Markup(svg or "")  # noqa: S704  # our own icon

    def _report(self, code: str, message: str, pointer: str, fix: str = "Write the path of a page or file.") -> None:
        self.diagnostics[Diagnostic(Severity.WARNING, code, message, fix, pointer)] = None


def resolve_link(link: str, root: str) -> str:
    """Complete a link of ``Links`` for a page. ``root``: the page's relative path to the site's root."""
    return root + link[1:] if link.startswith(_UP) else link


BRANCH = "main"
"""The branch to edit if the repository's address names none."""

_HOSTS = (
    (re.compile(r"/-/(?:tree|blob)/"), "/-/edit/{}", "/-/issues/new?issue[title]="),
    (re.compile(r"/src/branch/"), "/_edit/{}", "/issues/new?title="),
    (re.compile(r"/(?:tree|blob|edit)/"), "/edit/{}", "/issues/new?title="),
)
"""Address formats of GitLab, Gitea and GitHub (the default): the part before the branch, the path to edit a file, and
the path to open an issue."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A code repository.

    ``home``: the repository's address. ``folder``: branch and folder of the pages. ``edits``, ``issues``: the host's
    path formats to edit a file and to open an issue.
    """

    home: str
    folder: str
    edits: str
    issues: str

    def edit(self, source: str) -> str:
        """The address to edit a page's file."""
        return self.home + self.edits.format(f"{self.folder}/{quote(source)}")

    def issue(self, title: str, path: str) -> str:
        """The address that opens a new issue about a page, with a title."""
        return self.home + self.issues + quote(f"Docs: {title} ({path})", safe="")


def parse_repository(url: str) -> Repository | None:
    """Parse an address like ``https://github.com/owner/name/tree/main/docs``; None if it is not http."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        return None
    address = f"{parts.scheme}://{parts.netloc}{quote(parts.path.rstrip('/'), safe='/%-._~@')}"
    for before_branch, edits, issues in _HOSTS:
        home, *rest = before_branch.split(address, maxsplit=1)
        if rest:
            return Repository(home, rest[0], edits, issues)
    edits, issues = _HOSTS[0][1:] if "gitlab" in parts.netloc else _HOSTS[-1][1:]
    return Repository(address.removesuffix(".git"), BRANCH, edits, issues)


def short_name(url: str) -> str:
    """``owner/name`` of a repository, or its address without the scheme."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return url
    words = [word for word in parts.path.split("/") if word][:2]
    return "/".join(words).removesuffix(".git") if len(words) == 2 else (parts.netloc + parts.path).rstrip("/") or url
