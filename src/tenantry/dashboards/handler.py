"""error_handler: Tenantry's errors in an app's own views become the answers that docs/errors.md lists."""

from __future__ import annotations

import logging
from typing import cast

from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.websockets import WebSocket

from tenantry.errors import TenantryError
from tenantry.refusals import refusal

POLICY_VIOLATION = 1008
"""The close code of a websocket that ends for an error of ours (RFC 6455 section 7.4.1)."""

_log = logging.getLogger("tenantry.dashboards")


async def error_handler(request: HTTPConnection, error: Exception) -> Response:
    """Answer a TenantryError that a view raised: a page for people, JSON for programs, with the error's own status.

    ``Starlette(exception_handlers={TenantryError: error_handler})``, or
    ``app.add_exception_handler(TenantryError, error_handler)``. Without it such an error is the app's own 500, but for
    a missing token, which the middleware answers. A websocket is closed with 1008 and the error's code.
    """
    error = cast("TenantryError", error)  # what it is registered for; Starlette's type of a handler says Exception
    if isinstance(request, WebSocket):
        await request.close(POLICY_VIOLATION, error.code)
        return Response()  # Starlette sends none to a websocket
    return refuse(error, request)


def refuse(error: TenantryError, request: HTTPConnection) -> Response:
    """The answer to an error of ours. One that is not the viewer's fault is logged, with where it came from."""
    if error.status >= 500:
        _log.error("%s: %s", error.code, error.message, exc_info=error)
    status, headers, body = refusal(error, request.scope)
    response = Response(body, status)
    response.raw_headers = headers
    return response
