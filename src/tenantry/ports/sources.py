from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from tenantry.groups import UNNAMED, Author, Environment, RegisteredSource, SourceReading


class SourceDirectory(Protocol):
    """Finds registered data sources."""

    async def get(self, environment: Environment, reference: str) -> RegisteredSource | None:
        """``reference``: our id (``ds_…``) or the caller's."""
        ...


class SourceLease(Protocol):
    """Caches registrations under the lease of a store's groups; implemented by Resolver."""

    @property
    def staleness(self) -> float: ...

    def peek_source(self, environment: Environment, reference: str) -> RegisteredSource | None:
        """Return the source if a usable entry is cached. No I/O; never raises."""
        ...

    async def read_source(
        self, directory: LeasedSources, environment: Environment, reference: str
    ) -> RegisteredSource | None:
        """Read from the directory and cache the result if safe. Raises StoreUnavailable."""
        ...


class SourceLeaseHolder(Protocol):
    """Connects the Resolver and DataSources of one process."""

    @property
    def lease(self) -> SourceLease | None:
        """The current lease; None: every query reads the store."""
        ...

    def offer_lease(self, lease: SourceLease | None) -> None:
        """Set the lease, held weakly; None when the Resolver stops."""
        ...


@runtime_checkable
class LeasedSources(SourceLeaseHolder, SourceDirectory, Protocol):
    """A directory whose registrations can be cached. Each write is listed under SOURCES_HANDLE and changes the slots of
    ``RegisteredSource.handles``."""

    async def get_at_snapshot(self, environment: Environment, reference: str) -> SourceReading:
        """Like ``get``, from the store of record."""
        ...


class SourceStore(LeasedSources, Protocol):
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
        """Raises AlreadyExists; InvalidSource if ``check_session_variables`` rejects ``session``."""
        ...

    async def list(self, environment: Environment) -> Sequence[RegisteredSource]:
        """List the environment's sources, ordered by the caller's id."""
        ...

    async def set_url(self, source: RegisteredSource, url: str, *, author: Author = UNNAMED) -> RegisteredSource | None:
        """Replace ``source.url`` by an equivalent spelling, such as an encrypted one, without connecting. Returns None
        if the stored URL has changed."""
        ...

    async def delete(self, environment: Environment, reference: str, *, author: Author = UNNAMED) -> RegisteredSource:
        """Raises UnknownDataSource."""
        ...


class SourceHolder(Protocol):
    """A store as ``DataSources`` needs it."""

    @property
    def sources(self) -> SourceDirectory: ...
