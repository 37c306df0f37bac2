from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from tenantry.groups import UNNAMED, ApiToken, Author, Caller, Environment, RevokedApiToken, Scope


class ApiTokenStore(Protocol):
    """Stores API tokens. ``digest``: the SHA-256 (32 bytes) of the secret string."""

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
        """``hint``: the secret's last four characters. Raises AlreadyExists (the digest), UnknownEnvironment."""
        ...

    async def get(self, digest: bytes) -> ApiToken | None:
        """Read the token, never from a cache; None if unknown or revoked. Raises ApiTokenExpired."""
        ...

    async def get_with_group(self, digest: bytes, provided_id: str) -> Caller | None:
        """Like ``get``, and find a group of the token's environment in the same read."""
        ...

    async def record_use(self, token: ApiToken) -> None:
        """Set ``last_used_at``, unless it is less than an hour old. Not audited."""
        ...

    async def list(self, environment: Environment) -> Sequence[ApiToken]:
        """Return all tokens, even revoked and expired ones, oldest first."""
        ...

    async def revoke(self, environment: Environment, token_id: int, *, author: Author = UNNAMED) -> RevokedApiToken:
        """Revoke the token and, in the same transaction, delete the codes it issued. Raises UnknownApiToken."""
        ...
