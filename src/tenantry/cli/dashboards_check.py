from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenantry.cli.dashboards_audience import Audience
from tenantry.cli.dashboards_mappings import Mappings
from tenantry.cli.options import (
    choose_environment,
    groups_of,
    print_declarations_once,
    settings,
    with_store,
)
from tenantry.cli.output import print_note
from tenantry.cli.sql_check import count_by_severity, find_schema, print_document, print_findings
from tenantry.dashboards import SavedDashboard, UnusableFormat, unusable_formats
from tenantry.dashboards.checks import (
    ValidDashboards,
    columns_in,
    missing_in_texts,
    panel_findings,
    templates_of,
    unknown_columns,
)
from tenantry.dashboards.definition import Panel, PanelKind
from tenantry.datasources import QueryFolder
from tenantry.datasources.checks import TablesCheck
from tenantry.errors import InvalidQueries, TemplateError, did_you_mean
from tenantry.groups import Environment, PropertySchema, UserGroup, thaw
from tenantry.ports import Store
from tenantry.sql import SQLTemplate
from tenantry.sql.checks import (
    Coverage,
    Finding,
    Located,
    PropertyTypes,
    Severity,
    in_groups,
    template_error,
    wanted_properties,
)

if TYPE_CHECKING:
    from tenantry.datasources import DataSources
    from tenantry.datasources.checks import AskedQuery, EngineCheck, EngineReport

_NAMED = 5
"""Maximum number of groups that a finding names."""


@dataclass(frozen=True, slots=True)
class DashboardReport:
    findings: tuple[Located, ...]
    dashboards: int
    queries: int
    groups: int | None
    """Number of groups in the environment; None if no store was read."""
    engines: EngineReport | None
    """What the groups' databases reported; None if no store was read."""
    guarded: int
    """Number of queries that pass the checks of their guarded tables."""
    unchecked: str
    """The dashboards that were not checked, in words; empty if all were checked."""

    @property
    def errors(self) -> int:
        return sum(finding.severity is Severity.ERROR for _, finding in self.findings)


class DashboardCheck:
    """Checks dashboards. Call ``use_schema``, then ``run``. To check against the groups of a store, call ``gather``
    before both."""

    def __init__(self, folder: Path, tables: Path | None = None, may_open: str | None = None) -> None:
        self._guards = TablesCheck(tables)
        self._home = folder
        self._unusable: list[Located] = []
        self._saved: list[SavedDashboard] = []
        self._of_folder: list[Located] = []
        self._queries_folders: list[Path] = []
        errors: Sequence[TemplateError]
        try:
            read = ValidDashboards(folder)
            self._saved = [*read.values()]
            self._of_folder = [*read.findings]
            self._queries_folders = [read.queries.path] if isinstance(read.queries, QueryFolder) else []
            errors = read.errors
            self._unchecked = _counted(len(errors), "dashboard", "dashboards") if errors else ""
        except InvalidQueries as error:
            errors = error.errors or (error,)
            self._unchecked = "all dashboards"
        for each in errors:
            finding = template_error(each)
            self._unusable.append((finding.file or str(folder), finding))
        self._templates = {file: template for saved in self._saved for _, file, template in templates_of(saved)}
        self._audience = Audience({saved.dashboard.name: saved for saved in self._saved}, may_open)
        self._types: PropertyTypes | None = None
        self._types_of: dict[str, PropertyTypes] = {}
        """Query file -> the properties of the groups that see its panels. If all groups see its panels, the file is
        absent."""
        self._mappings = Mappings(())
        self._texts: dict[Located, list[str]] = {}
        self._formats: dict[UnusableFormat, list[str]] = {}
        self._properties: set[str] = set()
        self._engines: EngineReport | None = None
        self._schema: PropertySchema | None = None
        self._environment: str | None = None

    def gather(self, *, database: str | None, environment: str | None) -> None:
        from tenantry.datasources import DataSources  # imports SQLAlchemy, which only --groups needs

        print_declarations_once()

        @with_store
        async def read(store: Store) -> None:
            target = await choose_environment(store, environment)
            self._environment = target.name
            engines = await self._engine_check(store, target)
            wanted = wanted_properties(map(self._guarded, self._templates.values()))
            types = self._types = PropertyTypes(wanted)
            for file in self._templates.keys() - _files(self._audience.everyone()):
                self._types_of[file] = PropertyTypes(wanted)
            async for group in groups_of(store, target):
                types.add(group.provided_id, group.properties)
                self._properties.update(group.properties or ())
                seen = self._audience.add(group)
                self._mappings.add(group, seen)
                files = _files(seen)
                engines.add(group, files)
                for file in files & self._types_of.keys():
                    self._types_of[file].add(group.provided_id, group.properties)
                for unusable in unusable_formats(thaw(group.variables["user_group"]["properties"])):
                    self._formats.setdefault(unusable, []).append(group.provided_id)
                for saved in seen:
                    for located in missing_in_texts(saved.dashboard, group):
                        self._texts.setdefault(located, []).append(group.provided_id)
            async with DataSources(store, keys=settings().keys) as sources:
                self._engines = await engines.run(sources)

        read(database=database)
        if not self._types:
            print_note("this environment has no groups, so properties are not checked")

    async def explain(self, store: Store, group: UserGroup, sources: DataSources) -> None:
        engines = await self._engine_check(store, group.environment)
        seen = self._audience.add(group)
        self._mappings.add(group, seen)
        engines.add(group, _files(seen))
        self._engines = await engines.run(sources)

    async def _engine_check(self, store: Store, environment: Environment) -> EngineCheck:
        from tenantry.datasources.checks import EngineCheck  # imports SQLAlchemy

        registered = await store.sources.list(environment)
        for source in registered:
            self._guards.add_source(source)
        self._mappings = Mappings(registered)
        return EngineCheck(self._asked(), registered)

    def use_schema(self, environment: str | None) -> None:
        self._schema = find_schema(self._queries_folders, stored=self._environment, asked_for=environment)

    def run(self) -> DashboardReport:
        engines = self._engines
        panels = panel_findings(saved.dashboard for saved in self._saved)
        of_files = [*panels, *self._queries(), *self._of_texts(), *self._of_formats()]
        shown = self._audience.findings(0 if self._types is None else len(self._types), self._properties)
        found = [*of_files, *self.of_queries(), *shown, *self._tables_without_pages(), *self._guards.undeclared()]
        found.sort(key=lambda each: (each[0], each[1].line, each[1].column))
        groups = None if self._types is None else len(self._types)
        guarded = sum(self._guarded(template) is not template for template in self._templates.values())
        return DashboardReport(
            tuple(dict.fromkeys(found)),
            len(self._saved),
            len(self._templates),
            groups,
            engines,
            guarded,
            self._unchecked,
        )

    def of_queries(self) -> tuple[Located, ...]:
        refused = () if self._engines is None else self._engines.findings
        return (
            *self._unusable,
            *self._of_folder,
            *refused,
            *self._mappings.findings(),
            *self._unknown_columns(),
            *self._repeated_rows(),
        )

    def _guarded(self, template: SQLTemplate) -> SQLTemplate:
        return self._guards.guarded(template, self._home)

    def _asked(self) -> Iterator[AskedQuery]:
        for saved in self._saved:
            for panel, file, template in templates_of(saved):
                refused = self._guards.find(template, self._home) is not None and self._guarded(template) is template
                if not refused:  # otherwise the finding `unguarded` reports the query
                    yield _asked_query(saved, panel, file, template)

    def _unknown_columns(self) -> Iterator[Located]:
        if self._engines is None:
            return
        for saved in self._saved:
            for panel, file, template in templates_of(saved):
                found = self._engines.columns.get(_asked_query(saved, panel, file, template), {})
                yield from unknown_columns(saved, panel, template, found)

    def _repeated_rows(self) -> Iterator[Located]:
        if self._engines is None:
            return
        from tenantry.datasources.checks import reported_by

        for saved in self._saved:
            for panel, file, template in templates_of(saved):
                found = self._engines.repeated.get(_asked_query(saved, panel, file, template), {})
                if panel is not None and found:
                    at = saved.dashboard.source.location(panel.offset)
                    columns = " and ".join(panel.unique_by)
                    says = reported_by(sorted(found))
                    message = f"{max(found.values())} rows of the query have the same {columns} ({says})"
                    fix = (
                        f"group the query by {columns}, or set `color` or `rows` to a column in which these rows differ"
                    )
                    yield at.file, Finding("repeated-rows", Severity.ERROR, at.line, at.column, message, fix)

    def _tables_without_pages(self) -> Iterator[Located]:
        if self._engines is None:
            return
        from tenantry.datasources import has_pages

        for saved in self._saved:
            for panel, file, template in templates_of(saved):
                engines = self._engines.asked.get(_asked_query(saved, panel, file, template), frozenset())
                without = sorted(engine for engine in engines if not has_pages(engine))
                if panel is not None and panel.kind is PanelKind.TABLE and without:
                    at = saved.dashboard.source.location(panel.offset)
                    message = (
                        f"{', '.join(without)} cannot read page by page, so this table is not shown above the row limit"
                    )
                    fix = "aggregate or limit the rows in the query, or raise the row limit"
                    yield at.file, Finding("table-without-pages", Severity.NOTE, at.line, at.column, message, fix)

    def _queries(self) -> Iterator[Located]:
        known = self._types.paths if self._types else None
        coverage = Coverage(self._types) if self._types else None
        coverage_of = {file: Coverage(types) for file, types in self._types_of.items()}
        for file, template in self._templates.items():
            found = self._guards.findings(
                template,
                self._home,
                coverage=coverage_of.get(file, coverage),
                properties=known,
                schema=self._schema,
            )
            for finding in found:
                if finding.code != "unused-parameter":  # every query declares all controls, and may use only some
                    yield finding.file or file, finding

    def _of_formats(self) -> Iterator[Located]:
        total = 0 if self._types is None else len(self._types)
        for (name, rule, outcome, fix), groups in self._formats.items():
            named = tuple(groups[:_NAMED])
            where = in_groups(len(groups), total, named)
            message = f"the property {name} is not {rule} {where}; {outcome}"
            about = (f"user_group.properties.{name}", len(groups), total, named)
            yield "properties of groups", Finding(f"unusable-{name}", Severity.WARNING, 1, 1, message, fix, *about)

    def _of_texts(self) -> Iterator[Located]:
        total = 0 if self._types is None else len(self._types)
        for (file, finding), groups in self._texts.items():
            named = tuple(groups[:_NAMED])
            message = f"{finding.variable} is missing {in_groups(len(groups), total, named)}"
            fix = did_you_mean(finding.variable, self._properties - {finding.variable}) + finding.fix
            yield file, replace(finding, message=message, fix=fix, groups=len(groups), total=total, named=named)


def _files(dashboards: Iterable[SavedDashboard]) -> set[str]:
    return {file for saved in dashboards for _, file, _ in templates_of(saved)}


def _asked_query(saved: SavedDashboard, panel: Panel | None, file: str, template: SQLTemplate) -> AskedQuery:
    from tenantry.datasources.checks import AskedQuery

    schema = saved.dashboard.schema if panel is None else panel.schema
    whole = panel is not None and template is saved.queries.panels[panel.id].rows
    unique_by = panel.unique_by if panel is not None and whole else ()
    return AskedQuery(file, template, schema, bool(columns_in(saved, panel, template)), unique_by)


def print_report(report: DashboardReport, style: str) -> None:
    engines = report.engines
    if style == "json":
        counted = {"dashboards": report.dashboards, "queries": report.queries, "groups": report.groups}
        about = counted | {"guarded": report.guarded}
        print_document(about | ({} if engines is None else _about_engines(engines)), report.findings)
        return
    print_findings(report.findings)
    queries = _counted(report.queries, "query", "queries")
    looked_at = [_counted(report.dashboards, "dashboard", "dashboards"), queries]
    if report.guarded:
        looked_at.append(f"{report.guarded} guarded")
    if engines is not None:
        looked_at.append(f"{len(engines.explained)} explained by their engine")
    if report.groups is not None:
        looked_at.append(_counted(report.groups, "group", "groups"))
    print_note(f"{', '.join(looked_at)}: {count_by_severity(report.findings) or 'nothing found'}")
    if report.unchecked:
        print_note(f"not checked, until the errors above are corrected: {report.unchecked}")
    for engine, files in engines.engines.items() if engines is not None else ():
        why = "which does not explain statements of this kind"
        print_note(f"not explained by {engine}, {why}: {_counted(len(files), 'query', 'queries')}")
    if engines is not None and engines.unasked:
        why = "no group has both its data source and all its variables"
        print_note(f"not explained, because {why}: {_counted(len(engines.unasked), 'query', 'queries')}")
    if engines is not None and engines.unnamed:
        why = "because the engine names them only when the query runs"
        print_note(f"columns not checked, {why}: {_counted(len(engines.unnamed), 'query', 'queries')}")


def _about_engines(engines: EngineReport) -> dict[str, Any]:
    return {
        "explained": len(engines.explained),
        "not_explained": {engine: len(files) for engine, files in engines.engines.items()},
        "without_group": len(engines.unasked),
        "without_columns": len(engines.unnamed),
    }


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"
