from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from tenantry.backends.audit.details import pruned_details
from tenantry.backends.memory.tables import MemoryTables
from tenantry.backends.stored import PRUNED_AT_ONCE
from tenantry.groups import UNNAMED, Author, Usage, UsageBatch, UsageKey
from tenantry.ports import UsageStore


class MemoryUsage(UsageStore):
    def __init__(self, tables: MemoryTables) -> None:
        self._tables = tables

    async def add(self, batch: UsageBatch) -> None:
        tables = self._tables
        with tables.lock:
            if tables.usage_writers.get(batch.writer, 0) >= batch.number:
                return
            tables.usage_writers[batch.writer] = batch.number
            for hour, key, used in batch.rows:
                tables.usage[hour, key] = tables.usage.get((hour, key), Usage()).plus(used)

    async def sums(
        self, since: datetime, until: datetime, *, environment: str | None = None, group: str | None = None
    ) -> Mapping[UsageKey, Usage]:
        sums: dict[UsageKey, Usage] = {}
        with self._tables.lock:
            for (hour, key), used in self._tables.usage.items():
                wanted = environment in (None, key.environment) and group in (None, key.group)
                if since <= hour < until and wanted:
                    sums[key] = sums.get(key, Usage()).plus(used)
        return dict(sorted(sums.items()))

    async def oldest(self) -> datetime | None:
        with self._tables.lock:
            return min((hour for hour, _ in self._tables.usage), default=None)

    async def prune(self, before: datetime, *, author: Author = UNNAMED) -> int:
        tables = self._tables
        with tables.lock:
            gone = sorted(row for row in tables.usage if row[0] < before)[:PRUNED_AT_ONCE]
            for row in gone:
                del tables.usage[row]
            if gone:
                tables.note(author, "usage.pruned", "", "usage", **pruned_details(before, len(gone)))
            return len(gone)
