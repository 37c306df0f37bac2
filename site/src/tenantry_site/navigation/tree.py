"""The tree of groups and pages in the navigation, divided by tab and anchor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple
from urllib.parse import urlsplit

from tenantry_site.addresses import page_path
from tenantry_site.config.model import Group, SiteConfig
from tenantry_site.page import FrontMatter, title_of_path

Versions = frozenset[int] | None
"""The versions that show an element, by their index in the configuration file; None: all versions."""

METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"})


@dataclass(frozen=True, slots=True)
class PageEntry:
    """A page in the navigation. ``method``: HTTP method of an API page, else empty. ``url``: the address of the entry's
    link, if it is not the page."""

    path: str
    title: str
    icon: str = ""
    icon_type: str = ""
    method: str = ""
    url: str = ""
    versions: Versions = None


@dataclass(frozen=True, slots=True)
class GroupEntry:
    """A group with its entries. ``number``: unique on the site. ``title`` may be empty."""

    number: int
    title: str
    icon: str
    icon_type: str
    children: tuple[PageEntry | GroupEntry, ...]
    versions: Versions
    size: int
    """Number of pages in the group and its subgroups."""


def page_entry(path: str, front_matter: FrontMatter, versions: Versions) -> PageEntry:
    return PageEntry(
        path=path,
        title=front_matter.sidebar_title or front_matter.title or title_of_path(path),
        icon=front_matter.icon,
        icon_type=front_matter.icon_type,
        method="" if front_matter.hide_api_marker else method_of(front_matter.openapi or front_matter.api),
        url=front_matter.url,
        versions=versions,
    )


def method_of(operation: str) -> str:
    """The HTTP method of a page's operation: ``GET`` for ``get /users`` and ``users.json GET /users``; else empty."""
    return next((word for word in operation.upper().split() if word in METHODS), "")


def union(all_versions: Iterable[Versions]) -> Versions:
    """The union of the sets; None (all versions) if one of them is None."""
    found: set[int] = set()
    for versions in all_versions:
        if versions is None:
            return None
        found |= versions
    return frozenset(found)


def overlap(one: Versions, other: Versions) -> bool:
    return one is None or other is None or not one.isdisjoint(other)


def size_of(node: PageEntry | GroupEntry) -> int:
    return node.size if isinstance(node, GroupEntry) else 1


def first_of(branch: GroupEntry) -> PageEntry:
    """The entry to which the link of a collapsed group leads: the first entry that is a page of the site, else the
    first entry."""
    entries = list(entries_of((branch,)))
    return next((each for each in entries if not each.url), entries[0])


def entries_of(nodes: Iterable[PageEntry | GroupEntry]) -> Iterable[PageEntry]:
    """All pages in the nodes and their subgroups, in order."""
    for node in nodes:
        if isinstance(node, GroupEntry):
            yield from entries_of(node.children)
        else:
            yield node


class SitePart(NamedTuple):
    """A part of the site with its own sidebar: a tab and an anchor, by index in the configuration file. None: the
    primary tab, or the top anchor."""

    tab: int | None
    anchor: int | None


class PathPrefixes:
    """Finds the tab or anchor of a page by path prefix. ``urls``: the ``url`` of each tab or anchor, in order."""

    __slots__ = ("_indexes",)

    def __init__(self, urls: Iterable[str]) -> None:
        self._indexes: dict[str, int] = {}
        for index, url in enumerate(urls):
            prefix = prefix_of(url)
            if prefix is not None:
                self._indexes.setdefault(prefix, index)

    def find(self, path: str) -> int | None:
        """The index of the tab or anchor with the longest prefix of the path, or None."""
        if not self._indexes:
            return None
        while path:
            if path in self._indexes:
                return self._indexes[path]
            path = path.rpartition("/")[0]
        return self._indexes.get("")


def prefix_of(url: str) -> str | None:
    """The path prefix of a tab or an anchor; None for an external link."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return None
    return None if parts.scheme or parts.netloc else page_path(parts.path)


Entries = tuple[PageEntry | GroupEntry, ...]


class NavigationTree:
    """The groups and pages of the navigation.

    ``parts``: part of the site -> its groups. A group with pages in two parts appears in both, each time with only that
    part's pages. ``order``: all page entries, in order. ``listed``: page -> all its versions.
    """

    def __init__(self, config: SiteConfig, front_matters: Mapping[str, FrontMatter]) -> None:
        self._front_matters = front_matters
        self._tabs = PathPrefixes(tab.url for tab in config.tabs)
        self._anchors = PathPrefixes(anchor.url for anchor in config.anchors)
        self._versions = {version.name: frozenset({index}) for index, version in enumerate(config.versions)}
        self.anchor_versions: tuple[frozenset[int] | None, ...] = tuple(
            self._versions.get(anchor.version or "") for anchor in config.anchors
        )
        self._numbers = count()
        self.order: list[PageEntry] = []
        self.listed: dict[str, Versions] = {}
        found: dict[SitePart, list[PageEntry | GroupEntry]] = {}
        for group in config.navigation:
            for part, branch in self._add_group(group, None).items():
                found.setdefault(part, []).append(branch)
        self.parts: dict[SitePart, Entries] = {part: tuple(nodes) for part, nodes in found.items()}

    def part(self, path: str) -> SitePart:
        return SitePart(self._tabs.find(path), self._anchors.find(path))

    def versions(self, path: str, around: Versions = None) -> Versions:
        """The versions that show a page: the versions that its groups (``around``) and its front matter name, else its
        anchor's versions.

        Version names that the configuration file does not list are ignored.
        """
        own = self._within(around, self._front_matters[path].version)
        if own is None:
            anchor = self._anchors.find(path)
            own = None if anchor is None else self.anchor_versions[anchor]
        return own

    def find(self, reference: str) -> str | None:
        """The page at a path from the configuration file, else the page ``index`` below that path, else None."""
        path = page_path(reference)
        if path is None:
            return None
        return next((each for each in (path, f"{path}/index".lstrip("/")) if each in self._front_matters), None)

    def _add_group(self, group: Group, around: Versions) -> dict[SitePart, GroupEntry]:
        inner = self._within(around, group.version or "")
        found: dict[SitePart, list[PageEntry | GroupEntry]] = {}
        for member in group.pages:
            if isinstance(member, Group):
                for part, branch in self._add_group(member, inner).items():
                    found.setdefault(part, []).append(branch)
            else:
                self._add_page(member, inner, found)
        return {part: self._branch(group, tuple(children)) for part, children in found.items()}

    def _within(self, around: Versions, name: str) -> Versions:
        own = self._versions.get(name)
        return around if own is None else own if around is None else own & around

    def _add_page(self, reference: str, around: Versions, found: dict[SitePart, list[PageEntry | GroupEntry]]) -> None:
        path = self.find(reference)
        if path is None:
            return
        versions = self.versions(path, around)
        if versions is not None and not versions:
            return  # a version inside a group of another version is never shown
        listed = page_entry(path, self._front_matters[path], versions)
        self.order.append(listed)
        self.listed[path] = union((self.listed[path], versions)) if path in self.listed else versions
        found.setdefault(self.part(path), []).append(listed)

    def _branch(self, group: Group, children: Entries) -> GroupEntry:
        return GroupEntry(
            number=next(self._numbers),
            title=group.group.strip(),
            icon=group.icon or "",
            icon_type=group.icon_type or "",
            children=children,
            versions=union(child.versions for child in children),
            size=sum(map(size_of, children)),
        )
