from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final
from weakref import ref

from tenantry.clock import monotonic_with_suspend
from tenantry.groups import UserGroup
from tenantry.http import LAST_PART_KEY
from tenantry.middleware.cache_headers import CacheHeaders, Message, Receive, Send
from tenantry.middleware.timers import timer_queues
from tenantry.middleware.token_watch import BoundedResolver, TokenWatch

_LEFT: Final[Message] = {"type": "http.disconnect"}


class ResponseCut(ConnectionError):
    """The app's ``send`` raises this after Tenantry has ended the response. It is an OSError, as ASGI 2.4 requires
    after a disconnect."""


class LongResponse(TokenWatch):
    """Ends a long response when the request's token is revoked, when the group changes, or when the group cannot be
    resolved for longer than the resolver's ``staleness``. The response stays incomplete unless the app supplied a last
    part (LAST_PART_KEY)."""

    __slots__ = ("_cut", "_group", "_last_part", "_receive", "_send")

    def __init__(self, resolver: BoundedResolver, raw: bytes, group: UserGroup, receive: Receive, send: Send) -> None:
        super().__init__(resolver, raw, monotonic_with_suspend)
        self._group = group
        self._receive = receive
        self._send = send
        self._last_part: Callable[[str], bytes] | None = None
        self._cut: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def send(self, message: Message) -> None:
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
        # The last part of a response ends the checks, but a failing app never sends it. So hold the response only
        # weakly: when it is garbage-collected, the checks end too.
        weak = ref(self)

        def check() -> None:
            if (watch := weak()) is not None:
                watch._check()

        self._timer = timer_queues.get().call_later(delay, check)


class Exchange:
    """Wraps ``receive`` and ``send`` of a group's HTTP request. Uses a LongResponse if the response has several parts,
    or if the app waits for the client to disconnect."""

    __slots__ = ("_group", "_headers", "_is_body_read", "_raw", "_receive", "_resolver", "_send", "_watch")

    def __init__(
        self,
        resolver: BoundedResolver,
        raw: bytes,
        group: UserGroup,
        receive: Receive,
        send: Send,
        headers: CacheHeaders | None = None,
    ) -> None:
        self._resolver = resolver
        self._raw = raw
        self._group = group
        self._receive = receive
        self._send = send
        self._headers = headers
        self._watch: LongResponse | None = None
        self._is_body_read = False

    def send(self, message: Message) -> Awaitable[None]:
        if message["type"] == "http.response.start":
            if self._headers is not None:
                message = self._headers.added_to(message)
        elif self._watch is not None or message.get("more_body"):
            return self._watched().send(message)
        return self._send(message)

    async def receive(self) -> Message:
        if self._watch is not None or self._is_body_read:  # after the body only a disconnect can follow
            return await self._watched().receive()
        message = await self._receive()
        if message["type"] == "http.request" and not message.get("more_body"):
            self._is_body_read = True
        return message

    def _watched(self) -> LongResponse:
        if self._watch is None:
            self._watch = LongResponse(self._resolver, self._raw, self._group, self._receive, self._send)
        return self._watch
