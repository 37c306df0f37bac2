"""Addresses: where each page and file of the site is, and the relative address of one from another.

A path that begins with neither ``/`` nor ``.`` is one relative to the page's folder; if nothing is there, to the
site's.

A page ``guides/start`` becomes ``guides/start.html``, and every link between pages is relative: a site works on any
host, under any prefix, and from a folder without a server.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from posixpath import dirname, normpath, relpath
from types import MappingProxyType
from urllib.parse import quote, unquote, urlsplit

SUFFIXES = (".mdx", ".md", ".html")
SCHEMES = frozenset({"http", "https", "mailto", "tel"})
"""The schemes that a link may have; ``javascript:`` and ``data:`` would be ways into the page."""


class AddressKind(StrEnum):
    """What an address leads to."""

    PAGE = "page"
    FILE = "file"
    EXTERNAL = "external"
    MISSING = "missing"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Address:
    """``href`` is what to write, not yet escaped for HTML; ``path`` the page or file within the site that is meant."""

    kind: AddressKind
    href: str
    path: str = ""
    fragment: str = ""


def page_path(reference: str) -> str | None:
    """``/guides/start.mdx``, ``./guides/start`` -> ``guides/start``; None if it leaves the site's folder."""
    bare = reference.replace("\\", "/").strip().strip("/")
    for suffix in SUFFIXES[:2]:
        bare = bare.removesuffix(suffix)
    path = normpath(bare) if bare else ""
    return None if path.startswith("..") else ("" if path == "." else path)


def html_path(page: str) -> str:
    """The file that a page is written to."""
    return f"{page}.html"


def relative_url(source: str, target: str) -> str:
    """The relative address from one file of the built site to another, both given as paths from its root.

    A colon is always quoted: within the first part of a relative address it would end a scheme (``javascript:``).
    """
    return quote(relpath(target, dirname(source) or "."), safe="/@+,;=!$&'()*~", errors="replace")


class Addresses:
    """The pages (without suffix) and other files of a site, by their paths from its root.

    ``folders`` has the page that each folder without a page of its own begins with (``first_pages``). ``moved`` are the
    old addresses at which a page leads on: nothing of the site, but a link to one has the name of that page.
    """

    __slots__ = ("files", "folders", "moved", "pages")

    def __init__(
        self,
        pages: Collection[str],
        files: Collection[str],
        folders: Mapping[str, str] = MappingProxyType({}),
        moved: Collection[str] = (),
    ) -> None:
        self.pages: frozenset[str] = frozenset(pages)
        self.files: frozenset[str] = frozenset(files)
        self.folders: Mapping[str, str] = folders
        self.moved: frozenset[str] = frozenset(moved)

    def resolve(self, page: str, target: str) -> Address:
        """What ``target``, written on ``page`` by its author, leads to. ``page`` is the path without suffix."""
        try:
            parts = urlsplit(target.strip())
        except ValueError:
            return Address(AddressKind.REFUSED, "")
        if parts.scheme or parts.netloc:
            allowed = parts.scheme.lower() in SCHEMES or (not parts.scheme and parts.netloc)
            return Address(AddressKind.EXTERNAL if allowed else AddressKind.REFUSED, target.strip() if allowed else "")
        tail = (f"?{parts.query}" if parts.query else "") + (f"#{parts.fragment}" if parts.fragment else "")
        if not parts.path:
            return Address(AddressKind.PAGE, tail or "#", page, unquote(parts.fragment))
        path = unquote(parts.path)
        fragment = unquote(parts.fragment)
        start = "" if path.startswith("/") else dirname(page)
        found = self._at(page, start, path, tail, fragment)
        if found.kind is AddressKind.MISSING and start and not path.startswith("."):
            # what many authors mean by a path without a slash before it
            from_root = self._at(page, "", path, tail, fragment)
            return found if from_root.kind is AddressKind.MISSING else from_root
        return found

    def _at(self, page: str, start: str, path: str, tail: str, fragment: str) -> Address:
        whole = normpath(f"{start}/{path}".lstrip("/") or ".")
        whole = "" if whole == "." else whole
        if whole.startswith(".."):
            return Address(AddressKind.MISSING, relative_url(html_path(page), whole) + tail, whole, fragment)
        if whole in self.files:
            return Address(AddressKind.FILE, relative_url(html_path(page), whole) + tail, whole, fragment)
        for candidate in _candidates(whole):
            if candidate in self.pages:
                return Address(
                    AddressKind.PAGE, relative_url(html_path(page), html_path(candidate)) + tail, candidate, fragment
                )
        first = self._first(whole)
        if first is not None:
            return Address(AddressKind.PAGE, relative_url(html_path(page), html_path(first)) + tail, first, fragment)
        if not whole:
            return Address(AddressKind.PAGE, relative_url(html_path(page), "index.html") + tail, "", fragment)
        there = html_path(whole) if whole in self.moved else whole
        return Address(AddressKind.MISSING, relative_url(html_path(page), there) + tail, whole, fragment)

    def all_folders(self) -> frozenset[str]:
        """Every folder with a page or a file in it, however deep."""
        return frozenset(_parents((*self.pages, *self.files)))

    def _first(self, path: str) -> str | None:
        """The page that a folder begins with, by the folder's path or by that of the index which it does not have."""
        named = (self.folders.get(candidate.removesuffix("/index")) for candidate in _candidates(path))
        return next((page for page in named if page is not None), None)


def _parents(paths: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for path in paths:
        folder = dirname(path)
        while folder and folder not in seen:
            seen.add(folder)
            yield folder
            folder = dirname(folder)


def first_pages(order: Iterable[str]) -> dict[str, str]:
    """The first page in each folder that has no page of its own name and no ``index``; ``order`` has all pages."""
    found: dict[str, str] = {}
    pages = list(order)
    for page in pages:
        folder = dirname(page)
        while folder and folder not in found:
            found[folder] = page
            folder = dirname(folder)
    for page in pages:
        found.pop(page, None)
        if page.endswith("/index"):
            found.pop(dirname(page), None)
    return found


def _candidates(path: str) -> list[str]:
    """The pages that a path may mean, the likeliest first."""
    found = [path]
    found += [path.removesuffix(suffix) for suffix in SUFFIXES if path.endswith(suffix)]
    found.append(f"{path}/index".lstrip("/"))
    return found
