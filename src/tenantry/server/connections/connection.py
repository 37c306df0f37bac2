"""ClientConnection: between a socket and the HTTP protocol of the server; it knows how far its client is.

It parses nothing. The progress of a request it learns from the app's side (``requests.py`` beside it): when
the app is called the head was complete; when the app waits for a body, so does the server.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable, Iterable
from contextlib import suppress
from enum import Enum, auto
from http import HTTPStatus
from secrets import token_hex
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, cast

from tenantry.errors import HeadersTooLarge, RequestTimeout, TenantryError, TooManyConnections
from tenantry.http import error_response
from tenantry.server.connections.limits import Closed

if TYPE_CHECKING:
    from tenantry.server.connections.open_connections import OpenConnections
    from tenantry.server.connections.requests import Request

HEAD_BYTES: Final = 64 * 1024
"""Of the head of a request, after which no more of it is read."""
DRAIN_BYTES: Final = 1024 * 1024
"""Of a body that nobody wants any more, which are read and thrown away so that the client can read the answer."""
DRAIN_SECONDS: Final = 2.0
"""How long that is done."""

_NO_LINGER: Final = struct.pack("ii", 1, 0)


class State(Enum):
    """What a connection is doing."""

    HEAD = auto()
    """It was opened, or a first byte of a next request came; the head of the request is not complete yet."""
    IDLE = auto()
    """Between two requests. The server's own keep-alive timeout ends that."""
    ACTIVE = auto()
    """The app is at work."""
    DRAINING = auto()
    """Our side is closed; what still comes is thrown away."""


_HEAD, _IDLE, _ACTIVE, _DRAINING = State  # an attribute of an Enum is a call before Python 3.12, ten times a request


class ClientConnection(asyncio.Protocol):
    """One connection. ``make_protocol`` gives the server's HTTP protocol for it, once it is admitted."""

    def __init__(
        self, connections: OpenConnections, make_protocol: Callable[[ClientConnection], asyncio.Protocol]
    ) -> None:
        self._connections = connections
        self._make_protocol = make_protocol
        self._protocol: asyncio.Protocol | None = None
        self.transport: asyncio.Transport
        self.address: str | None = None
        self.state: State = _HEAD
        self.since: float = 0.0
        self.request: Request | None = None
        self.unread: bool = False
        """The last request had a body that its app did not read to the end: it may still be on its way."""
        self.received: int = 0
        self.written = 0
        self.taken: int = 0
        """Bytes of bodies that apps have read. A client that sends at its rate need not read meanwhile: most send all
        of a body before they read the answer."""
        self._measured: tuple[float, int] | None = None
        self._reads = False
        """Its client has read what waits to be sent fast enough for a whole grace."""

    # --- what asyncio calls ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(
            "asyncio.Transport", transport
        )  # as it is for TCP and Unix sockets; uvloop's say so nowhere
        self.since = monotonic()
        refused = self._connections.admit(self)
        if refused is not None:
            self.refuse(refused)
            return
        self._protocol = self._make_protocol(self)
        self._protocol.connection_made(GuardedTransport(self))

    def data_received(self, data: bytes) -> None:
        if self.state is _IDLE:
            self.state, self.since, self.received = _HEAD, monotonic(), 0
        if self.state is _HEAD or self.state is _DRAINING:
            if self.received > (DRAIN_BYTES if self.unread else HEAD_BYTES):  # before these, so one packet always fits
                if self.state is _DRAINING:
                    self.abort()
                else:
                    self._connections.counters.count(Closed.HEADERS_TOO_LARGE)
                    self.refuse(HeadersTooLarge(f"the head of the request is larger than {HEAD_BYTES} bytes"))
                return
            self.received += len(data)
        if self._protocol is not None and self.state is not _DRAINING:
            self._protocol.data_received(data)

    def eof_received(self) -> bool | None:
        return None if self._protocol is None else self._protocol.eof_received()

    def connection_lost(self, error: Exception | None) -> None:
        self._connections.discard(self)
        self._end_protocol(error)

    def pause_writing(self) -> None:
        if self._protocol is not None:
            self._protocol.pause_writing()

    def resume_writing(self) -> None:
        if self._protocol is not None:
            self._protocol.resume_writing()

    # --- progress of the request ---

    def begin(self, request: Request) -> None:
        """The head of a request is complete."""
        if self.state is _DRAINING:  # too late: it was refused in this very round of the loop
            return
        self.state, self.request, self.unread = _ACTIVE, request, False

    def finish(self, *, unread: bool) -> None:
        """The response to it is complete."""
        if self.state is _ACTIVE:
            self.state, self.since, self.request, self.unread = _IDLE, monotonic(), None, unread
            self.received = 0

    # --- ends ---

    def close(self) -> None:
        """Ends it once what was written is sent.

        A socket that is closed with bytes of its client unread resets the connection, and the client may lose the
        answer that it was about to read (RFC 9112 section 9.6). So where more may be on its way only our side closes.
        """
        if self.state is _HEAD or self.state is _ACTIVE or self.unread:
            self._drain()
        elif self.state is not _DRAINING:
            self.transport.close()

    def refuse(self, error: TenantryError) -> None:
        """Ends it with an answer of the server's own, if one can still be given."""
        answered = self.request is not None and self.request.answered
        expects = self.state is _ACTIVE or self.received or isinstance(error, TooManyConnections)
        if expects and not answered and not self.unread:
            self.transport.write(_raw_response(error))
        self._drain()
        self._end_protocol(None)

    def abort(self) -> None:
        """Ends it at once."""
        self.transport.abort()

    def evict(self, error: TenantryError) -> None:
        """Makes capacity for another: its file descriptor is free in the next round of the loop."""
        if self.state is _HEAD and self.received and not self.unread:
            self.transport.write(_raw_response(error))
        self.abort()

    def _drain(self) -> None:
        self.state, self.since, self.received, self.unread = _DRAINING, monotonic(), 0, True
        self.transport.resume_reading()
        try:
            self.transport.write_eof()
        except (OSError, NotImplementedError):  # the client is gone; or its side cannot be closed alone, as under TLS
            self.transport.close()

    def _end_protocol(self, error: Exception | None) -> None:
        """Tells the server's protocol, and so the app, once that the client is gone."""
        protocol, self._protocol = self._protocol, None
        if protocol is not None:
            protocol.connection_lost(error)

    # --- time ---

    def check(self, now: float) -> None:
        """Ends it if its client is too slow. Called several times a second."""
        if self._is_stalled(now):
            self._connections.counters.count(Closed.SLOW_READER)
            with suppress(OSError, AttributeError):  # else the system would try to send the rest for long
                self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
            self.abort()
        elif self.state is _HEAD and now - self.since > self._connections.limits.header_seconds:
            self._connections.counters.count(Closed.HEADER_TIMEOUT)
            self.refuse(RequestTimeout("the head of the request did not arrive in time"))
        elif self.state is _DRAINING:
            if self._measured is None and now - self.since > DRAIN_SECONDS:
                self.abort()
        elif self.request is not None and self.request.lags(now, self._connections.limits):
            self._connections.counters.count(Closed.SLOW_BODY)
            self.refuse(RequestTimeout("the body of the request arrived too slowly"))

    def _is_stalled(self, now: float) -> bool:
        """Whether the client reads too slowly what waits to be sent. Measured from one end of a grace to the next."""
        waiting = self.transport.get_write_buffer_size()
        if not waiting:
            if self._measured is not None:
                self._measured, self._reads = None, False
                self.since = now
            return False
        sent = self.written - waiting + self.taken
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
        sent = self.written - self.transport.get_write_buffer_size() + self.taken
        return sent - sent_then < max(self._connections.limits.min_rate, 1) * (now - begun)

    @property
    def has_unsent(self) -> bool:
        """Whether its client has not read all that was written."""
        return self.transport.get_write_buffer_size() > 0


class GuardedTransport(asyncio.Transport):
    """Hands all on to the real transport, but for the end: to close it is the connection's business.

    Once the connection drains, it is closed for the protocol. It has no ``set_protocol``: what was handed over, as to a
    protocol of websockets, would be out of the reach of every limit.
    """

    def __init__(self, connection: ClientConnection) -> None:
        super().__init__()
        self._connection = connection
        self._real = connection.transport

    def is_closing(self) -> bool:
        return self._connection.state is _DRAINING or self._real.is_closing()

    def close(self) -> None:
        if not self.is_closing():
            self._connection.close()

    def abort(self) -> None:
        self._real.abort()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._connection.state is not _DRAINING:
            self._connection.written += len(data)
            self._real.write(data)

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.write(b"".join(list_of_data))

    def write_eof(self) -> None:
        if self._connection.state is not _DRAINING:
            self._real.write_eof()

    def can_write_eof(self) -> bool:
        return self._real.can_write_eof()

    def get_write_buffer_size(self) -> int:
        return self._real.get_write_buffer_size()

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return self._real.get_write_buffer_limits()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._real.set_write_buffer_limits(high, low)

    def is_reading(self) -> bool:
        return self._real.is_reading()

    def pause_reading(self) -> None:
        if self._connection.state is not _DRAINING:
            self._real.pause_reading()

    def resume_reading(self) -> None:
        self._real.resume_reading()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._real.get_extra_info(name, default)

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._connection


def _raw_response(error: TenantryError) -> bytes:
    """An answer to a request that no app has seen; like those of an app it has an id."""
    request_id = token_hex(8).encode("ascii")
    status, headers, body = error_response(error, {"headers": [(b"x-request-id", request_id)]})
    phrase = HTTPStatus(status).phrase.encode("ascii")
    lines = [b"HTTP/1.1 %d %s" % (status, phrase), *(b"%s: %s" % header for header in headers), b"connection: close"]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body
