"""A TCP server before another one. What becomes of the bytes on their way is a subclass's business."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TypeVar
from urllib.parse import urlsplit, urlunsplit


class Relay:
    """Knows the server behind it, and what to close at the end: writers and tasks of its connections."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of a client, which may have waited in the queue while the relay closed."""
        if self._closed:
            writer.close()
            return
        self._writers.append(writer)
        self._tasks.add(asyncio.create_task(self._serve(reader, writer)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            upstream_reader, upstream = await asyncio.open_connection(*self._target)
            self._writers.append(upstream)
            await self.connect((reader, writer), (upstream_reader, upstream))

    async def connect(
        self,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        server: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        """Passes on what both ends send, until they have nothing more to say."""
        raise NotImplementedError

    async def close(self) -> None:
        """Ends all connections."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()


R = TypeVar("R", bound=Relay)


@asynccontextmanager
async def relayed(url: str, kind: type[R]) -> AsyncIterator[tuple[R, str]]:
    """A relay before the server of ``url``, and the URL that goes through it."""
    parts = urlsplit(url)
    relay = kind(parts.hostname or "127.0.0.1", parts.port or 0)
    server = await asyncio.start_server(relay.accept, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    user = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    try:
        yield relay, urlunsplit(parts._replace(netloc=f"{user}127.0.0.1:{port}"))
    finally:
        for listening in server.sockets:
            asyncio.get_running_loop().remove_reader(listening)
        await asyncio.sleep(0)  # asyncio loses a socket if its server is closed in the step that accepts it
        server.close()
        await relay.close()
        await server.wait_closed()
