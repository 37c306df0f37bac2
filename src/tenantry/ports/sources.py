from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from tenantry.groups import (
    UNNAMED,
    Author,
    Environment,
    RegisteredSource,
    SourceDraft,
    SourceLookupResult,
    SourceUpdate,
)


class SourceDirectory(Protocol):
    """Finds an environment's data sources."""

    async def get(self, environment: Environment, reference: str) -> RegisteredSource | None:
        """Return a data source. ``reference``: the source's id (``ds_…``) or its ``provided_id``."""
        ...


class SharedSourceCache(Protocol):
    """A cache of data sources. It polls the store for changes."""

    @property
    def staleness(self) -> float:
        """How long, in seconds, the cache may return an outdated source."""
        ...

    def peek_source(self, environment: Environment, reference: str) -> RegisteredSource | None:
        """Return the source if it is cached. Does no I/O and never raises."""
        ...

    async def read_source(
        self, directory: LeasedSources, environment: Environment, reference: str
    ) -> RegisteredSource | None:
        """Read the source from ``directory``. Cache it, unless it changed during the read."""
        ...


@runtime_checkable
class SourceCacheHolder(Protocol):
    """Gives DataSources the Resolver's cache of data sources. The holder keeps only a weak reference to the cache."""

    @property
    def source_cache(self) -> SharedSourceCache | None:
        """The Resolver's cache. None if there is no Resolver: every query then reads its data source from the store."""
        ...

    @source_cache.setter
    def source_cache(self, source_cache: SharedSourceCache | None) -> None: ...


def source_cache_holder_of(backend: object) -> SourceCacheHolder | None:
    sources = getattr(backend, "sources", None)
    return sources if isinstance(sources, SourceCacheHolder) else None


@runtime_checkable
class LeasedSources(SourceCacheHolder, SourceDirectory, Protocol):
    """A directory whose data sources may be cached. Each write to a source appears in the store's ``changes`` under
    SOURCES_HANDLE, and changes the cache slots of both ``RegisteredSource.handles``."""

    async def get_at_snapshot(self, environment: Environment, reference: str) -> SourceLookupResult:
        """Return the same source as ``get``, and the number of the store's newest change at the time of the read. Reads
        from the store, never from a cache."""
        ...


class SourceStore(LeasedSources, Protocol):
    """Stores data sources."""

    async def create(
        self, environment: Environment, source_id: str, draft: SourceDraft, *, author: Author = UNNAMED
    ) -> RegisteredSource:
        """Register a data source and return it. Raises UnknownEnvironment. Raises AlreadyExists if ``source_id`` or
        ``provided_id`` is taken. Raises InvalidSource if ``check_session_variables`` or ``read_tables`` rejects a
        value, or if the declaration of guarded tables lists no tables."""
        ...

    async def list(self, environment: Environment) -> Sequence[RegisteredSource]:
        """Return all sources of the environment, ordered by ``provided_id``."""
        ...

    async def count_mapped(self, environment: Environment) -> Mapping[frozenset[str], int]:
        """Return how many groups map to each set of data sources. A key is the set of references in a mapping. Groups
        without a mapping are not counted."""
        ...

    async def update(
        self, source: RegisteredSource, changes: SourceUpdate, *, author: Author = UNNAMED
    ) -> RegisteredSource | None:
        """Replace the fields that ``changes`` sets, and return the source. Return None if another writer has changed
        or deleted the source since the caller read ``source``. Raises InvalidSource as ``create`` does, and if
        ``changes`` would remove a declaration with ``guard: required``. Raises AlreadyExists if another source has
        this ``provided_id``."""
        ...

    async def delete(self, environment: Environment, reference: str, *, author: Author = UNNAMED) -> RegisteredSource:
        """Delete the source and return it. Raises UnknownDataSource."""
        ...


class SourceHolder(Protocol):
    """The part of a store that ``DataSources`` needs."""

    @property
    def sources(self) -> SourceDirectory:
        """The directory of data sources."""
        ...
