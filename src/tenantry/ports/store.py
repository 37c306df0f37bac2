"""The port of a whole store: a backend that can be followed, and seven parts."""

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
    """The seven parts of a store, each with one subject."""

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
        """Seconds for which committed writes still wait until no process of this host can use older knowledge; mostly
        0.0. A caller with a deadline for a write adds them."""
        ...

    def subscribe(self, listener: ChangeListener) -> None:
        """Calls ``listener`` for each write from now on."""
        ...

    async def ready(self) -> None:
        """Returns when the store answers and its tables are those of this version; raises StoreUnavailable if not."""

    async def aclose(self) -> None:
        """Closes the connections of this event loop."""
        ...


class Store(WrittenBackend, StoreParts, Protocol):
    """Everything that Tenantry keeps."""
