from __future__ import annotations

from tenantry.backends.audit.chain import ChainKeys
from tenantry.backends.memory.api_tokens import MemoryApiTokens
from tenantry.backends.memory.audit import MemoryAuditTrail
from tenantry.backends.memory.codes import MemoryCodes
from tenantry.backends.memory.environments import MemoryEnvironments
from tenantry.backends.memory.groups import MemoryGroups
from tenantry.backends.memory.sources import MemorySources
from tenantry.backends.memory.tables import MemoryTables
from tenantry.backends.memory.usage import MemoryUsage
from tenantry.cache.slots import PrivateSlots
from tenantry.clock import utc_now
from tenantry.groups import Changes, LookupResult, Token, UserGroup
from tenantry.ports import ChangeListener, Clock, WrittenBackend
from tenantry.usage import UsageRecorder


class MemoryStore(WrittenBackend):
    """A Store in one process's memory, for tests and development. ``clock``: UTC time of day; ``keys`` seal the audit
    trail. One lock makes each method a transaction in any thread or event loop."""

    def __init__(self, *, clock: Clock = utc_now, keys: ChainKeys | None = None) -> None:
        tables = self._tables = MemoryTables(clock, keys)
        self.groups: MemoryGroups = MemoryGroups(tables)
        self.environments: MemoryEnvironments = MemoryEnvironments(tables)
        self.api_tokens: MemoryApiTokens = MemoryApiTokens(tables)
        self.sources: MemorySources = MemorySources(tables)
        self.codes: MemoryCodes = MemoryCodes(tables)
        self.usage: MemoryUsage = MemoryUsage(tables)
        self.audit: MemoryAuditTrail = MemoryAuditTrail(tables)
        self.usage_recorder: UsageRecorder = UsageRecorder(self.usage)

    async def find(self, token: Token) -> UserGroup | None:
        return self._read(token).group

    async def read_at_snapshot(self, token: Token, *, fresh: bool) -> LookupResult:  # nothing is before this store
        return self._read(token)

    def _read(self, token: Token) -> LookupResult:
        tables = self._tables
        with tables.lock:
            stored = tables.handles.get(token.handle)
            if stored is None:
                return LookupResult(None, tables.generation)
            return stored.read(token, tables.clock(), tables.generation)

    async def changes(self, since: int | None, *, lease: float = 0.0) -> Changes:
        with self._tables.lock:
            return self._tables.changes(since)

    @property
    def slots(self) -> PrivateSlots:
        return self._tables.slots

    @property
    def settling(self) -> float:
        return 0.0

    def subscribe(self, listener: ChangeListener) -> None:
        self._tables.listeners.subscribe(listener)

    async def ready(self) -> None:
        return

    async def aclose(self) -> None:
        """Store pending usage."""
        await self.usage_recorder.flush()
