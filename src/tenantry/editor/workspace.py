from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Final

from tenantry.dashboards import QUERIES, SUFFIXES, default_queries
from tenantry.datasources import TABLES_FILE
from tenantry.errors import InvalidBody, InvalidPropertySchema, UnusableFile
from tenantry.groups import PropertySchema, read_schema, schema_file
from tenantry.sql import FRAGMENT_NAME

_PART: Final = re.compile(r"[^./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*")


class FileKind(StrEnum):
    QUERY = "query"
    DASHBOARD = "dashboard"
    TABLES = "tables"


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
        return self.queries.parent.absolute()

    @property
    def prefix(self) -> str:
        """The beginning of the paths of dashboards: ``dashboards/``, or empty if their folder contains the queries."""
        return "" if self.queries.parent == self.dashboards else f"{self.dashboards.name}/"

    @property
    def places(self) -> tuple[str, ...]:
        """Where the workspace's files are: folders and single files, relative to ``root``."""
        return (self.prefix, f"{QUERIES}/", TABLES_FILE) if self.prefix else ("",)

    def kind(self, path: str) -> FileKind | None:
        """Return the file's kind, or None for a path outside the workspace."""
        if path in {TABLES_FILE, f"{self.prefix}{TABLES_FILE}"}:
            return FileKind.TABLES
        if path.startswith(f"{QUERIES}/"):
            return FileKind.QUERY if path.endswith(".sql") and _is_plain(path) else None
        # The editor would write YAML into a dashboard in JSON.
        return FileKind.DASHBOARD if self.is_dashboard(path) and not path.endswith(".json") else None

    def is_dashboard(self, path: str) -> bool:
        """Whether DashboardFolder reads a file at this path as a dashboard, in YAML or JSON."""
        reserved = path.removeprefix(self.prefix).partition("/")[0] in {QUERIES, TABLES_FILE}
        return path.startswith(self.prefix) and path.endswith(SUFFIXES) and not reserved and _is_plain(path)

    def require(self, path: str, field: str = "/path") -> FileKind:
        """Return the file's kind. Raises InvalidBody for a path that is not in the workspace."""
        kind = self.kind(path)
        if kind is None:
            places = f".sql files in {QUERIES}/, .yaml files{f' in {self.prefix}' if self.prefix else ''}"
            problem = f"the editor opens only {places} and {TABLES_FILE}: {path!r} is not one of them"
            raise InvalidBody(problem, field=field)
        return kind

    def require_query(self, path: str) -> None:
        """Raise InvalidBody if no query can have this path."""
        if self.kind(path) is not FileKind.QUERY or not FRAGMENT_NAME.fullmatch(self.name(path)):
            raise InvalidBody(
                f"{path!r} cannot run: choose a .sql file in {QUERIES}/; the names of the file and its folders must "
                "begin with a letter and contain only letters, digits, _ and -",
                field="/path",
            )

    def list(self, place: str) -> Iterator[str]:
        """Yield the paths of the files in ``place`` (one of ``places``) and its subfolders, except hidden files and
        symbolic links. Raises UnusableFile if ``place`` is a symbolic link."""
        root = self.root
        start = root / place
        if place and start.is_symlink():
            raise UnusableFile(f"{place} is a symbolic link: open its target instead")
        found = os.walk(start) if start.is_dir() else [(str(start.parent), [], [start.name])]
        for folder, folders, names in found:
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                file = Path(folder, name)
                if not name.startswith(".") and file.is_file() and not file.is_symlink():
                    yield file.relative_to(root).as_posix()

    def link_in(self, file: Path) -> str | None:
        """If the path of a file below ``root`` contains a symbolic link, return the path of the link."""
        return symbolic_link(self.root, file.absolute().relative_to(self.root).as_posix())

    def name(self, path: str) -> str:
        """Return the name of the query or dashboard in a file: ``sales/by_day`` for ``queries/sales/by_day.sql``."""
        start = f"{QUERIES}/" if self.kind(path) is FileKind.QUERY else self.prefix
        return path.removeprefix(start).rpartition(".")[0]


def _is_plain(path: str) -> bool:
    return all(map(_PART.fullmatch, path.split("/")))


def symbolic_link(root: Path, path: str) -> str | None:
    parts = path.split("/")
    for number in range(1, len(parts) + 1):
        if root.joinpath(*parts[:number]).is_symlink():
            return "/".join(parts[:number])
    return None


def find_schema(workspace: Workspace, environment: str | None) -> PropertySchema | None:
    """Read an environment's property schema from the folder of the queries, or else from the folder of the dashboards.
    None: no schema can be read."""
    for folder in (workspace.queries, workspace.dashboards) if environment is not None else ():
        file = schema_file(folder, environment or "")
        if workspace.link_in(file) is not None:
            continue
        try:
            state = file.stat()
            return _read(file, state.st_mtime_ns, state.st_size)
        except (OSError, InvalidPropertySchema):
            continue
    return None


@lru_cache(maxsize=64)
def _read(file: Path, *_state: int) -> PropertySchema:
    return read_schema(file)
