from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from tenantry.groups import UNNAMED, ApiToken, Author, Caller, Environment, RevokedApiToken, Scope


class ApiTokenStore(Protocol):
    """API tokens. ``digest`` is the SHA-256 (32 bytes) of the secret."""

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
        """``hint``: the secret's last four characters. ``expires_at``: None means never. Raises AlreadyExists,
        UnknownEnvironment."""
        ...

    async def get(self, digest: bytes) -> ApiToken | None:
        """Return the live token, uncached; None if unknown or revoked. Raises ApiTokenExpired."""
        ...

    async def get_with_group(self, digest: bytes, provided_id: str) -> Caller | None:
        """Like ``get``, with a group of the token's environment, in one read."""
        ...

    async def record_use(self, token: ApiToken) -> None:
        """Record a use, at most once an hour and without an audit entry."""
        ...

    async def list(self, environment: Environment) -> Sequence[ApiToken]:
        """Include revoked and expired tokens; oldest first."""
        ...

    async def revoke(self, environment: Environment, token_id: int, *, author: Author = UNNAMED) -> RevokedApiToken:
        """Revoke the token and, in the same transaction, all codes and sessions it issued. Raises UnknownApiToken."""
        ...
