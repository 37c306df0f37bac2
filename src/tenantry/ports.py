"""The plug-in points, each one capability. A third party implements one by its shape and need not import us.

All times are aware datetimes in UTC. Every method may raise StoreUnavailable.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Protocol

from tenantry.groups import (
    ApiToken,
    Environment,
    GroupChanges,
    GroupDraft,
    Issued,
    Once,
    RegisteredSource,
    Scope,
    Tag,
    Token,
    UserGroup,
)


class Backend(Protocol):
    """Finds the group of a token. The one method that a third party has to write."""

    async def find(self, token: Token) -> UserGroup | None:
        """The group with this handle, if the token is its live one (same version, nonce and key id), or the version
        just before while its grace lasts; else None. The signature has been checked already."""
        ...


class ChangeListener(Protocol):
    """Hears of writes made through a store in this process, so that a cache can forget at once."""

    def changing(self, handle: bytes) -> None:
        """A write to this group is about to be committed: what is read from now on may be either side of it."""

    def changed(self, handle: bytes) -> None:
        """That write is over, whether it was committed or failed. Called before the writer returns."""


class ObservableBackend(Backend, Protocol):
    """A backend that tells of its own writes. A Resolver subscribes to one when it is given one."""

    def subscribe(self, listener: ChangeListener) -> None: ...


class GroupStore(Backend, Protocol):
    """Reads and writes user groups. Each write is one transaction."""

    async def get_or_create(
        self, environment: Environment, draft: GroupDraft, token: Token, *, once: Once | None = None
    ) -> Issued:
        """The group with ``draft.provided_id``, created with ``token`` if there is none; never changes one that exists.
        Raises IdempotencyKeyReused, IdempotencySuperseded."""
        ...

    async def update(self, environment: Environment, provided_id: str, changes: GroupChanges) -> Issued:
        """Raises UnknownGroup."""
        ...

    async def rotate(
        self,
        environment: Environment,
        current: Token,
        *,
        key_id: str,
        nonce: bytes,
        grace_seconds: int = 0,
        once: Once | None = None,
    ) -> Issued:
        """Compare-and-swap: replaces ``current`` by version + 1 with this key id and nonce; of N at once one wins.
        Raises UnknownToken, TokenAlreadyRotated, IdempotencyKeyReused, IdempotencySuperseded."""
        ...

    async def delete(self, environment: Environment, provided_id: str) -> UserGroup:
        """Raises UnknownGroup."""
        ...

    async def get(self, environment: Environment, provided_id: str) -> Issued | None: ...

    async def groups(self, environment: Environment, *, after: int = 0, limit: int = 100) -> Sequence[UserGroup]:
        """Groups with ``team_id > after``, ordered by ``team_id``."""
        ...


class EnvironmentStore(Protocol):
    """Reads and writes environments."""

    async def create_environment(self, name: str, tag: Tag, *, external_data_sources: bool = False) -> Environment:
        """Raises AlreadyExists."""
        ...

    async def environment(self, name: str) -> Environment | None: ...

    async def environments(self) -> Sequence[Environment]: ...


class ApiTokenStore(Protocol):
    """Reads and writes API tokens. The secret itself never comes here: only its SHA-256 ``digest`` (32 bytes)."""

    async def create_api_token(
        self, environment: Environment, *, digest: bytes, label: str, scopes: Collection[Scope], hint: str
    ) -> ApiToken: ...

    async def api_token(self, digest: bytes) -> ApiToken | None:
        """The live token with this digest; None if there is none or it was revoked. Never cached."""
        ...

    async def api_tokens(self, environment: Environment) -> Sequence[ApiToken]: ...

    async def revoke_api_token(self, environment: Environment, token_id: int) -> ApiToken:
        """Raises UnknownApiToken."""
        ...


class SourceDirectory(Protocol):
    """Finds a registered data source."""

    async def data_source(self, environment: Environment, reference: str) -> RegisteredSource | None:
        """The source of this environment whose id (``ds_…``) or caller's own id is ``reference``."""
        ...


class SourceStore(SourceDirectory, Protocol):
    """Reads and writes registered data sources."""

    async def create_data_source(
        self, environment: Environment, *, source_id: str, provided_id: str, url: str, trusted: bool = False
    ) -> RegisteredSource:
        """Raises AlreadyExists."""
        ...

    async def data_sources(self, environment: Environment) -> Sequence[RegisteredSource]: ...

    async def delete_data_source(self, environment: Environment, reference: str) -> RegisteredSource:
        """Raises UnknownDataSource."""
        ...


class Store(GroupStore, EnvironmentStore, ApiTokenStore, SourceStore, Protocol):
    """Everything that Tenantry keeps."""

    def subscribe(self, listener: ChangeListener) -> None: ...

    async def ready(self) -> None:
        """Returns when the store answers and its tables are those of this version; raises StoreUnavailable if not."""

    async def aclose(self) -> None: ...


Clock = Callable[[], datetime]
"""The time of day: an aware datetime in UTC."""

MonotonicClock = Callable[[], float]
"""Seconds since some start, never going back."""
