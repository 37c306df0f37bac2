"""``tenantry dashboards check``: what is wrong with the dashboards of a folder and with their queries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import click

from tenantry.cli.options import choose_environment, with_store
from tenantry.cli.output import print_note
from tenantry.cli.sql_check import count_by_severity, groups_of, print_findings
from tenantry.dashboards.definition.model import DashboardFile
from tenantry.dashboards.definition.queries import unused_controls
from tenantry.dashboards.folder import DashboardFolder, SavedDashboard
from tenantry.errors import InvalidQueries, MissingVariable, UnbindableValue
from tenantry.groups import UserGroup, extend
from tenantry.ports import Store
from tenantry.sql import SQLTemplate
from tenantry.sql.checks.coverage import Coverage, PropertyTypes, in_groups
from tenantry.sql.checks.findings import Finding, Severity
from tenantry.sql.checks.lint import coverage_findings, lint, template_error, wanted_properties
from tenantry.tokens import mask_within

_NAMED = 5
"""Groups that a finding names."""

Located = tuple[str, Finding]


@dataclass(frozen=True, slots=True)
class DashboardReport:
    """What was found, each with its file; how many dashboards and queries were looked at, and how many groups (None:
    they were not asked for)."""

    findings: tuple[Located, ...]
    dashboards: int
    queries: int
    groups: int | None

    @property
    def errors(self) -> int:
        """How many findings fail the check."""
        return sum(finding.severity is Severity.ERROR for _, finding in self.findings)


class DashboardCheck:
    """A check of one folder. ``gather`` reads the groups of a store; then ``run``."""

    def __init__(self, folder: Path) -> None:
        self._unusable: list[Located] = []
        self._saved: list[SavedDashboard] = []
        try:
            self._saved = [*DashboardFolder(folder).values()]
        except InvalidQueries as error:
            for each in error.errors or (error,):
                finding = template_error(each)
                self._unusable.append((finding.file or str(folder), finding))
        self._templates = dict(each for saved in self._saved for each in _templates(saved))
        self._types: PropertyTypes | None = None
        self._texts: dict[Located, list[str]] = {}

    def gather(self, *, database: str | None, environment: str | None) -> None:
        """Reads the groups of a store. Raises StoreUnavailable, UnknownEnvironment."""
        types = self._types = PropertyTypes(wanted_properties(self._templates.values()))

        @with_store
        async def read(store: Store) -> None:
            async for group in groups_of(store, await choose_environment(store, environment)):
                types.add(group.provided_id, group.properties)
                for saved in self._saved:
                    for located in _missing_in_texts(saved.dashboard, group):
                        self._texts.setdefault(located, []).append(group.provided_id)

        read(database=database)
        if not len(types):
            print_note("this environment has no groups: what they have is not compared")

    def run(self) -> DashboardReport:
        """Every finding, in the order of files and lines."""
        found = [*self._unusable, *self._controls(), *self._queries(), *self._of_texts()]
        found.sort(key=lambda each: (each[0], each[1].line, each[1].column))
        groups = None if self._types is None else len(self._types)
        return DashboardReport(tuple(dict.fromkeys(found)), len(self._saved), len(self._templates), groups)

    def _controls(self) -> Iterator[Located]:
        for saved in self._saved:
            for control in unused_controls(saved.dashboard, saved.queries):
                at = saved.dashboard.source.location(control.offset)
                message = f"no query reads params.{control.name}, so this control changes nothing"
                fix = f"write [[ and … = {{{{ params.{control.name} }}}} ]] in a query, or take the control out"
                yield at.file, Finding("unused-control", Severity.WARNING, at.line, at.column, message, fix)

    def _queries(self) -> Iterator[Located]:
        known = self._types.paths if self._types else None
        coverage = Coverage(self._types) if self._types else None
        for file, template in self._templates.items():
            covered = coverage_findings(template, coverage) if coverage is not None else ()
            for finding in (*lint(template, paramstyle=None, properties=known, given=(), schema=None), *covered):
                if finding.code != "unused-parameter":  # a control is declared for every query, and not all read it
                    yield finding.file or file, finding

    def _of_texts(self) -> Iterator[Located]:
        total = 0 if self._types is None else len(self._types)
        for (file, finding), groups in self._texts.items():
            named = tuple(groups[:_NAMED])
            message = f"{finding.variable} is missing {in_groups(len(groups), total, named)}"
            yield file, replace(finding, message=message, groups=len(groups), total=total, named=named)


def _templates(saved: SavedDashboard) -> Iterator[tuple[str, SQLTemplate]]:
    """Each template once, by its file; a statement that stands in a dashboard by its panel."""
    for panel_id, queries in saved.queries.panels.items():
        for template in queries.templates:
            own = template.definition.source.file
            yield own or f"{saved.dashboard.source.file} (panel {panel_id})", template
    for template in saved.queries.choices.values():
        yield template.definition.source.file, template


def _missing_in_texts(dashboard: DashboardFile, group: UserGroup) -> Iterator[Located]:
    """The variables of titles and views that a group lacks, each at the beginning of what names it."""
    variables = extend(group.variables, "params", {})
    parts = [(dashboard.texts, 0), *((panel.view, panel.offset) for panel in dashboard.panels)]
    for definition, offset in parts:
        try:
            definition.substitute(variables)
            continue
        except MissingVariable as error:
            names: Iterable[str] = error.names
        except UnbindableValue as error:
            names = [error.name]
        at = dashboard.source.location(offset)
        for name in names:
            fix = "give these groups the property, or take the variable out of the text"
            yield at.file, Finding("missing-property", Severity.ERROR, at.line, at.column, "", fix, name)


def print_report(report: DashboardReport, style: str) -> None:
    """The findings on stdout, as text or as one JSON object; how many there are on stderr."""
    if style == "json":
        findings = [{"file": name, **finding.as_dict()} for name, finding in report.findings]
        document = {
            "dashboards": report.dashboards,
            "queries": report.queries,
            "groups": report.groups,
            "findings": findings,
        }
        click.echo(mask_within(json.dumps(document, ensure_ascii=False, indent=2)))
        return
    print_findings(report.findings)
    numbers = [(report.dashboards, "dashboard"), (report.queries, "query"), (report.groups, "group")]
    looked_at = ", ".join(f"{count} {_plural(word, count)}" for count, word in numbers if count is not None)
    print_note(f"{looked_at}: {count_by_severity(report.findings) or 'nothing found'}")


def _plural(word: str, count: int) -> str:
    return word if count == 1 else "queries" if word == "query" else f"{word}s"
