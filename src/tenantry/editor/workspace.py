from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from tenantry.dashboards import QUERIES, default_queries
from tenantry.datasources import TABLES_FILE
from tenantry.errors import InvalidBody

_PART: Final = re.compile(r"[^./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*")


class FileKind(StrEnum):
    QUERY = "query"
    DASHBOARD = "dashboard"
    TABLES = "tables"


SUFFIXES: Final = {FileKind.QUERY: (".sql",), FileKind.DASHBOARD: (".yaml", ".yml"), FileKind.TABLES: (".yaml",)}


@dataclass(frozen=True)
class Workspace:
    """The files that the editor shows: dashboards, queries and tables.yaml. Paths are relative to ``root`` and have
    slashes. All other files, hidden ones too, are out of reach."""

    dashboards: Path
    """The folder of the dashboards, as given to DashboardFolder."""

    @property
    def queries(self) -> Path:
        """The folder of the queries, where DashboardFolder finds them. It may not exist."""
        return default_queries(self.dashboards)

    @property
    def root(self) -> Path:
        """The folder that contains both."""
        return self.queries.parent.absolute()

    @property
    def prefix(self) -> str:
        """The beginning of the paths of dashboards: ``dashboards/``, or nothing if the queries are in their folder."""
        return "" if self.queries.parent == self.dashboards else f"{self.dashboards.name}/"

    @property
    def places(self) -> tuple[str, ...]:
        """The folders and files in ``root`` that contain the files of the workspace."""
        return (self.prefix, f"{QUERIES}/", TABLES_FILE) if self.prefix else ("",)

    def kind(self, path: str) -> FileKind | None:
        """Return None for a path that is not in the workspace."""
        if not all(map(_PART.fullmatch, path.split("/"))):
            return None
        inside = path.removeprefix(self.prefix)
        if path == TABLES_FILE or (inside == TABLES_FILE and path.startswith(self.prefix)):
            return FileKind.TABLES
        kind = FileKind.QUERY if path.startswith(f"{QUERIES}/") else FileKind.DASHBOARD
        if kind is FileKind.DASHBOARD and (
            not path.startswith(self.prefix) or inside.partition("/")[0] in {QUERIES, TABLES_FILE}
        ):
            return None
        return kind if path.endswith(SUFFIXES[kind]) else None

    def require(self, path: str, field: str = "/path") -> FileKind:
        """Raises InvalidBody for a path that is not in the workspace."""
        kind = self.kind(path)
        if kind is None:
            places = f"a .sql file in {QUERIES}/, a .yaml file{f' in {self.prefix}' if self.prefix else ''}"
            raise InvalidBody(f"the editor has only {places}, and {TABLES_FILE}: {path!r} is another file", field=field)
        return kind

    def require_query(self, path: str) -> None:
        """Raises InvalidBody for a path that is not that of a query."""
        if self.kind(path) is not FileKind.QUERY:
            raise InvalidBody(f"only a .sql file in {QUERIES}/ can run: {path!r} is another file", field="/path")

    def name(self, path: str) -> str:
        """Return the name of the query or dashboard in a file: ``sales/by_day`` for ``queries/sales/by_day.sql``."""
        start = f"{QUERIES}/" if self.kind(path) is FileKind.QUERY else self.prefix
        return path.removeprefix(start).rpartition(".")[0]
