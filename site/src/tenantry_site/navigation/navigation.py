"""Navigation: the door of the package. What is around each page, found from the heads of all of them in one pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tenantry_site.addresses import page_path
from tenantry_site.config.model import SiteConfig
from tenantry_site.navigation.choosing import Choosing
from tenantry_site.navigation.destinations import Destination, Target, VersionChoice, targets
from tenantry_site.navigation.entries import Branch, Versions, entries_of, entry, meet
from tenantry_site.navigation.outline import Outline
from tenantry_site.navigation.parts import Part, prefix_of
from tenantry_site.navigation.tree import Tree
from tenantry_site.page import FrontMatter


class Scope(NamedTuple):
    """What decides everything of the navigation but which page is open: pages of one scope share one sidebar."""

    part: Part
    versions: Versions


@dataclass(frozen=True, slots=True)
class View:
    """What is around one page.

    ``trail`` has its groups from the top. ``previous`` and ``next`` are the neighbours among the pages of its part that
    the same version shows: one each, but several on a page that belongs to all versions and has others in each.
    ``listed`` is False for a page that the navigation does not name: it is reachable, and belongs to the part and the
    versions that its path and its head say.
    """

    path: str
    scope: Scope
    trail: tuple[Branch, ...]
    previous: tuple[Target, ...]
    next: tuple[Target, ...]
    listed: bool


class Navigation:
    """Which pages stand where. ``heads`` are those of all pages by their paths; pages that are named but do not exist
    are left out.

    ``order`` has the pages of the navigation in its order, each once, ``unlisted`` the others by their paths. ``home``
    is the page that the site begins with: ``index``, else the first of the navigation; empty for a site without pages.
    """

    def __init__(self, config: SiteConfig, heads: Mapping[str, FrontMatter]) -> None:
        self._config = config
        self._heads = heads
        self._moved = frozenset(page_path(redirect.source) for redirect in config.redirects)
        self._tree = Tree(config, heads)
        self.order = tuple(self._tree.listed)
        self.unlisted = tuple(sorted(path for path in heads if path not in self._tree.listed))
        self._count = max(1, len(config.versions))
        self._firsts: dict[tuple[object, ...], str] = {}
        self._note_firsts()
        self._choosing = Choosing(
            (version.name for version in config.versions),
            (version.url for version in config.versions),
            self._tree.listed,
            {place: self._firsts[place,] for place in range(self._count) if (place,) in self._firsts},
        )
        self._outlines: dict[Scope, Outline] = {}
        self._rows: dict[tuple[Part, int], tuple[list[str], dict[str, int]]] = {}
        every = (*self.order, *self.unlisted)
        self.home = "index" if "index" in heads else (self._firsts.get((0,)) or next(iter(every), ""))

    def title(self, path: str) -> str:
        """What a page is called where there is little room."""
        return entry(path, self._heads[path], None).title

    def versions(self, path: str) -> Versions:
        """The versions that a page is shown in."""
        return self._tree.listed[path] if path in self._tree.listed else self._tree.versions(path)

    def view(self, path: str) -> View:
        """What is around a page. Raises KeyError for a page that has no head."""
        scope = Scope(self._tree.part(path), self.versions(path))
        previous, following = self._neighbours(path, scope)
        return View(
            path=path,
            scope=scope,
            trail=self.outline(scope).trail(path),
            previous=previous,
            next=following,
            listed=path in self._tree.listed,
        )

    def outline(self, scope: Scope) -> Outline:
        """The sidebar of a scope."""
        outline = self._outlines.get(scope)
        if outline is None:
            outline = self._outlines[scope] = Outline(self._tree.parts.get(scope.part, ()), scope.versions)
        return outline

    def choices(self, path: str) -> tuple[VersionChoice, ...]:
        """The versions to choose from on a page; none where the file has no versions."""
        return self._choosing.choices(path, self.versions(path))

    def tabs(self, scope: Scope) -> tuple[Destination, ...]:
        """The tabs to draw; none where the file has none.

        The first tab holds what no other tab does, and is drawn where there is such a page outside of all anchors. A
        tab that no page belongs to leads nowhere and is left out.
        """
        if not self._config.tabs:
            return ()
        found = []
        primary = self._config.primary_tab
        found.append(
            Destination(
                place=None,
                name=primary.name if primary else self._config.top_anchor.name,
                targets=self._targets(lambda version: self._firsts.get((Part(None, None), version)), scope),
                current=scope.part.tab is None,
            )
        )
        for place, tab in enumerate(self._config.tabs):
            at = Destination(place=place, name=tab.name, current=scope.part.tab == place)
            found.append(self._led(at, tab.url, ("tab", place), scope))
        return tuple(each for each in found if each.url or each.targets)

    def anchors(self, scope: Scope) -> tuple[Destination, ...]:
        """The anchors to draw, the top anchor first; none where the file says nothing of any.

        An anchor leads to its first page within the open tab, else to its first page of all.
        """
        config, found = self._config, list[Destination]()
        if not config.anchors and "top_anchor" not in config.model_fields_set:
            return ()
        top = config.top_anchor
        at = Destination(None, top.name, top.icon, top.icon_type, current=scope.part.anchor is None)
        found.append(self._led(at, None, ("anchor", None), scope))
        for place, anchor in enumerate(config.anchors):
            current = scope.part.anchor == place
            versions = self._tree.anchor_versions[place]
            if (anchor.is_default_hidden and not current) or not meet(versions, scope.versions):
                continue
            at = Destination(
                place, anchor.name, anchor.icon or "", anchor.icon_type, versions=versions, current=current
            )
            found.append(self._led(at, anchor.url, ("anchor", place), scope))
        return tuple(each for each in found if each.url or each.targets)

    def _led(self, at: Destination, url: str | None, key: tuple[str, int | None], scope: Scope) -> Destination:
        """The destination with its address: a page, or an old address that a redirect is about; else without one."""
        prefix = None if url is None else prefix_of(url)
        if url is not None and prefix is None:
            return _with(at, url=url.strip())

        def find(version: int) -> str | None:
            near = Part(scope.part.tab, key[1]) if key[0] == "anchor" else None
            return self._firsts.get((near, version)) or self._firsts.get((*key, version)) or self._unlisted(prefix)

        found = self._targets(find, scope)
        return _with(at, url=f"/{prefix}") if not found and prefix in self._moved else _with(at, targets=found)

    def _unlisted(self, prefix: str | None) -> str | None:
        """The first page below a prefix that the navigation does not name."""
        if prefix is None:
            return None
        below = f"{prefix}/" if prefix else ""
        return next((path for path in self.unlisted if path == prefix or path.startswith(below)), None)

    def _targets(self, find: Callable[[int], str | None], scope: Scope) -> tuple[Target, ...]:
        asked = range(self._count) if scope.versions is None else sorted(scope.versions)
        return targets(find, asked)

    def _neighbours(self, path: str, scope: Scope) -> tuple[tuple[Target, ...], tuple[Target, ...]]:
        def step(by: int) -> Callable[[int], str | None]:
            def find(version: int) -> str | None:
                row, places = self._row(scope.part, version)
                place = places.get(path, -1)
                return row[place + by] if place >= 0 and 0 <= place + by < len(row) else None

            return find

        return self._targets(step(-1), scope), self._targets(step(1), scope)

    def _row(self, part: Part, version: int) -> tuple[list[str], dict[str, int]]:
        """The pages of a part that a version shows, in their order, and the place of each."""
        row = self._rows.get((part, version))
        if row is None:
            shown: dict[str, None] = {}
            for each in entries_of(self._tree.parts.get(part, ())):
                if not each.url and (each.versions is None or version in each.versions):
                    shown[each.path] = None
            row = self._rows[part, version] = (list(shown), {path: place for place, path in enumerate(shown)})
        return row

    def _note_firsts(self) -> None:
        """The first page of each version, of each tab, anchor and part in it."""
        for each in self._tree.order:
            if each.url:
                continue
            part = self._tree.part(each.path)
            for version in range(self._count) if each.versions is None else each.versions:
                for key in ((version,), ("tab", part.tab, version), ("anchor", part.anchor, version), (part, version)):
                    self._firsts.setdefault(key, each.path)


def _with(at: Destination, *, url: str = "", targets: tuple[Target, ...] = ()) -> Destination:
    return Destination(at.place, at.name, at.icon, at.icon_type, url, targets, at.versions, at.current)
