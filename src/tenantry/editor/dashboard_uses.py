from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import tzinfo
from threading import Lock
from typing import Final

from tenantry.dashboards import in_source_zone
from tenantry.dashboards.definition import DashboardFile, read_dashboard, with_controls
from tenantry.datasources import read_query_text
from tenantry.editor.workspace import FileKind, Workspace
from tenantry.errors import TemplateError
from tenantry.sql import Query

_INCLUDE: Final = re.compile(r"\{\{\s*>\s*([^\s{}]+)\s*\}\}")


class DashboardUses:
    """Finds the dashboards that use a query. A file is read again only after it changed. Thread-safe."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._read: dict[str, tuple[object, DashboardFile | None]] = {}
        self._lock = Lock()

    def of(self, query: str, queries: Mapping[str, Query], drafts: Mapping[str, str]) -> list[DashboardFile]:
        """Return the dashboards, sorted by name, whose panels or controls use the query or a query that includes it.
        Dashboards that cannot be read are left out. ``drafts``: unsaved texts by path."""
        with self._lock:
            dashboards = [*self._dashboards(drafts)]
        return [each for each in dashboards if query in _used(each, queries)]

    def _dashboards(self, drafts: Mapping[str, str]) -> Iterator[DashboardFile]:
        root = self._workspace.root
        paths = sorted({*self._workspace.list(self._workspace.prefix), *drafts})
        for path in self._read.keys() - paths:
            del self._read[path]
        for path in paths:
            if self._workspace.kind(path) is not FileKind.DASHBOARD:
                continue
            state: object = drafts.get(path)
            with suppress(OSError, TemplateError):
                if state is None:
                    found = (root / path).stat()
                    state = (found.st_mtime_ns, found.st_size, found.st_ino)
                known, dashboard = self._read.get(path, (None, None))
                if known != state:
                    self._read[path] = state, None  # stays None if the file cannot be read
                    text = state if isinstance(state, str) else read_query_text(root / path)
                    dashboard = read_dashboard(text, self._workspace.name(path), path)
                    self._read[path] = state, dashboard
                if dashboard is not None:
                    yield dashboard


def declared_by(dashboard: DashboardFile, query: Query, zone: tzinfo | None) -> Query:
    """If the query names parameters that it does not declare, return it with the dashboard's controls as parameters.
    Otherwise return it unchanged. ``zone``: the time zone of the data source. Raises TemplateError if the query does
    not accept the type of a control."""
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
