"""Counts what an asyncpg connection receives, and ends it when an answer grows too large.

asyncpg reads all rows of an answer before it gives any of them, and who reads a portal in parts cannot know how long
its next rows are. So the bytes are counted as they come, by a protocol between the socket and asyncpg.
"""

from __future__ import annotations

import asyncio
from math import inf
from typing import Any


class ByteCounter(asyncio.Protocol):
    """Passes everything on to ``inner``. After ``allow(n)`` it ends the connection when more than ``n`` bytes come."""

    def __init__(self, inner: Any, transport: Any) -> None:
        self._inner = inner
        self._transport = transport
        self._left = inf
        self.exceeded = False
        """Whether more came than was allowed."""

    def allow(self, count: float) -> None:
        """So many bytes from now on; ``inf`` for any number."""
        self._left = count

    def data_received(self, data: bytes) -> None:
        self._left -= len(data)
        if self._left >= 0:
            self._inner.data_received(data)
        elif not self.exceeded:
            self.exceeded = True
            self._transport.abort()

    def eof_received(self) -> Any:
        return self._inner.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()


def counting_connection(base: type[Any]) -> type[Any]:
    """A class of asyncpg connections (``base``) that count what they receive, each in its ``counter``."""

    class CountingConnection(base):  # type: ignore[misc]  # asyncpg is loaded when it is first needed
        __slots__ = ("counter",)

        def __init__(self, protocol: Any, transport: Any, *arguments: Any) -> None:
            super().__init__(protocol, transport, *arguments)
            self.counter = ByteCounter(protocol, transport)
            transport.set_protocol(self.counter)

    return CountingConnection
