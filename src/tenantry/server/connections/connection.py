from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable, Iterable
from contextlib import suppress
from enum import Enum, auto
from http import HTTPStatus
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, cast

from tenantry.errors import HeadersTooLarge, RequestTimeout, TenantryError, TooManyConnections
from tenantry.http import error_response

if TYPE_CHECKING:
    from tenantry.server.connections.open_connections import OpenConnections
    from tenantry.server.connections.requests import Request

HEAD_BYTES: Final = 64 * 1024
"""Maximum bytes of the head of a request."""
DRAIN_BYTES: Final = 1024 * 1024
"""At most this many bytes of an unread body are discarded; then the connection is aborted."""
DRAIN_SECONDS: Final = 2.0
"""Bytes are discarded for at most this many seconds; then the connection is aborted."""

_NO_LINGER: Final = struct.pack("ii", 1, 0)


class State(Enum):
    HEAD = auto()
    """The head of a request is incomplete."""
    IDLE = auto()
    """Between two requests; uvicorn closes the connection after its keep-alive timeout."""
    ACTIVE = auto()
    """The app is handling a request."""
    DRAINING = auto()
    """Our side is closed; incoming bytes are discarded."""


_HEAD, _IDLE, _ACTIVE, _DRAINING = State  # before Python 3.12 reading a member of an Enum costs a function call


class ClientConnection(asyncio.Protocol):
    """Sits between a client's socket and uvicorn's HTTP protocol, and enforces the limits."""

    def __init__(
        self, connections: OpenConnections, make_protocol: Callable[[ClientConnection], asyncio.Protocol]
    ) -> None:
        self._connections = connections
        self._make_protocol = make_protocol
        self._protocol: asyncio.Protocol | None = None
        self._guard: GuardedTransport | None = None
        self.transport: asyncio.Transport
        self.address: str | None = None
        self.state: State = _HEAD
        self.since: float | None = None
        """The time at which ``check`` first saw the current state. Only ``check`` sets it, so that requests need not
        read the clock."""
        self.request: Request | None = None
        """The latest request."""
        self.received: int = 0
        self.taken: int = 0
        """Body bytes that apps have read. They count as progress, because most clients read the response only after
        they have sent the whole body."""
        self._measured: tuple[float, int] | None = None
        self._reads = False
        """Whether the client read fast enough in the last grace period."""

    # --- called by asyncio ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # TCP and Unix sockets always have a Transport
        refused = self._connections.admit(self)
        if refused is not None:
            self.refuse(refused)
            return
        self._guard = GuardedTransport(self)
        self._protocol = self._make_protocol(self)
        self._protocol.connection_made(self._guard)

    def data_received(self, data: bytes) -> None:
        state = self.state
        if state is not _ACTIVE:
            if state is _IDLE:
                self.state, self.since, self.received = _HEAD, None, 0
            if self.received > HEAD_BYTES and self._exceeds_limit():  # not counting ``data``: one packet always fits
                return
            self.received += len(data)
            if state is _DRAINING:
                return
        if self._protocol is not None:
            self._protocol.data_received(data)

    def _exceeds_limit(self) -> bool:
        if self.unread and self.received <= DRAIN_BYTES:
            return False
        if self.state is _DRAINING:
            self.abort()
        else:
            self.refuse(HeadersTooLarge(f"the head of the request is larger than {HEAD_BYTES} bytes"))
        return True

    def eof_received(self) -> bool | None:
        return None if self._protocol is None else self._protocol.eof_received()

    def connection_lost(self, error: Exception | None) -> None:
        self._connections.discard(self)
        self._end_protocol(error)
        self.request = None

    def pause_writing(self) -> None:
        if self._protocol is not None:
            self._protocol.pause_writing()

    def resume_writing(self) -> None:
        if self._protocol is not None:
            self._protocol.resume_writing()

    # --- progress of the request ---

    def begin(self, request: Request) -> None:
        if self.state is not _DRAINING:  # the connection may have been refused in this step of the event loop
            self.state, self.request = _ACTIVE, request

    def finish(self) -> None:
        if self.state is _ACTIVE:
            self.state = _IDLE

    @property
    def unread(self) -> bool:
        if self.state is _HEAD or self.state is _IDLE:
            return self.request is not None and self.request.has_unread_body
        return self.state is _DRAINING

    # --- ends ---

    def close(self) -> None:
        """Close the connection once all bytes are sent. If the client may still send, close only our side."""
        # Otherwise a reset could lose the response (RFC 9112 section 9.6).
        if self.state is not _IDLE or self.unread:
            self._drain()
        else:
            self.transport.close()

    def refuse(self, error: TenantryError) -> None:
        active = self.state is _ACTIVE
        answered = active and self.request is not None and self.request.answered
        expects = active or self.received or isinstance(error, TooManyConnections)
        if expects and not answered and not self.unread:
            self.transport.write(_raw_response(error))
        self._drain()
        self._end_protocol(None)

    def abort(self) -> None:
        self.transport.abort()

    def evict(self, error: TenantryError) -> None:
        # ``abort`` frees the file descriptor in the next step of the event loop; ``close`` may take longer.
        if self.state is _HEAD and self.received and not self.unread:
            self.transport.write(_raw_response(error))
        self.abort()

    def _drain(self) -> None:
        self.state, self.since, self.received = _DRAINING, None, 0
        if self._guard is not None:
            self._guard.disable()
        self.transport.resume_reading()
        try:
            self.transport.write_eof()
        except (OSError, NotImplementedError):
            # The client is gone, or the connection uses TLS, which cannot close only one side.
            self.transport.close()

    def _end_protocol(self, error: Exception | None) -> None:
        protocol, self._protocol = self._protocol, None
        if protocol is not None:
            protocol.connection_lost(error)

    # --- time ---

    def check(self, now: float) -> None:
        if self.since is None:
            self.since = now
        limits = self._connections.limits
        if self._is_stalled(now):
            with suppress(OSError, AttributeError):  # otherwise the kernel would go on sending buffered bytes
                self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
            self.abort()
        elif self.state is _HEAD and now - self.since > limits.header_seconds:
            self.refuse(RequestTimeout("the head of the request did not arrive in time"))
        elif self.state is _DRAINING:
            if self._measured is None and now - self.since > DRAIN_SECONDS:
                self.abort()
        elif self.state is _ACTIVE and self.request is not None and self.request.lags(now, limits):
            self.refuse(RequestTimeout("the body of the request arrived too slowly"))

    def _is_stalled(self, now: float) -> bool:
        if not self.has_unsent:
            if self._measured is not None:
                self._measure(None)
                self._reads = False
                self.since = now
            return False
        if self._measured is None:
            self._measure(now)
            return False
        begun, progress = self._measured
        limits = self._connections.limits
        if now - begun < limits.grace_seconds:
            return False
        self._measured, self._reads = (now, self._progress()), True
        return self._measured[1] - progress < limits.min_rate * (now - begun)

    def _measure(self, now: float | None) -> None:
        if self._guard is not None:
            self._guard.count_writes(now is not None)
        self._measured = None if now is None else (now, self._progress())

    def _progress(self) -> int:
        written = 0 if self._guard is None else self._guard.written
        return written - self.transport.get_write_buffer_size() + self.taken

    def is_slow_reader(self, now: float, seconds: float) -> bool | None:
        """Whether the client has, for at least ``seconds``, read more slowly than ``min_rate``. None if it is too
        early to know."""
        if self._measured is None:
            return None
        begun, progress = self._measured
        if now - begun < seconds:
            return False if self._reads else None
        return self._progress() - progress < max(self._connections.limits.min_rate, 1) * (now - begun)

    @property
    def has_unsent(self) -> bool:
        return self.transport.get_write_buffer_size() > 0


_Bytes: TypeAlias = bytes | bytearray | memoryview


class _Write(Protocol):
    def __call__(self, data: _Bytes) -> None: ...


class GuardedTransport(asyncio.Transport):
    """The transport that uvicorn's HTTP protocol gets."""

    # It has no ``set_protocol``: that method would bypass the limits.

    write: _Write
    is_closing: Callable[[], bool]

    def __init__(self, connection: ClientConnection) -> None:
        super().__init__()
        self._connection = connection
        self._real = connection.transport
        self.written: int = 0
        self.write = self._real.write  # bound directly, because every request calls both
        self.is_closing = self._real.is_closing

    def count_writes(self, yes: bool) -> None:
        if self._connection.state is not _DRAINING:
            self.write = self._write_counted if yes else self._real.write

    def disable(self) -> None:
        self.write = lambda data: None
        self.is_closing = lambda: True

    def _write_counted(self, data: _Bytes) -> None:
        self.written += len(data)
        self._real.write(data)

    def close(self) -> None:
        if not self.is_closing():
            self._connection.close()

    def abort(self) -> None:
        self._real.abort()

    def writelines(self, list_of_data: Iterable[_Bytes]) -> None:
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
    request_id = token_hex(8).encode("ascii")
    status, headers, body = error_response(error, {"headers": [(b"x-request-id", request_id)]})
    phrase = HTTPStatus(status).phrase.encode("ascii")
    lines = [b"HTTP/1.1 %d %s" % (status, phrase), *(b"%s: %s" % header for header in headers), b"connection: close"]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body
