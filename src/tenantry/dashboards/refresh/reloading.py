from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeAlias

from starlette.requests import Request

from tenantry.dashboards.folder import QUERIES, SUFFIXES, DashboardFolder, SavedDashboard
from tenantry.dashboards.protocol.answer_budget import OpenAnswer
from tenantry.dashboards.protocol.line_stream import KEEP_ALIVE, Line, LineStream
from tenantry.dashboards.protocol.panel_lines import line
from tenantry.dashboards.refresh.live import ChangedPanels, Message
from tenantry.datasources import DataSources
from tenantry.errors import InvalidDashboards, InvalidQueries
from tenantry.groups import UserGroup

_log = logging.getLogger("tenantry.dashboards")

Stamp: TypeAlias = frozenset[tuple[str, int, int]]
"""Path, time of the last change in nanoseconds, and size of each file."""


class ReloadingFolder(Mapping[str, SavedDashboard]):
    """A DashboardFolder that rereads changed files. While a file is invalid, every access raises InvalidDashboards or
    InvalidQueries. With ``keep_valid``, viewers get the last version in which all files were valid, and the log names
    the invalid file."""

    def __init__(self, path: str | Path, *, keep_valid: bool = False) -> None:
        self.path: Path = Path(path)
        self._keep_valid = keep_valid
        self._stamp: Stamp | None = None
        self._read: DashboardFolder | InvalidQueries | None = None
        self._recent: tuple[float, str] | None = None

    def __getitem__(self, name: str) -> SavedDashboard:
        return self._current()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._current())

    def __len__(self) -> int:
        return len(self._current())

    @property
    def revision(self) -> str:
        """A string that changes whenever a file changes."""
        return f"{hash(self.stamp()):x}"

    @property
    def recent_revision(self) -> str:
        """The revision, computed at most once every ``_LOOK_SECONDS`` for all open responses together."""
        now = time.monotonic()
        if self._recent is None or now >= self._recent[0] + _LOOK_SECONDS:
            self._recent = (now, self.revision)
        return self._recent[1]

    def read(self) -> DashboardFolder:
        return DashboardFolder(self.path)

    def _current(self) -> DashboardFolder:
        stamp = self.stamp()
        if self._read is None or stamp != self._stamp:
            self._stamp = stamp
            found = self._try_read()
            if isinstance(found, InvalidQueries) and self._keep_valid and isinstance(self._read, DashboardFolder):
                _log.warning("the last valid dashboards are still served: %s", found.message)
            else:
                self._read = found
        if isinstance(self._read, InvalidQueries):
            raise self._read.with_traceback(None)
        return self._read

    def _try_read(self) -> DashboardFolder | InvalidQueries:
        try:
            return self.read()
        except InvalidQueries as error:
            return error
        except OSError as error:  # for example, while an editor replaces the file
            problem = f"{error.filename or self.path} cannot be read: {error.strerror or error}"
            return InvalidDashboards(problem, errors=())

    def stamp(self) -> Stamp:
        folders = [self.path, *([self.path.parent / QUERIES] if self.path.name == "dashboards" else [])]
        found: set[tuple[str, int, int]] = set()
        for file in (file for folder in folders for file in folder.rglob("*") if file.suffix in {*SUFFIXES, ".sql"}):
            with suppress(FileNotFoundError):  # deleted since the folder was listed
                about = file.stat()
                found.add((str(file), about.st_mtime_ns, about.st_size))
        return frozenset(found)


_LOOK_SECONDS: Final = 0.3


class ChangedFiles(ChangedPanels):
    """Like ChangedPanels, but also sends ``{"revision": …}`` at the beginning and after each change of a file."""

    def __init__(
        self,
        sources: DataSources,
        group: UserGroup,
        schemas: dict[str, str],
        folder: ReloadingFolder,
        revision: str,
    ) -> None:
        super().__init__(sources, group, schemas)
        self._folder = folder
        self._revision = revision

    @property
    def first(self) -> Message:
        return {"revision": self._revision}

    def idle_seconds(self) -> float:
        return _LOOK_SECONDS

    def idle_message(self) -> Message:
        now = self._folder.recent_revision
        if now == self._revision:
            return {}
        self._revision = now
        return self.first


class BrokenFiles(LineStream):
    """The response while a file is invalid: ``{"broken": …}`` with the errors, each with file and line."""

    def __init__(
        self, request: Request, error: InvalidQueries, changes: ChangedFiles, *, stays_open: bool = True
    ) -> None:
        super().__init__(request)
        self._stays_open = stays_open
        self._error = error
        self._changes = changes

    async def lines(self, answer: OpenAnswer) -> AsyncGenerator[Line]:
        async with self._changes as changes:
            yield line(self._changes.first)
            yield line({"broken": self._error.message})
            yield line({"end": True})
            if changes is not None and self._stays_open:
                async for message in changes:
                    yield line(message) if message else KEEP_ALIVE
