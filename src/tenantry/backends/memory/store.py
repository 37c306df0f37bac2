"""MemoryStore: the parts together."""

from __future__ import annotations

from tenantry.backends.clock import utc_now
from tenantry.backends.memory.directory import MemoryDirectory
from tenantry.backends.memory.groups import MemoryGroups
from tenantry.backends.memory.tables import Tables
from tenantry.groups import Caller
from tenantry.ports import Clock


class MemoryStore(MemoryGroups, MemoryDirectory):
    """A Store (tenantry.ports) in memory. ``clock`` gives the time of day in UTC.

    Each method runs to its end without waiting, under one lock, so that it is one transaction in any thread or loop.
    """

    def __init__(self, *, clock: Clock = utc_now) -> None:
        super().__init__(Tables(clock))

    async def caller(self, digest: bytes, provided_id: str) -> Caller | None:
        with self._tables.lock:
            token = await self.api_token(digest)
            return None if token is None else Caller(token, await self.get(token.environment, provided_id))

    async def ready(self) -> None:
        return

    async def aclose(self) -> None:
        return
