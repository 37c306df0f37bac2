"""Links from the configuration file, and the links of feedback buttons.

Links in the layout are relative to the site's root, so pages of one depth share the rendered HTML. Feedback links
work for known code hosts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, urlsplit

from markupsafe import Markup

from tenantry_site import icons
from tenantry_site.addresses import Addresses, AddressKind, html_path
from tenantry_site.config.model import SiteConfig
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.options import SiteOptions

SAFE = "/@+,;=!$'()*~"
"""What is written as it is in a path. Not a colon: before the first slash it would end a scheme."""

DEFAULT_KIND = "duotone"

_ALLOW = "Put the picture into the site's folder, or allow external media."

_UP = "\N{NULL}"
"""Stands for the way up in a link that is not yet on a page; no address that was resolved has it."""


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
    """The links around a page. ``diagnostics`` collects the problems of resolved links."""

    def __init__(self, addresses: Addresses, *, external_media: bool) -> None:
        self._addresses = addresses
        self._external_media = external_media
        self.diagnostics: dict[Diagnostic, None] = {}

    def link(self, target: str, pointer: str = "", page: str = "index") -> str:
        """A link's address; internal ones have a placeholder that ``resolve_link`` replaces.

        Empty for a refused address.
        """
        found = self._addresses.resolve(page, target)
        if found.kind in {AddressKind.EXTERNAL, AddressKind.REFUSED}:
            return found.href
        moved = found.kind is AddressKind.MISSING and found.path in self._addresses.moved
        if found.kind is AddressKind.MISSING and pointer and not moved:
            self._report("SITE003", f"{target!r} leads to no page or file of this site.", pointer)
        is_page = moved or found.kind is AddressKind.PAGE
        file = html_path(found.path) if is_page and found.path else found.path or "index.html"
        tail = found.href.partition("#")
        query = tail[0].partition("?")
        return _UP + quote_path(file) + "".join(query[1:]) + "".join(tail[1:])

    def is_external(self, target: str, page: str) -> bool:
        """Whether a link leaves the site."""
        return self._addresses.resolve(page, target).kind is AddressKind.EXTERNAL

    def picture(self, target: str, pointer: str) -> str:
        """The address of an image; empty if it is missing or its host is not allowed."""
        found = self._addresses.resolve("index", target)
        if found.kind is AddressKind.FILE:
            return _UP + quote_path(found.path)
        if found.kind is AddressKind.EXTERNAL and self._external_media and found.href.startswith(("https:", "http:")):
            return found.href
        if found.kind is AddressKind.EXTERNAL:
            self._report("SITE002", f"{target!r} is on another host, and is not shown.", pointer, _ALLOW)
        return ""

    def icon(self, name: str, kind: str, pointer: str) -> Markup:
        """An SVG; empty for an unknown name, which is reported if there is a ``pointer``."""
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
    """Complete a link of ``Links`` for a page; ``root`` is its path to the site's root."""
    return root + link[1:] if link.startswith(_UP) else link


BRANCH = "main"
"""The branch that is edited where the address names none."""

_HOSTS = (
    (re.compile(r"/-/(?:tree|blob)/"), "/-/edit/{}", "/-/issues/new?issue[title]="),
    (re.compile(r"/src/branch/"), "/_edit/{}", "/issues/new?title="),
    (re.compile(r"/(?:tree|blob|edit)/"), "/edit/{}", "/issues/new?title="),
)
"""What stands before the branch in an address, how the one to edit is written, and how a new issue is: three kinds of
host, the last being the default."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A code repository.

    ``home``: its address; ``folder``: branch and path of the pages; ``edits`` and ``issues``: the host's address
    formats.
    """

    home: str
    folder: str
    edits: str
    issues: str

    def edit(self, source: str) -> str:
        """The address to edit a page's file."""
        return self.home + self.edits.format(f"{self.folder}/{quote(source)}")

    def issue(self, title: str, path: str) -> str:
        """The address to open an issue about a page, with a title."""
        return self.home + self.issues + quote(f"Docs: {title} ({path})", safe="")


def repository(config: SiteConfig, options: SiteOptions) -> Repository | None:
    """The repository of the options, else of the code host's call to action; None without either."""
    button = config.topbar_cta_button
    url = options.repository or (button.url if button and button.type == "github" else "")
    return parse_repository(url)


def parse_repository(url: str) -> Repository | None:
    """Parse an address like ``https://github.com/owner/name/tree/main/docs``; None if it is not http."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        return None
    address = f"{parts.scheme}://{parts.netloc}{quote(parts.path.rstrip('/'), safe='/%-._~@')}"
    for versions_attribute, edits, issues in _HOSTS:
        home, *rest = versions_attribute.split(address, maxsplit=1)
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
