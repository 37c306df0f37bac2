from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import tzinfo
from pathlib import Path
from stat import S_ISREG
from threading import Lock
from typing import Final, TypeAlias

from cachetools import LRUCache

from tenantry.dashboards import QUERIES, in_source_zone
from tenantry.dashboards.definition import DashboardFile, read_dashboard, with_controls
from tenantry.datasources import read_query_text
from tenantry.editor.workspace import Workspace
from tenantry.errors import TemplateError
from tenantry.sql import FRAGMENT_NAME, Query

_KEPT: Final = 4_000_000
"""Maximum size of the cache of compiled queries, in characters. Each set of unsaved texts counts with its length plus
``_LEAST``."""
_LEAST: Final = 250_000
_SUFFIX: Final = ".sql"
_INCLUDE: Final = re.compile(r"\{\{\s*>\s*([^\s{}]+)\s*\}\}")

_State: TypeAlias = "tuple[int, int, int] | None"
"""A value that differs after the file has changed. None: there is no file."""


class QueryDrafts:
    """The queries of an editor's folder. Unsaved texts replace the text of their files. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._workspace = Workspace(folder)
        self._uses = DashboardUses(self._workspace)
        self._kept: LRUCache[tuple[tuple[str, str], ...], DraftedQueries] = LRUCache(_KEPT, lambda each: each.size)
        self._lock = Lock()

    def with_drafts(self, drafts: Mapping[str, str]) -> DraftedQueries:
        """Return the queries by name. ``drafts``: unsaved texts by path, which replace files. Compiled queries are kept
        until a file changes."""
        named = {name: text for path, text in drafts.items() if (name := query_name(path)) is not None}
        key = tuple(sorted(named.items()))
        with self._lock:
            found = self._kept.pop(key, None)
            if found is None or not found.is_current():
                found = DraftedQueries(self._workspace, named)
            self._kept[key] = found  # never too large for the cache, because a body has at most 2 MiB
            return found

    def dashboards(self, path: str, drafts: Mapping[str, str]) -> list[DashboardFile]:
        name = query_name(path)
        return [] if name is None else self._uses.of(name, self.with_drafts(drafts), drafts)

    def dashboard(self, path: str, drafts: Mapping[str, str], name: str | None) -> DashboardFile | None:
        """Return the dashboard ``name`` if it uses the query in the file ``path``. Otherwise return the first dashboard
        that uses the query."""
        using = self.dashboards(path, drafts)
        return next((each for each in using if each.name == name), next(iter(using), None))

    def typed(
        self,
        path: str,
        text: str,
        drafts: Mapping[str, str],
        *,
        dashboard: str | None = None,
        dialect: str | None = None,
        zone: tzinfo | None = None,
    ) -> Query:
        """Return the query with this text. Parameters that the text does not declare come from the controls of a
        dashboard that uses the query: the one named ``dashboard``, or else the first. ``zone``: the time zone of the
        data source. Raises TemplateError for a bad header, and if the query does not accept the type of a control."""
        query = self.with_drafts(drafts).typed(query_name(path) or "", path, text, dialect)
        chosen = self.dashboard(path, drafts, dashboard)
        return query if chosen is None else declared_by(chosen, query, zone)


class DraftedQueries(Mapping[str, Query]):
    """Queries by name. The first access to a query reads its file, and raises TemplateError or OSError if the file is
    unusable. Compared by identity."""

    def __init__(self, workspace: Workspace, drafts: Mapping[str, str]) -> None:
        self._workspace = workspace
        self._drafts = drafts
        self.size: int = _LEAST + sum(map(len, drafts.values()))
        self._queries: dict[str, Query] = {}
        self._states: dict[str, _State] = {}
        self._names: list[str] | None = None

    def __getitem__(self, name: str) -> Query:
        found = self._queries.get(name)
        if found is None:
            found = self._queries[name] = self._read(name)
        return found

    def __iter__(self) -> Iterator[str]:
        if self._names is None:
            self._names = sorted({*self._drafts, *self._files()})
        return iter(self._names)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def is_current(self) -> bool:
        """Whether the files are unchanged since they were read."""
        states = [*self._states.items()]  # a copy: other threads read further files meanwhile
        same = all(_state(self._file(name)) == state for name, state in states)
        return same and (self._names is None or self._names == sorted({*self._drafts, *self._files()}))

    def typed(self, name: str, path: str, text: str, dialect: str | None = None) -> Query:
        """Return a query with this text, which can include the other queries. Raises TemplateError for a bad header."""
        return Query(text, name, file=path, dialect=dialect, fragments=self, trusted=True)

    def _read(self, name: str) -> Query:
        path = _path_of(name)
        if name in self._drafts:
            return self.typed(name, path, self._drafts[name])
        if not FRAGMENT_NAME.fullmatch(name):
            raise KeyError(name)
        file = self._file(name)
        self._states[name] = _state(file)
        if self._states[name] is None:
            raise KeyError(name)
        link = self._workspace.link_in(file)
        if link is not None:
            raise TemplateError(f"{path} cannot be read: {link} is a symbolic link; replace it with its target")
        return self.typed(name, path, read_query_text(file))

    def _file(self, name: str) -> Path:
        return self._workspace.root / _path_of(name)

    def _files(self) -> Iterator[str]:
        return filter(None, map(query_name, self._workspace.list(f"{QUERIES}/")))


def _path_of(name: str) -> str:
    return f"{QUERIES}/{name}{_SUFFIX}"


def query_name(path: str) -> str | None:
    folder, slash, rest = path.partition("/")
    name = rest.removesuffix(_SUFFIX)
    is_query = folder == QUERIES and slash and name != rest and FRAGMENT_NAME.fullmatch(name)
    return name if is_query else None


def _state(file: Path) -> _State:
    try:
        found = file.stat()
    except OSError:
        return None
    if not S_ISREG(found.st_mode):  # reading a pipe would wait for its writer
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


class DashboardUses:
    """Finds the dashboards that use a query. A file is read again only after it has changed. Thread-safe."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._read: dict[str, tuple[object, DashboardFile | None]] = {}
        self._lock = Lock()

    def of(self, query: str, queries: Mapping[str, Query], drafts: Mapping[str, str]) -> list[DashboardFile]:
        """Return the dashboards, sorted by name, whose panels or controls use the query or a query that includes it.
        Dashboards that cannot be read are left out."""
        with self._lock:
            dashboards = [*self._dashboards(drafts)]
        return [each for each in dashboards if query in _used(each, queries)]

    def _dashboards(self, drafts: Mapping[str, str]) -> Iterator[DashboardFile]:
        root = self._workspace.root
        paths = sorted({*self._workspace.list(self._workspace.prefix), *drafts})
        for path in self._read.keys() - paths:
            del self._read[path]
        for path in paths:
            if not self._workspace.is_dashboard(path):
                continue
            state = drafts[path] if path in drafts else _state(root / path)
            if state is None:
                continue
            with suppress(OSError, TemplateError):
                known, dashboard = self._read.get(path, (None, None))
                if known != state:
                    self._read[path] = state, None  # stays None if the file cannot be read
                    text = state if isinstance(state, str) else read_query_text(root / path)
                    dashboard = read_dashboard(text, self._workspace.name(path), path)
                    self._read[path] = state, dashboard
                if dashboard is not None:
                    yield dashboard


def declared_by(dashboard: DashboardFile, query: Query, zone: tzinfo | None) -> Query:
    """If the query names parameters that it does not declare, return a copy that gets them from the dashboard's
    controls. Otherwise return the query unchanged. ``zone``: the time zone of the data source. Raises TemplateError if
    the query does not accept the type of a control."""
    try:
        extended = query.declaring(dict.fromkeys(query.parameter_names, "text"))
    except TemplateError:  # the compilation of the query reports the error
        return query
    if extended.definition.parameters.keys() == query.definition.parameters.keys():
        return query
    declared = with_controls(dashboard, query)
    return declared if zone is None or dashboard.zone.otherwise is not None else in_source_zone(declared, zone)


def _used(dashboard: DashboardFile, queries: Mapping[str, Query]) -> set[str]:
    uses = [use for panel in dashboard.panels for use in (panel.query, panel.sparkline) if use is not None]
    left = {use.name for use in uses if use.name}
    left |= {each.parameter.choices_query for each in dashboard.controls.values() if each.parameter.choices_query}
    for use in uses:
        left.update(_INCLUDE.findall(use.sql))
    found: set[str] = set()
    while left:
        name = left.pop()
        found.add(name)
        with suppress(KeyError, TemplateError, OSError):
            left |= {each for each in _INCLUDE.findall(queries[name].text) if each not in found}
    return found
