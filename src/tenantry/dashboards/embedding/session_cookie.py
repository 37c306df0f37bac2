"""Cookies with passes, for dashboards that are opened without an embedding page."""

# Instead of a token, the page's address contains a public name of the group and viewer, which selects the cookie. So
# two tabs can show two groups, or two viewers of one group.

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from http.cookies import SimpleCookie
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tenantry.errors import InvalidToken
from tenantry.groups import DASHBOARD, UserGroup, thaw
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

GROUP_HEADER: Final = b"x-user-group-handle"
"""Request header that contains a cookie's name without COOKIE_PREFIX."""

GROUP_PARAMETER: Final = "group"
"""Query parameter of the page's address, with the same value as GROUP_HEADER."""

_NAME_KEY: Final = "tenantry.session_cookie"
"""ASGI scope key for the name of the cookie whose pass is now in the token header."""

_COOKIE: Final = re.compile(rf"{COOKIE_PREFIX}[0-9a-f]+")

_OTHERS: Final = 4_096
"""When a visit sets a cookie with a pass, the oldest other cookies with passes are deleted, until at most this many
characters are left. By default, nginx accepts 8 KiB of cookies."""

_TOKEN_HEADER: Final = TOKEN_HEADER.lower().encode("ascii")


class CookieExchange:
    """Redirects from an address with a token or pass to the same address without it, and sets a cookie with a pass."""

    # An outer UserGroupMiddleware may have removed the token. Then the cookie gets the placeholder MASK, which that
    # middleware replaces with the pass.

    def __init__(self, resolver: TokenResolver) -> None:
        self._resolver = resolver
        self._extract = Extractor(query()).extract

    async def redirect(self, request: Request) -> Response | None:
        """Return the redirect, or None if the address has no token. Raises InvalidToken, AmbiguousToken,
        StoreUnavailable."""
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
        cookie = _name_of(group)
        rest = parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
        kept = [(name, value) for name, value in rest if name != GROUP_PARAMETER]
        headers = {
            "Location": f"{request.url.path}?{urlencode([*kept, (GROUP_PARAMETER, cookie)])}",
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
        }
        response = Response(status_code=303, headers=headers)
        response.headers.append("Set-Cookie", _set_cookie(COOKIE_PREFIX + cookie, shown))
        for name in _oldest(request.cookies, COOKIE_PREFIX + cookie):
            response.headers.append("Set-Cookie", _set_cookie(name, "", seconds=0))
        return response


class SessionCookie:
    """ASGI middleware around UserGroupMiddleware. If ``X-User-Group-Handle`` names a cookie and the request has no
    token header, the middleware moves the pass from that cookie to the token header, or raises OriginNotAllowed if
    the request comes from another origin. It removes all cookies with passes."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._origins = OriginCheck(advice="open the dashboard there, or embed it")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            named = [value.decode("latin-1") for name, value in scope["headers"] if name == GROUP_HEADER]
            cookies = _cookies_of_groups(scope)
            has_token = any(name == _TOKEN_HEADER for name, _ in scope["headers"])
            if len(named) == 1 and not has_token and (raw := cookies.get(COOKIE_PREFIX + named[0])) is not None:
                self._origins.require(scope)
                scope[_NAME_KEY] = named[0]
                scope["headers"] = [*scope["headers"], (_TOKEN_HEADER, raw)]
        await self.app(scope, receive, send)


class SessionCookieCheck:
    """ASGI middleware within UserGroupMiddleware. Raises InvalidToken if the cookie's name is for another group or
    viewer than the pass in the cookie."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (name := scope.get(_NAME_KEY)) is not None:
            group: UserGroup = scope["user_group"]
            if group.viewer is None or name != _name_of(group):
                raise InvalidToken(InvalidToken.MESSAGE)
        await self.app(scope, receive, send)


def _name_of(group: UserGroup) -> str:
    # The name depends on all claims of the pass except its times, so a later pass for the same viewer replaces the
    # cookie.
    viewer = group.viewer
    contents = (None, {}, (DASHBOARD,)) if viewer is None else (viewer.id, thaw(viewer.attributes), viewer.scope)
    handle = group.handle.hex()
    return handle + hashlib.sha256(json.dumps([handle, *contents], sort_keys=True).encode()).hexdigest()[:16]


def _oldest(cookies: Mapping[str, str], but: str) -> list[str]:
    names, left = [], _OTHERS
    for name, value in reversed(list(cookies.items())):  # browsers send older cookies first (RFC 6265 section 5.4)
        if _COOKIE.fullmatch(name) and name != but:
            left -= len(name) + len(value)
            if left < 0:
                names.append(name)
    return names


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


def _set_cookie(name: str, value: str, seconds: int = COOKIE_SECONDS) -> str:
    cookies: SimpleCookie = SimpleCookie({name: value})
    morsel: Any = cookies[name]  # typeshed only allows str; httponly and secure are booleans
    morsel.update({"path": "/", "max-age": str(seconds), "httponly": True, "secure": True, "samesite": "Lax"})
    return str(morsel.OutputString())
