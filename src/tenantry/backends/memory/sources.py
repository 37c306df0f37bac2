from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tenantry.backends.audit.details import source_update_details, table_changes
from tenantry.backends.memory.tables import MemoryTables
from tenantry.backends.source_changes import changed_source, created_source, name_taken
from tenantry.backends.stored import LentSourceCache, references_of
from tenantry.errors import UnknownDataSource
from tenantry.groups import (
    SOURCES_HANDLE,
    UNNAMED,
    Author,
    Environment,
    RegisteredSource,
    SourceDraft,
    SourceLookupResult,
    SourceUpdate,
)
from tenantry.ports import SourceStore


class MemorySources(LentSourceCache, SourceStore):
    def __init__(self, tables: MemoryTables) -> None:
        self._tables = tables

    async def get(self, environment: Environment, reference: str) -> RegisteredSource | None:
        found = self._tables.sources.get((environment.id, reference))
        return found or next((s for s in await self.list(environment) if s.provided_id == reference), None)

    async def get_at_snapshot(self, environment: Environment, reference: str) -> SourceLookupResult:
        with self._tables.lock:
            return SourceLookupResult(await self.get(environment, reference), self._tables.generation)

    async def create(
        self, environment: Environment, source_id: str, draft: SourceDraft, *, author: Author = UNNAMED
    ) -> RegisteredSource:
        made = created_source(environment, source_id, draft)
        stored, changed, provided_id = self._tables, table_changes("", made.tables), made.provided_id

        def write() -> tuple[RegisteredSource, bool]:
            if (environment.id, source_id) in stored.sources:
                raise name_taken(environment, provided_id)
            self._check_name(made)
            source = stored.sources[environment.id, source_id] = replace(made, environment=stored.own(environment))
            details = {"provided_id": provided_id, **changed}
            stored.note(author, "data_source.created", environment.name, source_id, **details)
            return source, True

        return stored.write(made.handles, write, listed=SOURCES_HANDLE)

    def _check_name(self, source: RegisteredSource) -> None:
        for each in self._tables.sources.values():
            is_other = each.environment.id == source.environment.id and each.id != source.id
            if is_other and each.provided_id == source.provided_id:
                raise name_taken(source.environment, source.provided_id)

    async def list(self, environment: Environment) -> Sequence[RegisteredSource]:
        found = [source for source in [*self._tables.sources.values()] if source.environment.id == environment.id]
        return sorted(found, key=lambda source: source.provided_id)

    async def count_mapped(self, environment: Environment) -> Mapping[frozenset[str], int]:
        groups = [each.group for each in [*self._tables.handles.values()]]
        mappings = [each.mapping for each in groups if each.environment.id == environment.id]
        return Counter(references_of(mapping) for mapping in mappings if mapping)

    async def update(
        self, source: RegisteredSource, changes: SourceUpdate, *, author: Author = UNNAMED
    ) -> RegisteredSource | None:
        stored, key = self._tables, (source.environment.id, source.id)
        changed = changed_source(source, changes)
        with stored.lock:
            found = stored.sources.get(key)
            if found != source:
                return None
            self._check_name(changed)
            made = replace(changed, environment=found.environment)
            details = {"provided_id": made.provided_id, **source_update_details(source, made)}

            def write() -> tuple[RegisteredSource, bool]:
                stored.sources[key] = made
                stored.note(author, "data_source.updated", made.environment.name, source.id, **details)
                return made, True

            return stored.write((*source.handles, made.handles[1]), write, listed=SOURCES_HANDLE)

    async def delete(self, environment: Environment, reference: str, *, author: Author = UNNAMED) -> RegisteredSource:
        tables = self._tables
        with tables.lock:
            source = await self.get(environment, reference)
            if source is None:
                raise UnknownDataSource(f"environment {environment.name!r} has no data source {reference!r}")

            def write() -> tuple[RegisteredSource, bool]:
                del tables.sources[environment.id, source.id]
                provided = source.provided_id
                tables.note(author, "data_source.deleted", environment.name, source.id, provided_id=provided)
                return source, True

            return tables.write(source.handles, write, listed=SOURCES_HANDLE)
