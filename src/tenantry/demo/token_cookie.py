"""TokenCookieRedirect: takes the token out of the address before anything can store it.

A dashboard is opened with its token in the query. The app answers with a redirect to a clean address and a cookie, so
that the address bar, the history, a bookmark and a Referer never hold the token. The cookie's path is that of the one
group (its public handle), so that two airlines can be open in two tabs of one browser.
"""

from __future__ import annotations

from http.cookies import SimpleCookie
from typing import TYPE_CHECKING, Any

from starlette.requests import HTTPConnection
from starlette.responses import Response

from tenantry.dashboards.error_handler import render_error
from tenantry.errors import MissingToken, TenantryError
from tenantry.middleware import query
from tenantry.middleware.extraction import create_extractor

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from tenantry.resolver import Resolver

COOKIE = "USER_GROUP_TOKEN"
COOKIE_SECONDS = 3600
"""How long a tab can be reloaded without being opened from its address again."""


class TokenCookieRedirect:
    """An ASGI app for ``GET /?USER_GROUP_TOKEN=…``. Refuses as UserGroupMiddleware does."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._extract = create_extractor(query())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = await self._redirect(scope)
        except TenantryError as error:
            response = render_error(error, HTTPConnection(scope))
        await response(scope, receive, send)

    async def _redirect(self, scope: Scope) -> Response:
        raw = self._extract(scope)
        if raw is None:
            raise MissingToken("the address carries no USER_GROUP_TOKEN")
        group = await self._resolver.resolve(raw)
        path = f"{scope.get('root_path', '')}/d/{group.handle.hex()}/"
        return Response(
            status_code=303,
            headers={
                "Location": path,
                "Set-Cookie": _cookie(raw.decode("ascii"), path, secure=scope.get("scheme") == "https"),
                "Cache-Control": "no-store",
                "Referrer-Policy": "no-referrer",
            },
        )


def _cookie(token: str, path: str, *, secure: bool) -> str:
    cookie: SimpleCookie = SimpleCookie()
    cookie[COOKIE] = token
    morsel: Any = cookie[COOKIE]  # typeshed knows text only, and httponly and secure are flags
    morsel.update({"path": path, "max-age": str(COOKIE_SECONDS), "httponly": True, "samesite": "Lax", "secure": secure})
    return str(morsel.OutputString())
