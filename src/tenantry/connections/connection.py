"""Connection: stands between a socket and the HTTP protocol of the server, and knows how far its client is.

It parses nothing. What a request has come to it learns from the app's side (``tenantry.connections.requests``): when
the app is called the head was whole; when the app waits for a body, so does the server.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from enum import Enum, auto
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, cast

from tenantry.connections.counters import Closed
from tenantry.connections.transport import GuardedTransport
from tenantry.errors import HeadersTooLarge, RequestTimeout, TenantryError, TooManyConnections
from tenantry.http import error_response

if TYPE_CHECKING:
    from tenantry.connections.open_connections import OpenConnections
    from tenantry.connections.requests import Request

HEAD_BYTES: Final = 64 * 1024
"""Of the head of a request, after which no more of it is read."""
DRAIN_BYTES: Final = 1024 * 1024
"""Of a body that nobody wants any more, which are read and thrown away so that the client can hear the answer."""
DRAIN_SECONDS: Final = 2.0
"""How long that is done."""

_NO_LINGER: Final = struct.pack("ii", 1, 0)


class State(Enum):
    """What a connection is doing."""

    HEAD = auto()
    """It was opened, or a first byte of a next request came; the head of the request is not whole yet."""
    IDLE = auto()
    """Between two requests. The server's own keep-alive timeout ends that."""
    ACTIVE = auto()
    """The app is at work."""
    DRAINING = auto()
    """All is said and our side is closed; what still comes is thrown away."""
    UPGRADED = auto()
    """A websocket: it has pings of its own."""


class Connection(asyncio.Protocol):
    """One connection. ``make_protocol`` gives the server's HTTP protocol for it, once it is let in."""

    def __init__(self, connections: OpenConnections, make_protocol: Callable[[Connection], asyncio.Protocol]) -> None:
        self._connections = connections
        self._make_protocol = make_protocol
        self._protocol: asyncio.Protocol | None = None
        self.transport: asyncio.Transport
        self.address: str | None = None
        self.state = State.HEAD
        self.since = 0.0
        self.request: Request | None = None
        self.unread = False
        """The last request had a body that its app did not read to the end: it may still be on its way."""
        self.received = 0
        self.written = 0
        self._measured: tuple[float, int] | None = None
        self._reads = False
        """Its client has read what waits to be sent fast enough for a whole grace."""

    # --- what asyncio calls ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(
            "asyncio.Transport", transport
        )  # as it is for TCP and Unix sockets; uvloop's say so nowhere
        self.since = self.now()
        refused = self._connections.admit(self)
        if refused is not None:
            self.refuse(refused)
            return
        self._protocol = self._make_protocol(self)
        self._protocol.connection_made(GuardedTransport(self))

    def data_received(self, data: bytes) -> None:
        if self.state is State.IDLE:
            self.state, self.since, self.received = State.HEAD, self.now(), 0
        if self.state is State.HEAD or self.state is State.DRAINING:
            if self.received > (DRAIN_BYTES if self.unread else HEAD_BYTES):  # before these, so one packet always fits
                self._too_much()
                return
            self.received += len(data)
        if self._protocol is not None and self.state is not State.DRAINING:
            self._protocol.data_received(data)

    def eof_received(self) -> bool | None:
        return None if self._protocol is None else self._protocol.eof_received()

    def connection_lost(self, error: Exception | None) -> None:
        self._connections.discard(self)
        self._leave(error)

    def pause_writing(self) -> None:
        if self._protocol is not None:
            self._protocol.pause_writing()

    def resume_writing(self) -> None:
        if self._protocol is not None:
            self._protocol.resume_writing()

    # --- what the app's side tells ---

    def now(self) -> float:
        """Seconds, by the clock of the event loop."""
        return self._connections.now()

    def begin(self, request: Request) -> None:
        """The head of a request is whole."""
        if self.state is State.DRAINING:  # too late: it was refused in this very round of the loop
            return
        self.state, self.request, self.unread = State.ACTIVE, request, False

    def finish(self, *, unread: bool) -> None:
        """Its answer is."""
        if self.state is State.ACTIVE:
            self.state, self.since, self.request, self.unread = State.IDLE, self.now(), None, unread
            self.received = 0

    def upgrade(self, protocol: asyncio.Protocol) -> None:
        """From now on it speaks another protocol."""
        self._protocol = protocol
        self.state = State.UPGRADED

    # --- ends ---

    def close(self) -> None:
        """Ends it once what was written is sent.

        A socket that is closed with bytes of its client unread resets the connection, and the client may lose the
        answer that it was about to read (RFC 9112 section 9.6). So where more may be on its way only our side closes.
        """
        if self.state is State.HEAD or self.state is State.ACTIVE or self.unread:
            self._drain()
        elif self.state is not State.DRAINING:
            self.transport.close()

    def refuse(self, error: TenantryError) -> None:
        """Ends it with an answer of the server's own, if one can still be given."""
        answered = self.request is not None and self.request.answered
        expects = self.state is State.ACTIVE or self.received or isinstance(error, TooManyConnections)
        if expects and not answered and not self.unread:
            self.transport.write(_answer(error))
        self._drain()
        self._leave(None)

    def abort(self) -> None:
        """Ends it at once."""
        self.transport.abort()

    def _reset(self) -> None:
        """The same, and the system forgets what it was still to send: to one who does not read that would take long."""
        with suppress(OSError, AttributeError):
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        self.abort()

    def evict(self, error: TenantryError) -> None:
        """Makes room for another: its file descriptor is free in the next round of the loop."""
        if self.state is State.HEAD and self.received and not self.unread:
            self.transport.write(_answer(error))
        self.abort()

    def _drain(self) -> None:
        self.state, self.since, self.received, self.unread = State.DRAINING, self.now(), 0, True
        self.transport.resume_reading()
        try:
            self.transport.write_eof()
        except (OSError, NotImplementedError):  # the client is gone; or it cannot be told, as under TLS
            self.transport.close()

    def _leave(self, error: Exception | None) -> None:
        """The server's protocol, and so the app, is told that the client is gone; once."""
        protocol, self._protocol = self._protocol, None
        if protocol is not None:
            protocol.connection_lost(error)

    def _too_much(self) -> None:
        if self.state is State.DRAINING:
            self.abort()
            return
        self._connections.counters.count(Closed.HEADERS_TOO_LARGE)
        self.refuse(HeadersTooLarge(f"the head of the request is larger than {HEAD_BYTES} bytes"))

    # --- time ---

    def check(self, now: float) -> None:
        """Ends it if its client is too slow. Called several times a second."""
        if self._stalls(now):
            self._connections.counters.count(Closed.SLOW_READER)
            self._reset()
        elif self.state is State.HEAD and now - self.since > self._connections.limits.header_seconds:
            self._connections.counters.count(Closed.HEADER_TIMEOUT)
            self.refuse(RequestTimeout("the head of the request did not arrive in time"))
        elif self.state is State.DRAINING:
            if self._measured is None and now - self.since > DRAIN_SECONDS:
                self.abort()
        elif self.request is not None and self.request.lags(now, self._connections.limits):
            self._connections.counters.count(Closed.SLOW_BODY)
            self.refuse(RequestTimeout("the body of the request arrived too slowly"))

    def _stalls(self, now: float) -> bool:
        """Whether the client reads too slowly what waits to be sent. Measured from one end of a grace to the next."""
        if self.state is State.UPGRADED:
            return False
        waiting = self.transport.get_write_buffer_size()
        if not waiting:
            if self._measured is not None:
                self._measured, self._reads = None, False
                self.since = now
            return False
        sent = self.written - waiting
        if self._measured is None:
            self._measured = now, sent
            return False
        begun, sent_then = self._measured
        limits = self._connections.limits
        if now - begun < limits.grace_seconds:
            return False
        self._measured, self._reads = (now, sent), True
        return sent - sent_then < limits.min_rate * (now - begun)

    def is_slow_reader(self, now: float, seconds: float) -> bool | None:
        """Whether its client has read for so many seconds, and too little; None if it is too early to say."""
        if self._measured is None:
            return None
        begun, sent_then = self._measured
        if now - begun < seconds:
            return False if self._reads else None
        sent = self.written - self.transport.get_write_buffer_size()
        return sent - sent_then < max(self._connections.limits.min_rate, 1) * (now - begun)

    @property
    def is_draining(self) -> bool:
        return self.state is State.DRAINING

    @property
    def has_unsent(self) -> bool:
        """Whether its client has not read all that was written."""
        return self.transport.get_write_buffer_size() > 0


def _answer(error: TenantryError) -> bytes:
    """An answer to a request that no app has seen."""
    status, headers, body = error_response(error, {})
    phrase = HTTPStatus(status).phrase.encode("ascii")
    lines = [b"HTTP/1.1 %d %s" % (status, phrase), *(b"%s: %s" % header for header in headers), b"connection: close"]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body
