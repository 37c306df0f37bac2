"""Keeper: the finished site, made when it is first asked for, and in live mode again when the folder has changed."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from tenantry_site.building import Entry, Scan, SiteFiles, in_order, scan
from tenantry_site.diagnostic import Diagnostic
from tenantry_site.options import SiteOptions
from tenantry_site.rendering import Site

LOOK_SECONDS: Final = 0.3
"""How often a live site looks at its folder, at most."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The site as it is shown from now on.

    ``pieces`` are the finished files, ``assets`` those that stay on the disk, ``diagnostics`` what is wrong with the
    folder now. ``mark`` changes with any of the assets. ``ready``: there is a site to show, if only the one before a
    configuration that cannot be read. ``request_headers``: those that the site's pages may have the relay send.
    """

    site: Site
    pieces: Mapping[str, bytes]
    assets: Mapping[str, Entry]
    diagnostics: tuple[Diagnostic, ...]
    mark: str
    ready: bool
    request_headers: frozenset[str]

    def has(self, path: str) -> bool:
        """Whether there is such a file. A page that only leads on is for hosts without redirects, and is none."""
        return path in self.assets or (path in self.pieces and (not path.endswith(".html") or self.is_page(path)))

    def is_page(self, path: str) -> bool:
        """Whether a finished file is a page, and not what stands in for one that moved: each page has its Markdown."""
        bare = path.removesuffix(".html")
        return bare in {"index", "404"} or f"{bare}.md" in self.pieces


class Keeper:
    """One thread of its own makes the site, so that the event loop goes on and nothing is made twice at a time."""

    def __init__(self, folder: str | os.PathLike[str], options: SiteOptions, *, live: bool) -> None:
        self._folder = folder
        self._options = options
        self._live = live
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tenantry-site")
        self._shown: Shown | None = None
        self._looked = -LOOK_SECONDS
        self._scan: Scan | None = None
        self._begin()

    def _begin(self) -> None:
        self._site = Site(self._options, remember=self._live)
        self._files = SiteFiles(Scan())
        self._changed: set[str] | None = None
        self._pieces: dict[str, bytes] = {}

    async def shown(self) -> Shown:
        """The newest state of the site."""
        now = self._shown
        if now is not None and self._is_fresh():
            return now
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._look)

    def _is_fresh(self) -> bool:
        return not self._live or time.monotonic() - self._looked < LOOK_SECONDS

    def _look(self) -> Shown:
        now = self._shown
        if now is not None and self._is_fresh():
            return now  # somebody who asked before us had it made
        found = scan(self._folder)
        if now is None or found != self._scan:
            try:
                now = self._make(found)
            except BaseException:
                self._begin()  # half of an update is no ground for the next one
                raise
            self._shown, self._scan = now, found
        self._looked = time.monotonic()
        return now

    def _make(self, found: Scan) -> Shown:
        changed, files, site = self._files.renew(found), self._files, self._site
        if self._changed is not None:
            self._changed |= changed
        for path, content in site.update(files, self._changed):
            self._pieces[path] = content
        ready = site.config is not None
        if ready:
            self._changed = set()
            for path in site.removed:
                self._pieces.pop(path, None)
        assets = {path: files.entries[path] for path in sorted(site.assets & files.entries.keys())}
        return Shown(
            site=site,
            pieces=dict(self._pieces),
            assets=assets,
            diagnostics=in_order((*files.diagnostics, *site.diagnostics)),
            mark=sha256(repr(assets).encode()).hexdigest(),
            ready=ready or bool(self._pieces),
            request_headers=site.request_headers(),
        )
