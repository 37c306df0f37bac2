"""A TCP line before a server, which can be held: bytes wait on it, in both directions, until it is released."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit, urlunsplit


class Line:
    """``held`` counts the bytes that clients have sent while it was held."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._open = asyncio.Event()
        self._open.set()
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.held = 0

    def hold(self) -> None:
        """A black hole: connections are taken, and nothing comes through."""
        self._open.clear()

    def release(self) -> None:
        """What waited goes on its way."""
        self._open.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        with suppress(OSError):
            upstream_reader, upstream = await asyncio.open_connection(*self._target)
            self._writers.append(upstream)
            await asyncio.gather(
                self._pass_on(reader, upstream, outgoing=True), self._pass_on(upstream_reader, writer, outgoing=False)
            )

    async def _pass_on(self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, outgoing: bool) -> None:
        with suppress(OSError):
            while data := await source.read(65_536):
                if outgoing and not self._open.is_set():
                    self.held += len(data)
                await self._open.wait()
                target.write(data)
                await target.drain()
        await self._open.wait()
        target.close()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()


@asynccontextmanager
async def line_to(url: str) -> AsyncIterator[tuple[Line, str]]:
    """A line to the server of ``url``, and the URL that goes through it."""
    parts = urlsplit(url)
    line = Line(parts.hostname or "127.0.0.1", parts.port or 0)
    server = await asyncio.start_server(line.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    user = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    try:
        yield line, urlunsplit(parts._replace(netloc=f"{user}127.0.0.1:{port}"))
    finally:
        await line.close()
        server.close()
        await server.wait_closed()
