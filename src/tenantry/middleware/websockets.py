from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final

from tenantry.aio import ReadAhead
from tenantry.clock import monotonic_with_suspend
from tenantry.groups import UserGroup
from tenantry.http import HANDSHAKE_KEY, OUT_OF_SCOPE_KEY, SCOPE_KEY, VIEWER_KEY, Handshake
from tenantry.middleware.cache_headers import Message, Send
from tenantry.middleware.token_watch import BoundedResolver, TokenWatch
from tenantry.ports import MonotonicClock

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope

_CLOSE_SECONDS: Final = 2.0
"""After the app has ended, sending the close message may take at most this many seconds."""


class SocketClosed(ConnectionError):
    """The app's ``send`` raises this after Tenantry has closed the websocket. It is an OSError, as ASGI 2.4 requires
    after a disconnect."""


class WebSocketSession(TokenWatch):
    """A group's websocket. It is closed with 4401 if the token is revoked, and with 1013 if the group cannot be
    resolved for longer than the resolver's ``staleness``."""

    __slots__ = ("_disconnect", "_handshake", "_receive", "_scope", "_send")

    def __init__(
        self,
        resolver: BoundedResolver,
        raw: bytes,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        clock: MonotonicClock = monotonic_with_suspend,
    ) -> None:
        super().__init__(resolver, raw, clock)
        self._scope = scope
        self._receive = scope[VIEWER_KEY] = ReadAhead(receive)
        self._send = send
        self._handshake = scope[HANDSHAKE_KEY] = Handshake()
        self._disconnect: Message | None = None

    async def run(self, app: ASGIApp) -> None:
        """Run the app with the websocket. Raises the app's errors, except those that SocketClosed caused."""
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_exit(self._end)
            await app(self._scope, self.receive, self.send)

    # --- what the app sees --------------------------------------------------------------------------------------------

    async def receive(self) -> Message:
        if self._disconnect is not None:
            return self._disconnect
        message = await self._receive()
        if self._clock() >= self._valid_until:
            await self._wait()
        if self._disconnect is not None:
            return self._disconnect
        if message["type"] == "websocket.disconnect":
            self._stop()
        return message

    async def send(self, message: Message) -> None:
        kind = message["type"]
        if kind == "websocket.accept" or self._clock() >= self._valid_until:
            await self._wait()
        if self._disconnect is not None:
            if kind == "websocket.close":
                return
            raise SocketClosed(f"the websocket was closed: {self._disconnect['reason']}")
        if kind not in {"websocket.accept", "websocket.send"}:
            self._stop()  # the app itself closes or denies the websocket
        self._handshake.answered = True
        await self._send(message)

    def _renewed(self, group: UserGroup) -> bool:
        # If no middleware has let the pass in yet, the app must not see the group.
        self._scope[OUT_OF_SCOPE_KEY if OUT_OF_SCOPE_KEY in self._scope else SCOPE_KEY] = group
        return True

    # --- the end ------------------------------------------------------------------------------------------------------

    async def _close(self, code: int, reason: str) -> None:
        if self._stopped:
            return
        self._stop()
        self._disconnect = {"type": "websocket.disconnect", "code": code, "reason": reason}
        self._receive.mark_left()
        await self._send({"type": "websocket.close", "code": code, "reason": reason})

    async def _end(self, _: object, error: BaseException | None, __: object) -> bool:
        self._stop()
        if (task := self._task) is not None:
            if self._disconnect is not None:
                await asyncio.wait({task}, timeout=_CLOSE_SECONDS)
            task.cancel()
        cause: BaseException | None = error if isinstance(error, Exception) else None
        while cause is not None and not isinstance(cause, SocketClosed):
            cause = cause.__cause__ or cause.__context__
        return cause is not None  # suppress an error that SocketClosed caused, even if a framework wrapped it
