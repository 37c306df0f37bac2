"""A direct visit: the token in an address is exchanged, once, for a cookie of that group.

The page of a dashboard then stands at an address that carries the group's public handle, and its script names this
handle with each request. So two customers in two tabs do not mix: the cookie's name has the handle, and the token in it
has to be of the same group. A page of another origin cannot use it: browsers let it set such a header only where the
app's CORS says so, and even then its origin is checked (``OriginCheck``).
"""

from __future__ import annotations

import re
from http.cookies import SimpleCookie
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tenantry.errors import InvalidToken
from tenantry.http import user_group
from tenantry.middleware import (
    COOKIE_PREFIX,
    IN_QUERY_KEY,
    MASK,
    TOKEN_HEADER,
    OriginCheck,
    TokenResolver,
    create_extractor,
    query,
)
from tenantry.tokens import decode

GROUP_HEADER: Final = b"x-user-group-handle"
"""Names the group whose cookie is meant."""

GROUP_PARAMETER: Final = "group"
"""The same in the address of the page."""

COOKIE_SECONDS: Final = 3600
"""How long a page can be loaded again without being opened from its first address."""

_HANDLE: Final = re.compile(rb"[0-9a-f]{16}")
_TOKEN_HEADER: Final = TOKEN_HEADER.lower().encode("ascii")


class CookieExchange:
    """Answers the page's first address, which has the token in its query.

    A UserGroupMiddleware around the app has taken it out of there, and found its group. Then the cookie is sent with
    the mask, and that middleware puts the token into it.
    """

    def __init__(self, resolver: TokenResolver) -> None:
        self._resolver = resolver
        self._extract = create_extractor(query())

    async def redirect(self, request: Request) -> Response | None:
        """To the page's own address, with the cookie; None for an address without a token. Raises InvalidToken,
        AmbiguousToken, StoreUnavailable."""
        raw = self._extract(request.scope)
        if raw is not None:
            group, shown = await self._resolver.resolve(raw), raw.decode("ascii")
        elif request.scope.get(IN_QUERY_KEY):
            group, shown = user_group(request), MASK
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
    """ASGI middleware before UserGroupMiddleware: the cookie of the group that a request names becomes its token.

    A token that the request carries itself stays, unless a middleware around this one has taken it out: then the two
    have to be of one group. The cookies of all groups are taken out in any case. Raises OriginNotAllowed where a page
    of another origin may have asked: UserGroupMiddleware does not check a header.
    """

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
    """Raises InvalidToken for a token of another group. Its signature is checked later."""
    token = decode(raw)
    if token is None or token.handle.hex().encode("ascii") != handle:
        raise InvalidToken(InvalidToken.MESSAGE)
    return raw


def _cookies_of_groups(scope: Scope) -> dict[str, bytes]:
    """Takes our cookies out of the scope."""
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
    morsel: Any = cookies[name]  # typeshed knows text only, and httponly and secure are flags
    morsel.update({"path": "/", "max-age": str(COOKIE_SECONDS), "httponly": True, "secure": True, "samesite": "Lax"})
    return str(morsel.OutputString())
