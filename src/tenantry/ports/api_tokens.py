"""The port of ``store.api_tokens``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from tenantry.groups import UNNAMED, ApiToken, Author, Caller, Environment, RevokedApiToken, Scope


class ApiTokenStore(Protocol):
    """Reads and writes API tokens. It sees only the SHA-256 ``digest`` (32 bytes) of a secret."""

    async def create(
        self,
        environment: Environment,
        *,
        digest: bytes,
        label: str,
        scopes: Collection[Scope],
        hint: str,
        expires_at: datetime | None = None,
        author: Author = UNNAMED,
    ) -> ApiToken:
        """Registers a token, refused from ``expires_at`` on (None: never); ``hint`` is the last four characters of its
        secret. Raises AlreadyExists, UnknownEnvironment."""
        ...

    async def get(self, digest: bytes) -> ApiToken | None:
        """The live token with this digest; None if it is unknown or revoked. Never cached. Raises ApiTokenExpired."""
        ...

    async def get_with_group(self, digest: bytes, provided_id: str) -> Caller | None:
        """As ``get``, together with the group of the token's environment with this id, in one read."""
        ...

    async def record_use(self, token: ApiToken) -> None:
        """Stores that the token was used now, unless a use within the last hour is stored. Not in the audit trail."""
        ...

    async def list(self, environment: Environment) -> Sequence[ApiToken]:
        """The tokens of this environment, oldest first, with revoked and expired ones."""
        ...

    async def revoke(self, environment: Environment, token_id: int, *, author: Author = UNNAMED) -> RevokedApiToken:
        """Revokes the token, and ends the codes and sessions that it issued (``CodeStore.add``), in one transaction.
        Raises UnknownApiToken."""
        ...
