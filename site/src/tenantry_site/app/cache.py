"""Keeps the finished site in memory. In live mode, builds it again when the folder has changed."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from tenantry_site.building import Entry, Scan, SiteFiles, scan, sort_diagnostics, with_repository
from tenantry_site.diagnostic import Diagnostic
from tenantry_site.options import SiteOptions
from tenantry_site.rendering import Site

CHECK_SECONDS: Final = 0.3
"""Minimum number of seconds between two scans of the folder in live mode."""


@dataclass(frozen=True, slots=True)
class ServedSite:
    site: Site
    files: Mapping[str, bytes]
    """Path -> content of the finished files."""
    assets: Mapping[str, Entry]
    """The files that are served from the disk."""
    diagnostics: tuple[Diagnostic, ...]
    """The current problems of the folder."""
    assets_hash: str
    """Changes when an asset changes."""
    ready: bool
    """Whether there is a site to show. It may be an earlier one, if the configuration cannot be read now."""
    request_headers: frozenset[str]
    """Names of the headers that playgrounds may send through the relay."""

    def has(self, path: str) -> bool:
        """Whether a file is served at a path. Pages that only redirect do not count: they are for static hosts, and
        this server sends real redirects."""
        return path in self.assets or (path in self.files and (not path.endswith(".html") or self.is_page(path)))

    def is_page(self, path: str) -> bool:
        """Whether an HTML file is a page rather than a redirect. Only pages have a Markdown file."""
        bare = path.removesuffix(".html")
        return bare in {"index", "404"} or f"{bare}.md" in self.files


class SiteCache:
    """Builds the site in a separate thread, so that the event loop is not blocked. There is only one such thread, so
    that concurrent requests do not build the site twice."""

    def __init__(self, folder: str | os.PathLike[str], options: SiteOptions, *, live: bool) -> None:
        self._folder = folder
        self._options = with_repository(folder, options)
        self._live = live
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tenantry-site")
        self._served: ServedSite | None = None
        self._checked = -CHECK_SECONDS
        self._scan: Scan | None = None
        self._reset()

    def _reset(self) -> None:
        self._site = Site(self._options, incremental=self._live)
        self._files = SiteFiles(Scan())
        self._changed: set[str] | None = None
        self._finished: dict[str, bytes] = {}

    async def current(self) -> ServedSite:
        now = self._served
        if now is not None and self._is_fresh():
            return now
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._refresh)

    def _is_fresh(self) -> bool:
        return not self._live or time.monotonic() - self._checked < CHECK_SECONDS

    def _refresh(self) -> ServedSite:
        now = self._served
        if now is not None and self._is_fresh():
            return now  # built for another request while this request waited for the thread
        found = scan(self._folder)
        if now is None or found != self._scan:
            try:
                now = self._build(found)
            except BaseException:
                self._reset()  # an incomplete update cannot be continued
                raise
            self._served, self._scan = now, found
        self._checked = time.monotonic()
        return now

    def _build(self, found: Scan) -> ServedSite:
        changed, files, site = self._files.update(found), self._files, self._site
        if self._changed is not None:
            self._changed |= changed
        for path, content in site.update(files, self._changed):
            self._finished[path] = content
        ready = site.config is not None
        if ready:
            self._changed = set()
            for path in site.removed:
                self._finished.pop(path, None)
        assets = {path: files.entries[path] for path in sorted(site.assets & files.entries.keys())}
        return ServedSite(
            site=site,
            files=dict(self._finished),
            assets=assets,
            diagnostics=sort_diagnostics((*files.diagnostics, *site.diagnostics)),
            assets_hash=sha256(repr(assets).encode()).hexdigest(),
            ready=ready or bool(self._finished),
            request_headers=site.request_headers(),
        )
