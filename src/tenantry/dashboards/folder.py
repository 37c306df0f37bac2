from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tenantry.dashboards.definition.model import Control, DashboardFile
from tenantry.dashboards.definition.queries import DashboardQueries, find_queries, relaxed, unused_controls
from tenantry.dashboards.definition.reader import read_dashboard
from tenantry.datasources import QueryFolder, read_query_text
from tenantry.errors import InvalidDashboards, TemplateError
from tenantry.sql import FRAGMENT_NAME, SQLTemplate
from tenantry.sql.parameters import TEXTS
from tenantry.suggestions import did_you_mean

MAX_FILES: Final = 1_000
"""Maximum number of dashboards in a folder."""
SUFFIXES: Final = (".yaml", ".yml", ".json")
QUERIES: Final = "queries"
"""Name of the default folder of query files."""
TABLES_FILE: Final = "tables.yaml"
"""A file in the folder that declares guarded tables; no dashboard."""


@dataclass(frozen=True, slots=True)
class SavedDashboard:
    """A dashboard and its queries."""

    dashboard: DashboardFile
    queries: DashboardQueries
    kept: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """The controls whose values are kept when a click opens another dashboard, by the other dashboard's name."""

    @property
    def filled(self) -> Mapping[str, SQLTemplate]:
        """The queries of the controls whose choices come from a query."""
        return {name: each for name, each in self.queries.choices.items() if name in self.dashboard.controls}

    @property
    def settable(self) -> frozenset[str]:
        """The parameters that viewers can set: the controls, and unlocked parameters of queries."""
        return (self.queries.parameters - self.queries.locked) | frozenset(self.dashboard.controls)


class DashboardFolder(Mapping[str, SavedDashboard]):
    """The dashboards in a folder and its subfolders, by name: ``folder["sales/regions"]`` is sales/regions.yaml.

    ``queries``: a QueryFolder or its path; default: DIR/queries, or DIR/../queries for a DIR called ``dashboards``.
    Files are read once. Raises one InvalidDashboards for all invalid dashboards, InvalidQueries for invalid query
    files, OSError for unreadable files.
    """

    def __init__(self, path: str | Path, queries: QueryFolder | str | Path | None = None) -> None:
        self.path: Path = Path(path)
        self.queries: QueryFolder | None = queries if isinstance(queries, QueryFolder) else self._query_folder(queries)
        self._saved: dict[str, SavedDashboard] = {}
        errors: list[TemplateError] = []
        for name, file in self._files():
            try:
                self._saved[name] = self._read(name, file)
            except TemplateError as error:
                errors.append(error)
        dashboards = {name: saved.dashboard for name, saved in self._saved.items()}
        # Skip this check after an error: it would also report clicks that open the broken dashboard.
        for name, dashboard in [] if errors else dashboards.items():
            try:
                check_open(dashboard, dashboards, lambda opened: self._saved[opened].settable)
            except TemplateError as error:
                errors.append(error)
                continue
            opened = {panel.click.open for panel in dashboard.panels if panel.click is not None and panel.click.open}
            kept = {each: kept_controls(dashboard, dashboards[each]) for each in opened}
            self._saved[name] = replace(self._saved[name], kept=MappingProxyType(kept))
        if errors:
            raise InvalidDashboards("\n".join(error.message for error in errors), errors=errors)

    def __getitem__(self, name: str) -> SavedDashboard:
        return self._saved[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._saved)

    def __len__(self) -> int:
        return len(self._saved)

    def __repr__(self) -> str:
        return f"<DashboardFolder {str(self.path)!r}, {len(self)} dashboards>"

    @property
    def notes(self) -> list[str]:
        """Messages about likely mistakes: controls that no query reads."""
        found: list[str] = []
        for saved in self._saved.values():
            for control in unused_controls(saved.dashboard, saved.queries):
                at = saved.dashboard.source.location(control.offset)
                found.append(f"{at}: no query reads params.{control.name}, so this control changes nothing")
        return found

    def _files(self) -> list[tuple[str, Path]]:
        if not self.path.is_dir():
            raise NotADirectoryError(f"{self.path} is not a folder")
        found: dict[str, Path] = {}
        for file in sorted(self.path.rglob("*")):
            inside = file.relative_to(self.path)
            hidden = any(part.startswith(".") for part in inside.parts)
            reserved = inside.parts[0] in {QUERIES, TABLES_FILE}
            if file.suffix not in SUFFIXES or hidden or reserved or not file.is_file():
                continue
            name = inside.with_suffix("").as_posix()
            if name in found:
                raise InvalidDashboards(
                    f"{found[name]} and {file} are both the dashboard {name}: rename one", errors=()
                )
            found[name] = file
        if len(found) > MAX_FILES:
            problem = f"{self.path} holds {len(found)} dashboards, and {MAX_FILES} are allowed: remove some"
            raise InvalidDashboards(problem, errors=())
        return list(found.items())

    def _read(self, name: str, file: Path) -> SavedDashboard:
        if not FRAGMENT_NAME.fullmatch(name):
            problem = "the file name is the dashboard's name: use letters, digits, _ and -, and begin with a letter"
            raise TemplateError(f"{file}: {problem}")
        dashboard = read_dashboard(read_query_text(file), name, str(file))
        return SavedDashboard(*relaxed(dashboard, find_queries(dashboard, self.queries or {})))

    def _query_folder(self, path: str | Path | None) -> QueryFolder | None:
        if path is not None:
            return QueryFolder(path, compiled=False)
        default = self.path / QUERIES
        if not default.is_dir() and self.path.name == "dashboards":
            default = self.path.parent / QUERIES
        return QueryFolder(default, compiled=False) if default.is_dir() else None


# --- clicks that open another dashboard -------------------------------------------------------------------------------


def check_open(
    dashboard: DashboardFile, dashboards: Mapping[str, DashboardFile], settable: Callable[[str], Iterable[str]]
) -> None:
    """Raise TemplateError for a click that opens a missing dashboard, or sets a parameter that viewers cannot set
    there. ``settable``: returns the parameters that viewers can set in a dashboard."""
    for panel in dashboard.panels:
        click = panel.click
        if click is None or not click.open:
            continue
        if click.open not in dashboards:
            fix = f"{did_you_mean(click.open, dashboards)}The dashboards: {', '.join(sorted(dashboards))}"
            raise dashboard.source.error(click.offset, f"there is no dashboard {click.open}", fix)
        known = sorted(settable(click.open))
        for name in click.values:
            if name not in known:
                problem = f"the dashboard {click.open} does not read {name}"
                fix = f"{did_you_mean(name, known)}It reads: {', '.join(known) or 'nothing'}"
                raise dashboard.source.error(click.offset, problem, fix)


def kept_controls(dashboard: DashboardFile, opened: DashboardFile) -> tuple[str, ...]:
    """The controls that are of the same kind in both dashboards, and whose values ``opened`` always accepts."""
    there = opened.controls
    return tuple(name for name, control in dashboard.controls.items() if name in there and _fits(control, there[name]))


def _fits(given: Control, taken: Control) -> bool:
    ours, theirs = given.parameter, taken.parameter
    if _kind(given) != _kind(taken):
        return False
    if theirs.choices is not None and not (ours.choices is not None and set(ours.choices) <= set(theirs.choices)):
        return False
    least = theirs.min is None or (ours.min is not None and ours.min >= theirs.min)
    return least and (theirs.max is None or (ours.max is not None and ours.max <= theirs.max))


def _kind(control: Control) -> tuple[str, bool]:
    parameter = control.parameter
    return ("text" if parameter.type in TEXTS else str(parameter.type), parameter.is_list)
