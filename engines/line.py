"""A TCP line before a server, which can be held: bytes wait on it, in both directions, until it is released."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, suppress

from engines.relay import Relay, relayed


class Line(Relay):
    """``held`` counts the bytes that clients have sent while it was held."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(host, port)
        self._open = asyncio.Event()
        self._open.set()
        self.held = 0

    def hold(self) -> None:
        """A black hole: connections are taken, and nothing comes through."""
        self._open.clear()

    def release(self) -> None:
        """What waited goes on its way."""
        self._open.set()

    async def connect(
        self,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        server: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        await asyncio.gather(
            self._pass_on(client[0], server[1], outgoing=True), self._pass_on(server[0], client[1], outgoing=False)
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


def line_to(url: str) -> AbstractAsyncContextManager[tuple[Line, str]]:
    """A line to the server of ``url``, and the URL that goes through it."""
    return relayed(url, Line)
