"""Outline: what a sidebar draws of the groups of its part.

Up to BUDGET entries everything is drawn, and one drawing serves all pages of the part. Beyond that only the groups that
the open page is in are unfolded, every other one is a link to its first page, and of a long list of siblings the
surroundings are drawn: a page weighs the same however many pages the site has.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from tenantry_site.navigation.entries import Branch, Entry, Versions, first_of, meet, size_of, together

BUDGET = 150
"""Entries that one sidebar draws in full."""

STRIDE = 80
"""A long list is drawn in stretches of so many siblings, so that neighbours share a drawing,"""

MARGIN = 10
"""and with so many beyond each end."""


@dataclass(frozen=True, slots=True)
class Unfolded:
    """A group that is drawn with what is in it."""

    branch: Branch
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Folded:
    """A group that is drawn as a link to its first page."""

    branch: Branch
    first: Entry


@dataclass(frozen=True, slots=True)
class More:
    """``count`` entries that are not drawn, ``earlier`` or later; ``nearest`` is the page next to those that are."""

    count: int
    nearest: Entry
    earlier: bool


Node = Entry | Unfolded | Folded | More
Nodes = tuple[Entry | Branch, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """The groups from the top down to a page, and in which stretch of its siblings each of them, and the page, is."""

    trail: tuple[Branch, ...]
    stretches: tuple[int, ...]


class Outline:
    """The sidebar of one part, in some versions."""

    __slots__ = ("_nodes", "_places", "_whole")

    def __init__(self, nodes: Nodes, versions: Versions) -> None:
        self._nodes = _shown(nodes, versions)
        self._whole = sum(map(size_of, self._nodes)) <= BUDGET
        self._places: dict[str, _Place] = {}
        self._find(self._nodes, (), ())

    def trail(self, path: str) -> tuple[Branch, ...]:
        """The groups that a page is in, from the top; those of the first of its places if it is listed twice."""
        place = self._places.get(path)
        return place.trail if place else ()

    def key(self, path: str) -> Hashable:
        """Equal for pages whose drawings differ in nothing but which page is open."""
        place = None if self._whole else self._places.get(path)
        return place and (tuple(branch.number for branch in place.trail), place.stretches)

    def draw(self, path: str) -> tuple[Node, ...]:
        """The sidebar of a page."""
        return _unfolded(self._nodes) if self._whole else self._window(self._nodes, self._places.get(path), 0)

    def _find(self, nodes: Nodes, trail: tuple[Branch, ...], stretches: tuple[int, ...]) -> None:
        for number, node in enumerate(nodes):
            here = (*stretches, number // STRIDE)
            if isinstance(node, Branch):
                self._find(node.children, (*trail, node), here)
            else:
                self._places.setdefault(node.path, _Place(trail, here))

    def _window(self, nodes: Nodes, place: _Place | None, depth: int) -> tuple[Node, ...]:
        stretch = place.stretches[depth] if place else 0
        start, end = max(0, stretch * STRIDE - MARGIN), (stretch + 1) * STRIDE + MARGIN
        if len(nodes) <= STRIDE + 2 * MARGIN:
            start, end = 0, len(nodes)
        drawn: list[Node] = [self._node(node, place, depth) for node in nodes[start:end]]
        before, after = nodes[:start], nodes[end:]
        if before:
            drawn.insert(0, More(sum(map(size_of, before)), _last(before[-1]), earlier=True))
        if after:
            drawn.append(More(sum(map(size_of, after)), _first(after[0]), earlier=False))
        return tuple(drawn)

    def _node(self, node: Entry | Branch, place: _Place | None, depth: int) -> Node:
        if isinstance(node, Entry):
            return node
        if place and depth < len(place.trail) and place.trail[depth].number == node.number:
            return Unfolded(node, self._window(node.children, place, depth + 1))
        return Folded(node, first_of(node))


def _unfolded(nodes: Nodes) -> tuple[Node, ...]:
    return tuple(Unfolded(node, _unfolded(node.children)) if isinstance(node, Branch) else node for node in nodes)


def _first(node: Entry | Branch) -> Entry:
    return first_of(node) if isinstance(node, Branch) else node


def _last(node: Entry | Branch) -> Entry:
    while isinstance(node, Branch):
        node = node.children[-1]
    return node


def _shown(nodes: Nodes, versions: Versions) -> Nodes:
    """What is shown in at least one of some versions."""
    if versions is None:
        return nodes
    kept: list[Entry | Branch] = []
    for node in nodes:
        if not meet(node.versions, versions):
            continue
        if isinstance(node, Branch):
            children = _shown(node.children, versions)
            size, shown_in = sum(map(size_of, children)), together(child.versions for child in children)
            kept.append(replace(node, children=children, size=size, versions=shown_in))
        else:
            kept.append(node)
    return tuple(kept)
