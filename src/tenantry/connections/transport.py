"""GuardedTransport: what the server's HTTP protocol takes for its socket."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from tenantry.connections.connection import Connection


class GuardedTransport(asyncio.Transport):
    """Hands all on to the real transport, but for the end: to close it is the connection's business.

    Once the connection drains, it is closed for the protocol.
    """

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection
        self._real = connection.transport

    # --- the end ---

    def is_closing(self) -> bool:
        return self._connection.is_draining or self._real.is_closing()

    def close(self) -> None:
        if not self.is_closing():
            self._connection.close()

    def abort(self) -> None:
        self._real.abort()

    # --- writing ---

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self._connection.is_draining:
            self._connection.written += len(data)
            self._real.write(data)

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.write(b"".join(list_of_data))

    def write_eof(self) -> None:
        if not self._connection.is_draining:
            self._real.write_eof()

    def can_write_eof(self) -> bool:
        return self._real.can_write_eof()

    def get_write_buffer_size(self) -> int:
        return self._real.get_write_buffer_size()

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return self._real.get_write_buffer_limits()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._real.set_write_buffer_limits(high, low)

    # --- reading ---

    def is_reading(self) -> bool:
        return self._real.is_reading()

    def pause_reading(self) -> None:
        if not self._connection.is_draining:
            self._real.pause_reading()

    def resume_reading(self) -> None:
        self._real.resume_reading()

    # --- what it is ---

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._real.get_extra_info(name, default)

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """A protocol does this to hand over to another one: to that of websockets."""
        self._connection.upgrade(cast("asyncio.Protocol", protocol))

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._connection
