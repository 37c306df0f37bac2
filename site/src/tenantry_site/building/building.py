"""build: a folder with a site becomes a folder with files that any host can serve."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tenantry_site.building.codes import note
from tenantry_site.building.reading import PAGES, SiteFiles, open_entry
from tenantry_site.building.scanning import scan
from tenantry_site.building.staging import Staging
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.errors import SiteError
from tenantry_site.options import SiteOptions
from tenantry_site.rendering import Site, left_out, runs

OnProgress = Callable[[int, int], None]
"""Is told how many pages of how many are written. The second number is that of the files, and so an estimate."""

_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


@dataclass(frozen=True, slots=True)
class Built:
    """What a build did. ``files`` and ``bytes`` count everything that was written, ``pages`` the pages.

    ``published``: the new site stands at its place. If not, what stood there still does, and ``diagnostics`` says why.
    """

    pages: int
    files: int
    bytes: int
    seconds: float
    diagnostics: tuple[Diagnostic, ...]
    published: bool


def build(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    options: SiteOptions = SiteOptions(),  # noqa: B008  # frozen
    on_progress: OnProgress | None = None,
    *,
    strict: bool = False,
) -> Built:
    """Writes the site of ``folder`` to ``out``, whose old content it replaces whole, in one step, when all is written.

    Nothing is replaced if there is no configuration that can be read, or with ``strict`` if there is an error or a
    warning. The same folder gives the same bytes. Raises SiteError if ``folder`` is no folder, if ``out`` holds
    files that no build made, or cannot be written.
    """
    began = time.perf_counter()
    _check(Path(folder), Path(out))
    writer = _Writer(Path(folder), options)
    with Staging(out) as staging:
        for done in writer.write(staging):
            if on_progress is not None:
                on_progress(done, max(done, writer.expected))
        found = writer.diagnostics()
        bad = strict and any(said.severity is not Severity.INFO for said in found)
        published = writer.site.config is not None and not bad
        if published:
            staging.publish()
    seconds = time.perf_counter() - began
    return Built(writer.pages, writer.files, writer.bytes, seconds, found, published)


def diagnose(
    folder: str | os.PathLike[str],
    options: SiteOptions = SiteOptions(),  # noqa: B008  # frozen
) -> tuple[Diagnostic, ...]:
    """All that a build would say, without one."""
    found = scan(folder)
    files, site = SiteFiles(found), Site(options, remember=False)
    for _ in site.update(files):
        pass
    drawn = (path for path in site.assets if path.lower().endswith(".svg"))
    said = [left_out(path) for path in sorted(drawn) if runs(_content(files, path))]
    return in_order((*files.diagnostics, *site.diagnostics, *said))


def _content(files: SiteFiles, path: str) -> bytes:
    found = files[path]
    return found if isinstance(found, bytes) else found.encode()


def in_order(found: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """By file and place, each once."""
    unique = dict.fromkeys(found)
    return tuple(sorted(unique, key=lambda said: (said.path, said.line, said.column, _ORDER[said.severity], said.code)))


def _check(folder: Path, out: Path) -> None:
    if not folder.is_dir():
        raise SiteError(f"{folder} is no folder")
    here, there = folder.resolve(), out.resolve()
    if here == there or there in here.parents:
        raise SiteError(f"{out} holds the source of the site, and would be replaced: choose another folder")


class _Writer:
    """Writes one site into a staging folder, and counts. It never holds more than one finished page."""

    def __init__(self, folder: Path, options: SiteOptions) -> None:
        self._sources = SiteFiles(scan(folder))
        self.site = Site(options, remember=False)
        self.expected = sum(path.lower().endswith(PAGES) for path in self._sources)
        self._said: list[Diagnostic] = []
        self.pages = self.files = self.bytes = 0

    def write(self, staging: Staging) -> Iterator[int]:
        """Yields the number of pages that are written so far, whenever there is one more."""
        for path, content in self.site.update(self._sources):
            self._put(path, content, staging)
            if path.endswith(
                ".md"
            ):  # each page has its Markdown beside it, and what stands in for a moved one has none
                self.pages += 1
                yield self.pages
        for path in sorted(self.site.assets):
            self._copy(path, staging)

    def _put(self, path: str, content: bytes, staging: Staging) -> None:
        try:
            staging.write(path, content)
        except OSError as error:
            self._failed(path, error)
        else:
            self._count(len(content))

    def _copy(self, path: str, staging: Staging) -> None:
        try:
            with open_entry(self._sources.entries[path]) as file:
                if path.lower().endswith(".svg"):  # a host of files says of none of them what it may not do
                    self._draw(path, file.read(), staging)
                    return
                size = staging.copy(file, path)
        except OSError as error:
            self._failed(path, error)
        else:
            self._count(size)

    def _draw(self, path: str, content: bytes, staging: Staging) -> None:
        if runs(content):
            self._said.append(left_out(path))
        else:
            self._put(path, content, staging)

    def _count(self, size: int) -> None:
        self.files += 1
        self.bytes += size

    def _failed(self, path: str, error: OSError) -> None:
        found = f"it cannot be written: {(error.strerror or 'no reason is given').lower()}"
        fix = "Shorten or change the name, or make room on the disk."
        self._said.append(note(Severity.ERROR, "FILE007", path, found, fix))

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All that is to be said, by file and place."""
        return in_order((*self._sources.diagnostics, *self.site.diagnostics, *self._said))
