from __future__ import annotations

from collections.abc import Iterable, Iterator

from tenantry.dashboards.definition import DashboardFile, Panel, PanelKind
from tenantry.sql.checks import Finding, Located, Severity


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
