"""Entries: the pages of the navigation, and the groups that they are in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tenantry_site.page import FrontMatter

Versions = frozenset[int] | None
"""The versions that something is shown in, by their index in the configuration file. None: in all."""

METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"})


@dataclass(frozen=True, slots=True)
class PageEntry:
    """A page of the navigation. ``method`` is that of an API page; ``url`` an address to lead to in its stead."""

    path: str
    title: str
    icon: str = ""
    icon_type: str = ""
    method: str = ""
    url: str = ""
    versions: Versions = None


@dataclass(frozen=True, slots=True)
class GroupEntry:
    """A group with what is shown of it. ``number`` tells it from every other group, ``title`` may be empty."""

    number: int
    title: str
    icon: str
    icon_type: str
    children: tuple[PageEntry | GroupEntry, ...]
    versions: Versions
    size: int
    """How many entries are in it, at any depth."""


def page_entry(path: str, front_matter: FrontMatter, versions: Versions) -> PageEntry:
    """How a page is listed."""
    return PageEntry(
        path=path,
        title=front_matter.sidebar_title or front_matter.title or title_from_path(path),
        icon=front_matter.icon,
        icon_type=front_matter.icon_type,
        method="" if front_matter.hide_api_marker else method_of(front_matter.openapi or front_matter.api),
        url=front_matter.url,
        versions=versions,
    )


def method_of(operation: str) -> str:
    """``GET`` of ``get /users`` and of ``users.json GET /users``; empty without a method."""
    return next((word for word in operation.upper().split() if word in METHODS), "")


def title_from_path(path: str) -> str:
    """``guides/getting-started`` -> ``Getting started``: the title of a page that gives itself none."""
    words = path.rpartition("/")[2].replace("-", " ").replace("_", " ").strip()
    return words[:1].upper() + words[1:] or "Home"


def union(all_versions: Iterable[Versions]) -> Versions:
    """The versions in which at least one of several things is shown."""
    found: set[int] = set()
    for versions in all_versions:
        if versions is None:
            return None
        found |= versions
    return frozenset(found)


def overlap(one: Versions, other: Versions) -> bool:
    """Whether there is a version in which both are shown."""
    return one is None or other is None or not one.isdisjoint(other)


def size_of(node: PageEntry | GroupEntry) -> int:
    """How many entries a node holds."""
    return node.size if isinstance(node, GroupEntry) else 1


def first_of(branch: GroupEntry) -> PageEntry:
    """The page that a group as a whole leads to: its first that is no link to elsewhere, if there is one."""
    entries = list(entries_of((branch,)))
    return next((each for each in entries if not each.url), entries[0])


def entries_of(nodes: Iterable[PageEntry | GroupEntry]) -> Iterable[PageEntry]:
    """All entries below some nodes, in order."""
    for node in nodes:
        if isinstance(node, GroupEntry):
            yield from entries_of(node.children)
        else:
            yield node
