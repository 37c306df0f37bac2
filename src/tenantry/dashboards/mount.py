from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from tenantry.dashboards.access import NO_DASHBOARD, Access, MayOpen, neutral
from tenantry.dashboards.assets import BuiltFiles
from tenantry.dashboards.charts.chart_rows import ChartRows
from tenantry.dashboards.embedding.allowed_hosts import AllowedHosts, EmbeddingCheck
from tenantry.dashboards.embedding.frame_ancestors import SELF
from tenantry.dashboards.embedding.routes import ELEMENT_FILES, Embedding, embedding_routes, redeem_route
from tenantry.dashboards.embedding.session_cookie import CookieExchange, SessionCookie, SessionCookieCheck
from tenantry.dashboards.endpoint import error_handler, render_error
from tenantry.dashboards.explanation import explain_panel, panel_text
from tenantry.dashboards.folder import DashboardFolder, SavedDashboard
from tenantry.dashboards.frame import FURTHER, SCRIPT, STYLE, Frame
from tenantry.dashboards.panels.downloads import Downloads
from tenantry.dashboards.panels.filters import read_filters
from tenantry.dashboards.panels.panel_runner import PanelRunner
from tenantry.dashboards.panels.panel_stream import PanelStream
from tenantry.dashboards.preview.guard import PREVIEW_KEY, EditorPreview, PreviewGuard
from tenantry.dashboards.preview.previews import PATH, Preview, PreviewEndpoint, Previews
from tenantry.dashboards.protocol.paced_send import LargeBodiesInPieces
from tenantry.dashboards.protocol.panel_lines import check_encoder
from tenantry.dashboards.protocol.panel_request import DownloadRequest, FilteredBody, PanelsRequest, read_request
from tenantry.dashboards.refresh import BrokenFiles, ChangedFiles, ChangedPanels, ReloadingFolder, changed_since
from tenantry.dashboards.single_use_codes import CodesOfGroups, Purpose, SingleUseCodes
from tenantry.dashboards.source_zones import in_zone_of_source
from tenantry.datasources import DataSources
from tenantry.errors import InvalidQueries, InvalidSettings, NotFound, TenantryError
from tenantry.groups import DASHBOARD
from tenantry.http import has_encoded_slash, user_group
from tenantry.middleware import TokenResolver, UserGroupMiddleware, header, send_error, with_staleness
from tenantry.sql import FRAGMENT_NAME


class NoEncodedSlash:
    """ASGI middleware that answers 404 to a path with an encoded slash."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if has_encoded_slash(scope):
            await send_error(NotFound("there is nothing at this address"), scope, send)
        else:
            await self.app(scope, receive, send)


BUNDLES: Final = (SCRIPT, STYLE, *FURTHER, *ELEMENT_FILES)

Dashboards = Mapping[str, SavedDashboard]
"""Dashboards by name: a DashboardFolder or ReloadingFolder."""


class MountingApp(Protocol):
    def mount(self, path: str, app: ASGIApp, name: str | None = None) -> None: ...


def mount_dashboards(
    app: MountingApp,
    folder: Dashboards | str | Path,
    resolver: TokenResolver,
    sources: DataSources,
    *,
    path: str = "/dashboards",
    frame_ancestors: Sequence[str] = (),
    embedding: Embedding | None = None,
    may_open: MayOpen | None = None,
) -> None:
    """Serve the dashboards of ``folder`` in ``app``, below the URL path ``path``. Needs the extra ``dashboards``.

    ``resolver`` finds the group of the token in ``X-User-Group-Token``. ``frame_ancestors``: the origins whose pages
    may embed the dashboards; by default, no page may. ``embedding`` adds single-use codes and previews, and allows the
    origins that ``tenantry environment set-embedding`` stored.

    ``may_open`` restricts the dashboards that a group may open. It is the name of a group property that lists dashboard
    names, or a function that gets the group and a dashboard's name, and returns True or False without blocking. A
    dashboard's ``when`` must also hold. For other dashboards, the response is 404.

    Raises InvalidDashboards and InvalidQueries for invalid files, OSError for unreadable ones, InvalidSettings for an
    invalid origin, an invalid path or a missing package.
    """
    if not path.startswith("/") or path.endswith("/"):
        raise InvalidSettings(f"path is {path!r}: it must begin with / and must not end with /, as in /dashboards")
    check_encoder()
    dashboards = DashboardFolder(folder) if isinstance(folder, str | Path) else folder
    access = Access(dashboards, may_open)
    inner = dashboards_app(dashboards, access, resolver, sources, frame_ancestors, embedding)
    app.mount(path, inner, name="dashboards")


def dashboards_app(
    dashboards: Dashboards,
    access: Access,
    resolver: TokenResolver,
    sources: DataSources,
    frame_ancestors: Sequence[str],
    embedding: Embedding | None,
) -> Starlette:
    built, hosts = BuiltFiles(BUNDLES), allowed_hosts(resolver, frame_ancestors, embedding)
    own_token = [
        Middleware(SessionCookie),
        _token_in_header(resolver),
        Middleware(SessionCookieCheck),
        Middleware(EmbeddingCheck, hosts=hosts),
    ]
    previews, data = [], own_token
    if embedding is not None:
        previews = [Route(PATH, PreviewEndpoint(embedding.store, embedding.previews(), access))]
        staleness = with_staleness(resolver).staleness
        guard = Middleware(PreviewGuard, previews=embedding.previews(), staleness=staleness)
        data = [guard, *own_token]
    # Host pages load the HTML element, and exchange codes for passes. Callers with an API token get addresses of
    # previews.
    further = [*embedding_routes(built, embedding, access, own_token), *previews]
    return _app(built, dashboards, access, resolver, sources, hosts, further, data)


def _token_in_header(resolver: TokenResolver) -> Middleware:
    return Middleware(UserGroupMiddleware, resolver=resolver, carriers=header(), required=True, audience=DASHBOARD)


def preview_app(
    dashboards: Dashboards,
    resolver: TokenResolver,
    sources: DataSources,
    store: CodesOfGroups,
    previews: Previews,
    editor: EditorPreview,
) -> Starlette:
    """Return the app for a dashboard preview in the SQL editor. Only pages of the same origin can embed it. It redeems
    codes that ``previews`` issued. The caller must check that each request is from the author."""
    built, access, hosts = BuiltFiles(BUNDLES), Access(dashboards), AllowedHosts(None, None, further=[SELF])
    data = [
        Middleware(PreviewGuard, previews=previews, staleness=with_staleness(resolver).staleness, editor=editor),
        _token_in_header(resolver),
        Middleware(EmbeddingCheck, hosts=hosts),
    ]
    opening = {Purpose.PREVIEW: partial(previews.open, shown_by=editor.id)}
    further = [redeem_route(SingleUseCodes(store.codes), opening)]
    return _app(built, dashboards, access, resolver, sources, hosts, further, data, editor)


def _app(
    built: BuiltFiles,
    dashboards: Dashboards,
    access: Access,
    resolver: TokenResolver,
    sources: DataSources,
    hosts: AllowedHosts,
    further: Sequence[BaseRoute],
    data: Sequence[Middleware],
    editor: EditorPreview | None = None,
) -> Starlette:
    bounded, in_editor = with_staleness(resolver), editor is not None
    downloads: Downloads | None = None
    if isinstance(store := sources.store, CodesOfGroups):
        downloads = Downloads(
            SingleUseCodes(store.codes), store.groups, access, sources, bounded.staleness, bounded.seconds_left, editor
        )
    page = Frame(built, in_editor=in_editor)
    endpoints = _Endpoints(
        dashboards, access, sources, ChartRows(sources), page, hosts, CookieExchange(resolver), downloads, in_editor
    )
    issue = "/{name:path}/-/panels/{panel}/download"
    return Starlette(
        routes=[
            Route("/-/assets/{address}", built.respond),
            # The rows of a panel as a file, at a single-use address.
            Route("/-/download/{code}", endpoints.download, methods=["GET"]),
            *further,
            Route("/{name:path}/-/panels", endpoints.panels, methods=["POST"], middleware=data),
            Route(issue, endpoints.issue_download, methods=["POST"], middleware=data),
            # In a preview: where the values of a panel come from.
            Route("/{name:path}/-/panels/{panel}/explanation", endpoints.explain, methods=["POST"], middleware=data),
            # The frame, a page without data. A token in its query is exchanged for a cookie.
            Route("/{name:path}", endpoints.frame),
        ],
        middleware=[Middleware(LargeBodiesInPieces), Middleware(NoEncodedSlash)],
        exception_handlers={TenantryError: error_handler},
    )


def allowed_hosts(resolver: TokenResolver, frame_ancestors: Sequence[str], embedding: Embedding | None) -> AllowedHosts:
    return AllowedHosts(
        None if embedding is None else embedding.store.environments,
        resolver.environment,
        group_hosts=None if embedding is None else embedding.group_hosts,
        further=frame_ancestors,
        staleness=with_staleness(resolver).staleness,
    )


@dataclass(frozen=True)
class _Endpoints:
    _dashboards: Dashboards
    _access: Access
    _sources: DataSources
    _charts: ChartRows
    _page: Frame
    _hosts: AllowedHosts
    _exchange: CookieExchange
    _downloads: Downloads | None
    _in_editor: bool

    @property
    def _reloading(self) -> ReloadingFolder | None:
        return self._dashboards if isinstance(self._dashboards, ReloadingFolder) else None

    async def frame(self, request: Request) -> Response:
        name = request.path_params["name"]
        try:
            dashboard = self._access.in_frame(name)
        except InvalidQueries as error:
            if not self._in_editor:
                response = render_error(error, request)
                if self._reloading is not None:
                    response.headers["Refresh"] = "1"  # seconds; the page reloads until the author has fixed the file
                return response
            dashboard = neutral(name)  # its page shows the error, and continues when the author has fixed the draft
        if dashboard is None and name and not FRAGMENT_NAME.fullmatch(name):  # without a name, the page says so at once
            raise HTTPException(404, NO_DASHBOARD)
        redirect = await self._exchange.redirect(request)
        status = 404 if dashboard is None else 200
        return redirect or self._page.response(
            request, dashboard or neutral(name), await self._hosts.of_frame(), status
        )

    async def panels(self, request: Request) -> Response:
        group = user_group(request)
        changes: ChangedPanels | None
        files = self._reloading
        revision = "" if files is None else files.revision
        try:
            saved = await in_zone_of_source(self._access.require(request), group, self._sources)
        except InvalidQueries as error:
            is_live = (await read_request(request, PanelsRequest)).live
            if files is None or not (is_live or self._in_editor):
                raise
            broken = ChangedFiles(self._sources, group, {}, files, revision)
            return BrokenFiles(request, error, broken, stays_open=is_live)
        wanted = await read_request(request, PanelsRequest)
        params = read_filters(saved, wanted.filters)
        runner = PanelRunner(saved, group, self._sources, self._charts, params, fresh=wanted.fresh)
        schemas = {panel.id: panel.schema for panel in saved.dashboard.panels if panel.query is not None}
        if files is not None:
            changes = ChangedFiles(self._sources, group, schemas, files, revision)
        elif PREVIEW_KEY in request.scope:  # a preview ends within minutes, so its responses do not stay open
            changes = None
        else:
            changes = ChangedPanels(self._sources, group, schemas)
        since = partial(changed_since, self._sources, group, schemas)
        return PanelStream(request, saved, runner, wanted, changes, since)

    async def issue_download(self, request: Request) -> Response:
        group = user_group(request)
        saved = self._access.require(request)
        if self._downloads is None:
            raise HTTPException(404, "Downloads need a store that keeps single-use codes.")
        wanted = await read_request(request, DownloadRequest)
        preview: Preview | None = request.scope.get(PREVIEW_KEY)
        session = None if preview is None else preview.session
        panel = request.path_params["panel"]
        code = await self._downloads.issue(
            group, saved, panel, wanted.filters, session, decimal_comma=wanted.decimal_comma
        )
        address = f"{request.scope.get('root_path', '')}/-/download/{code}"
        return JSONResponse({"address": address}, headers={"Cache-Control": "no-store"})

    async def explain(self, request: Request) -> Response:
        saved = self._access.require(request)
        if PREVIEW_KEY not in request.scope:
            raise HTTPException(404, "Panels are explained only in previews.")
        wanted = await read_request(request, FilteredBody)
        group = user_group(request)
        saved = await in_zone_of_source(saved, group, self._sources)
        panel = await explain_panel(saved, group, self._sources, request.path_params["panel"], wanted.filters)
        if panel is None:
            raise HTTPException(404, "There is no such panel.")
        head = f"As {group.provided_id} ({group.environment.name}, revision {group.revision})"
        return JSONResponse({"text": f"{head}\n\n{panel_text(panel)}"}, headers={"Cache-Control": "no-store"})

    async def download(self, request: Request) -> Response:
        if self._downloads is None:
            raise HTTPException(404, "There is no such file.")
        if request.method != "GET":  # Starlette also routes HEAD here, which would use up the address
            raise HTTPException(405, "This address works once, and only with GET.", headers={"Allow": "GET"})
        return await self._downloads.respond(request.path_params["code"], request.scope)
