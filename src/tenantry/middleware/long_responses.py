"""LongResponse: ends a stream when its token is revoked or its group changes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final
from weakref import ref

from tenantry.clock import monotonic_with_suspend
from tenantry.groups import UserGroup
from tenantry.http import LAST_PART_KEY, SCOPE_KEY
from tenantry.middleware.cache_headers import LONG_KEY, Exchange, Message
from tenantry.middleware.timers import timer_queues
from tenantry.middleware.token_watch import BoundedResolver, TokenWatch

BODY_READ: Final = "tenantry.body_read"
"""The scope key that is set once the app has read the whole body."""

_LEFT: Final[Message] = {"type": "http.disconnect"}


class ResponseCut(ConnectionError):
    """Raised by ``send`` after the response was ended; an OSError, as for a disconnect (ASGI 2.4)."""


class LongResponse(TokenWatch):
    """Watches one response until its request's scope is released. A cut response stays incomplete unless the app gave a
    last part (LAST_PART_KEY)."""

    __slots__ = ("_cut", "_group", "_last_part", "_receive", "_send")

    def __init__(self, resolver: BoundedResolver, exchange: Exchange) -> None:
        self._send, self._receive, raw, scope = exchange
        super().__init__(resolver, raw, monotonic_with_suspend)
        self._group: UserGroup = scope[SCOPE_KEY]
        self._last_part: Callable[[str], bytes] | None = None
        self._cut: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def send(self, message: Message) -> None:
        """Send a part. Raises ResponseCut."""
        if LAST_PART_KEY in message:
            message = {**message}
            self._last_part = message.pop(LAST_PART_KEY)
        if self._timer is None and self._task is None and not self._stopped:
            self._check()  # the first part
        if self._clock() >= self._valid_until:
            await self._wait()
        if self._cut.done():
            raise ResponseCut(f"the response was ended: {self._cut.result()}")
        if not message.get("more_body"):
            self._stop()
        await self._send(message)

    async def receive(self) -> Message:
        """The server's message, or ``http.disconnect`` after the end."""
        if self._cut.done():
            return _LEFT
        receiving: asyncio.Future[Any] = asyncio.ensure_future(self._receive())
        cut: asyncio.Future[Any] = self._cut
        try:
            await asyncio.wait({receiving, cut}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not receiving.done():
                receiving.cancel()
        message: Message = _LEFT if not receiving.done() or receiving.cancelled() else receiving.result()
        return message

    def _renewed(self, group: UserGroup) -> bool:
        return group.is_bound_like(self._group)

    async def _close(self, code: int, reason: str) -> None:
        if not self._stopped:
            self._stop()
            self._cut.set_result(reason)
            if self._last_part is not None:
                await self._send({"type": "http.response.body", "body": self._last_part(reason)})

    def _set_timer(self, delay: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        # Weak: an app that fails during its response sends no last part.
        weak = ref(self)

        def check() -> None:
            if (watch := weak()) is not None:
                watch._check()

        self._timer = timer_queues.get().call_later(delay, check)


def watch_responses(
    resolver: BoundedResolver,
) -> tuple[Callable[[Exchange], Awaitable[Message]], Callable[[Exchange, Message], Awaitable[None]]]:
    """The app's ``receive`` and the send for parts of a stream; bind both to an Exchange."""

    def watched(exchange: Exchange) -> LongResponse:
        scope = exchange[3]
        found: LongResponse | None = scope.get(LONG_KEY)
        if found is None:
            found = scope[LONG_KEY] = LongResponse(resolver, exchange)
        return found

    def send_part(exchange: Exchange, message: Message) -> Awaitable[None]:
        return watched(exchange).send(message)

    async def receive_while_good(exchange: Exchange) -> Message:
        _, receive, _, scope = exchange
        if LONG_KEY in scope or BODY_READ in scope:  # after the body only a disconnect can follow
            return await watched(exchange).receive()
        message: Message = await receive()
        if message["type"] == "http.request" and not message.get("more_body"):
            scope[BODY_READ] = True
        return message

    return receive_while_good, send_part
