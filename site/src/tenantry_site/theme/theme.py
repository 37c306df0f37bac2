"""Renders the whole HTML of a page: the layout around its content, and the metadata in its head."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from cachetools import LRUCache
from markupsafe import Markup

from tenantry_site.addresses import Addresses, page_url
from tenantry_site.config.model import SiteConfig
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.navigation import Navigation, PageView, SidebarScope, SitePart
from tenantry_site.options import SiteOptions
from tenantry_site.page import Page
from tenantry_site.templating import render_template
from tenantry_site.theme.layout import Layout
from tenantry_site.theme.links import Links, page_link, parse_repository, path_to_root, quote_path, resolve_link
from tenantry_site.theme.policy import api_origins, csp, origin

CONTENTS_LEVEL = 3
"""The deepest heading level that "On this page" lists."""

CACHE_SIZE = 16
"""Number of folder depths for which the header and footer are cached."""


@dataclass(frozen=True, slots=True)
class _SharedHtml:
    brand: Markup
    tools: Markup
    foot: Markup
    search: Markup
    head: Markup


class Theme:
    """Renders the whole HTML of the pages of one site.

    ``styles``: path of the stylesheet from the site's root. ``scripts``: name -> path of the scripts ``mode`` (runs
    before the first paint), ``site``, and those that ``Page.parts`` may name. ``api``: addresses of further servers to
    which the playground sends requests if there is no relay.
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
        self._layout = Layout(config, navigation, self._links, options)
        self._favicon = self._links.picture(config.favicon, "/favicon") if config.favicon else ""
        self._shared: LRUCache[str, _SharedHtml] = LRUCache(CACHE_SIZE)
        self._repository = parse_repository(options.repository or "")
        self._api = frozenset({*api_origins(config), *map(origin, api)})
        self._policy = csp(options)
        self._backdrop = "backdrop" if config.background_image else ""

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Problems of links, images and icons in the layout. They are found while pages are rendered."""
        return (*self._links.diagnostics, *self._feedback_diagnostics())

    def page(self, page: Page, *, of: str | None = None) -> str:
        """The HTML of a page.

        ``of``: the path of the original if this page is a copy, such as the copy of a site's first page at ``index``.
        """
        root, here = path_to_root(page.path), page.path if of is None else of
        view = self._navigation.view(here)
        around = self._around(view, root)
        canonical = self._canonical(here)
        markdown = root + quote_path(f"{here}.md")
        contents = [each for each in page.headings if each.level <= CONTENTS_LEVEL]
        front = page.front
        html = render_template(
            "theme/page",
            page=page,
            view=view,
            body=Markup(page.html),  # noqa: S704  # safe by the contract of Page
            title=self._title(page),
            policy=self._policy_of(page),
            meta=render_template(
                "theme/meta",
                canonical=canonical or (root + page_link(here) if of is not None else ""),
                markdown=markdown,
                **metadata(page, self._config.name, canonical),
            ),
            scripts=self._scripts_of(page, root),
            versions=self._layout.versions(here, root),
            wide=front.mode == "wide",
            contents=contents if len(contents) > 1 and front.mode != "wide" else (),
            previous=[self._layout.step(target, view.scope, root) for target in view.previous],
            next=[self._layout.step(target, view.scope, root) for target in view.next],
            edit=self._edit(page),
            issue=self._issue(page),
            markdown=markdown,
            **around,
        )
        return str(html)

    def not_found(self, root: str | None = None) -> str:
        """The 404 page.

        ``root``: the beginning of the page's links: a mount path with a final slash, or a relative path (``../../``);
        None: the path of ``SiteOptions.base_url``.
        """
        if root is None:
            root = urlsplit(self._options.base_url or "/").path.rstrip("/") + "/"
        view = PageView("", SidebarScope(SitePart(None, None), None), (), (), (), listed=False)
        return render_template(
            "theme/not_found",
            title=f"Not found – {self._config.name}",
            policy=self._policy,
            meta="",
            scripts=[root + self._scripts["site"]] if "site" in self._scripts else [],
            versions="",
            home=root + page_link(self._navigation.home or "index"),
            **self._around(view, root),
        )

    def _around(self, view: PageView, root: str) -> dict[str, Any]:
        """The template variables of ``frame.html`` for the layout around the content."""
        shared = self._shared.get(root)
        if shared is None:
            layout = self._layout
            shared = self._shared[root] = _SharedHtml(
                brand=layout.brand(root),
                tools=layout.tools(root),
                foot=layout.foot(root),
                search=layout.search(root),
                head=self._head(root),
            )
        tabs, sidebar = self._layout.navigation(view, root)
        # Attributes of the <html> element: the configured mode, and the versions of the page
        toggle, attributes = self._config.mode_toggle, dict[str, object]()
        if toggle.default:
            attributes["data-mode"] = toggle.default
        if not toggle.is_hidden:
            attributes["data-default-mode"] = toggle.default or ""
        if self._config.versions:
            versions = view.scope.versions
            own = range(len(self._config.versions)) if versions is None else sorted(versions)
            attributes["data-site"] = self._config.name
            attributes["data-version"] = next(iter(own), 0)
            attributes["data-versions"] = " ".join(map(str, own))
        return {
            "root_attributes": attributes,
            "head": shared.head,
            "classes": " ".join(filter(None, (self._backdrop, "has-tabs" if tabs else ""))),
            "brand": shared.brand,
            "tools": shared.tools,
            "tabs": tabs,
            "sidebar": sidebar,
            "foot": shared.foot,
            "search": shared.search,
        }

    def _head(self, root: str) -> Markup:
        toggle = self._config.mode_toggle
        forced = toggle.default if toggle.is_hidden else None
        return render_template(
            "theme/head",
            mode_script=root + self._scripts["mode"] if "mode" in self._scripts else "",
            schemes=forced or "light dark",
            stylesheet=root + self._styles,
            favicon=resolve_link(self._favicon, root) or "data:,",
        )

    def _title(self, page: Page) -> str:
        name = self._config.name
        return name if page.title.strip() == name.strip() else f"{page.title} – {name}"

    def _policy_of(self, page: Page) -> str:
        """The Content-Security-Policy of a page. Without a relay, a page with a playground may send requests to the
        API."""
        if "playground" not in page.parts or self._options.relay is not None:
            return self._policy
        words = page.front.api.split()
        return csp(self._options, connect={*self._api, origin(words[-1]) if words else ""})

    def _scripts_of(self, page: Page, root: str) -> list[str]:
        return [root + self._scripts[name] for name in ("site", *sorted(page.parts)) if name in self._scripts]

    def _canonical(self, path: str) -> str:
        base = self._options.base_url
        if not base:
            return ""
        return page_url(base, path, clean=self._options.clean_urls)

    def _edit(self, page: Page) -> str:
        wanted = self._config.feedback.suggest_edit and page.source
        return self._repository.edit(page.source) if wanted and self._repository else ""

    def _issue(self, page: Page) -> str:
        wanted = self._config.feedback.raise_issue
        return self._repository.issue(page.title, page.source or page.path) if wanted and self._repository else ""

    def _feedback_diagnostics(self) -> tuple[Diagnostic, ...]:
        feedback = self._config.feedback
        if self._repository or not (feedback.suggest_edit or feedback.raise_issue):
            return ()
        return (
            Diagnostic(
                Severity.INFO,  # a build may name the repository; a preview often does not
                "SITE001",
                "The feedback buttons are not shown, because the site has no repository.",
                "Build from a git repository with a remote, or name the repository in the options of the site.",
                "/feedback",
            ),
        )


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9:._-]{0,80}")

PROPERTY_PREFIXES = ("og:", "article:", "book:", "profile:", "fb:", "music:", "video:")
"""Prefixes of meta tags that have ``property`` (RDFa) instead of ``name``."""

RESERVED = frozenset(
    {"charset", "color-scheme", "description", "keywords", "referrer", "robots", "theme-color", "viewport"}
)
"""Meta tags that a page may not set: they would change how the page works, or the layout sets them."""


def metadata(page: Page, site: str, canonical: str) -> dict[str, object]:
    """The template variables for a page's meta tags. The page's own meta tags replace those derived from its other
    fields. ``site``: the site's name; ``canonical``: the page's absolute address, or empty."""
    derived = {
        "og:title": page.title,
        "og:description": page.front.description,
        "og:type": "website",
        "og:site_name": site,
        "og:url": canonical,
    }
    given = {
        key: value for key, value in page.front.meta.items() if _NAME.fullmatch(key) and key.lower() not in RESERVED
    }
    merged: Mapping[str, str] = {key: value for key, value in (derived | given).items() if value}
    return {
        "description": page.front.description,
        "keywords": ", ".join(page.front.keywords),
        "noindex": page.front.noindex or "noindex" in str(page.front.meta.get("robots", "")).lower(),
        "properties": [pair for pair in merged.items() if pair[0].startswith(PROPERTY_PREFIXES)],
        "names": [pair for pair in merged.items() if not pair[0].startswith(PROPERTY_PREFIXES)],
    }


CODES: dict[str, str] = {
    "SITE001": "The feedback buttons are not shown, because the site has no repository.",
    "SITE002": "A logo, favicon or background image is on another host and is not shown.",
    "SITE003": "A link in the layout leads to a page or file that the site does not have.",
    "SITE004": "No icon has this name.",
}
"""Diagnostic code -> its meaning."""
