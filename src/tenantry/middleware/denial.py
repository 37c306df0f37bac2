"""deny: an error as the answer to a request or to a websocket's handshake."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenantry.errors import TenantryError
from tenantry.http import error_response
from tenantry.middleware.privacy import Send

POLICY_VIOLATION = 1008
"""The close code of a websocket that may not be opened (RFC 6455 section 7.4.1)."""


async def deny(error: TenantryError, scope: Mapping[str, Any], send: Send) -> None:
    """Answers with ``error``: an HTTP response, or for a websocket that is not yet accepted the Denial Response of the
    ASGI extension ``websocket.http.response``; where the server lacks it, a close before accept (a bare 403)."""
    if scope["type"] == "http":
        prefix = "http.response"
    elif "websocket.http.response" in (scope.get("extensions") or {}):
        prefix = "websocket.http.response"
    else:
        await close(error, send)
        return
    status, headers, body = error_response(error, scope)
    await send({"type": f"{prefix}.start", "status": status, "headers": headers})
    await send({"type": f"{prefix}.body", "body": body})


async def close(error: TenantryError, send: Send) -> None:
    """Closes a websocket, whether it was accepted or not. The reason is the error's code."""
    await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": error.code})
