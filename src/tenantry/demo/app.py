"""demo_app: the dashboards of all sixteen airlines, as a Starlette app that any other can mount.

A dashboard is opened with its token in the query. The app answers with a redirect to a clean address and a cookie, so
that the address bar, the history, a bookmark and a Referer never hold the token. The cookie's path is that of the one
group (its public handle), so that two airlines can be open in two tabs of one browser.
"""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from http.cookies import SimpleCookie
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from tenantry.dashboards.endpoint import dashboard, render_error
from tenantry.demo.page import render
from tenantry.errors import InvalidToken, MissingToken, TenantryError
from tenantry.middleware import UserGroupMiddleware, cookie, query
from tenantry.middleware.extraction import create_extractor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import Receive, Scope, Send

    from tenantry.datasources import DataSources
    from tenantry.groups import Record, UserGroup
    from tenantry.resolver import Resolver

COLOUR = re.compile(r"#?([0-9a-fA-F]{6})")
"""The one spelling that becomes part of a stylesheet."""

DEFAULT = "2f5bd8"

TEXT_CONTRAST = 4.5
"""The contrast of text of any size with its ground (WCAG 2.2, level AA)."""

LIGHT_GROUNDS, DARK_GROUNDS = ("ffffff", "f7f8fa"), ("0f1115", "171a21")
"""Page and surface of tokens.css in both modes."""


def accent_of(variables: Record) -> str:
    """The six digits of the property ``accent``, or those of the default when there is none, or it is no colour."""
    value = variables["accent"] if "accent" in variables else DEFAULT  # noqa: SIM401  # a Record has no methods
    found = COLOUR.fullmatch(value) if isinstance(value, str) else None
    return found[1].lower() if found else DEFAULT


def stylesheet(colour: str) -> str:
    """The rules that set ``--accent`` for both modes, as close to ``colour`` (six hex digits) as contrast allows."""
    light, dark = readable(colour, LIGHT_GROUNDS), readable(colour, DARK_GROUNDS)
    return (
        f":root {{ --accent: #{light}; }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ --accent: #{dark}; }} }}\n"
    )


def readable(colour: str, grounds: tuple[str, ...]) -> str:
    """``colour``, mixed with as little black or white as makes text in it readable on every ground."""
    end = max(("000000", "ffffff"), key=lambda ink: _contrast(ink, grounds))
    pairs = list(zip(_parts(colour), _parts(end), strict=True))
    for step in range(100):
        mixed = "".join(f"{round(a + (b - a) * step / 100):02x}" for a, b in pairs)
        if _contrast(mixed, grounds) >= TEXT_CONTRAST:
            return mixed
    return end


def _contrast(colour: str, grounds: tuple[str, ...]) -> float:
    """The lowest contrast ratio of a colour with these grounds (WCAG 2.2)."""
    pairs = (sorted((_luminance(colour), _luminance(ground))) for ground in grounds)
    return min((high + 0.05) / (low + 0.05) for low, high in pairs)


def _luminance(colour: str) -> float:
    shares = [part / 255 for part in _parts(colour)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return float(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])


def _parts(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (0, 2, 4)]


FOREVER = "public, max-age=31536000, immutable"

MEDIA_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}


@dataclass(frozen=True)
class Asset:
    """One file. ``address`` is its name with a hash of its content, so that it may be cached for ever."""

    name: str
    content: bytes

    @cached_property
    def address(self) -> str:
        """The last part of its path."""
        stem, _, suffix = self.name.rpartition("/")[2].rpartition(".")
        return f"{stem}-{sha256(self.content).hexdigest()[:12]}.{suffix}"

    @cached_property
    def packed(self) -> bytes:
        """The content by gzip."""
        return gzip.compress(self.content, mtime=0)

    def response(self, *, packed: bool) -> Response:
        """It may be cached for ever. ``packed``: by gzip."""
        headers = {"Cache-Control": FOREVER, "Vary": "Accept-Encoding", "X-Content-Type-Options": "nosniff"}
        media_type = MEDIA_TYPES[self.name.rpartition(".")[2]]
        if packed:
            return Response(self.packed, headers=headers | {"Content-Encoding": "gzip"}, media_type=media_type)
        return Response(self.content, headers=headers, media_type=media_type)


class Assets:
    """Some files of ``tenantry/static``. Raises FileNotFoundError for a bundle that was never built."""

    def __init__(self, *names: str) -> None:
        folder = files("tenantry") / "static"
        missing = [name for name in names if not (folder / name).is_file()]
        if missing:
            raise FileNotFoundError(
                f"tenantry/static/{missing[0]} is not there: in a clone, run `python hatch_build.py` or "
                "`pip install -e .`"
            )
        assets = [Asset(name, (folder / name).read_bytes()) for name in names]
        self.addresses: dict[str, str] = {asset.name: asset.address for asset in assets}
        self._assets = {asset.address: asset for asset in assets}

    async def respond(self, request: Request) -> Response:
        """Answers ``GET …/{address}``."""
        asset = self._assets.get(request.path_params["address"])
        if asset is None:
            raise HTTPException(404)
        return asset.response(packed="gzip" in request.headers.get("accept-encoding", ""))


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
        cookies: SimpleCookie = SimpleCookie({COOKIE: raw.decode("ascii")})
        morsel: Any = cookies[COOKIE]  # typeshed knows text only, and httponly and secure are flags
        morsel.update({"path": path, "max-age": str(COOKIE_SECONDS), "httponly": True, "samesite": "Lax"})
        morsel["secure"] = scope.get("scheme") == "https"
        headers = {"Location": path, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
        return Response(status_code=303, headers=headers | {"Set-Cookie": str(morsel.OutputString())})


POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "require-trusted-types-for 'script'"
)
"""No inline script or style, no eval, nothing from another host. ``dashboard`` adds who may embed the page."""


def demo_app(resolver: Resolver, sources: DataSources, *, frame_ancestors: Sequence[str] = ()) -> Starlette:
    """``GET /?USER_GROUP_TOKEN=…`` opens a group's dashboard and leads to ``/d/<public handle>/``.

    All addresses in its pages are relative: mount it anywhere. Raises FileNotFoundError if the bundles are not built.
    """
    assets = Assets("bundles/tokens.css", "dashboard.css", "dashboard.js", "bundles/chart.js")

    async def departures(group: UserGroup, variables: Record, request: Request) -> Response:
        if request.path_params["handle"] != group.handle.hex():
            raise InvalidToken("this access is of another group than the address")
        status, html = await render(group, variables, sources, assets.addresses, accent_of(variables))
        return HTMLResponse(html, status, headers={"Content-Security-Policy": POLICY})

    own_token = Middleware(UserGroupMiddleware, resolver=resolver, carriers=cookie(COOKIE), required=True)
    page = dashboard(departures, frame_ancestors=frame_ancestors)
    return Starlette(
        routes=[
            Route("/", TokenCookieRedirect(resolver)),
            Route("/d/{handle}/", page, middleware=[own_token]),
            Route("/assets/{address}", assets.respond),
            Route("/accent/{colour}.css", accent),
        ]
    )


async def accent(request: Request) -> Response:
    """The stylesheet of one accent. It holds nothing of a group but six hex digits, so it needs no token."""
    found = COLOUR.fullmatch(request.path_params["colour"])
    if found is None:
        raise HTTPException(404)
    headers = {"Cache-Control": FOREVER, "X-Content-Type-Options": "nosniff"}
    return Response(stylesheet(found[1].lower()), media_type="text/css; charset=utf-8", headers=headers)
