"""SiteCache: the finished site, built at the first request, and in live mode again when the folder has changed."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from tenantry_site.building import Entry, Scan, SiteFiles, scan, sort_diagnostics
from tenantry_site.diagnostic import Diagnostic
from tenantry_site.options import SiteOptions
from tenantry_site.rendering import Site

CHECK_SECONDS: Final = 0.3
"""How often a live site looks at its folder, at most."""


@dataclass(frozen=True, slots=True)
class ServedSite:
    """The site as it is served from now on.

    ``files`` are the finished files, ``assets`` those that stay on the disk, ``diagnostics`` what is wrong with the
    folder now. ``assets_hash`` changes with any of the assets. ``ready``: there is a site to
    show, even if it is the one before a configuration that cannot be read. ``request_headers``: those that the site's
    pages may have the relay send.
    """

    site: Site
    files: Mapping[str, bytes]
    assets: Mapping[str, Entry]
    diagnostics: tuple[Diagnostic, ...]
    assets_hash: str
    ready: bool
    request_headers: frozenset[str]

    def has(self, path: str) -> bool:
        """Whether there is such a file. A page that only leads on is for hosts without redirects, and is none."""
        return path in self.assets or (path in self.files and (not path.endswith(".html") or self.is_page(path)))

    def is_page(self, path: str) -> bool:
        """Whether a finished file is a page, and not what stands in for one that moved: each page has its Markdown."""
        bare = path.removesuffix(".html")
        return bare in {"index", "404"} or f"{bare}.md" in self.files


class SiteCache:
    """One thread of its own builds the site: the event loop goes on, and nothing is built twice at a time."""

    def __init__(self, folder: str | os.PathLike[str], options: SiteOptions, *, live: bool) -> None:
        self._folder = folder
        self._options = options
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
        """The newest state of the site."""
        now = self._served
        if now is not None and self._is_fresh():
            return now
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._refresh)

    def _is_fresh(self) -> bool:
        return not self._live or time.monotonic() - self._checked < CHECK_SECONDS

    def _refresh(self) -> ServedSite:
        now = self._served
        if now is not None and self._is_fresh():
            return now  # another request has had it built meanwhile
        found = scan(self._folder)
        if now is None or found != self._scan:
            try:
                now = self._build(found)
            except BaseException:
                self._reset()  # half of an update is no ground for the next one
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
