from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from tenantry.dashboards import MountingApp
from tenantry.datasources import DataSources, Limits
from tenantry.editor.authors import FindAuthor
from tenantry.editor.files import file_routes
from tenantry.editor.language import language_routes
from tenantry.editor.page import page_routes
from tenantry.editor.previews import preview_routes
from tenantry.editor.requests import EditorEndpoints, EditorRequest, NoBody
from tenantry.editor.runs import run_routes
from tenantry.editor.workbench import EditorStore, Workbench
from tenantry.errors import InvalidSettings, TenantryError
from tenantry.http import error_response
from tenantry.middleware import TokenResolver

EDITOR_LIMITS = Limits(pool_size=2)
"""The limits of authors' queries, unless ``mount_editor`` gets others."""


def mount_editor(
    app: MountingApp,
    folder: str | Path,
    resolver: TokenResolver,
    sources: DataSources,
    *,
    authors: FindAuthor,
    path: str = "/editor",
    limits: Limits = EDITOR_LIMITS,
    read_only: bool = False,
) -> None:
    """Serve the SQL editor for the dashboards and queries of ``folder`` below ``path`` of an app.

    ``authors`` finds the author of a request. Authors' queries have separate connections, within ``limits``, so that
    they do not slow down viewers. With ``read_only``, no file is written. Raises InvalidSettings for an invalid
    path, or if the store of ``sources`` lacks a part that the editor needs.
    """
    if not path.startswith("/") or path.endswith("/"):
        raise InvalidSettings(f"path is {path!r}: it must begin with / and must not end with /, as in /editor")
    if not isinstance(store := sources.store, EditorStore):
        raise InvalidSettings("the editor needs a store with groups: give DataSources a SQLStore or MemoryStore")
    workbench = Workbench(Path(folder), store, sources.separate(limits), read_only)
    app.mount(path, editor_app(EditorEndpoints(workbench, authors), resolver), name="editor")


def editor_app(endpoints: EditorEndpoints, resolver: TokenResolver) -> Starlette:
    return Starlette(
        routes=[
            *page_routes(),
            endpoints.post("/-/state", NoBody, _State(endpoints.workbench).respond),
            *file_routes(endpoints),
            *language_routes(endpoints),
            *run_routes(endpoints),
            *preview_routes(endpoints, resolver),
        ],
        exception_handlers={TenantryError: _send_error, HTTPException: _plain_error},
    )


class _State:
    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench

    async def respond(self, asked: EditorRequest[NoBody]) -> Response:
        author = asked.author
        environments = [each.name for each in await self._workbench.store.environments.list()]
        return JSONResponse(
            {
                "author": author.name,
                "rights": sorted(author.rights),
                "environments": [name for name in environments if author.may_use(name)],
                "read_only": self._workbench.read_only,
            }
        )


async def _send_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, TenantryError)  # noqa: S101  # Starlette types the argument as Exception
    status, headers, body = error_response(error, request.scope)
    response = Response(body, status)
    response.raw_headers = headers
    return response


async def _plain_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  # Starlette types the argument as Exception
    return PlainTextResponse(error.detail, error.status_code, headers=error.headers)
