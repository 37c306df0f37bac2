"""Counts what a client sends to a server, and when the server answers."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, suppress

from engines.relay import Relay, relayed


class Sends(Relay):
    """``log`` has the bytes of each send of a client, and None wherever the server answered in between."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(host, port)
        self.log: list[bytes | None] = []

    async def connect(
        self,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        server: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        await asyncio.gather(self._pass_on(client[0], server[1], outgoing=True), self._pass_on(server[0], client[1]))

    async def _pass_on(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, outgoing: bool = False
    ) -> None:
        with suppress(OSError):
            while data := await source.read(65_536):
                if outgoing:
                    self.log.append(data)
                elif self.log and self.log[-1] is not None:
                    self.log.append(None)
                target.write(data)
                await target.drain()
        target.close()


def sends_to(url: str) -> AbstractAsyncContextManager[tuple[Sends, str]]:
    """What is sent to the server of ``url``, and the URL that goes through it."""
    return relayed(url, Sends)
