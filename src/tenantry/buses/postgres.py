"""PostgresBus: LISTEN on a connection of its own. A store in PostgreSQL notifies in each write's own transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from tenantry.buses.hearing import BusCounters, Hearing
from tenantry.buses.line import HEARTBEAT_SECONDS, SILENCE_SECONDS, follow
from tenantry.errors import InvalidSettings
from tenantry.groups import CHANNEL
from tenantry.migrations.address import PostgresServer, asyncpg, read_address
from tenantry.ports import EvictionListener


class PostgresBus:
    """A ``ports.Bus``: hears of each write of the stores in this database, from whatever host.

    ``url`` is the store's own, to the primary, and not through a pooler that shares connections between transactions
    (LISTEN belongs to one connection). Making one does no I/O; InvalidSettings is raised for a wrong URL.
    """

    def __init__(self, url: str) -> None:
        server = read_address(url)
        if not isinstance(server, PostgresServer):
            raise InvalidSettings(
                "a PostgresBus needs the URL of a PostgreSQL database: postgresql://user@host/database"
            )
        asyncpg()  # now, and not in the midst of the first request
        self.counters = BusCounters()
        self._server = server

    def __repr__(self) -> str:
        return f"<PostgresBus: {self._server.label}>"

    async def follow(self, listener: EvictionListener) -> None:
        """Until it is cancelled."""
        await follow(self._listen, listener, self.counters, self._server.label)

    async def _listen(self, hearing: Hearing, begin: Callable[[], None]) -> None:
        connection = await self._server.connect(seconds=SILENCE_SECONDS)
        try:
            async with asyncio.timeout(SILENCE_SECONDS):
                await connection.add_listener(CHANNEL, _ear(hearing))
            begin()
            while True:
                # A listener that was frozen or cut off shows no error by itself: it has to be asked something.
                await asyncio.sleep(HEARTBEAT_SECONDS)
                async with asyncio.timeout(SILENCE_SECONDS):
                    await connection.execute("select 1")
        finally:
            connection.terminate()


def _ear(hearing: Hearing) -> Callable[[Any, int, str, str], None]:
    def heard(_connection: Any, _pid: int, _channel: str, payload: str) -> None:
        hearing.hear(payload)

    return heard
