"""Chrome: what is around the text of a page and the same on many, each drawn once and kept.

Header and footer are the same on all pages of one depth, tabs and sidebar on those of one scope too. Which page is open
is written into a finished sidebar afterwards: a page costs a few replacements, however long its sidebar is.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from cachetools import LRUCache
from markupsafe import Markup, escape

from tenantry_site import icons
from tenantry_site.config.model import SiteConfig
from tenantry_site.navigation import Destination, LinkTarget, Navigation, PageEntry, PageView, SidebarScope
from tenantry_site.navigation.entries import Versions
from tenantry_site.theme.links import Links, page_link, place
from tenantry_site.theme.repository import short_name
from tenantry_site.theme.resources import environment

KEPT = 16
"""Drawings of a kind that are kept. Pages are drawn in the order of the navigation, so few serve many."""


class Around(NamedTuple):
    """What is drawn for one scope."""

    tabs: Markup
    sidebar: str


class Chrome:
    """Draws what is around a page. ``way_up`` leads from the page to the root of the site."""

    def __init__(self, config: SiteConfig, navigation: Navigation, links: Links, *, facts: bool) -> None:
        self._config = config
        self._navigation = navigation
        self._links = links
        self._facts = facts
        self._around: LRUCache[Hashable, Around] = LRUCache(KEPT)
        self._templates = environment()
        self._top_links = [
            {"name": each.name, "href": links.link(each.url, f"/topbarLinks/{number}/url")}
            for number, each in enumerate(config.topbar_links)
        ]
        self._logos = self._find_logos()

    def brand(self, way_up: str) -> Markup:
        """The menu's button, and the logo or the name."""
        logo = self._config.logo
        return self._draw(
            "brand.html",
            name=self._config.name,
            brand_href=place(self._links.link(logo.href if logo else "/", "/logo/href"), way_up),
            logos=[{"mode": mode, "source": place(source, way_up)} for mode, source in self._logos],
        )

    def tools(self, way_up: str) -> Markup:
        """Search, the links of the top bar, the call to action, and the button for the mode."""
        return self._draw(
            "tools.html",
            links=self._placed_top_links(way_up),
            button=self._button(way_up),
            toggle=not self._config.mode_toggle.is_hidden,
        )

    def foot(self, way_up: str) -> Markup:
        """The social accounts."""
        socials = []
        for key, url in self._config.footer_socials.items():
            known = icons.SOCIALS.get(key) or icons.Social("globe", "solid", key)
            href = place(self._links.link(url, f"/footerSocials/{key}"), way_up)
            if href:
                icon = self._links.icon(known.icon, known.kind, "")
                socials.append({"href": href, "label": known.label, "icon": icon})
        return self._draw("foot.html", name=self._config.name, socials=socials)

    def search(self, way_up: str) -> Markup:
        """The dialog of the search, which its script fills."""
        return self._draw("search.html", index=f"{way_up}search/index.json")

    def versions(self, path: str, way_up: str) -> Markup:
        """The dropdown of the versions; nothing where there are none."""
        choices = self._navigation.choices(path)
        if not choices:
            return Markup()
        drawn = [
            {
                "place": each.index,
                "name": each.name,
                "href": place(self._links.link(each.url), way_up) if each.url else way_up + page_link(each.path),
                "current": each.current,
                "stays": each.stays,
            }
            for each in choices
        ]
        return self._draw("versions.html", choices=drawn)

    def around(self, view: PageView, way_up: str) -> tuple[Markup, Markup]:
        """The tabs, and the sidebar with the page marked."""
        key = (view.scope, self._navigation.sidebar(view.scope).key(view.path), way_up)
        found = self._around.get(key)
        if found is None:
            found = self._around[key] = self._draw_around(view, way_up)
        href = escape(way_up + page_link(view.path))
        sidebar = found.sidebar.replace(f'<a href="{href}"', f'<a aria-current="page" href="{href}"')
        for branch in view.trail[1:]:
            sidebar = sidebar.replace(
                f'<details data-group="{branch.number}">', f'<details data-group="{branch.number}" open>'
            )
        return found.tabs, Markup(sidebar)  # noqa: S704  # a template's, with an attribute more

    def step(self, target: LinkTarget, scope: SidebarScope, way_up: str) -> dict[str, object]:
        """A step to the previous or next page."""
        return {
            "href": way_up + page_link(target.path),
            "title": self._navigation.title(target.path),
            "mark": mark(target.versions, scope.versions),
        }

    def _draw_around(self, view: PageView, way_up: str) -> Around:
        scope = view.scope
        tabs = [self._destination(each, f"/tabs/{each.index}", scope, way_up) for each in self._navigation.tabs(scope)]
        anchors = [
            self._destination(each, "/topAnchor" if each.index is None else f"/anchors/{each.index}", scope, way_up)
            for each in self._navigation.anchors(scope)
        ]

        def outside(entry: PageEntry) -> bool:
            return bool(entry.url) and self._links.leaves(entry.url, entry.path)

        def href(entry: PageEntry) -> str:
            elsewhere = self._links.link(entry.url, page=entry.path) if entry.url else ""
            return place(elsewhere, way_up) or way_up + page_link(entry.path)

        sidebar = self._draw(
            "sidebar.html",
            nodes=self._navigation.sidebar(scope).nodes(view.path),
            versions=scope.versions,
            anchors=anchors,
            links=self._placed_top_links(way_up),
            button=self._button(way_up),
            scope=f"{scope.part.tab}/{scope.part.anchor}",
            href=href,
            outside=outside,
            kind=lambda node: type(node).__name__,
            mark=mark,
            icon=lambda name, kind: self._links.icon(name, kind, ""),
        )
        return Around(self._draw("tabs.html", tabs=tabs) if tabs else Markup(), str(sidebar))

    def _destination(self, each: Destination, pointer: str, scope: SidebarScope, way_up: str) -> dict[str, object]:
        link = self._links.link(each.url, f"{pointer}/url") if each.url else ""
        shown = mark(each.versions, scope.versions)
        if each.url:
            links = [{"href": place(link, way_up), "mark": shown}]
        else:
            links = [
                {"href": way_up + page_link(to.path), "mark": mark(to.versions, scope.versions) or shown}
                for to in each.targets
            ]
        return {
            "place": each.index,
            "name": each.name,
            "icon": self._links.icon(each.icon, each.icon_type, f"{pointer}/icon"),
            "links": links,
            "current": each.current,
            "outside": bool(link),
        }

    def _button(self, way_up: str) -> dict[str, object] | None:
        button = self._config.topbar_cta_button
        href = place(self._links.link(button.url, "/topbarCtaButton/url"), way_up) if button else ""
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
            "facts": name if self._facts and "//github.com/" in button.url else "",
        }

    def _placed_top_links(self, way_up: str) -> list[dict[str, str]]:
        return [each | {"href": place(each["href"], way_up)} for each in self._top_links if each["href"]]

    def _find_logos(self) -> list[tuple[str, str]]:
        """The logo of each mode, or one for both where they are the same, or where only one can be shown."""
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

    def _draw(self, template: str, **values: object) -> Markup:
        return Markup(self._templates.get_template(template).render(values))  # noqa: S704  # escaped by the template


def mark(versions: Versions, around: Versions) -> Markup:
    """The attribute that says in which versions something is shown; nothing where it is in all that are around it."""
    if versions is None or versions == around or (around is not None and around <= versions):
        return Markup()
    return Markup(' data-shown-in="%s"') % " ".join(map(str, sorted(versions)))
