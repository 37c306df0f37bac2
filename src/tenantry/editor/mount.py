from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from tenantry.dashboards import MountingApp
from tenantry.datasources import DataSources, Limits
from tenantry.editor.authors import FindAuthor
from tenantry.editor.drafts import QueryDrafts
from tenantry.editor.files import file_routes
from tenantry.editor.language import language_routes
from tenantry.editor.page import page_routes
from tenantry.editor.previews import preview_routes
from tenantry.editor.requests import EditorEndpoints, EditorRequest, NoBody, status_for_author
from tenantry.editor.runs import run_routes
from tenantry.editor.sessions import SESSION_HOURS, EditorSessions, SessionAuthors, session_routes
from tenantry.editor.workbench import EditorStore, Workbench
from tenantry.errors import InvalidSettings, TenantryError
from tenantry.http import error_response
from tenantry.middleware import TokenResolver

EDITOR_LIMITS = Limits(pool_size=3)
"""The limits of authors' queries, unless ``mount_editor`` gets others: two queries at a time on each data source, and
one more connection for short queries, such as plans."""

_LONGEST = 24 * 30
"""Maximum hours of a session."""


class RoutedApp(MountingApp, Protocol):
    def add_route(self, path: str, route: Callable[[Request], Any], methods: list[str] | None = None) -> None: ...


def mount_editor(
    app: RoutedApp,
    folder: str | Path,
    resolver: TokenResolver,
    sources: DataSources,
    *,
    authors: FindAuthor | None = None,
    path: str = "/editor",
    limits: Limits = EDITOR_LIMITS,
    read_only: bool = False,
    session_hours: float = SESSION_HOURS,
) -> None:
    """Serve the SQL editor in an app, below ``path``. It edits the dashboards and queries of ``folder``.

    ``authors`` finds the author of a request. Without it, authors open one-time links (``tenantry editor link``). Each
    link begins a session of ``session_hours``. Authors' queries have separate connections, within ``limits``,
    so that they do not slow down viewers. With ``read_only``, no file is written. Raises InvalidSettings for an invalid
    ``path`` or ``session_hours``, or if the store of ``sources`` lacks a part that the editor needs.
    """
    if not path.startswith("/") or path.endswith("/"):
        raise InvalidSettings(f"path is {path!r}: it must begin with / and must not end with /, as in /editor")
    if not isinstance(store := sources.store, EditorStore):
        raise InvalidSettings("the editor needs a store with groups: give DataSources a SQLStore or MemoryStore")
    if not 0 < session_hours <= _LONGEST:
        raise InvalidSettings(f"session_hours is {session_hours!r}: it must be more than 0 and at most {_LONGEST}")
    guarded, unguarded = sources.for_authors(limits), sources.for_authors(limits, guarded=False)
    workbench = Workbench(Path(folder), store, guarded, unguarded, limits, read_only)
    sessions = EditorSessions(store, hours=session_hours)
    endpoints = EditorEndpoints(workbench, authors or SessionAuthors(sessions), links=authors is None)
    app.mount(path, editor_app(endpoints, resolver, sessions if authors is None else None), name="editor")
    app.add_route(path, _with_slash, methods=["GET"])


def editor_app(endpoints: EditorEndpoints, resolver: TokenResolver, sessions: EditorSessions | None) -> Starlette:
    queries = QueryDrafts(endpoints.workbench.folder)
    return Starlette(
        routes=[
            *page_routes(links=sessions is not None),
            *(() if sessions is None else session_routes(endpoints, sessions)),
            endpoints.post("/-/state", NoBody, partial(_state, endpoints.workbench, sessions is not None)),
            *file_routes(endpoints),
            *language_routes(endpoints, queries),
            *run_routes(endpoints, queries),
            *preview_routes(endpoints, queries, resolver),
        ],
        exception_handlers={TenantryError: _send_error},
    )


def _with_slash(request: Request) -> Response:
    # Starlette redirects such a request only if no other route of the app matches it. The address is relative, because
    # a proxy may have removed the beginning of the path.
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"./{request.url.path.rpartition('/')[2]}/{query}", 308)


async def _state(workbench: Workbench, has_sessions: bool, asked: EditorRequest[NoBody]) -> Response:
    author = asked.author
    environments = [each.name for each in await workbench.store.environments.list()]
    return JSONResponse(
        {
            "author": author.name,
            "rights": sorted(author.rights),
            "environments": [name for name in environments if author.may_use(name)],
            "read_only": workbench.read_only,
            "has_session": has_sessions,
        }
    )


async def _send_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, TenantryError)  # noqa: S101  # Starlette types the argument as Exception
    _, headers, body = error_response(error, request.scope)
    response = Response(body, status_for_author(error))
    response.raw_headers = headers
    return response
