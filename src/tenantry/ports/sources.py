"""The ports of registered data sources: finding, caching and writing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from tenantry.groups import UNNAMED, Author, Environment, RegisteredSource, SourceReading


class SourceDirectory(Protocol):
    """Finds a registered data source."""

    async def get(self, environment: Environment, reference: str) -> RegisteredSource | None:
        """The source of this environment whose id (``ds_…``) or caller's id is ``reference``."""
        ...


class SourceLease(Protocol):
    """Caches the registrations of a store under the lease of its groups: a Resolver."""

    @property
    def staleness(self) -> float:
        """The staleness bound, in seconds."""
        ...

    def peek_source(self, environment: Environment, reference: str) -> RegisteredSource | None:
        """The source if it is cached and may be used now. No I/O; never raises."""
        ...

    async def read_source(
        self, directory: LeasedSources, environment: Environment, reference: str
    ) -> RegisteredSource | None:
        """Asks the directory; caches the answer if that is safe. Raises StoreUnavailable."""
        ...


class SourceLeaseHolder(Protocol):
    """Connects the Resolver and the DataSources of one process: both hold the ``sources`` of one store."""

    @property
    def lease(self) -> SourceLease | None:
        """The lease that was offered last and still exists; None: each query has to ask the store."""
        ...

    def offer_lease(self, lease: SourceLease | None) -> None:
        """Sets the lease of the Resolver that follows this store in this process; None: it stopped. Held weakly."""
        ...


@runtime_checkable
class LeasedSources(SourceLeaseHolder, SourceDirectory, Protocol):
    """A directory whose registrations may be cached. Like a LeasedBackend it counts each write to a data source, lists
    it under SOURCES_HANDLE and announces it in the slots of ``RegisteredSource.handles``."""

    async def get_at_snapshot(self, environment: Environment, reference: str) -> SourceReading:
        """As ``get``, with the generation of the snapshot, from the store of record."""
        ...


class SourceStore(LeasedSources, Protocol):
    """Reads and writes registered data sources."""

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
        """``session`` as in ``RegisteredSource``, by name. Raises AlreadyExists; InvalidSource for a ``session`` that
        ``check_session_variables`` refuses."""
        ...

    async def list(self, environment: Environment) -> Sequence[RegisteredSource]:
        """The sources of this environment, by the caller's ids."""
        ...

    async def set_url(self, source: RegisteredSource, url: str, *, author: Author = UNNAMED) -> RegisteredSource | None:
        """Replaces ``source.url`` by another spelling of it, such as an encrypted one, without connecting. Returns None
        and writes nothing if another URL is stored by now."""
        ...

    async def delete(self, environment: Environment, reference: str, *, author: Author = UNNAMED) -> RegisteredSource:
        """Raises UnknownDataSource."""
        ...


class SourceHolder(Protocol):
    """The one thing that ``DataSources`` requires of a store."""

    @property
    def sources(self) -> SourceDirectory:
        """Finds registered data sources."""
        ...
