from __future__ import annotations

from collections.abc import Sequence

from tenantry.backends.memory.tables import MemoryTables
from tenantry.groups import AuditEntry, ChainHead
from tenantry.ports import AuditTrail


class MemoryAuditTrail(AuditTrail):
    def __init__(self, tables: MemoryTables) -> None:
        self._tables = tables

    async def list(self, *, environment: str | None = None, after: int = 0, limit: int = 100) -> Sequence[AuditEntry]:
        with self._tables.lock:
            later = self._tables.trail[max(0, after) :]
        return [entry for entry in later if environment in (None, entry.environment)][:limit]

    async def head(self) -> ChainHead | None:
        return self._tables.chain_head
