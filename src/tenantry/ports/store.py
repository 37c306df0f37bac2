from __future__ import annotations

from typing import Protocol

from tenantry.ports.api_tokens import ApiTokenStore
from tenantry.ports.audit import AuditTrail
from tenantry.ports.backend import LeasedBackend
from tenantry.ports.bus import ChangeListener
from tenantry.ports.codes import CodeStore
from tenantry.ports.environments import EnvironmentStore
from tenantry.ports.groups import GroupStore
from tenantry.ports.sources import SourceStore
from tenantry.ports.usage import UsageStore


class StoreParts(Protocol):
    """One part of a store for each kind of record."""

    @property
    def groups(self) -> GroupStore: ...
    @property
    def environments(self) -> EnvironmentStore: ...
    @property
    def api_tokens(self) -> ApiTokenStore: ...
    @property
    def sources(self) -> SourceStore: ...
    @property
    def codes(self) -> CodeStore: ...
    @property
    def usage(self) -> UsageStore: ...
    @property
    def audit(self) -> AuditTrail: ...


class WrittenBackend(LeasedBackend, Protocol):
    """A backend that this process also writes to."""

    @property
    def settling(self) -> float:
        """Seconds until committed writes are visible to all processes of this host and return; usually 0.0. Add it to a
        write's timeout."""
        ...

    def subscribe(self, listener: ChangeListener) -> None: ...

    async def ready(self) -> None:
        """Raises StoreUnavailable unless the store answers and this version can use its tables."""

    async def aclose(self) -> None:
        """Close this event loop's connections."""
        ...


class Store(WrittenBackend, StoreParts, Protocol):
    """A backend with all parts."""
