"""Resolves the addresses that authors write on pages into relative links.

A path without a leading ``/`` or ``.`` is looked up in the page's folder, then at the site's root. The page
``guides/start`` is written to ``guides/start.html``. Links are relative, so that a site works under any path prefix
and without a server.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from posixpath import dirname, normpath, relpath
from types import MappingProxyType
from urllib.parse import quote, unquote, urlsplit

SUFFIXES = (".mdx", ".md", ".html")
SAFE = "/@+,;=!$&'()*~"
"""Characters of a path that are not percent-encoded. A colon is encoded: in the first segment, browsers would read it
as the end of a scheme (``javascript:``)."""
SCHEMES = frozenset({"http", "https", "mailto", "tel"})
"""The schemes that links may have. Others are refused: ``javascript:`` and ``data:`` would run code in the page."""


class AddressKind(StrEnum):
    """What an address leads to: a page or file of the site, another host, or nothing. Unsafe addresses are refused."""

    PAGE = "page"
    FILE = "file"
    EXTERNAL = "external"
    MISSING = "missing"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Address:
    """A resolved address. ``href``: the link to write, not HTML-escaped. ``path``: the page (without suffix) or file
    within the site. ``fragment``: the part after ``#``, decoded."""

    kind: AddressKind
    href: str
    path: str = ""
    fragment: str = ""


def page_path(reference: str) -> str | None:
    """The normalized path of a page: ``/guides/start.mdx`` and ``./guides/start`` give ``guides/start``. None if the
    path leads out of the site's folder."""
    bare = reference.replace("\\", "/").strip().strip("/")
    for suffix in SUFFIXES[:2]:
        bare = bare.removesuffix(suffix)
    path = normpath(bare) if bare else ""
    return None if path.startswith("..") else ("" if path == "." else path)


def html_path(page: str) -> str:
    return f"{page}.html"


def page_url(base_url: str, page: str, *, clean: bool = False) -> str:
    """The absolute address of a page; ``index`` has the address of its folder. ``clean``: without ``.html``."""
    folder, _, name = page.rpartition("/")
    path = f"{folder}/".lstrip("/") if name == "index" else page if clean else html_path(page)
    return f"{base_url.rstrip('/')}/{quote(path, safe=SAFE, errors='replace')}"


def relative_url(source: str, target: str) -> str:
    """The relative link from the file ``source`` to the file ``target``; both are paths from the site's root."""
    return quote(relpath(target, dirname(source) or "."), safe=SAFE, errors="replace")


class Addresses:
    """Resolves addresses against the pages and files of one site.

    ``pages`` (without suffix) and ``files``: paths from the site's root. ``folders``: folder -> its first page, for
    folders without an index (``first_pages``). ``moved``: source paths of redirects, each of which has an HTML file.
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
        """Resolve the address ``target`` that an author wrote on ``page`` (a path without suffix)."""
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
            # many authors write paths from the root without the leading slash
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
        return frozenset(_parents((*self.pages, *self.files)))

    def _first(self, path: str) -> str | None:
        """The first page of the folder at ``path``; ``path`` may also name the folder's missing index page."""
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
    """Folder -> its first page, for folders that have neither an ``index`` page nor a page whose path is the folder's
    path.

    ``order``: all pages, in reading order.
    """
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
    found = [path]
    found += [path.removesuffix(suffix) for suffix in SUFFIXES if path.endswith(suffix)]
    found.append(f"{path}/index".lstrip("/"))
    return found
