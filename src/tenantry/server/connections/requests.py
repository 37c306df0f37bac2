from __future__ import annotations

from collections.abc import Awaitable, Iterable
from time import monotonic
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from tenantry.server.connections.connection import ClientConnection
    from tenantry.server.connections.limits import ConnectionLimits

CONNECTION: Final = "tenantry.connection"
"""``scope["state"]`` contains the ClientConnection under this key. TrackRequests removes the key before the app
runs."""


class TrackRequests:
    """Notifies each connection of a ConnectionFactory when its requests begin, progress and end."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        connection: ClientConnection | None = scope["state"].pop(CONNECTION, None)
        if connection is None:  # lifespan
            return self._app(scope, receive, send)
        request = Request(connection, scope["headers"], receive, send)
        connection.begin(request)
        return self._app(scope, request.receive, request.send)


class Request:
    _complete = False
    _waits: float | None = None
    _seconds = 0.0
    _bytes = 0
    answered: bool = False
    """Whether a response has begun."""

    def __init__(
        self, connection: ClientConnection, headers: Iterable[tuple[bytes, bytes]], receive: Receive, send: Send
    ) -> None:
        self._connection = connection
        self._headers = headers
        self._receive = receive
        self._send = send

    async def receive(self) -> Message:
        if self._complete:  # the app waits for a disconnect, which has no deadline
            return await self._receive()
        self._waits = monotonic()
        try:
            message = await self._receive()
        finally:
            self._seconds += monotonic() - self._waits  # ``lags`` may have set a later start
            self._waits = None
        size = len(message.get("body", b""))
        self._bytes += size
        self._connection.taken += size
        self._complete = message["type"] == "http.request" and not message.get("more_body", False)
        return message

    def send(self, message: Message) -> Awaitable[None]:
        self.answered = True
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self._connection.finish()
        return self._send(message)

    @property
    def has_unread_body(self) -> bool:
        """Whether the request announced a body (RFC 9112 section 6.3) that the app has not yet read completely."""
        if self._complete:
            return False
        headers = dict(self._headers)
        return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"

    @property
    def waits(self) -> bool:
        return self._waits is not None

    def is_behind(self, now: float, min_rate: int, seconds: float) -> bool:
        """Whether, in this grace period, the app has waited for the body for at least ``seconds``, and has received
        less than ``min_rate`` bytes per second."""
        waited = 0.0 if self._waits is None else self._seconds + now - self._waits
        return waited >= seconds and self._bytes < min_rate * waited

    def lags(self, now: float, limits: ConnectionLimits) -> bool:
        """Whether the body was too slow for a whole grace period (``grace_seconds``). If it was fast enough and the
        period is over, the next one begins."""
        if self.is_behind(now, limits.min_rate, limits.grace_seconds):
            return True
        if self._waits is not None and self._seconds + now - self._waits >= limits.grace_seconds:
            self._seconds, self._bytes, self._waits = 0.0, 0, now
        return False
