"""NoEncodedSlash: an address with an encoded slash is none of a mount of dashboards."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from tenantry.errors import NotFound
from tenantry.http import has_encoded_slash
from tenantry.middleware import send_error


class NoEncodedSlash:
    """ASGI middleware: answers such an address with 404, in front of every route."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if has_encoded_slash(scope):
            await send_error(NotFound("there is nothing at this address"), scope, send)
        else:
            await self.app(scope, receive, send)
