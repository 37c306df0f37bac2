from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tenantry.dashboards.definition.model import DashboardFile
from tenantry.dashboards.definition.queries import (
    DashboardQueries,
    find_queries,
    parameter_in,
    relaxed,
    settable_parameters,
)
from tenantry.dashboards.definition.reader import read_dashboard
from tenantry.dashboards.links import Link, check_open, find_link
from tenantry.datasources import TABLES_FILE, QueryFolder, read_query_text
from tenantry.errors import Edit, InvalidDashboards, Location, TemplateError, did_you_mean, misspelt, nearest
from tenantry.sql import FRAGMENT_NAME, Query, SQLTemplate
from tenantry.sql.checks import Finding, Severity

_SAME: Final = "give both dashboards the same controls and time zone; until then, the opened page warns viewers"
MAX_FILES: Final = 1_000
"""Maximum number of dashboards in a folder."""
SUFFIXES: Final = (".yaml", ".yml", ".json")
QUERIES: Final = "queries"
"""Name of the default folder of query files."""


@dataclass(frozen=True, slots=True)
class SavedDashboard:
    dashboard: DashboardFile
    queries: DashboardQueries
    links: Mapping[str, Link] = field(default_factory=lambda: MappingProxyType({}))
    """The clicks that open other dashboards, keyed by panel id."""

    @property
    def filled(self) -> Mapping[str, SQLTemplate]:
        """The queries that return the choices of controls, by control name."""
        return {name: each for name, each in self.queries.choices.items() if name in self.dashboard.controls}

    @property
    def settable(self) -> frozenset[str]:
        """The parameters that viewers can set: the controls, and unlocked parameters of queries."""
        return (self.queries.parameters - self.queries.locked) | frozenset(self.dashboard.controls)

    @property
    def offered(self) -> frozenset[str]:
        """The settable parameters that an error may suggest. Filters of hidden panels are left out."""
        read = frozenset().union(*(self.queries.panels[panel.id].parameters for panel in self.dashboard.panels))
        return self.settable & (read | self.dashboard.controls.keys())


class DashboardFolder(Mapping[str, SavedDashboard]):
    """The dashboards in a folder and its subfolders, by name: ``folder["sales/regions"]`` is sales/regions.yaml. Files
    are read once.

    - ``queries``: queries by name, or the path of a QueryFolder; by default ``default_queries(path)``.
    - ``drafts``: the contents of unsaved files, by their path relative to ``path``. A draft replaces the saved file, or
      adds a dashboard.
    - ``only``: a dashboard's name. Only this dashboard and those that viewers can reach from it by clicks are read.
    - ``follow_links``: whether a file may be a symbolic link.

    Raises one InvalidDashboards for all invalid dashboards, InvalidQueries for invalid query files, OSError for
    unreadable files.
    """

    def __init__(
        self,
        path: str | Path,
        queries: Mapping[str, Query] | str | Path | None = None,
        *,
        drafts: Mapping[str, str] | None = None,
        only: str | None = None,
        follow_links: bool = True,
    ) -> None:
        self.path: Path = Path(path)
        self.queries: Mapping[str, Query] = queries if isinstance(queries, Mapping) else self._query_folder(queries)
        self._drafts = drafts or {}
        self._follow_links = follow_links
        self._is_whole = only is None
        self._saved: dict[str, SavedDashboard] = {}
        errors: list[TemplateError] = []
        files = dict(self._files())
        wanted = list(files if only is None else files.keys() & {only})
        for name in wanted:
            try:
                saved = self._saved[name] = self._read(name, files[name])
            except TemplateError as error:
                errors.append(error)
                continue
            opened = (panel.click.open for panel in saved.dashboard.panels if panel.click is not None)
            wanted += [each for each in dict.fromkeys(opened) if each in files and each not in wanted]
        dashboards = {name: saved.dashboard for name, saved in self._saved.items()}
        # Skip this check after an error: it would also report clicks that open the broken dashboard.
        for name, dashboard in [] if errors else dashboards.items():
            try:
                check_open(dashboard, files.keys(), lambda opened: self._saved[opened].settable)
            except TemplateError as error:
                errors.append(error)
                continue
            saved = self._saved[name]
            links = {
                panel.id: find_link(saved, panel, panel.click, self._saved[panel.click.open])
                for panel in dashboard.panels
                if panel.click is not None and panel.click.open
            }
            self._saved[name] = replace(saved, links=MappingProxyType(links))
        if errors:
            self._refuse(errors)

    def __getitem__(self, name: str) -> SavedDashboard:
        return self._saved[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._saved)

    def __len__(self) -> int:
        return len(self._saved)

    def __repr__(self) -> str:
        return f"<DashboardFolder {str(self.path)!r}, {len(self)} dashboards>"

    @property
    def findings(self) -> Iterator[tuple[str, Finding]]:
        """Likely mistakes, each with its file's path: those that ``mistyped_controls`` finds, and links from rows to a
        dashboard whose totals may not match the row."""
        opened: dict[str, set[str]] = {}
        for click in (panel.click for saved in self._saved.values() for panel in saved.dashboard.panels):
            if click is not None:
                opened.setdefault(click.open, set()).update(click.values)
        set_somewhere = self._set_parameters(opened) if self._is_whole else None
        for name, saved in self._saved.items():
            yield from mistyped_controls(saved.dashboard, saved.queries, opened.get(name, ()), set_somewhere)
            for link in saved.links.values():
                at = saved.dashboard.source.location(link.click.offset)
                for difference in link.differences:
                    yield at.file, Finding("other-numbers", Severity.WARNING, at.line, at.column, difference, _SAME)

    def _refuse(self, errors: Sequence[TemplateError]) -> None:
        raise InvalidDashboards("\n".join(error.message for error in errors), errors=errors)

    def _set_parameters(self, opened: Mapping[str, Collection[str]]) -> set[tuple[str, str]]:
        found: set[tuple[str, str]] = set()
        for name, saved in self._saved.items():
            names = {*settable_parameters(saved.dashboard), *opened.get(name, ())}
            for template in saved.queries.templates:
                read = ((each.file, parameter_in(each.path)) for each in template.variables)
                found.update((file, parameter) for file, parameter in read if parameter in names)
        return found

    def _files(self) -> list[tuple[str, Path]]:
        if not self.path.is_dir():
            raise NotADirectoryError(f"{self.path} is not a folder")
        found: dict[str, Path] = {}
        drafts = {self.path / each for each in self._drafts}
        for file in sorted({*self.path.rglob("*"), *drafts}):
            inside = file.relative_to(self.path)
            hidden = any(part.startswith(".") for part in inside.parts)
            reserved = inside.parts[0] in {QUERIES, TABLES_FILE}
            if file.suffix not in SUFFIXES or hidden or reserved or not (file in drafts or self._is_file(file)):
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

    def _is_file(self, file: Path) -> bool:
        return file.is_file() and (self._follow_links or not file.is_symlink())

    def _read(self, name: str, file: Path) -> SavedDashboard:
        if not FRAGMENT_NAME.fullmatch(name):
            problem = "the file name is the dashboard's name: use letters, digits, _ and -, and begin with a letter"
            raise TemplateError(f"{file}: {problem}")
        draft = self._drafts.get(file.relative_to(self.path).as_posix())
        dashboard = read_dashboard(read_query_text(file) if draft is None else draft, name, str(file))
        return SavedDashboard(*relaxed(dashboard, find_queries(dashboard, self.queries)))

    def _query_folder(self, path: str | Path | None) -> Mapping[str, Query]:
        if path is not None:
            return QueryFolder(path, compiled=False)
        default = default_queries(self.path)
        return QueryFolder(default, compiled=False) if default.is_dir() else {}


def default_queries(folder: Path) -> Path:
    """Return the folder for query files: ``queries`` in ``folder``. If that is missing and ``folder`` is called
    ``dashboards``, return ``queries`` next to ``folder``, which may be missing."""
    inside = folder / QUERIES
    return folder.parent / QUERIES if folder.name == "dashboards" and not inside.is_dir() else inside


def mistyped_controls(
    dashboard: DashboardFile,
    queries: DashboardQueries,
    opened_with: Collection[str] = (),
    set_somewhere: Collection[tuple[str, str]] | None = None,
) -> Iterator[tuple[str, Finding]]:
    """Yield (file name, finding) for controls and parameters that may be misspelt.

    A control is reported if no query reads it. An undeclared parameter without a control is reported if its name
    resembles that of a control, or if no dashboard sets it.
    ``set_somewhere``: (query file, name) of the parameters that dashboards set; None if unknown. ``opened_with``: the
    parameters that other dashboards pass when a click opens this dashboard.
    """
    # A parameter that a query's header declares is not reported: a link or the host page may set it.
    unset = _unset(dashboard, queries, opened_with)
    unused = [control for control in dashboard.controls.values() if control.name not in queries.parameters]
    for control in unused:
        at = dashboard.source.location(control.offset)
        message = f"no query reads params.{control.name}, so this control changes nothing"
        near = nearest(control.name, unset)
        where = f"did you mean {near}, which {unset.pop(near)} reads? Otherwise " if near is not None else ""
        fix = f"{where}write [[ and … = {{{{ params.{control.name} }}}} ]] in a query, or remove the control"
        edit = Edit(control.name, near) if near is not None else None
        yield at.file, Finding("unused-control", Severity.WARNING, at.line, at.column, message, fix, edit=edit)
    for name, at in unset.items():
        near_control = did_you_mean(name, dashboard.controls)
        if near_control or (set_somewhere is not None and (at.file, name) not in set_somewhere):
            message = f"no control of the dashboard {dashboard.name} sets params.{name}"
            near = f"{near_control}Otherwise " if near_control else ""
            fix = f"{near}declare {name} in the query's header, if a link or the host page sets it, or add a control"
            edit = misspelt(name, dashboard.controls, prefix="params.")
            yield at.file, Finding("unset-parameter", Severity.WARNING, at.line, at.column, message, fix, edit=edit)


def _unset(dashboard: DashboardFile, queries: DashboardQueries, opened_with: Collection[str]) -> dict[str, Location]:
    found: dict[str, Location] = {}
    for offset, template in _templates_with_offsets(dashboard, queries):
        known = {*settable_parameters(dashboard), *opened_with, *template.declared_names}
        for variable in template.variables:
            name = parameter_in(variable.path)
            if name and name not in known:
                in_file = Location(variable.line, variable.column, variable.file)
                found.setdefault(name, in_file if variable.file else dashboard.source.location(offset))
    return found


def _templates_with_offsets(dashboard: DashboardFile, queries: DashboardQueries) -> Iterator[tuple[int, SQLTemplate]]:
    for panel in dashboard.panels:
        found = queries.panels[panel.id]
        for use, template in ((panel.query, found.rows), (panel.sparkline, found.sparkline)):
            if use is not None and template is not None:
                yield use.offset, template
    for name, template in queries.choices.items():
        yield dashboard.controls[name].offset, template
