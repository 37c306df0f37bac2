"""Checks dashboards without asking a data source. Columns are compared with those that the source reported earlier."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from tenantry.dashboards.definition.model import ColumnUse, DashboardFile, Panel, PanelKind
from tenantry.dashboards.folder import DashboardFolder, SavedDashboard
from tenantry.datasources.checks import reported_by
from tenantry.errors import MissingVariable, TemplateError, UnbindableValue, did_you_mean, misspelt
from tenantry.groups import UserGroup
from tenantry.sql import SQLTemplate
from tenantry.sql.checks import Finding, Located, PropertyTypes, Severity, in_groups, property_path, unknown_field

_LISTED: Final = 20
"""Maximum number of columns that a finding names."""


class ValidDashboards(DashboardFolder):
    """The valid dashboards of a folder. ``errors`` has one error for each invalid dashboard. If there are errors,
    clicks are not checked."""

    errors: Sequence[TemplateError] = ()

    def _refuse(self, errors: Sequence[TemplateError]) -> None:
        self.errors = errors
        self._is_whole = False  # an invalid dashboard may set parameters of the others' queries


def templates_of(saved: SavedDashboard) -> Iterator[tuple[Panel | None, str, SQLTemplate]]:
    """Yield each query's panel, the file that findings name, and the template. If the query supplies a control's
    choices, the panel is None."""
    for panel in saved.dashboard.panels:
        for template in saved.queries.panels[panel.id].templates:
            own = template.definition.source.file
            yield panel, own or f"{saved.dashboard.source.file} (panel {panel.id})", template
    for template in saved.filled.values():
        yield None, template.definition.source.file, template


def schemas_of(saved: SavedDashboard) -> frozenset[str]:
    default = saved.dashboard.schema
    return frozenset(default if panel is None else panel.schema for panel, _, _ in templates_of(saved))


def columns_in(saved: SavedDashboard, panel: Panel | None, template: SQLTemplate) -> tuple[ColumnUse, ...]:
    """Return the columns that the panel expects from this query. Names that depend on the group are left out."""
    if panel is None:
        return ()
    whole = template is saved.queries.panels[panel.id].rows
    found = (use for use in panel.columns if whole or use.key == panel.kind)
    return tuple(use for use in found if "{{" not in use.name)


def unknown_columns(
    saved: SavedDashboard, panel: Panel | None, template: SQLTemplate, found: Mapping[str, Sequence[str]]
) -> Iterator[Located]:
    """Yield a finding for each column that the panel names and the query does not return. ``found`` maps a description
    of a source, such as ``data source warehouse, for acme``, to the columns that it returns."""
    for use in columns_in(saved, panel, template):
        lacking = [where for where, names in found.items() if use.name not in names]
        if lacking:
            at = saved.dashboard.source.location(use.offset)
            names = found[lacking[0]]
            message = f"the rows of the query have no column {use.name} ({reported_by(lacking)})"
            fix = f"{did_you_mean(use.name, names)}The columns: {', '.join(names[:_LISTED])}"
            edit = misspelt(use.name, names)
            yield at.file, Finding("unknown-column", Severity.ERROR, at.line, at.column, message, fix, edit=edit)


_FIX: Final = "give these groups the property, or take the variable out of the text"


def missing_in_texts(dashboard: DashboardFile, group: UserGroup) -> Iterator[Located]:
    parts = [(dashboard.texts, 0), *((panel.view, panel.offset) for panel in dashboard.panels)]
    for definition, offset in parts:
        try:
            definition.substitute(group.variables)
            continue
        except MissingVariable as error:
            names: Iterable[str] = error.names
        except UnbindableValue as error:
            names = [error.name]
        for name in names:
            at = dashboard.source.location(_offset_of(name, dashboard.source.text, offset))
            yield at.file, Finding("missing-property", Severity.ERROR, at.line, at.column, "", _FIX, name)


def uncovered_texts(dashboard: DashboardFile, types: PropertyTypes) -> Iterator[Located]:
    """Yield a finding for each variable in the dashboard's texts that does not exist or that some groups lack."""
    parts = [(dashboard.texts, 0), *((panel.view, panel.offset) for panel in dashboard.panels)]
    for definition, start in parts if len(types) else ():
        for name in dict.fromkeys(each.text for each in definition.paths):
            path, field = property_path(name), unknown_field(name)
            at = dashboard.source.location(_offset_of(name, dashboard.source.text, start))
            if field is not None:
                about = ("unknown-variable", Severity.ERROR, at.line, at.column, field.problem, field.fix, name)
                yield at.file, Finding(*about, edit=field.edit)
            elif path is None:
                continue
            elif path not in types.paths:
                message = f"no group has the property {path}"
                fix = did_you_mean(path, types.paths) or "add it to the groups, or take the variable out of the text"
                about = ("unknown-variable", Severity.ERROR, at.line, at.column, message, fix.strip(), name)
                yield at.file, Finding(*about, edit=misspelt(path, types.paths))
            elif path in types and (missing := types.without(path)):
                named, total = types.named(missing), len(types)
                message = f"{name} is missing {in_groups(len(missing), total, named)}"
                about = ("missing-property", Severity.ERROR, at.line, at.column, message, _FIX, name)
                yield at.file, Finding(*about, len(missing), total, named)


def _offset_of(name: str, text: str, start: int) -> int:
    found = re.compile(rf"\{{\{{\s*{re.escape(name)}\s*\}}\}}").search(text, start)
    return found.start() if found is not None else start


def panel_findings(dashboards: Iterable[DashboardFile]) -> Iterator[Located]:
    for dashboard in dashboards:
        for panel in dashboard.panels:
            at = dashboard.source.location(panel.offset)
            for code, severity, message, fix in (*_columns_left_out(panel), *_not_additive(panel)):
                yield at.file, Finding(code, severity, at.line, at.column, message, fix)


def _columns_left_out(panel: Panel) -> Iterator[tuple[str, Severity, str, str]]:
    if panel.columns_left_out:
        message = "this table names no columns, so viewers get every column of its query"
        fix = "write `columns: [NAME, …]` with the columns that viewers may see, or `columns: all`"
        yield "columns-left-out", Severity.WARNING, message, fix


def _not_additive(panel: Panel) -> Iterator[tuple[str, Severity, str, str]]:
    if panel.adds_averages:
        what = "show them as parts of a whole" if panel.kind is PanelKind.DONUT else "stack them"
        message = f"percentages, averages and maxima do not add up, so this panel does not {what}"
        fix = "draw bars without `stack`, or write `aggregate: sum` if these values do add up"
        yield "not-additive", Severity.ERROR, message, fix
