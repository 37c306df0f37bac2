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


class TokenCount(NamedTuple):
    """How many valid tokens a signing key has signed."""

    live: int = 0
    """The number of groups whose live token the key signed."""
    in_grace: int = 0
    """The number of groups whose previous token, signed by the key, is still in its grace period. Groups that ``live``
    counts are not counted again."""
    grace_until: datetime | None = None
    """The latest end of the grace periods that ``in_grace`` counts."""


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
        """Create an environment. Raises AlreadyExists if another environment has this name."""
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
        """Return the origins whose pages may embed dashboards, by environment name."""
        ...

    async def count_tokens(self) -> Mapping[str, TokenCount]:
        """Return how many valid tokens each signing key has signed, in all environments, by key id."""
        ...


class ApiTokenStore(Protocol):
    """Stores API tokens. ``digest``: the SHA-256 (32 bytes) of an API token."""

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
        """Store an API token. Raises UnknownEnvironment. Raises AlreadyExists if the digest exists."""
        ...

    async def get(self, digest: bytes) -> ApiToken | None:
        """Read the API token with this digest, never from a cache. Return None if the token is unknown or revoked.
        Raises ApiTokenExpired."""
        ...

    async def get_with_group(self, digest: bytes, provided_id: str) -> Caller | None:
        """Return the API token as ``get`` does, and the group ``provided_id`` of the token's environment, in one
        read."""
        ...

    async def record_use(self, token: ApiToken) -> None:
        """Set the token's ``last_used_at`` to now, unless the stored time is less than an hour old. Adds no
        audit entry."""
        ...

    async def list(self, environment: Environment) -> Sequence[ApiToken]:
        """Return all API tokens of the environment, oldest first, including revoked and expired ones."""
        ...

    async def revoke(self, environment: Environment, token_id: int, *, author: Author = UNNAMED) -> RevokedApiToken:
        """Revoke the token and, in the same transaction, delete the codes issued with it. Raises UnknownApiToken."""
        ...


class CodeShare(NamedTuple):
    """Limits how many codes a group, or an author of the SQL editor, may have for one purpose."""

    owner: bytes
    """The handle of the group, or a hash of the author's name."""
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
        api_token_id: int | None = None,  # issued the code, which ends with the token
        audited: AuditNote | None = None,  # an audit entry, in the same transaction
        share: CodeShare | None = None,  # the group's oldest codes beyond this share are deleted
    ) -> None:
        """Store a code. Raises AlreadyExists if the digest exists, and Unauthorized if the API token
        ``api_token_id`` is revoked or expired."""
        ...

    async def purpose(self, digest: bytes) -> str | None:
        """Return the purpose of a live code, or None. Call this before ``redeem``: a guessed code then causes no
        write."""
        ...

    async def redeem(self, digest: bytes, *, purpose: str) -> str | None:
        """Use up the code and return its payload. Return None if the code is used, expired or unknown, or was
        issued for another purpose. If several callers redeem the same code, even on different hosts, only one gets
        the payload."""
        ...

    async def read(self, digest: bytes, *, purpose: str) -> str | None:
        """Like ``redeem``, but does not use up the code: for codes that identify a session."""
        ...

    async def delete(self, group: bytes, *, purpose: str) -> int:
        """Delete the live codes with this purpose whose ``CodeShare.owner`` is ``group``. Return how many."""
        ...


class UsageStore(Protocol):
    """Stores usage by group, hour and data source. The usage of a deleted group is kept for billing. In environments
    that count viewers, usage is also stored by group, day and viewer, until the group is deleted."""

    async def add(self, batch: UsageBatch) -> None:
        """Add the batch, unless its writer has added a batch with the same or a higher number in the last 90 days. Rows
        of viewers are dropped if their group does not exist or if their environment does not count viewers."""
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
        """Return usage by group and data source, sorted by key: the sum over all hours that began at ``since`` or later
        and before ``until``. With ``by_viewer``, return usage by group and viewer: the sum over all days that began in
        this time. The call is slow: one day of 100,000 groups takes seconds."""
        ...

    async def set_viewer_usage(self, environment: Environment, is_on: bool, *, author: Author = UNNAMED) -> None:
        """Start or stop counting the environment's usage by viewer. Raises UnknownEnvironment."""
        ...

    async def environments_with_viewer_usage(self) -> Collection[str]:
        """Return the names of environments that count usage by viewer."""
        ...

    async def oldest(self) -> datetime | None:
        """Return when the oldest stored usage begins: the start of its hour or, if it is by viewer, of its day."""
        ...

    async def prune(self, before: datetime, *, author: Author = UNNAMED) -> int:
        """Delete the usage of hours that began before ``before``, and the usage by viewer of days that had ended by
        then. One call deletes at most a few thousand rows and returns their number: call this until it returns 0. A
        call that deletes rows is audited."""
        ...


class AuditTrail(Protocol):
    """Stores audit entries, which never change. Each change to a group, data source, environment or API token, except
    ``record_use``, appends one in the same transaction."""

    async def record(self, note: AuditNote) -> None:
        """Append an entry for an action that is not a write to the store, such as a query in the editor."""
        ...

    async def list(self, *, environment: str | None = None, after: int = 0, limit: int = 100) -> Sequence[AuditEntry]:
        """Return entries with ``number > after``, oldest first."""
        ...

    async def head(self) -> ChainHead | None:
        """Return the number and MAC of the last sealed entry."""
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
        """Seconds until all processes on this host see every committed write; usually 0.0. Each write waits this long
        before it returns: add this time to its timeout."""
        ...

    def subscribe(self, listener: ChangeListener) -> None: ...

    async def ready(self) -> None:
        """Check that the store answers and its tables are usable. Raises StoreUnavailable."""

    async def aclose(self) -> None:
        """Close this event loop's connections."""
        ...


class Store(WrittenBackend, StoreParts, Protocol):
    """A backend with all parts."""
