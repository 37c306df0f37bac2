from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime

from tenantry.backends.audit.chain import ChainKeys
from tenantry.backends.audit.details import pruned_details, viewer_usage_details
from tenantry.backends.memory.api_tokens import MemoryApiTokens
from tenantry.backends.memory.codes import MemoryCodes
from tenantry.backends.memory.environments import MemoryEnvironments
from tenantry.backends.memory.groups import MemoryGroups
from tenantry.backends.memory.sources import MemorySources
from tenantry.backends.memory.tables import MemoryTables
from tenantry.backends.stored import PRUNED_AT_ONCE
from tenantry.cache.slots import PrivateSlots
from tenantry.clock import utc_now
from tenantry.groups import (
    UNNAMED,
    AuditEntry,
    AuditNote,
    Author,
    ChainHead,
    Changes,
    Environment,
    LookupResult,
    Token,
    Usage,
    UsageBatch,
    UsageKey,
    UserGroup,
)
from tenantry.ports import AuditTrail, ChangeListener, Clock, UsageStore, WrittenBackend
from tenantry.usage import UsageRecorder


class MemoryStore(WrittenBackend):
    """A store in memory for tests and development. Any threads and event loops may call it. ``keys``: SigningKeys that
    seal audit entries."""

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

    async def read_at_snapshot(self, token: Token, *, fresh: bool) -> LookupResult:  # always fresh
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
                if key.viewer and not self._counts_viewers_of(key):
                    continue
                tables.usage[hour, key] = tables.usage.get((hour, key), Usage()).plus(used)

    async def sums(
        self,
        since: datetime,
        until: datetime,
        *,
        environment: str | None = None,
        group: str | None = None,
        by_viewer: bool = False,
    ) -> Mapping[UsageKey, Usage]:
        sums: dict[UsageKey, Usage] = {}
        with self._tables.lock:
            for (hour, key), used in self._tables.usage.items():
                wanted = environment in (None, key.environment) and group in (None, key.group)
                if since <= hour < until and wanted and bool(key.viewer) is by_viewer:
                    sums[key] = sums.get(key, Usage()).plus(used)
        return dict(sorted(sums.items()))

    def _counts_viewers_of(self, key: UsageKey) -> bool:
        environment = self._tables.environments.get(key.environment)
        if environment is None or environment.name not in self._tables.viewer_usage:
            return False
        return (environment.id, key.group) in self._tables.provided

    async def set_viewer_usage(self, environment: Environment, is_on: bool, *, author: Author = UNNAMED) -> None:
        tables = self._tables
        with tables.lock:
            name = tables.own(environment).name
            (tables.viewer_usage.add if is_on else tables.viewer_usage.discard)(name)
            tables.note(author, "environment.viewer_usage_set", name, name, **viewer_usage_details(is_on))

    async def environments_with_viewer_usage(self) -> Collection[str]:
        with self._tables.lock:
            return frozenset(self._tables.viewer_usage)

    async def oldest(self) -> datetime | None:
        with self._tables.lock:
            return min((hour for hour, _ in self._tables.usage), default=None)

    async def prune(self, before: datetime, *, author: Author = UNNAMED) -> int:
        tables = self._tables
        with tables.lock:
            day = before.astimezone(UTC).replace(hour=0)
            gone = sorted(row for row in tables.usage if row[0] < (day if row[1].viewer else before))[:PRUNED_AT_ONCE]
            for row in gone:
                del tables.usage[row]
            if gone:
                tables.note(author, "usage.pruned", "", "usage", **pruned_details(before, len(gone)))
            return len(gone)


class MemoryAuditTrail(AuditTrail):
    def __init__(self, tables: MemoryTables) -> None:
        self._tables = tables

    async def record(self, note: AuditNote) -> None:
        with self._tables.lock:
            self._tables.note(note.author, note.action, note.environment, note.subject, **note.details)

    async def list(self, *, environment: str | None = None, after: int = 0, limit: int = 100) -> Sequence[AuditEntry]:
        with self._tables.lock:
            later = self._tables.trail[max(0, after) :]
        return [entry for entry in later if environment in (None, entry.environment)][:limit]

    async def head(self) -> ChainHead | None:
        return self._tables.chain_head
