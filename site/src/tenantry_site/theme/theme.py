"""Theme: the frame of the site around a page."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from cachetools import LRUCache
from markupsafe import Markup

from tenantry_site.addresses import Addresses, html_path
from tenantry_site.config.model import SiteConfig
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.navigation import Navigation, PageView, SidebarScope, SitePart
from tenantry_site.options import SiteOptions
from tenantry_site.page import Page
from tenantry_site.theme.chrome import Chrome
from tenantry_site.theme.links import Links, below, page_link, place, up
from tenantry_site.theme.metadata import metadata
from tenantry_site.theme.policy import api_origins, csp, origin
from tenantry_site.theme.repository import repository
from tenantry_site.theme.resources import environment

CONTENTS_LEVEL = 3
"""The deepest heading that "On this page" lists."""

DEPTHS = 16
"""Depths of folders whose header and footer are kept."""


@dataclass(frozen=True, slots=True)
class _Fixed:
    """What is the same on every page of one depth."""

    brand: Markup
    tools: Markup
    foot: Markup
    search: Markup
    head: Markup


class Theme:
    """Draws whole pages of one site.

    ``styles`` is the path of the stylesheet and ``scripts`` those of the scripts, from the site's root: ``mode`` (which
    runs before anything is painted), ``site``, and those that ``Page.parts`` names, on the pages that need them.
    ``api`` has the origins, beside those of ``api.baseUrl``, that the playground calls where there is no relay.
    ``diagnostics`` says what of the configuration file the frame could not honour.
    """

    def __init__(
        self,
        config: SiteConfig,
        navigation: Navigation,
        addresses: Addresses,
        options: SiteOptions,
        styles: str,
        scripts: Mapping[str, str],
        *,
        api: Collection[str] = (),
    ) -> None:
        self._config = config
        self._navigation = navigation
        self._options = options
        self._styles = styles
        self._scripts = scripts
        self._links = Links(addresses, external_media=options.external_media)
        self._chrome = Chrome(config, navigation, self._links, facts=options.repository_facts)
        self._favicon = self._links.picture(config.favicon, "/favicon") if config.favicon else ""
        self._fixed: LRUCache[str, _Fixed] = LRUCache(DEPTHS)
        self._repository = repository(config, options)
        self._api = frozenset({*api_origins(config), *map(origin, api)})
        self._policy = csp(options)
        self._page = environment().get_template("page.html")
        self._meta = environment().get_template("meta.html")
        self._backdrop = "backdrop" if config.background_image else ""

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Complete once a page was drawn."""
        return (*self._links.diagnostics, *self._about_feedback())

    def page(self, page: Page, *, of: str | None = None) -> str:
        """The whole HTML of a page.

        ``of`` is the path of the page that this one stands for, if it is another: the copy of the first page that a
        site begins with is drawn as if at ``index``, and belongs where its original does.
        """
        way_up, here = up(page.path), page.path if of is None else of
        view = self._navigation.view(here)
        frame = self._frame(view, way_up)
        canonical = self._canonical(here)
        markdown = way_up + below(f"{here}.md")
        contents = [each for each in page.headings if each.level <= CONTENTS_LEVEL]
        front = page.front
        return self._page.render(
            page=page,
            view=view,
            body=Markup(page.html),  # noqa: S704  # safe by the contract of Page
            title=self._title(page),
            policy=self._policy_of(page),
            meta=Markup(  # noqa: S704  # a template's
                self._meta.render(
                    metadata(page, self._config.name, canonical),
                    canonical=canonical or (way_up + page_link(here) if of is not None else ""),
                    markdown=markdown,
                )
            ),
            scripts=self._scripts_of(page, way_up),
            versions=self._chrome.versions(here, way_up),
            wide=front.mode == "wide",
            contents=contents if len(contents) > 1 and front.mode != "wide" else (),
            previous=[self._chrome.step(target, view.scope, way_up) for target in view.previous],
            next=[self._chrome.step(target, view.scope, way_up) for target in view.next],
            edit=self._edit(page),
            issue=self._issue(page),
            markdown=markdown,
            **frame,
        )

    def not_found(self, root: str | None = None) -> str:
        """The page for an address that has none.

        It is shown at any address, so its links begin with ``root``: the path that the site is mounted at, with a slash
        at its end, or a way up (``../../``) from the address that was asked for. Without it, the path of the base URL.
        """
        if root is None:
            root = urlsplit(self._options.base_url or "/").path.rstrip("/") + "/"
        view = PageView("", SidebarScope(SitePart(None, None), None), (), (), (), listed=False)
        return (
            environment()
            .get_template("not_found.html")
            .render(
                title=f"Not found – {self._config.name}",
                policy=self._policy,
                meta=Markup('<meta name="robots" content="noindex">'),
                scripts=[root + self._scripts["site"]] if "site" in self._scripts else [],
                versions="",
                home=root + page_link(self._navigation.home or "index"),
                **self._frame(view, root),
            )
        )

    def _frame(self, view: PageView, way_up: str) -> dict[str, Any]:
        """What stands around the content, on a page and where there is none, by the names of frame.html."""
        fixed = self._fix(way_up)
        tabs, sidebar = self._chrome.around(view, way_up)
        return {
            "marks": self._marks(view),
            "head": fixed.head,
            "classes": " ".join(filter(None, (self._backdrop, "has-tabs" if tabs else ""))),
            "brand": fixed.brand,
            "tools": fixed.tools,
            "tabs": tabs,
            "sidebar": sidebar,
            "foot": fixed.foot,
            "search": fixed.search,
        }

    def _fix(self, way_up: str) -> _Fixed:
        found = self._fixed.get(way_up)
        if found is None:
            chrome = self._chrome
            found = self._fixed[way_up] = _Fixed(
                brand=chrome.brand(way_up),
                tools=chrome.tools(way_up),
                foot=chrome.foot(way_up),
                search=chrome.search(way_up),
                head=self._head(way_up),
            )
        return found

    def _head(self, way_up: str) -> Markup:
        toggle = self._config.mode_toggle
        forced = toggle.default if toggle.is_hidden else None
        return Markup(  # noqa: S704  # a template's
            environment()
            .get_template("head.html")
            .render(
                mode_script=way_up + self._scripts["mode"] if "mode" in self._scripts else "",
                schemes=forced or "light dark",
                stylesheet=way_up + self._styles,
                favicon=place(self._favicon, way_up) or "data:,",
            )
        )

    def _marks(self, view: PageView) -> Markup:
        """The attributes of the root element: the mode that the server knows of, and the versions of the page."""
        toggle, marks = self._config.mode_toggle, Markup()
        if toggle.default:
            marks += Markup(' data-mode="{}"').format(toggle.default)
        if not toggle.is_hidden:
            marks += Markup(' data-default-mode="{}"').format(toggle.default or "")
        if self._config.versions:
            versions = view.scope.versions
            own = range(len(self._config.versions)) if versions is None else sorted(versions)
            marks += Markup(' data-site="{}" data-version="{}" data-versions="{}"').format(
                self._config.name, next(iter(own), 0), " ".join(map(str, own))
            )
        return marks

    def _title(self, page: Page) -> str:
        name = self._config.name
        return name if page.title.strip() == name.strip() else f"{page.title} – {name}"

    def _policy_of(self, page: Page) -> str:
        """A page with a playground may reach the API, where no relay of the site's own does it."""
        if "playground" not in page.parts or self._options.relay is not None:
            return self._policy
        words = page.front.api.split()
        return csp(self._options, connect={*self._api, origin(words[-1]) if words else ""})

    def _scripts_of(self, page: Page, way_up: str) -> list[str]:
        return [way_up + self._scripts[name] for name in ("site", *sorted(page.parts)) if name in self._scripts]

    def _canonical(self, path: str) -> str:
        base = self._options.base_url
        if not base:
            return ""
        return f"{base.rstrip('/')}/" + ("" if path == "index" else below(html_path(path)))

    def _edit(self, page: Page) -> str:
        wanted = self._config.feedback.suggest_edit and page.source
        return self._repository.edit(page.source) if wanted and self._repository else ""

    def _issue(self, page: Page) -> str:
        wanted = self._config.feedback.raise_issue
        return self._repository.issue(page.title, page.source or page.path) if wanted and self._repository else ""

    def _about_feedback(self) -> tuple[Diagnostic, ...]:
        feedback = self._config.feedback
        if self._repository or not (feedback.suggest_edit or feedback.raise_issue):
            return ()
        return (
            Diagnostic(
                Severity.WARNING,
                "SITE001",
                "The feedback buttons have no repository to lead to, and are not shown.",
                "Name the repository in the options of the site, or in a call to action of type github.",
                "/feedback",
            ),
        )
