"""ReloadingFolder: the dashboards of a folder as its files are now, for whoever writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from tenantry.dashboards.folder import QUERIES, SUFFIXES, DashboardFolder, SavedDashboard
from tenantry.errors import InvalidDashboards, InvalidQueries

_Stamp: TypeAlias = frozenset[tuple[str, int, int]]


class ReloadingFolder(Mapping[str, SavedDashboard]):
    """A DashboardFolder that is read again when one of its files, or of its queries, has changed.

    While a file cannot be used, every access raises InvalidDashboards or InvalidQueries, with where it is wrong.
    """

    def __init__(self, path: str | Path) -> None:
        self.path: Path = Path(path)
        self._stamp: _Stamp | None = None
        self._read: DashboardFolder | InvalidQueries | None = None

    def __getitem__(self, name: str) -> SavedDashboard:
        return self._current()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._current())

    def __len__(self) -> int:
        return len(self._current())

    @property
    def revision(self) -> str:
        """Another text whenever a file has changed."""
        return f"{hash(self._look()):x}"

    def _current(self) -> DashboardFolder:
        stamp = self._look()
        if self._read is None or stamp != self._stamp:
            self._stamp = stamp
            try:
                self._read = DashboardFolder(self.path)
            except InvalidQueries as error:
                self._read = error
            except OSError as error:  # as while an editor puts a new file in the place of the old one
                problem = f"{error.filename or self.path} cannot be read: {error.strerror or error}"
                self._read = InvalidDashboards(problem, errors=())
        if isinstance(self._read, InvalidQueries):
            raise self._read.with_traceback(None)
        return self._read

    def _look(self) -> _Stamp:
        """Each file with its size and when it was written."""
        folders = [self.path, *([self.path.parent / QUERIES] if self.path.name == "dashboards" else [])]
        found: set[tuple[str, int, int]] = set()
        for file in (file for folder in folders for file in folder.rglob("*") if file.suffix in {*SUFFIXES, ".sql"}):
            with suppress(FileNotFoundError):  # it was there a moment ago
                about = file.stat()
                found.add((str(file), about.st_mtime_ns, about.st_size))
        return frozenset(found)
