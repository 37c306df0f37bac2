from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from tenantry.groups import UNNAMED, Author, Environment, RegisteredSource, SourceReading


class SourceDirectory(Protocol):
    """Finds an environment's data sources."""

    async def get(self, environment: Environment, reference: str) -> RegisteredSource | None:
        """``reference``: our id (``ds_…``) or the ``provided_id``."""
        ...


class SourceLease(Protocol):
    """Caches data sources while it polls the store for their changes. Resolver implements it."""

    @property
    def staleness(self) -> float:
        """The staleness bound in seconds."""
        ...

    def peek_source(self, environment: Environment, reference: str) -> RegisteredSource | None:
        """Return the cached source, or None. No I/O; never raises."""
        ...

    async def read_source(
        self, directory: LeasedSources, environment: Environment, reference: str
    ) -> RegisteredSource | None:
        """Read the source, and cache it unless it changed during the read."""
        ...


@runtime_checkable
class SourceLeaseHolder(Protocol):
    """Holds a process's Resolver, so that the process's DataSources can use its cache."""

    @property
    def lease(self) -> SourceLease | None:
        """While it is None, every query reads its data source from the store."""
        ...

    def lend_lease(self, lease: SourceLease) -> None:
        """Let this store's DataSources use the lease, unless they use another resolver's. Keep only a weak
        reference."""
        ...

    def withdraw_lease(self, lease: SourceLease) -> None:
        """Remove the lease: its resolver stops."""
        ...


def lease_holder_of(backend: object) -> SourceLeaseHolder | None:
    sources = getattr(backend, "sources", None)
    return sources if isinstance(sources, SourceLeaseHolder) else None


@runtime_checkable
class LeasedSources(SourceLeaseHolder, SourceDirectory, Protocol):
    """A directory whose data sources may be cached. Each write is listed as a change of SOURCES_HANDLE, and changes the
    slots of ``RegisteredSource.handles``."""

    async def get_at_snapshot(self, environment: Environment, reference: str) -> SourceReading:
        """Like ``get``, but from the store, not a cache, and with the generation of the snapshot."""
        ...


class SourceStore(LeasedSources, Protocol):
    """Stores data sources."""

    async def create(
        self,
        environment: Environment,
        *,
        source_id: str,
        provided_id: str,
        url: str,
        trusted: bool = False,
        session: Mapping[str, str] | None = None,
        tables: Mapping[str, Any] | None = None,
        author: Author = UNNAMED,
    ) -> RegisteredSource:
        """Register the source. ``tables``: a declaration of guarded tables. Raises UnknownEnvironment; AlreadyExists if
        either id is taken; InvalidSource if ``check_session_variables`` or ``read_tables`` rejects a value, or if a
        declaration lists no tables."""
        ...

    async def list(self, environment: Environment) -> Sequence[RegisteredSource]:
        """Return all sources of the environment, ordered by ``provided_id``."""
        ...

    async def count_mapped(self, environment: Environment) -> Mapping[frozenset[str], int]:
        """Return the number of groups for each set of references in a mapping."""
        ...

    async def update(
        self,
        source: RegisteredSource,
        *,
        url: str | None = None,
        tables: Mapping[str, Any] | None = None,
        author: Author = UNNAMED,
    ) -> RegisteredSource | None:
        """Replace the given fields; None keeps a field. ``tables``: a declaration of guarded tables; an empty mapping
        removes it.

        Does not connect to the source. Returns None if another writer has changed or deleted ``source`` since it was
        read. Raises InvalidSource as ``create`` does, and for the removal of a declaration with ``guard: required``."""
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
