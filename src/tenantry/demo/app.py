"""demo_app: the dashboards of all sixteen airlines, as a Starlette app that any other can mount."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from tenantry.dashboards.endpoint import dashboard
from tenantry.demo.accent import COLOUR, stylesheet
from tenantry.demo.assets import FOREVER, Assets
from tenantry.demo.page import render
from tenantry.demo.token_cookie import COOKIE, TokenCookieRedirect
from tenantry.errors import InvalidToken
from tenantry.middleware import UserGroupMiddleware, cookie

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenantry.datasources import DataSources
    from tenantry.groups import Record, UserGroup
    from tenantry.resolver import Resolver

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
        status, html = await render(group, variables, sources, assets.addresses)
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
