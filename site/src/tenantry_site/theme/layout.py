"""Renders the layout around a page's content, with a cache for the HTML that pages share.

Pages in folders of equal depth share the header and footer; pages with the same scope share the tabs and the sidebar.
In the cached sidebar, string replacement marks the open page.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from cachetools import LRUCache
from markupsafe import Markup, escape

from tenantry_site import icons
from tenantry_site.config.model import SiteConfig
from tenantry_site.navigation import Destination, LinkTarget, Navigation, PageEntry, PageView, SidebarScope
from tenantry_site.navigation.tree import Versions
from tenantry_site.options import SiteOptions
from tenantry_site.templating import attributes, render_template
from tenantry_site.theme.links import Links, page_link, resolve_link, short_name

CACHE_SIZE = 16
"""Number of cached navigations. Few are enough, because pages are rendered in navigation order, and neighbouring pages
share one."""


class _NavigationHtml(NamedTuple):
    """The cached tabs and sidebar of the pages in one scope."""

    tabs: Markup
    sidebar: str


class Layout:
    """Renders the layout around a page. ``root``: the relative path from the page to the site's root."""

    def __init__(self, config: SiteConfig, navigation: Navigation, links: Links, options: SiteOptions) -> None:
        self._config = config
        self._navigation = navigation
        self._links = links
        self._options = options
        self._navigation_html: LRUCache[Hashable, _NavigationHtml] = LRUCache(CACHE_SIZE)
        self._top_links = [
            {"name": each.name, "href": links.link(each.url, f"/topbarLinks/{number}/url")}
            for number, each in enumerate(config.topbar_links)
        ]
        self._logos = self._find_logos()

    def brand(self, root: str) -> Markup:
        """The menu button, and the logo or else the site's name."""
        logo = self._config.logo
        return render_template(
            "theme/brand",
            name=self._config.name,
            brand_href=resolve_link(self._links.link(logo.href if logo else "/", "/logo/href"), root),
            logos=[{"mode": mode, "source": resolve_link(source, root)} for mode, source in self._logos],
        )

    def tools(self, root: str) -> Markup:
        """The search button, the links and call to action of the top bar, and the toggle for light and dark mode."""
        return render_template(
            "theme/tools",
            links=self._resolved_top_links(root),
            button=self._button(root),
            toggle=not self._config.mode_toggle.is_hidden,
        )

    def foot(self, root: str) -> Markup:
        """The footer, with the social accounts."""
        socials = []
        for key, url in self._config.footer_socials.items():
            known = icons.SOCIALS.get(key) or icons.Social("globe", "solid", key)
            href = resolve_link(self._links.link(url, f"/footerSocials/{key}"), root)
            if href:
                icon = self._links.icon(known.icon, known.kind, "")
                socials.append({"href": href, "label": known.label, "icon": icon})
        return render_template("theme/foot", name=self._config.name, socials=socials)

    def search(self, root: str) -> Markup:
        """The search dialog, which a script fills."""
        return render_template("theme/search", index=f"{root}search/index.json", clean=self._options.clean_urls)

    def versions(self, path: str, root: str) -> Markup:
        """The version menu; empty for a site without versions."""
        choices = self._navigation.choices(path)
        if not choices:
            return Markup()
        versions_of_page = [
            {
                "index": each.index,
                "name": each.name,
                "href": resolve_link(self._links.link(each.url), root) if each.url else root + page_link(each.path),
                "current": each.current,
                "stays": each.stays,
            }
            for each in choices
        ]
        return render_template("theme/versions", choices=versions_of_page)

    def navigation(self, view: PageView, root: str) -> tuple[Markup, Markup]:
        """The tabs, and the sidebar in which the page is marked and its groups are open."""
        key = (view.scope, self._navigation.sidebar(view.scope).key(view.path), root)
        found = self._navigation_html.get(key)
        if found is None:
            found = self._navigation_html[key] = self._render_navigation(view, root)
        href = escape(root + page_link(view.path))
        sidebar = found.sidebar.replace(f'<a href="{href}"', f'<a aria-current="page" href="{href}"')
        for branch in view.trail[1:]:
            sidebar = sidebar.replace(
                f'<details data-group="{branch.number}">', f'<details data-group="{branch.number}" open>'
            )
        return found.tabs, Markup(sidebar)  # noqa: S704  # template output with constant attributes added

    def step(self, target: LinkTarget, scope: SidebarScope, root: str) -> dict[str, object]:
        """The template variables of a link to the previous or next page."""
        return {
            "href": root + page_link(target.path),
            "title": self._navigation.title(target.path),
            "mark": versions_attribute(target.versions, scope.versions),
        }

    def _render_navigation(self, view: PageView, root: str) -> _NavigationHtml:
        scope = view.scope
        tabs = [self._destination(each, f"/tabs/{each.index}", scope, root) for each in self._navigation.tabs(scope)]
        anchors = [
            self._destination(each, "/topAnchor" if each.index is None else f"/anchors/{each.index}", scope, root)
            for each in self._navigation.anchors(scope)
        ]

        def outside(entry: PageEntry) -> bool:
            return bool(entry.url) and self._links.is_external(entry.url, entry.path)

        def href(entry: PageEntry) -> str:
            elsewhere = self._links.link(entry.url, page=entry.path) if entry.url else ""
            return resolve_link(elsewhere, root) or root + page_link(entry.path)

        sidebar = render_template(
            "theme/sidebar",
            nodes=self._navigation.sidebar(scope).nodes(view.path),
            versions=scope.versions,
            anchors=anchors,
            links=self._resolved_top_links(root),
            button=self._button(root),
            scope=f"{scope.part.tab}/{scope.part.anchor}",
            href=href,
            outside=outside,
            kind=lambda node: type(node).__name__,
            mark=versions_attribute,
            icon=lambda name, kind: self._links.icon(name, kind, ""),
        )
        return _NavigationHtml(render_template("theme/tabs", tabs=tabs) if tabs else Markup(), str(sidebar))

    def _destination(self, each: Destination, pointer: str, scope: SidebarScope, root: str) -> dict[str, object]:
        link = self._links.link(each.url, f"{pointer}/url") if each.url else ""
        shown = versions_attribute(each.versions, scope.versions)
        if each.url:
            links = [{"href": resolve_link(link, root), "mark": shown}]
        else:
            links = [
                {"href": root + page_link(to.path), "mark": versions_attribute(to.versions, scope.versions) or shown}
                for to in each.targets
            ]
        return {
            "index": each.index,
            "name": each.name,
            "icon": self._links.icon(each.icon, each.icon_type, f"{pointer}/icon"),
            "links": links,
            "current": each.current,
            "outside": bool(link),
        }

    def _button(self, root: str) -> dict[str, object] | None:
        button = self._config.topbar_cta_button
        href = resolve_link(self._links.link(button.url, "/topbarCtaButton/url"), root) if button else ""
        if button is None or not href:
            return None
        if button.type == "link":
            return {"class": "button", "href": href, "name": button.name or button.url, "icon": "", "facts": ""}
        name = short_name(button.url)
        return {
            "class": "repository",
            "href": href,
            "name": name,
            "icon": self._links.icon("github", "brands", "") if "github" in button.url else "",
            "facts": name if self._options.repository_facts and "//github.com/" in button.url else "",
        }

    def _resolved_top_links(self, root: str) -> list[dict[str, str]]:
        return [each | {"href": resolve_link(each["href"], root)} for each in self._top_links if each["href"]]

    def _find_logos(self) -> list[tuple[str, str]]:
        """(Mode, link) of each logo. The mode is empty for a logo that is shown in both modes, because the two are
        equal or only one can be shown."""
        logo = self._config.logo
        if logo is None:
            return []
        if logo.light == logo.dark:
            both = self._links.picture(logo.light, "/logo") if logo.light else ""
            return [("", both)] if both else []
        light = self._links.picture(logo.light, "/logo/light") if logo.light else ""
        dark = self._links.picture(logo.dark, "/logo/dark") if logo.dark else ""
        if not light or not dark:
            return [("", light or dark)] if light or dark else []
        return [("light", light), ("dark", dark)]


def versions_attribute(versions: Versions, surrounding: Versions) -> Markup:
    """The attribute that limits an element to some versions; empty if the element is shown in all versions of
    ``surrounding``."""
    if versions is None or versions == surrounding or (surrounding is not None and surrounding <= versions):
        return Markup()
    return attributes({"data-shown-in": " ".join(map(str, sorted(versions)))})
