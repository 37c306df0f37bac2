from __future__ import annotations

from dataclasses import replace

from tenantry.dashboards import DashboardFolder, SavedDashboard
from tenantry.dashboards.checks import panel_findings, uncovered_texts
from tenantry.dashboards.definition import read_dashboard
from tenantry.editor.drafts import QueryDrafts, query_name
from tenantry.editor.requests import TextBody
from tenantry.editor.workspace import FileKind, Workspace
from tenantry.errors import InvalidQueries, TemplateError
from tenantry.sql.checks import Finding, Located, PropertyTypes, template_error


def dashboard_findings(
    body: TextBody, workspace: Workspace, queries: QueryDrafts, types: PropertyTypes | None
) -> tuple[SavedDashboard | None, list[Finding]]:
    """Read the text of a dashboard. Return (dashboard, findings). The dashboard is None if it cannot be read. An error
    in a query, or in a file that it includes, is shown at the panel that uses the query."""
    own = str(workspace.dashboards / body.path.removeprefix(workspace.prefix))
    texts = {**body.drafts, body.path: body.text}
    drafts = {
        path.removeprefix(workspace.prefix): text
        for path, text in texts.items()
        if workspace.kind(path) is FileKind.DASHBOARD
    }
    name = workspace.name(body.path)
    found: list[Located] = []
    saved: SavedDashboard | None = None
    try:
        typed = queries.with_drafts(body.drafts)
        folder = DashboardFolder(workspace.dashboards, typed, drafts=drafts, only=name, follow_links=False)
        saved = folder[name]
        found += [*folder.findings, *panel_findings([saved.dashboard])]
        if types is not None:
            found += uncovered_texts(saved.dashboard, types)
    except InvalidQueries as error:
        found += ((each.file, each) for each in map(template_error, error.errors or (error,)))
    except OSError as error:
        found.append((own, template_error(TemplateError(f"a file cannot be read: {error.strerror}"))))
    return saved, [
        replace(finding, file=body.path) if file in {own, ""} else _at_panel(finding, file, body, name)
        for file, finding in found
    ]


def _at_panel(finding: Finding, file: str, body: TextBody, name: str) -> Finding:
    outer = finding.included_at
    while outer is not None:
        file, outer = outer.file, outer.included_at
    query = query_name(file)
    try:
        dashboard = read_dashboard(body.text, name, body.path)
    except TemplateError:
        return finding
    uses = (use for panel in dashboard.panels for use in (panel.query, panel.sparkline) if use is not None)
    used = next((use for use in uses if query is not None and use.name == query), None)
    if used is None:
        return finding
    at = dashboard.source.location(used.offset)
    message = f"{finding.file}:{finding.line}:{finding.column}: {finding.message}"
    moved = replace(finding, file=body.path, line=at.line, column=at.column, message=message)
    return replace(moved, edit=None, included_at=None)
