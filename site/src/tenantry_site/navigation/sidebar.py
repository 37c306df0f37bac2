"""Selects the entries that the sidebar of a page shows.

Up to ``MAX_ENTRIES``, a sidebar shows all entries. A larger sidebar expands only the groups of the open page, shows
other groups as a link to their first page, and shows only a section of long lists, so that the size of a page does not
grow with the site.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from tenantry_site.navigation.tree import GroupEntry, PageEntry, Versions, first_of, overlap, size_of, union

MAX_ENTRIES = 150
"""Up to this many entries, a sidebar shows all of them."""

WINDOW = 80
"""Length of a section. A long list of siblings is divided into sections; the pages of one section share a sidebar."""

MARGIN = 10
"""Number of further siblings shown on each side of a section."""


@dataclass(frozen=True, slots=True)
class ExpandedGroup:
    """A group shown with its entries."""

    branch: GroupEntry
    nodes: tuple[SidebarNode, ...]


@dataclass(frozen=True, slots=True)
class CollapsedGroup:
    """A group shown as a link to its first page."""

    branch: GroupEntry
    first: PageEntry


@dataclass(frozen=True, slots=True)
class OmittedEntries:
    """A link in place of the ``count`` pages before (``earlier``) or after the shown section of a list. ``nearest``:
    the omitted page that is next to the section."""

    count: int
    nearest: PageEntry
    earlier: bool


SidebarNode = PageEntry | ExpandedGroup | CollapsedGroup | OmittedEntries
Entries = tuple[PageEntry | GroupEntry, ...]


@dataclass(frozen=True, slots=True)
class _SidebarPosition:
    """The position of a page: its groups from the outermost, and on each level the number of the section (of ``WINDOW``
    siblings) that contains it."""

    trail: tuple[GroupEntry, ...]
    windows: tuple[int, ...]


class Sidebar:
    """The sidebar of one part of the site, for pages with the same versions."""

    __slots__ = ("_complete", "_nodes", "_positions")

    def __init__(self, nodes: Entries, versions: Versions) -> None:
        self._nodes = _visible(nodes, versions)
        self._complete = sum(map(size_of, self._nodes)) <= MAX_ENTRIES
        self._positions: dict[str, _SidebarPosition] = {}
        self._find(self._nodes, (), ())

    def trail(self, path: str) -> tuple[GroupEntry, ...]:
        """The groups of a page, outermost first. If the page is listed twice, the groups of the first entry."""
        position = self._positions.get(path)
        return position.trail if position else ()

    def key(self, path: str) -> Hashable:
        """A cache key. Pages have equal keys if their sidebars differ only in the entry that is marked as open."""
        position = None if self._complete else self._positions.get(path)
        return position and (tuple(branch.number for branch in position.trail), position.windows)

    def nodes(self, path: str) -> tuple[SidebarNode, ...]:
        """The entries that the sidebar shows on a page."""
        return _expand_all(self._nodes) if self._complete else self._window(self._nodes, self._positions.get(path), 0)

    def _find(self, nodes: Entries, trail: tuple[GroupEntry, ...], windows: tuple[int, ...]) -> None:
        for number, node in enumerate(nodes):
            here = (*windows, number // WINDOW)
            if isinstance(node, GroupEntry):
                self._find(node.children, (*trail, node), here)
            else:
                self._positions.setdefault(node.path, _SidebarPosition(trail, here))

    def _window(self, nodes: Entries, position: _SidebarPosition | None, depth: int) -> tuple[SidebarNode, ...]:
        window = position.windows[depth] if position else 0
        start, end = max(0, window * WINDOW - MARGIN), (window + 1) * WINDOW + MARGIN
        if len(nodes) <= WINDOW + 2 * MARGIN:
            start, end = 0, len(nodes)
        shown: list[SidebarNode] = [self._node(node, position, depth) for node in nodes[start:end]]
        before, after = nodes[:start], nodes[end:]
        if before:
            shown.insert(0, OmittedEntries(sum(map(size_of, before)), _last(before[-1]), earlier=True))
        if after:
            shown.append(OmittedEntries(sum(map(size_of, after)), _first(after[0]), earlier=False))
        return tuple(shown)

    def _node(self, node: PageEntry | GroupEntry, position: _SidebarPosition | None, depth: int) -> SidebarNode:
        if isinstance(node, PageEntry):
            return node
        if position and depth < len(position.trail) and position.trail[depth].number == node.number:
            return ExpandedGroup(node, self._window(node.children, position, depth + 1))
        return CollapsedGroup(node, first_of(node))


def _expand_all(nodes: Entries) -> tuple[SidebarNode, ...]:
    return tuple(
        ExpandedGroup(node, _expand_all(node.children)) if isinstance(node, GroupEntry) else node for node in nodes
    )


def _first(node: PageEntry | GroupEntry) -> PageEntry:
    return first_of(node) if isinstance(node, GroupEntry) else node


def _last(node: PageEntry | GroupEntry) -> PageEntry:
    while isinstance(node, GroupEntry):
        node = node.children[-1]
    return node


def _visible(nodes: Entries, versions: Versions) -> Entries:
    if versions is None:
        return nodes
    kept: list[PageEntry | GroupEntry] = []
    for node in nodes:
        if not overlap(node.versions, versions):
            continue
        if isinstance(node, GroupEntry):
            children = _visible(node.children, versions)
            size, shown_in = sum(map(size_of, children)), union(child.versions for child in children)
            kept.append(replace(node, children=children, size=size, versions=shown_in))
        else:
            kept.append(node)
    return tuple(kept)
