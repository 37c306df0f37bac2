"""A TCP proxy before a database, which can fall silent or cut the line at a given moment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from engines.relay import Relay, relayed


class Proxy(Relay):
    """Passes bytes on. ``silent`` swallows all of them; ``cut_after`` closes the line once the client has sent these
    bytes, which the server still gets; ``cut_before`` closes it and the server does not get them."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(host, port)
        self.silent = False
        self.cut_after: bytes | None = None
        self.cut_before: bytes | None = None

    async def connect(
        self,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        server: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        for source, target, outgoing in ((client[0], server[1], True), (server[0], client[1], False)):
            task = asyncio.create_task(self._pass_on(source, target, client[1], outgoing=outgoing))
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


@asynccontextmanager
async def proxied(url: str) -> AsyncIterator[tuple[Proxy, str]]:
    """A proxy before the server of ``url``, and the URL that goes through it."""
    async with relayed(url, Proxy) as found:
        yield found
