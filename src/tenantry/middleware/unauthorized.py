from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, Final, TypeAlias

from tenantry.errors import MissingToken, OutOfScope, TenantryError
from tenantry.http import GROUP_REQUESTED_KEY, HANDSHAKE_KEY, GroupRequested, Handshake, error_response
from tenantry.middleware.cache_headers import Message, Receive, Send

App: TypeAlias = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

POLICY_VIOLATION: Final = 1008
"""The close code of a refused websocket (RFC 6455 section 7.4.1)."""

_HELD_MESSAGES: Final = 8
_NO_HANDSHAKE: Final = Handshake()  # for HTTP requests


class LateUnauthorized:
    """Runs an app without a user group. If a view requires a group, the response is ``refusal``."""

    # If a view raises MissingToken, frameworks such as Starlette send a 500 or close the websocket before the error
    # arrives here. So the 500 or the close is held back until the app ends or sends more than an error page.

    __slots__ = ("_handshake", "_held", "_last", "_refusal", "_requested", "_send")

    def __init__(self, send: Send, refusal: TenantryError) -> None:
        self._send = send
        self._refusal = refusal
        self._requested = GroupRequested()
        self._handshake = _NO_HANDSHAKE
        self._held: list[Message] = []
        self._last = ""

    async def run(self, app: App, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        scope[GROUP_REQUESTED_KEY] = self._requested
        if scope["type"] == "websocket":
            self._handshake = scope[HANDSHAKE_KEY] = Handshake()
        try:
            await app(scope, receive, self.send)
        except (MissingToken, OutOfScope) as error:
            if not self._last:
                await send_error(error, scope, send)
            elif self._last in {"websocket.accept", "websocket.send"}:
                await _close(error, send)
            else:  # too late for a 401: the response has begun, or the websocket is closed
                raise
        except Exception:
            await self._release()
            raise
        else:
            if self._held and self._requested.made:
                await send_error(self._refusal, scope, send)
            else:
                await self._release()

    def send(self, message: Message) -> Awaitable[None]:
        if self._held or self._may_hide_refusal(message):
            self._held.append(message)
            return self._release() if len(self._held) > _HELD_MESSAGES else _nothing()
        self._handshake.answered = True
        self._last = message["type"]
        return self._send(message)

    def _may_hide_refusal(self, message: Message) -> bool:
        if message["type"] == "http.response.start":
            hides: bool = message["status"] == 500
        else:
            hides = message["type"] == "websocket.close" and not self._last and self._requested.made
        # Litestar sends its 500 while it handles the view's error, so sys.exc_info() shows that error. If it shows any
        # other error, do not hold back the response. With Starlette it shows no error here, but Starlette raises the
        # view's error again later.
        return hides and not (self._requested.made and _is_other_error(sys.exc_info()[1]))

    async def _release(self) -> None:
        held, self._held = self._held, []
        for message in held:
            self._last = message["type"]
            await self._send(message)


def _is_other_error(error: BaseException | None) -> bool:
    if error is None:
        return False
    while error is not None and not isinstance(error, MissingToken | OutOfScope):
        error = error.__cause__
    return error is None


async def _nothing() -> None: ...


async def send_error(error: TenantryError, scope: Mapping[str, Any], send: Send) -> None:
    """Send an error as the response. If the server does not support denial responses, close the websocket instead."""
    if scope["type"] == "http":
        prefix = "http.response"
    elif "websocket.http.response" in (scope.get("extensions") or {}):
        prefix = "websocket.http.response"
    else:
        await _close(error, send)
        return
    status, headers, body = error_response(error, scope)
    await send({"type": f"{prefix}.start", "status": status, "headers": headers})
    await send({"type": f"{prefix}.body", "body": body})


async def _close(error: TenantryError, send: Send) -> None:
    await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": error.code})
