"""The ports of registered data sources: what finds them, what caches them, and what writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from tenantry.groups import UNNAMED, Author, Environment, RegisteredSource, SourceReading


class SourceDirectory(Protocol):
    """Finds a registered data source."""

    async def data_source(self, environment: Environment, reference: str) -> RegisteredSource | None:
        """The source of this environment whose id (``ds_…``) or caller's own id is ``reference``."""
        ...


class SourceLease(Protocol):
    """What caches the registrations of a store under a lease, as it does its groups: a Resolver."""

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
        """What the directory finds; cached if that is safe. Raises StoreUnavailable."""
        ...


class SourceLeaseHolder(Protocol):
    """Where a Resolver and the DataSources of one process meet: the store, or a backend before it."""

    @property
    def source_lease(self) -> SourceLease | None:
        """The one that was offered last and still exists; None: each query has to ask."""
        ...

    def offer_source_lease(self, lease: SourceLease | None) -> None:
        """A Resolver follows this store in this process; None: it does no more. To be held weakly."""
        ...


@runtime_checkable
class LeasedSources(SourceLeaseHolder, SourceDirectory, Protocol):
    """A directory whose registrations may be cached: as a LeasedBackend it counts each write to a data source, lists it
    under SOURCES_HANDLE and announces it in the slots of ``RegisteredSource.handles``."""

    async def source_at_snapshot(self, environment: Environment, reference: str) -> SourceReading:
        """What ``data_source`` finds, with the generation of the snapshot, asked of the store of record."""
        ...


class SourceStore(SourceDirectory, Protocol):
    """Reads and writes registered data sources."""

    async def create_data_source(
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

    async def data_sources(self, environment: Environment) -> Sequence[RegisteredSource]:
        """Those of this environment, oldest first."""
        ...

    async def set_source_url(
        self, source: RegisteredSource, url: str, *, author: Author = UNNAMED
    ) -> RegisteredSource | None:
        """Writes another spelling of the URL in the place of ``source.url``, such as an encrypted one; it is not tried.
        None, and nothing is written, if that is not what is stored any more."""
        ...

    async def delete_data_source(
        self, environment: Environment, reference: str, *, author: Author = UNNAMED
    ) -> RegisteredSource:
        """Raises UnknownDataSource."""
        ...
