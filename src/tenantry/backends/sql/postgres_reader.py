"""Readers: the few connections of one event loop that do the reads."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tenantry.backends.sql.engine import remaining
from tenantry.backends.sql.failures import connection_lost, outdated
from tenantry.backends.sql.rows import Row
from tenantry.database.address import PostgresServer

if TYPE_CHECKING:
    from tenantry.database.postgres import PostgresConnection

_READERS = 4


class Readers:
    """Lends each read a connection of its own, at most four at a time; the one used last is lent first."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._idle: list[PostgresConnection] = []
        self._places = asyncio.Semaphore(_READERS)
        self._ended = False

    async def fetch(self, text: str, values: tuple[Any, ...], deadline: float) -> Sequence[Row]:
        """All rows. Raises the driver's errors, and TimeoutError at the deadline."""
        async with asyncio.timeout(remaining(deadline)), self._places:
            try:
                return await self._fetch(text, values, deadline)
            except Exception as error:
                if isinstance(error, TimeoutError) or not (connection_lost(error) or outdated(error)):
                    raise
            self.close()  # the others are no better
            return await self._fetch(text, values, deadline)

    async def _fetch(self, text: str, values: tuple[Any, ...], deadline: float) -> Sequence[Row]:
        reader = self._idle.pop() if self._idle else await self._server.connect(seconds=remaining(deadline))
        try:
            rows, _ = await reader.run(text, values)
        except BaseException:
            reader.terminate()  # whatever it was doing, nobody waits for it
            raise
        if self._ended:
            reader.terminate()
        else:
            self._idle.append(reader)
        return rows

    def close(self) -> None:
        while self._idle:
            self._idle.pop().terminate()

    def end(self) -> None:
        """Closes those that are idle now, and each other one when its read is done."""
        self._ended = True
        self.close()
