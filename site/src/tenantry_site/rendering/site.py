"""Renders the finished files of a site one by one. A rebuild yields only changed files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from itertools import chain
from typing import Final

from tenantry_site.addresses import html_path
from tenantry_site.config.model import SiteConfig
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.options import SiteOptions
from tenantry_site.outputs import (
    RedirectTarget,
    SearchIndex,
    SearchPart,
    breadcrumbs,
    check,
    llms,
    llms_full,
    redirect,
    robots,
    sitemap,
)
from tenantry_site.outputs.crawlers import LLMS_FULL, markdown_path
from tenantry_site.page import Page
from tenantry_site.reference import request_headers
from tenantry_site.rendering.pages import RenderedPage, RenderedPages, at_root, clean_links
from tenantry_site.rendering.site_model import SiteModel, SiteModelBuilder
from tenantry_site.rendering.source_files import Files
from tenantry_site.rendering.theme_assets import active_content_diagnostic, has_active_content

_NO_PAGE = Diagnostic(
    Severity.WARNING, "SITE106", "the site has no page", "Create index.md in the folder of the configuration file."
)


class Site:
    """A site that is rendered from its files once or repeatedly.

    >>> site = Site(SiteOptions())
    >>> for path, content in site.update(files): ...

    ``incremental``: keep pages in memory, and yield only changed files; otherwise use little memory, and yield all
    files.

    These attributes are valid once all items of ``update`` have been read. ``config``: the configuration, or None if it
    cannot be read; then ``update`` yields nothing. ``diagnostics``: all problems. ``outputs``: paths of all finished
    files. ``removed``: paths that the site no longer has. ``assets``: paths of the source files to publish unchanged.
    """

    def __init__(self, options: SiteOptions = SiteOptions(), *, incremental: bool = True) -> None:  # noqa: B008  # frozen
        self._options = options
        self._incremental = incremental
        self._builder = SiteModelBuilder(options, incremental=incremental)
        self._pages = RenderedPages(incremental=incremental)
        self._index = SearchIndex(remember=incremental)
        self._model: SiteModel | None = None
        self._hashes: dict[str, bytes] = {}
        self._search: tuple[str, ...] = ()
        self.config: SiteConfig | None = None
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self.outputs: frozenset[str] = frozenset()
        self.removed: frozenset[str] = frozenset()
        self.assets: frozenset[str] = frozenset()
        self._page_headers: frozenset[str] = frozenset()

    def update(self, files: Files, changed: Collection[str] | None = None) -> Iterator[tuple[str, bytes]]:
        """Yield the path and content of each finished file.

        ``files``: path -> content of the files in the site's folder. A value is read only when it is needed; images are
        never read. ``changed``: paths that may have changed since the last update, including new and removed files;
        None: any file may have. Invalid files give diagnostics, not errors.
        """
        if not self._incremental:
            self._pages, self._index = RenderedPages(incremental=False), SearchIndex(remember=False)
        model = self._builder.build(files, changed)
        if not isinstance(model, SiteModel):
            self.config, self.diagnostics, self.removed = None, model, frozenset()
            return
        self._model = model
        made: dict[str, None] = {}
        for path, found in self._make(model):
            made[path] = None
            is_clean = not (self._options.clean_urls and path.endswith(".html"))
            content = found if found is None or is_clean else clean_links(found)
            if content is not None and self._is_new(path, content):
                yield path, content
        self._finish(model, frozenset(made))

    def _make(self, model: SiteModel) -> Iterator[tuple[str, bytes | None]]:
        """Path and content of all files. The content is None if it is known to be unchanged."""
        for path in model.source_pages:
            laid_out = self._pages.lay_out(model, path)
            yield html_path(path), laid_out and laid_out[1]
            yield markdown_path(path), laid_out and self._pages.render(model, path).markdown
            if path == model.navigation.home and path != "index":
                yield "index.html", laid_out and self._home_page(model, laid_out[0])
        yield from _extra_files(model, self._options)
        rendered = {path: self._pages.render(model, path) for path in model.source_pages}
        if LLMS_FULL not in model.assets:
            listed = (path for path in model.navigation.order if not model.source_pages[path].front.noindex)
            yield LLMS_FULL, llms_full(model.config.name, (rendered[path].markdown for path in listed))
        if _fill_search_index(self._index, model, {path: page.parts for path, page in rendered.items()}):
            self._search = ()
            for path, content in self._index.files():
                self._search = (*self._search, path)
                yield path, content
        else:
            yield from ((path, None) for path in self._search)
        self._pages.retain(model.source_pages.keys())
        self._page_headers = frozenset(chain.from_iterable(page.request_headers for page in rendered.values()))
        self.diagnostics = _all_diagnostics(model, rendered)

    def _home_page(self, model: SiteModel, page: Page) -> bytes:
        """The content of ``index.html`` for a site without a page ``index``: a copy of its first page."""
        # A playground names the relay's address relative to its page, so redirect to the page instead of copying it.
        if "playground" in page.parts:
            return redirect("index", RedirectTarget(page.path))
        return model.theme.page(at_root(page), of=page.path).encode("utf-8", "replace")

    def _is_new(self, path: str, content: bytes) -> bool:
        if not self._incremental:
            return True
        digest = blake2b(content, digest_size=16).digest()
        if self._hashes.get(path) == digest:
            return False
        self._hashes[path] = digest
        return True

    def _finish(self, model: SiteModel, outputs: frozenset[str]) -> None:
        self.config, self.assets = model.written, model.assets
        self.removed, self.outputs = self.outputs - outputs, outputs
        for path in self.removed:
            self._hashes.pop(path, None)

    def redirect(self, address: str) -> RedirectTarget | None:
        """The target of a redirect from ``address``, or None (see ``Redirects.find``)."""
        return self._model.redirects.find(address) if self._model is not None else None

    def request_headers(self) -> frozenset[str]:
        """The names of the request headers that playgrounds may send: from the configuration, the OpenAPI documents and
        the pages."""
        if self._model is None:
            return frozenset()
        return self._page_headers | request_headers(self._model.config, self._model.reference)

    def not_found(self, root: str) -> str:
        """The 404 page. ``root``: relative path from the requested address to the site's root (``../``)."""
        html = self._model.theme.not_found(root) if self._model is not None else ""
        return clean_links(html.encode("utf-8", "replace")).decode() if self._options.clean_urls else html

    def source(self, page: str) -> str:
        """The source file of a page (``guides/start``); empty for an unknown or generated page."""
        source_page = self._model.source_pages.get(page) if self._model is not None else None
        return source_page.source if source_page is not None else ""


def _all_diagnostics(model: SiteModel, rendered: Mapping[str, RenderedPage]) -> tuple[Diagnostic, ...]:
    """All diagnostics, sorted and without repetitions. A diagnostic without a path gets the path of the configuration
    file."""
    found = [*model.diagnostics, *model.reference.diagnostics, *model.theme.diagnostics, *model.redirects.diagnostics]
    for page in rendered.values():
        found += page.diagnostics
    links = (page.page_links for page in rendered.values())
    found += check(links, model.addresses, model.navigation.home, lambda path: model.redirects.find(path) is not None)
    if not rendered:
        found.append(_NO_PAGE)
    located = {each if each.path else replace(each, path=model.configuration) for each in found}
    return tuple(sorted(located, key=lambda each: (each.path, each.line, each.column, each.code, each.message)))


NOT_FOUND: Final = "404.html"


def _extra_files(model: SiteModel, options: SiteOptions) -> Iterator[tuple[str, bytes]]:
    """The 404 page, files for crawlers, scripts and styles, and redirects. An author's file replaces a generated one
    with the same path."""
    for path, content in _generated_files(model, options):
        if path not in model.assets:
            yield path, content
    yield from model.theme_assets.files.items()
    yield from model.redirects.pages()


def _generated_files(model: SiteModel, options: SiteOptions) -> Iterator[tuple[str, bytes]]:
    if "404" not in model.source_pages:
        yield NOT_FOUND, model.theme.not_found().encode("utf-8", "replace")
    fronts = {path: source_page.front for path, source_page in model.source_pages.items()}
    listed = model.navigation.order
    yield "llms.txt", llms(model.config.name, fronts, listed, breadcrumbs(model.config), options.base_url)
    if options.base_url:
        found = (path for path, front in fronts.items() if not front.noindex and path != "404")
        yield "sitemap.xml", sitemap(options.base_url, found, clean_urls=options.clean_urls)
        yield "robots.txt", robots(options.base_url)


def _fill_search_index(index: SearchIndex, model: SiteModel, parts: Mapping[str, tuple[SearchPart, ...]]) -> bool:
    """Update the search index with all pages, their groups and versions. Return False if nothing has changed."""
    return index.fill(parts, dict(_search_labels(model)))


def _search_labels(model: SiteModel) -> Iterator[tuple[str, str]]:
    groups = breadcrumbs(model.config)
    names = [version.name for version in model.config.versions]
    for path in model.source_pages:
        shown = [" / ".join(groups.get(path, ()))]
        versions = model.navigation.versions(path) if names else None
        if versions is not None:
            shown.append(", ".join(names[number] for number in sorted(versions)))
        yield path, " · ".join(filter(None, shown))


class RenderedSite(dict[str, bytes]):
    """Path -> content of the finished files of a site.

    If the configuration cannot be read, ``config`` is None, there are no files, and ``diagnostics`` says why.
    """

    config: SiteConfig | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


def render(files: Mapping[str, str | bytes], options: SiteOptions = SiteOptions()) -> RenderedSite:  # noqa: B008
    """Render a site from ``files``, which maps the relative path of each file in the site's folder to its content.

    Does no I/O. Invalid files give diagnostics, not errors.
    """
    site = Site(options, incremental=False)
    rendered = RenderedSite(site.update(files))
    diagnostics: list[Diagnostic] = []
    for path in sorted(site.assets):
        found = files[path]
        content = found.encode("utf-8", "replace") if isinstance(found, str) else found
        if path.lower().endswith(".svg") and has_active_content(content):
            diagnostics.append(active_content_diagnostic(path))
        else:
            rendered.setdefault(path, content)
    rendered.config, rendered.diagnostics = site.config, (*site.diagnostics, *diagnostics)
    return rendered


CODES: dict[str, str] = {
    "SITE100": "There is no configuration file.",
    "SITE101": "Two files have the path of the same page; only one of them is used.",
    "SITE102": "The paths of two pages differ only in case; many disks and hosts cannot store both.",
    "SITE103": "The path of a file cannot be part of an address; the file is left out.",
    "SITE104": "A page is not UTF-8; invalid bytes are shown as replacement characters.",
    "SITE105": "A page could not be rendered. This is a bug in Tenantry.",
    "SITE106": "The site has no page.",
    "SITE107": "A file's name suggests that it contains a secret, so it is not published.",
    "SITE108": "An SVG contains active content, such as a script, and is left out.",
}
"""Diagnostic code -> its meaning. Codes are stable."""
