from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Final

from cachetools import LRUCache
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from tenantry.dashboards import DashboardFolder, EditorPreview, Previews, ReloadingFolder, Stamp, preview_app
from tenantry.dashboards.definition import dashboard_schema
from tenantry.editor.authors import EditorAuthor, Right
from tenantry.editor.drafts import QueryDrafts
from tenantry.editor.previews.shared_drafts import (
    SECONDS,
    SESSION_SECONDS,
    PreviewedDrafts,
    SharedDrafts,
    new_preview,
)
from tenantry.editor.requests import (
    MAX_BODY_OF_TEXTS,
    DraftsBody,
    EditorEndpoints,
    EditorRequest,
    GroupBody,
    find_environment,
    find_group,
    require_right,
)
from tenantry.editor.workbench import Workbench
from tenantry.editor.workspace import FileKind, Workspace
from tenantry.errors import InvalidBody, InvalidDashboards, InvalidQueries, NotFound, RightMissing
from tenantry.groups import AuditNote
from tenantry.http import request_id_of
from tenantry.middleware import TokenResolver

_APPS: Final = 20
"""Maximum number of previews for which a process keeps an app."""
_FIELDS: Final = {"/user_group_id": "/group", "/as_viewer": "/viewer"}


class PreviewBody(GroupBody, DraftsBody):
    dashboard: Annotated[str, Field(max_length=255)]
    """The path of the dashboard's file."""
    preview: Annotated[str, Field(max_length=100)] | None = None
    """The id of the preview that the page shows. If the preview shows the same dashboard, group and viewer, it gets the
    new drafts; otherwise a new preview begins."""


def preview_routes(endpoints: EditorEndpoints, queries: QueryDrafts, resolver: TokenResolver) -> list[BaseRoute]:
    shared = SharedDrafts()
    previews = Previews(endpoints.workbench.store, session_seconds=SESSION_SECONDS)
    create = partial(_create, endpoints.workbench, shared, previews)
    return [
        endpoints.post("/-/preview", PreviewBody, create, right=Right.RUN, max_bytes=MAX_BODY_OF_TEXTS),
        endpoints.get("/-/dashboard-schema.json", _dashboard_schema),
        Mount("/-/preview/{preview}", _PreviewApps(endpoints, queries, resolver, shared, previews)),
    ]


async def _create(
    workbench: Workbench, shared: SharedDrafts, previews: Previews, asked: EditorRequest[PreviewBody]
) -> Response:
    body, workspace = asked.body, workbench.workspace
    if workspace.require(body.dashboard, "/dashboard") is not FileKind.DASHBOARD:
        raise InvalidBody(f"{body.dashboard} is not a dashboard", field="/dashboard")
    for path in body.drafts:
        workspace.require(path, "/drafts")
    environment = await find_environment(workbench, asked.author, body.environment)
    await find_group(workbench, asked.author, body.environment, body.group)
    drafts = PreviewedDrafts(
        _editor(workspace, asked.request.scope.get("root_path", "")),
        asked.author.name,
        workspace.name(body.dashboard),
        json.dumps([body.environment, body.group, body.viewer], sort_keys=True),
        body.drafts,
        time.time(),
    )
    author = asked.author.audited(request_id_of(asked.request.headers.raw))
    shown = None if body.preview is None else await run_in_threadpool(shared.read, body.preview)
    if body.preview is not None and shown is not None and shown.seconds_left > 0 and _same(shown, drafts):
        kept = replace(shown, drafts=body.drafts)
        if kept.drafts != shown.drafts:
            details = {"dashboard": kept.dashboard, "drafts": kept.digest}
            if body.viewer is not None:
                details["viewer"] = body.viewer.get("id", "")
            note = AuditNote(author, "preview.drafted", body.environment, body.group, details)
            await workbench.store.audit.record(note)  # before the texts are run
            await run_in_threadpool(shared.write, body.preview, kept)
        return JSONResponse({"preview": body.preview, "address": None, "seconds": int(shown.seconds_left)})
    preview = new_preview(drafts)
    try:
        code = await previews.issue(
            environment,
            body.group,
            drafts.dashboard,
            author,
            None,  # a dashboard that cannot be read shows its errors in the frame
            as_viewer=body.viewer,
            drafts=drafts.digest,
            shown_by=preview,
        )
    except InvalidBody as error:
        error.field = _FIELDS.get(error.field or "", error.field)
        raise
    await run_in_threadpool(shared.write, preview, drafts)
    address = f"{asked.request.scope.get('root_path', '')}/-/preview/{preview}/{drafts.dashboard}#code={code}"
    return JSONResponse({"preview": preview, "address": address, "seconds": int(SECONDS)})


@dataclass(frozen=True)
class _PreviewApps:
    # Each preview has an app, because its dashboards have other unsaved texts. Each request must come from the author
    # of the preview. A request for data also needs a key, which the page got for the code in its address.

    _endpoints: EditorEndpoints
    _queries: QueryDrafts
    _resolver: TokenResolver
    _shared: SharedDrafts
    _previews: Previews
    _apps: LRUCache[str, ASGIApp] = field(default_factory=lambda: LRUCache(_APPS))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        preview: str = scope["path_params"]["preview"]
        drafts = await run_in_threadpool(self._shared.read, preview)
        mount = scope.get("root_path", "").removesuffix(f"/-/preview/{preview}")
        if drafts is None or drafts.editor != _editor(self._endpoints.workbench.workspace, mount):
            raise NotFound("this preview has ended: open it again")
        await self._require_author(drafts, scope)
        app = self._apps.get(preview)
        if app is None:
            app = self._apps[preview] = await run_in_threadpool(self._app, preview, drafts)
        await app(scope, receive, send)

    async def _require_author(self, drafts: PreviewedDrafts, scope: Scope) -> None:
        author = await self._endpoints.author_in_frame(Request(scope))
        if author.name != drafts.author:
            raise NotFound("this preview has ended: open it again")
        require_right(author, Right.VIEW)
        require_right(author, Right.RUN)
        if not author.may_use(drafts.environment):
            raise RightMissing(f"you may not use the environment {drafts.environment!r}")

    def _app(self, preview: str, drafts: PreviewedDrafts) -> ASGIApp:
        workbench = self._endpoints.workbench
        folder = DraftedFolder(workbench.workspace, self._queries, self._shared, preview, drafts.dashboard)
        shown = EditorPreview(preview, partial(self._require_author, drafts))
        return preview_app(folder, self._resolver, workbench.sources, workbench.store, self._previews, shown)


def _editor(workspace: Workspace, mount: str) -> str:
    return f"{workspace.root} {mount}"


def _same(one: PreviewedDrafts, other: PreviewedDrafts) -> bool:
    return replace(one, drafts={}, created=0) == replace(other, drafts={}, created=0)


async def _dashboard_schema(request: Request, author: EditorAuthor) -> Response:
    return JSONResponse(dashboard_schema())


class DraftedFolder(ReloadingFolder):
    """Reads the dashboard of a preview, and the dashboards that clicks in it open. Unsaved texts replace their
    files."""

    def __init__(
        self, workspace: Workspace, queries: QueryDrafts, shared: SharedDrafts, preview: str, dashboard: str
    ) -> None:
        super().__init__(workspace.dashboards)
        self._workspace = workspace
        self._queries = queries
        self._shared = shared
        self._preview = preview
        self._dashboard = dashboard

    def stamp(self) -> Stamp:
        return super().stamp() | {self._shared.stamp(self._preview)}

    def read(self) -> DashboardFolder:
        found = self._shared.read(self._preview)
        if found is None:
            raise InvalidDashboards("this preview has ended: open it again", errors=())
        workspace = self._workspace
        drafts = {
            path.removeprefix(workspace.prefix): text
            for path, text in found.drafts.items()
            if workspace.kind(path) is FileKind.DASHBOARD
        }
        try:
            return DashboardFolder(
                self.path,
                self._queries.with_drafts(found.drafts),
                drafts=drafts,
                only=self._dashboard,
                follow_links=False,
            )
        except InvalidQueries as error:
            shown = error.message.replace(f"{workspace.queries.parent}/", "")  # paths as the author knows them
            raise type(error)(shown, errors=error.errors) from None
