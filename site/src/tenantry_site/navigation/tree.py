"""Tree: the groups of the configuration file, sorted into the parts of the site in one pass."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

from tenantry_site.addresses import page_path
from tenantry_site.config.model import Group, SiteConfig
from tenantry_site.navigation.entries import Branch, Entry, Versions, entry, size_of, together
from tenantry_site.navigation.parts import Part, Prefixes
from tenantry_site.page import FrontMatter

Nodes = tuple[Entry | Branch, ...]


class Tree:
    """What is listed in each part of the site.

    ``parts`` has the groups of each part, with the entries that belong to it only; a group with pages in two parts
    stands in both. ``listed`` has every page of the navigation with the versions of all its places together.
    """

    def __init__(self, config: SiteConfig, heads: Mapping[str, FrontMatter]) -> None:
        self._heads = heads
        self._tabs = Prefixes(tab.url for tab in config.tabs)
        self._anchors = Prefixes(anchor.url for anchor in config.anchors)
        self._versions = {version.name: frozenset({place}) for place, version in enumerate(config.versions)}
        self.anchor_versions = tuple(self._versions.get(anchor.version or "") for anchor in config.anchors)
        self._numbers = count()
        self.order: list[Entry] = []
        self.listed: dict[str, Versions] = {}
        found: dict[Part, list[Entry | Branch]] = {}
        for group in config.navigation:
            for part, branch in self._grow(group, None).items():
                found.setdefault(part, []).append(branch)
        self.parts: dict[Part, Nodes] = {part: tuple(nodes) for part, nodes in found.items()}

    def part(self, path: str) -> Part:
        """The tab and the anchor of a page."""
        return Part(self._tabs.place(path), self._anchors.place(path))

    def versions(self, path: str, around: Versions = None) -> Versions:
        """The versions that a page is shown in: its own, and only as far as what is around it is shown in them too. If
        neither says anything, those of its anchor.

        A version that the file does not list can never be chosen: it hides nothing.
        """
        own = self._within(around, self._heads[path].version)
        if own is None:
            anchor = self._anchors.place(path)
            own = None if anchor is None else self.anchor_versions[anchor]
        return own

    def find(self, reference: str) -> str | None:
        """The page that a reference of the file means, if it exists."""
        path = page_path(reference)
        if path is None:
            return None
        return next((each for each in (path, f"{path}/index".lstrip("/")) if each in self._heads), None)

    def _grow(self, group: Group, around: Versions) -> dict[Part, Branch]:
        inner = self._within(around, group.version or "")
        found: dict[Part, list[Entry | Branch]] = {}
        for member in group.pages:
            if isinstance(member, Group):
                for part, branch in self._grow(member, inner).items():
                    found.setdefault(part, []).append(branch)
            else:
                self._list(member, inner, found)
        return {part: self._branch(group, tuple(children)) for part, children in found.items()}

    def _within(self, around: Versions, name: str) -> Versions:
        own = self._versions.get(name)
        return around if own is None else own if around is None else own & around

    def _list(self, reference: str, around: Versions, found: dict[Part, list[Entry | Branch]]) -> None:
        path = self.find(reference)
        if path is None:
            return
        versions = self.versions(path, around)
        if versions is not None and not versions:
            return  # one version within another: there is none in which it is shown
        listed = entry(path, self._heads[path], versions)
        self.order.append(listed)
        self.listed[path] = together((self.listed[path], versions)) if path in self.listed else versions
        found.setdefault(self.part(path), []).append(listed)

    def _branch(self, group: Group, children: Nodes) -> Branch:
        return Branch(
            number=next(self._numbers),
            title=group.group.strip(),
            icon=group.icon or "",
            icon_type=group.icon_type or "",
            children=children,
            versions=together(child.versions for child in children),
            size=sum(map(size_of, children)),
        )
