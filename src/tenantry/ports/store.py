from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from tenantry.groups import (
    UNNAMED,
    ApiToken,
    AuditEntry,
    AuditNote,
    Author,
    Caller,
    ChainHead,
    Environment,
    RevokedApiToken,
    Scope,
    Tag,
    Usage,
    UsageBatch,
    UsageKey,
)
from tenantry.ports.backend import LeasedBackend
from tenantry.ports.bus import ChangeListener
from tenantry.ports.groups import GroupStore
from tenantry.ports.sources import SourceStore


class EnvironmentStore(Protocol):
    """Stores environments."""

    async def create(
        self,
        name: str,
        tag: Tag,
        *,
        external_data_sources: bool = False,
        grace_seconds: int = 0,
        author: Author = UNNAMED,
    ) -> Environment:
        """Raises AlreadyExists if the name is taken."""
        ...

    async def set_grace(self, environment: Environment, grace_seconds: int, *, author: Author = UNNAMED) -> Environment:
        """Set the default grace period of later rotations. Raises UnknownEnvironment."""
        ...

    async def get(self, name: str) -> Environment | None: ...

    async def list(self) -> Sequence[Environment]:
        """Return all environments, oldest first."""
        ...

    async def set_embedding_hosts(
        self, environment: Environment, hosts: Sequence[str], *, author: Author = UNNAMED
    ) -> tuple[str, ...]:
        """Replace the origins whose pages may embed dashboards. Raises UnknownEnvironment."""
        ...

    async def embedding_hosts(self) -> Mapping[str, tuple[str, ...]]:
        """Return the origins, by the name of each environment that has any."""
        ...


class ApiTokenStore(Protocol):
    """``digest``: the SHA-256 (32 bytes) of an API token."""

    async def create(
        self,
        environment: Environment,
        *,
        digest: bytes,
        label: str,
        scopes: Collection[Scope],
        hint: str,  # the last four characters of the secret
        expires_at: datetime | None = None,
        author: Author = UNNAMED,
    ) -> ApiToken:
        """Raises UnknownEnvironment; AlreadyExists if the digest exists."""
        ...

    async def get(self, digest: bytes) -> ApiToken | None:
        """Read the token, never from a cache; None if unknown or revoked. Raises ApiTokenExpired."""
        ...

    async def get_with_group(self, digest: bytes, provided_id: str) -> Caller | None:
        """Like ``get``; the same read also finds a group of the token's environment."""
        ...

    async def record_use(self, token: ApiToken) -> None:
        """Set ``last_used_at``, unless it is less than an hour old. Not audited."""
        ...

    async def list(self, environment: Environment) -> Sequence[ApiToken]:
        """Return all tokens of the environment, even revoked and expired ones, oldest first."""
        ...

    async def revoke(self, environment: Environment, token_id: int, *, author: Author = UNNAMED) -> RevokedApiToken:
        """Revoke the token and, in the same transaction, delete the codes issued with it. Raises UnknownApiToken."""
        ...


class CodeShare(NamedTuple):
    """Limits a group's codes of one purpose."""

    group: bytes
    """The handle."""
    most: int


class CodeStore(Protocol):
    """Stores single-use codes and sessions. ``digest``: the SHA-256 (32 bytes) of the secret code."""

    async def add(
        self,
        digest: bytes,
        *,
        purpose: str,  # at most 16 characters
        payload: str,
        lifetime: float,  # seconds, by the store's clock
        api_token_id: int | None = None,  # issued the code; when it ends, so does the code
        audited: AuditNote | None = None,  # an audit entry, in the same transaction
        share: CodeShare | None = None,  # the group's oldest codes beyond this share are deleted
    ) -> None:
        """Raises AlreadyExists; Unauthorized if the API token is revoked or expired."""
        ...

    async def purpose(self, digest: bytes) -> str | None:
        """Return a live code's purpose, or None. Call this before ``redeem``, so that guessed codes cause no writes."""
        ...

    async def redeem(self, digest: bytes, *, purpose: str) -> str | None:
        """Use up the code and return its payload; None if it is used, expired, unknown or has another purpose. Of
        concurrent callers on any host, one gets the payload."""
        ...

    async def read(self, digest: bytes, *, purpose: str) -> str | None:
        """Return a session's payload without ending the session; None as for ``redeem``."""
        ...


class UsageStore(Protocol):
    """Stores usage by group, hour and data source. Keeps that of deleted groups for billing. Where an environment asks
    for it, also stores usage by group, day and viewer, until the group is deleted."""

    async def add(self, batch: UsageBatch) -> None:
        """Add the batch, unless its writer added this number or a later one in the last 90 days. Drop rows of viewers
        whose group does not exist, or whose environment counts no viewers."""
        ...

    async def sums(
        self,
        since: datetime,
        until: datetime,
        *,
        environment: str | None = None,
        group: str | None = None,
        by_viewer: bool = False,
    ) -> Mapping[UsageKey, Usage]:
        """Sum the usage of the hours that began in [``since``, ``until``), in key order. ``by_viewer``: sum viewers'
        days instead, by viewer. Slow for many groups: a day of 100,000 groups takes seconds."""
        ...

    async def set_viewer_usage(self, environment: Environment, is_on: bool, *, author: Author = UNNAMED) -> None:
        """Begin or end counting by viewer. Raises UnknownEnvironment."""
        ...

    async def environments_with_viewer_usage(self) -> Collection[str]:
        """Return the names of the environments that count by viewer."""
        ...

    async def oldest(self) -> datetime | None:
        """Return the beginning of the earliest hour (of a group) or day (of a viewer) with usage."""
        ...

    async def prune(self, before: datetime, *, author: Author = UNNAMED) -> int:
        """Delete a few thousand rows for hours before ``before``, and for viewers' days that ended by then. Audited.
        Return the number of deleted rows; call again until it is 0."""
        ...


class AuditTrail(Protocol):
    """A write appends its entry in the same transaction; entries never change."""

    async def list(self, *, environment: str | None = None, after: int = 0, limit: int = 100) -> Sequence[AuditEntry]:
        """Return entries with ``number > after``, oldest first."""
        ...

    async def head(self) -> ChainHead | None:
        """Number and MAC of the last sealed entry, or None."""
        ...


class StoreParts(Protocol):
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
        """Seconds until all processes of this host see every committed write; usually 0.0. Each write waits that long,
        so callers should add it to a write's timeout."""
        ...

    def subscribe(self, listener: ChangeListener) -> None: ...

    async def ready(self) -> None:
        """Raises StoreUnavailable if the store does not answer or its tables are not usable."""

    async def aclose(self) -> None:
        """Close this event loop's connections."""
        ...


class Store(WrittenBackend, StoreParts, Protocol):
    """A backend with all parts."""
