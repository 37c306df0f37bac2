from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from tenantry.dashboards import StrictBody, read_request
from tenantry.editor.requests import EditorEndpoints
from tenantry.editor.sessions import EditorSessions, cookie_name, session_keys
from tenantry.errors import InvalidBody, NoAuthor


class LinkBody(StrictBody):
    code: str
    """The code in the fragment of a one-time link."""


def session_routes(endpoints: EditorEndpoints, sessions: EditorSessions) -> list[BaseRoute]:
    """Return the routes that open and end a session. The second one ends the sessions of all session cookies in the
    request."""

    async def open_session(request: Request) -> Response:
        endpoints.require_page(request)
        _require_https(request)
        key = await sessions.open((await read_request(request, LinkBody)).code)
        return _with_cookie(request, key, sessions.seconds)

    async def end(request: Request) -> Response:
        endpoints.require_page(request)
        if not any([await sessions.end(key) for key in session_keys(request)]):
            raise NoAuthor(NoAuthor.MESSAGE)
        return _with_cookie(request, "", 0)

    return [
        Route("/-/session", open_session, methods=["POST"]),
        Route("/-/session/end", end, methods=["POST"]),
    ]


def _with_cookie(request: Request, key: str, seconds: int) -> Response:
    response = JSONResponse({}, headers={"Cache-Control": "no-store"})
    response.set_cookie(
        cookie_name(request),
        key,
        max_age=seconds,
        path=request.scope.get("root_path", "") or "/",
        secure=True,
        httponly=True,
        samesite="strict",
    )
    return response


def _require_https(request: Request) -> None:
    """Raises InvalidBody if the browser would discard the session's cookie, so that the one-time link is not used up in
    vain."""
    origin = urlsplit(request.headers.get("origin", ""))
    if origin.scheme == "http" and not _is_local(origin.hostname or ""):
        raise InvalidBody("open the editor at an https:// address: browsers do not keep a session over http://")


def _is_local(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
