"""Cookies with passes, for dashboards that are opened without an embedding page."""

# Instead of a token, the page's address contains the group's public handle, which selects the cookie. So two tabs can
# show two groups.

from __future__ import annotations

import re
from http.cookies import SimpleCookie
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tenantry.errors import InvalidToken
from tenantry.http import OUT_OF_SCOPE_KEY, user_group
from tenantry.middleware import (
    COOKIE_PREFIX,
    COOKIE_SECONDS,
    IN_QUERY_KEY,
    MASK,
    TOKEN_HEADER,
    Extractor,
    OriginCheck,
    TokenResolver,
    pass_for_cookie,
    query,
)
from tenantry.tokens import handle_of_pass

GROUP_HEADER: Final = b"x-user-group-handle"
"""Request header with a group's handle. It selects the group's cookie."""

GROUP_PARAMETER: Final = "group"
"""Query parameter with the group's handle, in the page's address."""

_HANDLE: Final = re.compile(rb"[0-9a-f]{16}")
_TOKEN_HEADER: Final = TOKEN_HEADER.lower().encode("ascii")


class CookieExchange:
    """If an address contains a token or pass, redirects to the address without it, and sets a cookie with a pass."""

    # An outer UserGroupMiddleware may have removed the token. Then the cookie gets the placeholder MASK, which that
    # middleware replaces with the pass.

    def __init__(self, resolver: TokenResolver) -> None:
        self._resolver = resolver
        self._extract = Extractor(query()).extract

    async def redirect(self, request: Request) -> Response | None:
        """Return a redirect that sets the cookie, or None if the address has no token. Raises InvalidToken,
        AmbiguousToken, StoreUnavailable."""
        raw = self._extract(request.scope)
        if raw is not None:
            group, shown = await self._resolver.resolve(raw), pass_for_cookie(raw).decode("ascii")
        elif request.scope.get(IN_QUERY_KEY):
            # The outer middleware may have found a pass that opens dashboards only.
            group, shown = request.scope.get(OUT_OF_SCOPE_KEY) or user_group(request), MASK
            if self._resolver.environment not in {None, group.environment.name}:
                raise InvalidToken(InvalidToken.MESSAGE)
        else:
            return None
        handle = group.handle.hex()
        rest = parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
        kept = [(name, value) for name, value in rest if name != GROUP_PARAMETER]
        headers = {
            "Location": f"{request.url.path}?{urlencode([*kept, (GROUP_PARAMETER, handle)])}",
            "Set-Cookie": _set_cookie(COOKIE_PREFIX + handle, shown),
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
        }
        return Response(status_code=303, headers=headers)


class SessionCookie:
    """ASGI middleware around UserGroupMiddleware. If ``X-User-Group-Handle`` names a group and the request has no token
    header, the middleware moves the pass from that group's cookie to the token header. It removes the cookies of all
    groups from HTTP requests. Raises OriginNotAllowed if the request comes from another origin, and InvalidToken if the
    cookie does not contain a pass of that group."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._origins = OriginCheck(advice="open the dashboard there, or embed it")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            named = [value for name, value in scope["headers"] if name == GROUP_HEADER]
            cookies = _cookies_of_groups(scope)
            has_token = any(name == _TOKEN_HEADER for name, _ in scope["headers"])
            if len(named) == 1 and _HANDLE.fullmatch(named[0]) and not has_token:
                raw = cookies.get(COOKIE_PREFIX + named[0].decode("ascii"))
                if raw is not None:
                    self._origins.require(scope)
                    scope["headers"] = [*scope["headers"], (_TOKEN_HEADER, _checked(raw, named[0]))]
        await self.app(scope, receive, send)


def _checked(raw: bytes, handle: bytes) -> bytes:
    found = handle_of_pass(raw)
    if found is None or found.hex().encode("ascii") != handle:
        raise InvalidToken(InvalidToken.MESSAGE)
    return raw


def _cookies_of_groups(scope: Scope) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    headers: list[Any] = []
    for name, value in scope["headers"]:
        if name != b"cookie":
            headers.append((name, value))
            continue
        rest = []
        for part in value.split(b";"):
            key, _, content = part.strip().partition(b"=")
            if key.startswith(COOKIE_PREFIX.encode()):
                found[key.decode("latin-1")] = content
            elif part.strip():
                rest.append(part.strip())
        if rest:
            headers.append((name, b"; ".join(rest)))
    scope["headers"] = headers
    return found


def _set_cookie(name: str, value: str) -> str:
    cookies: SimpleCookie = SimpleCookie({name: value})
    morsel: Any = cookies[name]  # typeshed only allows str; httponly and secure are booleans
    morsel.update({"path": "/", "max-age": str(COOKIE_SECONDS), "httponly": True, "secure": True, "samesite": "Lax"})
    return str(morsel.OutputString())
