"""Builds a site folder into static files."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tenantry_site.building.git_remote import with_repository
from tenantry_site.building.site_files import PAGES, SiteFiles, file_diagnostic, open_entry, scan
from tenantry_site.building.staging import Staging
from tenantry_site.diagnostic import Diagnostic, Severity, SiteError
from tenantry_site.options import SiteOptions
from tenantry_site.rendering import Site, active_content_diagnostic, has_active_content

OnProgress = Callable[[int, int], None]
"""Called with the number of pages written so far and an estimate of the total (the number of Markdown files)."""

_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


@dataclass(frozen=True, slots=True)
class Built:
    """The result of a build.

    ``pages``: number of pages. ``files``, ``bytes``: number and total size of all files. ``published``: whether the
    output folder was replaced; if not, it is unchanged, and ``diagnostics`` says why.
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
    """Build the site in ``folder``, then replace the contents of ``out`` in one step.

    ``out`` is not replaced if the configuration cannot be read or, with ``strict``, if there is an error or warning.
    Builds are reproducible. Raises SiteError if ``folder`` is not a folder, or if ``out`` contains ``folder``, has
    files that no build made, or cannot be written.
    """
    began = time.perf_counter()
    _check(Path(folder), Path(out))
    writer = _SiteWriter(Path(folder), with_repository(folder, options))
    with Staging(out) as staging:
        for done in writer.write(staging):
            if on_progress is not None:
                on_progress(done, max(done, writer.expected))
        found = writer.diagnostics()
        bad = strict and any(diagnostic.severity is not Severity.INFO for diagnostic in found)
        published = writer.site.config is not None and not bad
        if published:
            staging.publish()
    seconds = time.perf_counter() - began
    return Built(writer.pages, writer.files, writer.bytes, seconds, found, published)


def diagnose(
    folder: str | os.PathLike[str],
    options: SiteOptions = SiteOptions(),  # noqa: B008  # frozen
) -> tuple[Diagnostic, ...]:
    """The diagnostics that a build would give, without writing files."""
    found = scan(folder)
    files, site = SiteFiles(found), Site(with_repository(folder, options), incremental=False)
    for _ in site.update(files):
        pass
    pictures = (path for path in site.assets if path.lower().endswith(".svg"))
    active = [active_content_diagnostic(path) for path in sorted(pictures) if has_active_content(_content(files, path))]
    return sort_diagnostics((*files.diagnostics, *site.diagnostics, *active))


def _content(files: SiteFiles, path: str) -> bytes:
    found = files[path]
    return found if isinstance(found, bytes) else found.encode()


def sort_diagnostics(found: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The diagnostics sorted by file and position, without repetitions."""
    unique = dict.fromkeys(found)
    return tuple(sorted(unique, key=lambda each: (each.path, each.line, each.column, _ORDER[each.severity], each.code)))


def _check(folder: Path, out: Path) -> None:
    if not folder.is_dir():
        raise SiteError(f"{folder} is not a folder: give the folder of the site")
    here, there = folder.resolve(), out.resolve()
    if here == there or there in here.parents:
        raise SiteError(f"{out} contains the source of the site, which the build would delete: choose another folder")


class _SiteWriter:
    """Writes one site into a staging folder, one page at a time."""

    def __init__(self, folder: Path, options: SiteOptions) -> None:
        self._sources = SiteFiles(scan(folder))
        self.site = Site(options, incremental=False)
        self.expected = sum(path.lower().endswith(PAGES) for path in self._sources)
        self._diagnostics: list[Diagnostic] = []
        self.pages = self.files = self.bytes = 0

    def write(self, staging: Staging) -> Iterator[int]:
        """Write all files; after each page, yield the number of pages written so far."""
        for path, content in self.site.update(self._sources):
            self._write(path, content, staging)
            if path.endswith(".md"):  # only pages have a Markdown file, redirects do not
                self.pages += 1
                yield self.pages
        for path in sorted(self.site.assets):
            self._copy(path, staging)

    def _write(self, path: str, content: bytes, staging: Staging) -> None:
        try:
            staging.write(path, content)
        except OSError as error:
            self._report_failure(path, error)
        else:
            self._count(len(content))

    def _copy(self, path: str, staging: Staging) -> None:
        try:
            with open_entry(self._sources.entries[path]) as file:
                if path.lower().endswith(".svg"):  # check it: static hosts send no security policy
                    self._write_svg(path, file.read(), staging)
                    return
                size = staging.copy(file, path)
        except OSError as error:
            self._report_failure(path, error)
        else:
            self._count(size)

    def _write_svg(self, path: str, content: bytes, staging: Staging) -> None:
        if has_active_content(content):
            self._diagnostics.append(active_content_diagnostic(path))
        else:
            self._write(path, content, staging)

    def _count(self, size: int) -> None:
        self.files += 1
        self.bytes += size

    def _report_failure(self, path: str, error: OSError) -> None:
        found = f"it cannot be written: {(error.strerror or 'no reason is given').lower()}"
        fix = "Shorten or change the name, or free space on the disk."
        self._diagnostics.append(file_diagnostic(Severity.ERROR, "FILE007", path, found, fix))

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return sort_diagnostics((*self._sources.diagnostics, *self.site.diagnostics, *self._diagnostics))
