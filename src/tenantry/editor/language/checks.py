from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, Final

from pydantic import Field
from starlette.responses import JSONResponse, Response

from tenantry.dashboards import DashboardFolder, SavedDashboard
from tenantry.dashboards.checks import panel_findings, uncovered_texts
from tenantry.dashboards.definition import read_dashboard
from tenantry.datasources import Limits, source_timezone
from tenantry.datasources.checks import CORRECT_QUERY, AskedQuery, EngineCheck, TablesCheck, plans_without_running
from tenantry.editor.authors import Right
from tenantry.editor.drafts import QueryDrafts, query_name
from tenantry.editor.language.catalogues import Catalogues
from tenantry.editor.language.compiler import Compiler
from tenantry.editor.language.findings_on_page import shown_findings
from tenantry.editor.language.group_properties import GatheredProperties, GroupProperties
from tenantry.editor.language.panel_columns import PanelColumns
from tenantry.editor.requests import EditorRequest, TextBody, TypedBody, find_environment, find_group
from tenantry.editor.workbench import Workbench
from tenantry.editor.workspace import FileKind, Workspace, find_schema
from tenantry.errors import InvalidQueries, TemplateError, TenantryError
from tenantry.groups import RegisteredSource, UserGroup
from tenantry.sql import Query, Source
from tenantry.sql.checks import Finding, Located, PropertyTypes, Severity, template_error
from tenantry.sql.guarding import read_tables_node
from tenantry.sql.header import read_yaml

EXPLAIN_LIMITS: Final = Limits(timeout=1.0, lock_timeout=0.1, pool_size=1)
"""Limits of an engine's ``explain`` while an author types. The audit trail does not record these calls, so Tenantry
asks only engines that explain a query without running any part of it."""
_SEE_SQL: Final = "correct the query; the tab Bound SQL shows the SQL that the data source gets"
MAX_EXPLAINED: Final = 50 * 1024
"""Maximum bytes of a query that an engine explains."""


class CheckBody(TypedBody):
    environment: Annotated[str, Field(max_length=255)] | None = None
    group: Annotated[str, Field(max_length=255)] | None = None
    """The id of a group. If the author has the right ``run``, this group's data source explains the query."""


@dataclass(frozen=True, slots=True)
class _CheckContext:
    gathered: GatheredProperties | None = None
    group: UserGroup | None = None
    source: RegisteredSource | None = None
    dialect: str | None = None


class Checks:
    """Makes the checks of ``tenantry sql check`` and ``tenantry dashboards check`` while an author types."""

    def __init__(
        self,
        workbench: Workbench,
        compiler: Compiler,
        properties: GroupProperties,
        catalogues: Catalogues,
    ) -> None:
        self._workbench = workbench
        self._compiler = compiler
        self._properties = properties
        self._catalogues = catalogues
        self._explaining = workbench.sources.for_authors(EXPLAIN_LIMITS)
        self._columns = PanelColumns(self._explaining, compiler, EXPLAIN_LIMITS.timeout)

    async def respond(self, asked: EditorRequest[CheckBody]) -> Response:
        body = asked.body
        kind = self._workbench.workspace.require(body.path)
        known = await self._known(asked)
        made, findings = await self._compiler.run(lambda: self._find(kind, body, known))
        query = made if isinstance(made, Query) else None
        is_right = not any(each.severity is Severity.ERROR for each in findings)
        if known.group is not None and is_right and Right.RUN in asked.author.rights:
            if query is not None:
                findings = [*findings, *await self._explained(body, query, known.group, known.source)]
            elif isinstance(made, SavedDashboard):
                found = await self._columns.findings(made, known.group)
                findings = [*findings, *(replace(each, file=body.path) for each in found)]
        workspace = self._workbench.workspace
        roots = [f"{each}/" for each in (workspace.root, workspace.queries.parent) if str(each) != "."]
        return JSONResponse(
            {
                "findings": shown_findings(dict.fromkeys(findings), body.path, body.text, roots),
                "dialect": known.dialect if query is None else query.dialect,
                "groups": None if known.gathered is None else len(known.gathered.types),
            }
        )

    async def _known(self, asked: EditorRequest[CheckBody]) -> _CheckContext:
        body, workbench = asked.body, self._workbench
        if body.environment is None:
            return _CheckContext()
        environment = await find_environment(workbench, asked.author, body.environment)
        gathered = await self._properties.of(environment)
        if body.group is None:
            return _CheckContext(gathered)
        group = (await find_group(workbench, asked.author, body.environment, body.group)).group
        try:
            source = await workbench.sources.registered(group, body.schema_)
            return _CheckContext(gathered, group, source, await workbench.sources.dialect(group, body.schema_))
        except TenantryError:  # a run reports the error; check the text anyway
            return _CheckContext(gathered, group)

    def _find(
        self, kind: FileKind, body: CheckBody, known: _CheckContext
    ) -> tuple[Query | SavedDashboard | None, Sequence[Finding]]:
        workspace = self._workbench.workspace
        types = None if known.gathered is None or not len(known.gathered.types) else known.gathered.types
        if kind is FileKind.TABLES:
            return None, _tables_findings(body)
        if kind is FileKind.DASHBOARD:
            return dashboard_findings(body, workspace, self._compiler.queries, types)
        try:
            zone = None if known.source is None else source_timezone(known.source)
            query = self._compiler.query(body, known.dialect or "postgresql", zone)
            coverage = None if types is None or known.gathered is None else known.gathered.coverage
            paths = None if types is None else types.paths
            schema = find_schema(workspace, body.environment)
            found = _tables_check(known.source).findings(
                query, workspace.queries, coverage=coverage, properties=paths, schema=schema
            )
            return query, [*found]
        except (TemplateError, OSError) as error:
            wrong = error if isinstance(error, TemplateError) else TemplateError(f"a file cannot be read: {error}")
            broken = template_error(wrong)
            if query_name(broken.file) is None and broken.file:  # an error in a dashboard's control
                broken = replace(broken, line=1, column=1, message=f"{broken.file}: {broken.message}", file=body.path)
            return None, [broken]

    async def _explained(
        self, body: CheckBody, query: Query, group: UserGroup, source: RegisteredSource | None
    ) -> Iterable[Finding]:
        if (
            source is None
            or not plans_without_running(source)
            or len(body.text.encode(errors="replace")) > MAX_EXPLAINED
        ):
            return ()
        catalogue = self._catalogues.known(source)
        names = () if catalogue is None else catalogue.names
        check = EngineCheck([AskedQuery(body.path, query, body.schema_)], [source], names)
        await self._compiler.run(lambda: check.add(group))
        with suppress(TimeoutError, TenantryError):
            async with asyncio.timeout(EXPLAIN_LIMITS.timeout):
                report = await check.run(self._explaining)
                return [
                    replace(finding, fix=_SEE_SQL) if finding.fix == CORRECT_QUERY else finding
                    for file, finding in report.findings
                    if file == body.path and finding.code != "explain-timeout"
                ]
        return ()


def _tables_findings(body: TextBody) -> list[Finding]:
    try:
        source = Source(body.text, body.path)
        read_tables_node(read_yaml(source, 0, len(body.text)), source)
    except TemplateError as error:
        return [template_error(error)]
    return []


def _tables_check(source: RegisteredSource | None) -> TablesCheck:
    check = TablesCheck(None)
    if source is not None:
        check.add_source(source)
    return check


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
