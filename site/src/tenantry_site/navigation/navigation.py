"""The navigation around each page, computed from the front matter of all pages in one pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from tenantry_site.addresses import page_path
from tenantry_site.config.model import SiteConfig
from tenantry_site.navigation.destinations import Destination, LinkTarget, VersionChoice, VersionChooser, targets
from tenantry_site.navigation.sidebar import Sidebar
from tenantry_site.navigation.tree import (
    GroupEntry,
    NavigationTree,
    SitePart,
    Versions,
    entries_of,
    overlap,
    page_entry,
    prefix_of,
)
from tenantry_site.page import FrontMatter


class SidebarScope(NamedTuple):
    """The part of the site that a page is in, and the versions that show it. Pages with the same scope share a
    sidebar."""

    part: SitePart
    versions: Versions


@dataclass(frozen=True, slots=True)
class PageView:
    """The navigation around one page."""

    path: str
    scope: SidebarScope
    trail: tuple[GroupEntry, ...]
    """The page's groups, outermost first."""
    previous: tuple[LinkTarget, ...]
    """The previous page, which may differ between the versions of the page."""
    next: tuple[LinkTarget, ...]
    """The next page, which may differ too."""
    listed: bool
    """Whether the page is in the navigation of the configuration file. If not, the part and versions come from the
    page's path and front matter."""


class Navigation:
    """The navigation of a site.

    ``front_matters``: page -> front matter, for all pages. Pages that only the configuration file names are missing.
    ``order``: the pages in the file's navigation, each once. ``unlisted``: all other pages. ``home``: the page
    ``index``, else the first page of the first version; empty for a site without pages.
    """

    def __init__(self, config: SiteConfig, front_matters: Mapping[str, FrontMatter]) -> None:
        self._config = config
        self._front_matters = front_matters
        self._moved = frozenset(page_path(redirect.source) for redirect in config.redirects)
        self._tree = NavigationTree(config, front_matters)
        self.order: tuple[str, ...] = tuple(self._tree.listed)
        self.unlisted: tuple[str, ...] = tuple(sorted(path for path in front_matters if path not in self._tree.listed))
        self._count = max(1, len(config.versions))
        self._first_pages: dict[tuple[object, ...], str] = {}
        self._find_first_pages()
        self._version_chooser = VersionChooser(
            (version.name for version in config.versions),
            (version.url for version in config.versions),
            self._tree.listed,
            {index: self._first_pages[index,] for index in range(self._count) if (index,) in self._first_pages},
        )
        self._sidebars: dict[SidebarScope, Sidebar] = {}
        self._page_order: dict[tuple[SitePart, int], tuple[list[str], dict[str, int]]] = {}
        every = (*self.order, *self.unlisted)
        self.home: str = "index" if "index" in front_matters else (self._first_pages.get((0,)) or next(iter(every), ""))

    def title(self, path: str) -> str:
        """The title of a page in the sidebar."""
        return page_entry(path, self._front_matters[path], None).title

    def versions(self, path: str) -> Versions:
        """The versions that show a page; None: all versions."""
        return self._tree.listed[path] if path in self._tree.listed else self._tree.versions(path)

    def view(self, path: str) -> PageView:
        """The navigation around a page. Raises KeyError for a page without front matter."""
        scope = SidebarScope(self._tree.part(path), self.versions(path))

        def step(by: int) -> Callable[[int], str | None]:
            def find(version: int) -> str | None:
                row, positions = self._pages_of(scope.part, version)
                index = positions.get(path, -1)
                return row[index + by] if index >= 0 and 0 <= index + by < len(row) else None

            return find

        previous, following = self._targets(step(-1), scope), self._targets(step(1), scope)
        return PageView(
            path=path,
            scope=scope,
            trail=self.sidebar(scope).trail(path),
            previous=previous,
            next=following,
            listed=path in self._tree.listed,
        )

    def sidebar(self, scope: SidebarScope) -> Sidebar:
        """The sidebar of the pages in a scope, from a cache."""
        sidebar = self._sidebars.get(scope)
        if sidebar is None:
            sidebar = self._sidebars[scope] = Sidebar(self._tree.parts.get(scope.part, ()), scope.versions)
        return sidebar

    def choices(self, path: str) -> tuple[VersionChoice, ...]:
        """The versions to choose from on a page; none if the file has no versions."""
        return self._version_chooser.choices(path, self.versions(path))

    def tabs(self, scope: SidebarScope) -> tuple[Destination, ...]:
        """The tabs to show; none if the configuration file has none.

        The primary tab is shown if some page is in no other tab and no anchor. Tabs without pages are left out.
        """
        if not self._config.tabs:
            return ()
        found = []
        primary = self._config.primary_tab
        found.append(
            Destination(
                index=None,
                name=primary.name if primary else self._config.top_anchor.name,
                targets=self._targets(lambda version: self._first_pages.get((SitePart(None, None), version)), scope),
                current=scope.part.tab is None,
            )
        )
        for index, tab in enumerate(self._config.tabs):
            at = Destination(index=index, name=tab.name, current=scope.part.tab == index)
            found.append(self._resolve(at, tab.url, ("tab", index), scope))
        return tuple(each for each in found if each.url or each.targets)

    def anchors(self, scope: SidebarScope) -> tuple[Destination, ...]:
        """The anchors to show, the top anchor first; none if the configuration file has neither ``anchors`` nor
        ``topAnchor``.

        An anchor links to its first page in the open tab, else to its first page in any tab.
        """
        config, found = self._config, list[Destination]()
        if not config.anchors and "top_anchor" not in config.model_fields_set:
            return ()
        top = config.top_anchor
        at = Destination(None, top.name, top.icon, top.icon_type, current=scope.part.anchor is None)
        found.append(self._resolve(at, None, ("anchor", None), scope))
        for index, anchor in enumerate(config.anchors):
            current = scope.part.anchor == index
            versions = self._tree.anchor_versions[index]
            if (anchor.is_default_hidden and not current) or not overlap(versions, scope.versions):
                continue
            at = Destination(
                index, anchor.name, anchor.icon or "", anchor.icon_type, versions=versions, current=current
            )
            found.append(self._resolve(at, anchor.url, ("anchor", index), scope))
        return tuple(each for each in found if each.url or each.targets)

    def _resolve(
        self, at: Destination, url: str | None, key: tuple[str, int | None], scope: SidebarScope
    ) -> Destination:
        """Fill in the target of a tab or anchor: its external address, else its pages, else its own path if that
        redirects. Without any of these, it has no target."""
        prefix = None if url is None else prefix_of(url)
        if url is not None and prefix is None:
            return replace(at, url=url.strip())

        def find(version: int) -> str | None:
            near = SitePart(scope.part.tab, key[1]) if key[0] == "anchor" else None
            return (
                self._first_pages.get((near, version))
                or self._first_pages.get((*key, version))
                or self._unlisted(prefix)
            )

        found = self._targets(find, scope)
        return replace(at, url=f"/{prefix}") if not found and prefix in self._moved else replace(at, targets=found)

    def _unlisted(self, prefix: str | None) -> str | None:
        """The first page outside the navigation whose path has the prefix."""
        if prefix is None:
            return None
        below = f"{prefix}/" if prefix else ""
        return next((path for path in self.unlisted if path == prefix or path.startswith(below)), None)

    def _targets(self, find: Callable[[int], str | None], scope: SidebarScope) -> tuple[LinkTarget, ...]:
        asked = range(self._count) if scope.versions is None else sorted(scope.versions)
        return targets(find, asked)

    def _pages_of(self, part: SitePart, version: int) -> tuple[list[str], dict[str, int]]:
        """The pages of a part of the site in one version, in order, and page -> position."""
        row = self._page_order.get((part, version))
        if row is None:
            shown: dict[str, None] = {}
            for each in entries_of(self._tree.parts.get(part, ())):
                if not each.url and (each.versions is None or version in each.versions):
                    shown[each.path] = None
            row = self._page_order[part, version] = (list(shown), {path: index for index, path in enumerate(shown)})
        return row

    def _find_first_pages(self) -> None:
        """Find the first page of each version, and of each tab, anchor and part in each version."""
        for each in self._tree.order:
            if each.url:
                continue
            part = self._tree.part(each.path)
            for version in range(self._count) if each.versions is None else each.versions:
                for key in ((version,), ("tab", part.tab, version), ("anchor", part.anchor, version), (part, version)):
                    self._first_pages.setdefault(key, each.path)
