"""A TCP proxy before a database, which can fall silent or cut the line at a given moment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit, urlunsplit


class Proxy:
    """Passes bytes on. ``silent`` swallows all of them; ``cut_after`` closes the line once the client has sent these
    bytes, which the server still gets; ``cut_before`` closes it and the server does not get them."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.silent = False
        self.cut_after: bytes | None = None
        self.cut_before: bytes | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        connecting = asyncio.current_task()
        assert connecting is not None
        self._tasks.add(connecting)
        upstream_reader, upstream = await asyncio.open_connection(*self._target)
        self._writers.append(upstream)
        for source, target, outgoing in ((reader, upstream, True), (upstream_reader, writer, False)):
            task = asyncio.create_task(self._pass_on(source, target, writer, outgoing=outgoing))
            self._tasks.add(task)

    async def _pass_on(
        self,
        source: asyncio.StreamReader,
        target: asyncio.StreamWriter,
        client: asyncio.StreamWriter,
        *,
        outgoing: bool,
    ) -> None:
        with suppress(OSError):
            while data := await source.read(65536):
                if self.silent:
                    continue
                if outgoing and self.cut_before and self.cut_before in data:
                    break
                target.write(data)
                await target.drain()
                if outgoing and self.cut_after and self.cut_after in data:
                    client.close()
                    return
        target.close()
        client.close()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()


@asynccontextmanager
async def proxied(url: str) -> AsyncIterator[tuple[Proxy, str]]:
    """A proxy before the server of ``url``, and the URL that goes through it."""
    parts = urlsplit(url)
    proxy = Proxy(parts.hostname or "127.0.0.1", parts.port or 5432)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    user = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    try:
        yield proxy, urlunsplit(parts._replace(netloc=f"{user}127.0.0.1:{port}"))
    finally:
        await proxy.close()
        server.close()
        await server.wait_closed()
