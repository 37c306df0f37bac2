from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tenantry.backends.memory.tables import MemoryTables
from tenantry.backends.stored import LentSourceLease
from tenantry.errors import AlreadyExists, UnknownDataSource
from tenantry.groups import (
    SOURCES_HANDLE,
    UNNAMED,
    Author,
    Environment,
    RegisteredSource,
    SourceReading,
    check_session_variables,
)
from tenantry.ports import SourceStore


class MemorySources(LentSourceLease, SourceStore):
    def __init__(self, tables: MemoryTables) -> None:
        self._tables = tables

    async def get(self, environment: Environment, reference: str) -> RegisteredSource | None:
        found = self._tables.sources.get((environment.id, reference))
        return found or next((s for s in await self.list(environment) if s.provided_id == reference), None)

    async def get_at_snapshot(self, environment: Environment, reference: str) -> SourceReading:
        with self._tables.lock:
            return SourceReading(await self.get(environment, reference), self._tables.generation)

    async def create(
        self,
        environment: Environment,
        *,
        source_id: str,
        provided_id: str,
        url: str,
        trusted: bool = False,
        session: Mapping[str, str] | None = None,
        author: Author = UNNAMED,
    ) -> RegisteredSource:
        checked = check_session_variables(url, session or {})
        tables, made = self._tables, RegisteredSource(source_id, provided_id, environment, url, trusted, checked)

        def write() -> tuple[RegisteredSource, bool]:
            for source in tables.sources.values():
                if source.environment.id == environment.id and (
                    source.id == source_id or source.provided_id == provided_id
                ):
                    raise AlreadyExists(
                        f"environment {environment.name!r} already has a data source {provided_id!r}: choose another id"
                    )
            source = tables.sources[environment.id, source_id] = replace(made, environment=tables.own(environment))
            tables.note(author, "data_source.created", environment.name, source_id, provided_id=provided_id)
            return source, True

        return tables.write(made.handles, write, listed=SOURCES_HANDLE)

    async def list(self, environment: Environment) -> Sequence[RegisteredSource]:
        found = [source for source in [*self._tables.sources.values()] if source.environment.id == environment.id]
        return sorted(found, key=lambda source: source.provided_id)

    async def set_url(self, source: RegisteredSource, url: str, *, author: Author = UNNAMED) -> RegisteredSource | None:
        tables, key = self._tables, (source.environment.id, source.id)
        with tables.lock:
            if (stored := tables.sources.get(key)) is None or stored.url != source.url:
                return None

            def write() -> tuple[RegisteredSource, bool]:
                made = tables.sources[key] = replace(stored, url=url)
                tables.note(author, "data_source.url_written", stored.environment.name, source.id)
                return made, True

            return tables.write(stored.handles, write, listed=SOURCES_HANDLE)

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
