from __future__ import annotations

from dataclasses import replace

from tenantry.dashboards import DashboardFolder
from tenantry.dashboards.checks import panel_findings, uncovered_texts
from tenantry.editor.drafts import QueryDrafts
from tenantry.editor.requests import TextBody
from tenantry.editor.workspace import FileKind, Workspace
from tenantry.errors import InvalidQueries, TemplateError
from tenantry.sql import Source
from tenantry.sql.checks import Finding, Located, PropertyTypes, template_error
from tenantry.sql.guarding import read_tables_node
from tenantry.sql.header import read_yaml


def dashboard_findings(
    body: TextBody, workspace: Workspace, queries: QueryDrafts, types: PropertyTypes | None
) -> list[Finding]:
    """Return the findings of a dashboard's typed text. An error in one of its queries is shown at the panel that uses
    the query."""
    own = str(workspace.dashboards / body.path.removeprefix(workspace.prefix))
    texts = {**body.drafts, body.path: body.text}
    drafts = {
        path.removeprefix(workspace.prefix): text
        for path, text in texts.items()
        if workspace.kind(path) is FileKind.DASHBOARD
    }
    name = workspace.name(body.path)
    found: list[Located] = []
    try:
        folder = DashboardFolder(workspace.dashboards, queries.with_drafts(body.drafts), drafts=drafts, only=name)
        dashboard = folder[name].dashboard
        found += [*folder.findings, *panel_findings([dashboard])]
        if types is not None:
            found += uncovered_texts(dashboard, types)
    except InvalidQueries as error:
        found += ((each.file, each) for each in map(template_error, error.errors or (error,)))
    except OSError as error:
        found.append((own, template_error(TemplateError(f"a file cannot be read: {error.strerror}"))))
    return [replace(finding, file=body.path if file in {own, ""} else file) for file, finding in found]


def tables_findings(body: TextBody) -> list[Finding]:
    try:
        source = Source(body.text, body.path)
        read_tables_node(read_yaml(source, 0, len(body.text)), source)
        return []
    except TemplateError as error:
        return [template_error(error)]
