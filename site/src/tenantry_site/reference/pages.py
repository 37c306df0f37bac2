"""Renders the endpoints of pages whose front matter has ``api`` or ``openapi``, and generates pages and groups for
OpenAPI documents of tabs and anchors."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from tenantry_site.addresses import html_path, relative_url
from tenantry_site.config.model import Group, SiteConfig
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.markdown.code_blocks import Highlighter, code_block
from tenantry_site.options import SiteOptions
from tenantry_site.page import FrontMatter, Page
from tenantry_site.reference import api_entry
from tenantry_site.reference.descriptions import Descriptions, Reader
from tenantry_site.reference.endpoints import Endpoints
from tenantry_site.reference.html.blocks import slug
from tenantry_site.reference.html.page import PageSettings, render_endpoint
from tenantry_site.reference.markdown import endpoint_markdown
from tenantry_site.reference.operation import Endpoint, Operation
from tenantry_site.reference.operation_lookup import Reference
from tenantry_site.reference.parameters import AUTH_METHODS
from tenantry_site.reference.request import PLACEHOLDER_HOST


@dataclass(frozen=True, slots=True)
class Generated:
    """A generated page. ``group``: title of its group in the navigation."""

    path: str
    group: str
    front: FrontMatter


def generated(reference: Reference, taken: Collection[str], named: Mapping[str, str]) -> tuple[Generated, ...]:
    """Pages for the operations of each document that a tab or anchor names, unless a page already names one of the
    document's operations.

    ``taken``: paths of existing pages. ``named``: page -> the ``openapi`` field of its front matter.
    """
    found = [reference.find(spec, page) for page, spec in named.items()]  # find() also marks the document as used
    spoken = {operation.file for operation in found if operation is not None}
    used = set(taken)
    pages = []
    for file, operations in reference.documents.items():
        folder = reference.folder(file)
        if folder and file not in spoken:
            for operation in operations:
                page = _page(operation, folder, used)
                used.add(page.path)
                pages.append(page)
    return tuple(pages)


def groups(pages: Iterable[Generated]) -> tuple[Group, ...]:
    """The navigation groups of generated pages, in the order of the operations."""
    found: dict[str, list[str]] = {}
    for page in pages:
        found.setdefault(page.group, []).append(page.path)
    return tuple(Group(group=title, pages=tuple(paths)) for title, paths in found.items())


def _page(operation: Operation, below: str, used: Collection[str]) -> Generated:
    tag = (operation.tags or ("Webhooks" if operation.is_webhook else "API reference",))[0]
    folder = slug(tag) if operation.tags or operation.is_webhook else "operations"
    name = slug(operation.title) or slug(f"{operation.method} {operation.path}") or "operation"
    paths = _candidates(f"{below}/{folder or 'operations'}/{name}")
    path = next(path for path in paths if path not in used)
    front = FrontMatter(title=operation.title, openapi=operation.spec)
    return Generated(path, tag.strip() or "API reference", front)


def _candidates(path: str) -> Iterator[str]:
    yield path
    number = 2
    while True:
        yield f"{path}-{number}"
        number += 1


_MODES: Final = ("show", "simple", "hide")


class ApiPages:
    """Renders and generates the API pages of one site. ``reader``: renders the Markdown of descriptions."""

    __slots__ = ("_config", "_endpoints", "_highlighter", "_host", "_options", "_prose", "_reference")

    def __init__(
        self, config: SiteConfig, reference: Reference, reader: Reader, options: SiteOptions | None = None
    ) -> None:
        self._config = config
        self._reference = reference
        self._options = options or SiteOptions()
        self._endpoints = Endpoints(config)
        self._prose = Descriptions(reader)
        self._highlighter = Highlighter()
        self._host = _host(self._options.base_url)

    def render(self, page: Page) -> Page:
        """The page with the documentation of the endpoint in its front matter; other pages are unchanged."""
        if page.front.openapi.strip():
            rendered = self._render_operation(page)
        elif page.front.api.strip():
            rendered = self._render_entry(page)
        else:
            return page
        return replace(rendered, diagnostics=tuple(_at_first_line(one, page.source) for one in rendered.diagnostics))

    def complete(self, front: FrontMatter, page: str = "") -> FrontMatter:
        """The front matter. If it has no title, the title of the page's operation is added."""
        operation = self._reference.find(front.openapi, page) if front.openapi and not front.title else None
        return replace(front, title=operation.title) if operation is not None else front

    def method(self, front: FrontMatter, page: str = "") -> str:
        """The HTTP method of an API page, in upper case; empty for other pages."""
        if front.openapi:
            operation = self._reference.find(front.openapi, page)
            return operation.method if operation is not None else ""
        entry = api_entry.parse(front.api) if front.api.strip() else None
        return entry.method if entry is not None else ""

    def generated(
        self, taken: Collection[str], named: Mapping[str, str] = MappingProxyType({})
    ) -> Iterator[tuple[str, FrontMatter, str]]:
        """Yield path, front matter and (empty) text of each generated page. The arguments are those of the function
        ``generated``."""
        for page in generated(self._reference, taken, named):
            yield page.path, page.front, ""

    def groups(self, taken: Collection[str], named: Mapping[str, str] = MappingProxyType({})) -> tuple[Group, ...]:
        """The navigation groups of the pages that ``generated`` yields."""
        return groups(generated(self._reference, taken, named))

    # --- one page -----------------------------------------------------------------------------------------------------

    def _render_operation(self, page: Page) -> Page:
        operation = self._reference.find(page.front.openapi, page.path)
        if operation is None:
            problem = self._reference.problem(page.front.openapi, page.source)
            return replace(page, diagnostics=(*page.diagnostics, problem))
        method, diagnostics = self._auth_method(page)
        endpoint, found = self._endpoints.read(operation, method)
        title = page.title if page.front.title else operation.title
        return self._rendered(replace(page, title=title), endpoint, (*diagnostics, *found))

    def _render_entry(self, page: Page) -> Page:
        entry = api_entry.parse(page.front.api)
        endpoint = api_entry.endpoint(entry, page, self._config) if entry is not None else None
        diagnostics = (*self._auth_method(page)[1], *api_entry.problems(entry, page, self._config, endpoint))
        if endpoint is None:
            return replace(page, diagnostics=(*page.diagnostics, *diagnostics))
        return self._rendered(page, endpoint, diagnostics)

    def _rendered(self, page: Page, endpoint: Endpoint, diagnostics: tuple[Diagnostic, ...]) -> Page:
        mode, problem = self._mode(page)
        relay = self._options.relay
        setting = PageSettings(
            mode=mode,
            relay=relative_url(html_path(page.path), relay.strip("/")) if relay else "",
            host=self._host,
            repeat_description=endpoint.description.strip() != page.front.description.strip(),
        )
        rendered = render_endpoint(endpoint, page.html, setting, self._prose.on(page.path), self._code)
        return replace(
            page,
            front=replace(page.front, mode="wide"),  # the second column takes the place of the list of headings
            html=rendered.html,
            headings=(*page.headings, *(part.heading for part in rendered.parts)),
            sections=(*page.sections, *(part.section for part in rendered.parts)),
            markdown=f"{page.markdown.rstrip()}\n\n{endpoint_markdown(endpoint, self._prose.markdown)}".lstrip(),
            request_headers=endpoint.request_headers,
            parts=page.parts | {"api"} | ({"playground"} if rendered.interactive else frozenset()),
            diagnostics=(*page.diagnostics, *diagnostics, *problem),
        )

    def _code(self, language: str, text: str) -> str:
        return code_block(language, text, 0, self._highlighter).html

    def _mode(self, page: Page) -> tuple[str, tuple[Diagnostic, ...]]:
        wanted = page.front.playground.strip().lower()
        if not wanted or wanted in _MODES:
            return wanted or self._config.api.playground.mode, ()
        return self._config.api.playground.mode, (_unknown_value("playground", wanted, _MODES, page.source),)

    def _auth_method(self, page: Page) -> tuple[str, tuple[Diagnostic, ...]]:
        wanted = page.front.auth_method.strip().lower()
        if not wanted or wanted in AUTH_METHODS:
            return wanted, ()
        return "", (_unknown_value("authMethod", wanted, AUTH_METHODS, page.source),)


def _at_first_line(diagnostic: Diagnostic, source: str) -> Diagnostic:
    """If a diagnostic about the page has no line, give it the first line, where the front matter begins."""
    return replace(diagnostic, line=1) if source and diagnostic.path == source and not diagnostic.line else diagnostic


def _unknown_value(name: str, value: str, allowed: tuple[str, ...], source: str) -> Diagnostic:
    message, fix = f"{name}: {value!r} is not known", f"write {', '.join(allowed[:-1])} or {allowed[-1]}"
    return Diagnostic(Severity.WARNING, "API015", message, fix, path=source)


def _host(base_url: str | None) -> str:
    """The origin of the published docs, for APIs whose address is only a path."""
    try:
        parts = urlsplit(base_url or "")
    except ValueError:
        return PLACEHOLDER_HOST
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme and parts.netloc else PLACEHOLDER_HOST
