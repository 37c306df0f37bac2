"""error_handler: Tenantry's errors in an app's own views become the answers that docs/errors.md lists."""

from __future__ import annotations

import contextlib
import logging
from typing import cast, overload

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from tenantry.accessors import HANDSHAKE_KEY
from tenantry.errors import TenantryError
from tenantry.http import error_response

POLICY_VIOLATION = 1008
"""The close code of a websocket that ends for an error of ours (RFC 6455 section 7.4.1)."""

_log = logging.getLogger("tenantry.dashboards")


@overload
async def error_handler(request: Request, error: Exception) -> Response: ...


@overload
async def error_handler(request: WebSocket, error: Exception) -> None: ...


async def error_handler(request: HTTPConnection, error: Exception) -> Response | None:
    """Answer a TenantryError that a view raised: a page for people, JSON for programs, with the error's own status.

    ``Starlette(exception_handlers={TenantryError: error_handler})``, or
    ``app.add_exception_handler(TenantryError, error_handler)``. Without it such an error is the app's own 500, but for
    a missing token, which the middleware answers. A websocket that is not accepted yet gets the same answer as its
    handshake's (ASGI's ``websocket.http.response``; where the server or UserGroupMiddleware is not there for it: 403).
    One that is open is closed with 1008 and the error's code.
    """
    error = cast("TenantryError", error)  # what it is registered for; Starlette types a handler's argument as Exception
    response = render_error(error, request)
    if not isinstance(request, WebSocket):
        return response
    # Starlette may pass a WebSocket of its own making, not the view's: only the middleware has seen all that was
    # sent. A close is right in every state.
    handshake = request.scope.get(HANDSHAKE_KEY)
    with contextlib.suppress(WebSocketDisconnect):  # the client has left meanwhile
        if (
            handshake is not None
            and not handshake.answered
            and "websocket.http.response" in (request.scope.get("extensions") or {})
        ):
            await request.send_denial_response(response)
        elif WebSocketState.DISCONNECTED not in {request.application_state, request.client_state}:
            await request.close(POLICY_VIOLATION, error.code)
    return None  # Starlette would send a Response as the answer of a handshake, accepted or not


def render_error(error: TenantryError, request: HTTPConnection) -> Response:
    """The answer to an error of ours. One that is not the viewer's fault is logged, with where it came from."""
    if error.status >= 500:
        _log.error("%s: %s", error.code, error.message, exc_info=error)
    status, headers, body = error_response(error, request.scope)
    response = Response(body, status)
    response.raw_headers = headers
    return response
