"""Site: the finished files of a site, one after another, and only those that changed when it is made again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from itertools import chain

from tenantry_site.addresses import html_path
from tenantry_site.config.model import SiteConfig
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.options import SiteOptions
from tenantry_site.outputs import RedirectTarget, SearchIndex, check, markdown, redirect
from tenantry_site.outputs.crawlers import markdown_path
from tenantry_site.page import Page
from tenantry_site.reference import request_headers
from tenantry_site.rendering.extras import extras, fill
from tenantry_site.rendering.manuscripts import Files
from tenantry_site.rendering.pages import Drawn, Pages, at_root
from tenantry_site.rendering.plan import Plan, Planner

_EMPTY = Diagnostic(Severity.WARNING, "SITE106", "the site has no page", "Write index.md beside the configuration.")


class Site:
    """One site that is made from its files, once or again and again.

    >>> site = Site(SiteOptions())
    >>> for path, content in site.update(files): ...

    After ``update`` was gone through, ``config`` is the configuration (None: it could not be read, and nothing is
    yielded), ``diagnostics`` what there is to say, ``outputs`` the paths of all finished files, ``removed`` those that
    are no longer among them, ``assets`` the files to publish as they are. ``remember``: pages are kept, and an update
    yields only what is not as it was; without, little memory is used and everything is yielded.
    """

    def __init__(self, options: SiteOptions = SiteOptions(), *, remember: bool = True) -> None:  # noqa: B008  # frozen
        self._options = options
        self._remember = remember
        self._planner = Planner(options, remember=remember)
        self._pages = Pages(remember=remember)
        self._index = SearchIndex(remember=remember)
        self._plan: Plan | None = None
        self._yielded: dict[str, bytes] = {}
        self._search: tuple[str, ...] = ()
        self.config: SiteConfig | None = None
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self.outputs: frozenset[str] = frozenset()
        self.removed: frozenset[str] = frozenset()
        self.assets: frozenset[str] = frozenset()
        self._page_headers: frozenset[str] = frozenset()

    def update(self, files: Files, changed: Collection[str] | None = None) -> Iterator[tuple[str, bytes]]:
        """The finished files, by their paths within the site.

        ``files`` has everything in the site's folder by path, text or bytes; values are asked for when they are needed,
        and those of images and the like never are. ``changed`` names the paths that may have changed since the last
        update, new and removed ones included; None: any may have. Never raises for what is in the files.
        """
        if not self._remember:
            self._pages, self._index = Pages(remember=False), SearchIndex(remember=False)
        plan = self._planner.plan(files, changed)
        if not isinstance(plan, Plan):
            self.config, self.diagnostics, self.removed = None, plan, frozenset()
            return
        self._plan = plan
        made: dict[str, None] = {}
        for path, content in self._make(plan):
            made[path] = None
            if content is not None and self._is_new(path, content):
                yield path, content
        self._finish(plan, frozenset(made))

    def _make(self, plan: Plan) -> Iterator[tuple[str, bytes | None]]:
        """All files; None for the content of one that is as it was."""
        for path in plan.manuscripts:
            framed = self._pages.frame(plan, path)
            yield html_path(path), framed and framed[1]
            yield markdown_path(path), framed and markdown(framed[0])
            if path == plan.navigation.home and path != "index":
                yield "index.html", framed and self._first(plan, framed[0])
        yield from extras(plan, self._options)
        drawn = {path: self._pages.draw(plan, path) for path in plan.manuscripts}
        if fill(self._index, plan, {path: page.parts for path, page in drawn.items()}):
            self._search = ()
            for path, content in self._index.files():
                self._search = (*self._search, path)
                yield path, content
        else:
            yield from ((path, None) for path in self._search)
        self._pages.keep(plan.manuscripts.keys())
        self._page_headers = frozenset(chain.from_iterable(page.request_headers for page in drawn.values()))
        self.diagnostics = _all_diagnostics(plan, drawn)

    def _first(self, plan: Plan, page: Page) -> bytes:
        """What is shown at the site's own address where no page is called ``index``: the first page again."""
        if "playground" in page.parts:  # it knows its way to the relay from where it is
            return redirect("index", RedirectTarget(page.path))
        return plan.theme.page(at_root(page), of=page.path).encode("utf-8", "replace")

    def _is_new(self, path: str, content: bytes) -> bool:
        if not self._remember:
            return True
        stamp = blake2b(content, digest_size=16).digest()
        if self._yielded.get(path) == stamp:
            return False
        self._yielded[path] = stamp
        return True

    def _finish(self, plan: Plan, outputs: frozenset[str]) -> None:
        self.config, self.assets = plan.written, plan.assets
        self.removed, self.outputs = self.outputs - outputs, outputs
        for path in self.removed:
            self._yielded.pop(path, None)

    def redirect(self, address: str) -> RedirectTarget | None:
        """Where an address leads at which there is no file (see ``Redirects.find``)."""
        return self._plan.redirects.find(address) if self._plan is not None else None

    def request_headers(self) -> frozenset[str]:
        """The headers that the configuration, the OpenAPI documents and the pages name for requests to the API."""
        if self._plan is None:
            return frozenset()
        return self._page_headers | request_headers(self._plan.config, self._plan.reference)

    def not_found(self, root: str) -> str:
        """The page for an address that has none. ``root`` leads from that address to the site's root: ``../``."""
        return self._plan.theme.not_found(root) if self._plan is not None else ""

    def source(self, page: str) -> str:
        """The file of a page (``guides/start``); empty for a page without one, and for what is no page."""
        manuscript = self._plan.manuscripts.get(page) if self._plan is not None else None
        return manuscript.source if manuscript is not None else ""


def _all_diagnostics(plan: Plan, drawn: Mapping[str, Drawn]) -> tuple[Diagnostic, ...]:
    """Everything that was said, once, by file and place; what is said of no file is said of the configuration."""
    found = [*plan.diagnostics, *plan.reference.diagnostics, *plan.theme.diagnostics, *plan.redirects.diagnostics]
    for page in drawn.values():
        found += page.diagnostics
    links = (page.page_links for page in drawn.values())
    found += check(links, plan.addresses, plan.navigation.home, lambda path: plan.redirects.find(path) is not None)
    if not drawn:
        found.append(_EMPTY)
    placed = {said if said.path else replace(said, path=plan.configuration) for said in found}
    return tuple(sorted(placed, key=lambda said: (said.path, said.line, said.column, said.code, said.message)))
