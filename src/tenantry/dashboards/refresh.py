from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Final, TypeAlias

from starlette.requests import Request

from tenantry.clock import monotonic_with_suspend
from tenantry.dashboards.folder import QUERIES, SUFFIXES, DashboardFolder, SavedDashboard
from tenantry.dashboards.protocol.answer_budget import OpenAnswer, answer_budget
from tenantry.dashboards.protocol.line_stream import KEEP_ALIVE, RESTART, Line, LineStream
from tenantry.dashboards.protocol.panel_lines import line
from tenantry.datasources import DataSources, source_name
from tenantry.errors import InvalidDashboards, InvalidQueries, QueryOutdated, TenantryError
from tenantry.groups import RegisteredSource, UserGroup

Message: TypeAlias = Mapping[str, Any]

_KEEP_ALIVE_SECONDS: Final = 30.0
"""After this many seconds without changes, an empty message is sent, because proxies close idle connections."""
_OPEN_SECONDS: Final = 900.0

MAX_LIVE: Final = 100
"""If a group has more open responses than this in the process, a new response does not stay open for changes. It ends
after the requested lines."""

MAX_LIVE_OF_VIEWER: Final = 20
"""Like ``MAX_LIVE``, for one viewer of the group."""


class ChangedPanels:
    """Notifies a page of changed rows::

        async with ChangedPanels(sources, group, {"1-1": "main"}) as changes:
            async for message in changes: …

    The mapping gives the schema of each panel. After ``DataSources.changed`` is called for the data source of
    ``main``, the message is ``{"changed": ["1-1"]}``. ``changes`` is None if more responses are open
    than ``MAX_LIVE`` or ``MAX_LIVE_OF_VIEWER`` allows."""

    # After half a minute without changes, an empty message keeps the connection alive. The stream ends after a quarter
    # of an hour, or when the process stops. If a source is moved or deleted, the last message is RESTART.

    def __init__(self, sources: DataSources, group: UserGroup, schemas: dict[str, str]) -> None:
        self._sources = sources
        self._group = group
        self._schemas = schemas
        self._clock = monotonic_with_suspend
        self._panels: dict[str, list[str]] = {}
        self._outdated: TenantryError | None = None
        self._listening = ExitStack()

    async def __aenter__(self) -> ChangedPanels | None:
        budget, group = answer_budget(), self._group
        if budget.count_open(group) > MAX_LIVE or budget.count_open_of_viewer(group) > MAX_LIVE_OF_VIEWER:
            return None
        with ExitStack() as listening:
            self._inbox = listening.enter_context(self._sources.changes.listen())
            found = await sources_of_schemas(self._sources, self._group, self._schemas)
            self._panels = panels_of_sources(found, self._schemas)
            for schema, registered in found.items():
                watch = self._sources.query_watch
                added = watch.add(self._group, schema, registered, self._end, checks_group=False)
                listening.callback(watch.discard, added)
            self._listening = listening.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listening.close()

    def _end(self, reason: TenantryError) -> None:
        self._outdated = reason
        self._inbox.end()

    @property
    def first(self) -> Message:
        return {}

    def idle_seconds(self) -> float:
        return _KEEP_ALIVE_SECONDS

    def idle_message(self) -> Message:
        return {}

    async def __aiter__(self) -> AsyncIterator[Message]:
        ends, inbox = self._clock() + _OPEN_SECONDS, self._inbox
        while self._clock() < ends and not inbox.has_ended:
            changed = await inbox.take() if await inbox.wait(self.idle_seconds()) else frozenset()
            found = self._panels if None in changed else changed & self._panels.keys()
            panels = sorted(panel for source in found if source is not None for panel in self._panels[source])
            if panels:
                yield {"changed": panels}
            elif not changed and not inbox.has_ended:
                yield self.idle_message()
        if isinstance(self._outdated, QueryOutdated):
            yield RESTART


async def sources_of_schemas(
    sources: DataSources, group: UserGroup, schemas: Mapping[str, str]
) -> dict[str, RegisteredSource]:
    """Return schema -> source. Leave out schemas for which the group has no source. ``schemas``: panel id -> schema."""
    found: dict[str, RegisteredSource] = {}
    for schema in set(schemas.values()):
        with suppress(TenantryError):  # the panels' own lines report the error
            found[schema] = await sources.registered(group, schema)
    return found


def panels_of_sources(found: Mapping[str, RegisteredSource], schemas: Mapping[str, str]) -> dict[str, list[str]]:
    panels: dict[str, list[str]] = {}
    for schema, registered in found.items():
        own = [panel for panel, asked in schemas.items() if asked == schema]
        panels.setdefault(source_name(registered), []).extend(own)
    return panels


async def changed_since(
    sources: DataSources, group: UserGroup, schemas: Mapping[str, str], shown: Mapping[str, float]
) -> list[str]:
    """Return the ids of the panels whose rows may be outdated. ``shown``: the ``as_of`` of the rows, by panel id."""
    await sources.changes.follow()
    found = panels_of_sources(await sources_of_schemas(sources, group, schemas), schemas)
    may_be_old = sources.changes.may_be_old
    return sorted(
        panel
        for source, panels in found.items()
        for panel in panels
        if panel in shown and may_be_old(source, shown[panel])
    )


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
        """The revision, computed at most once every ``_LOOK_SECONDS``."""
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
