from __future__ import annotations

from typing import NamedTuple, Protocol

from tenantry.groups import AuditNote


class CodeShare(NamedTuple):
    """Limit for the group with handle ``group``: at most ``most`` codes of one purpose."""

    group: bytes
    most: int


class CodeStore(Protocol):
    """Single-use codes and sessions. ``digest`` is the SHA-256 (32 bytes) of the code."""

    async def add(
        self,
        digest: bytes,
        *,
        purpose: str,
        payload: str,
        lifetime: float,
        api_token_id: int | None = None,
        audited: AuditNote | None = None,
        share: CodeShare | None = None,
    ) -> None:
        """Store ``payload`` for ``lifetime`` seconds of the store's clock; all effects share one transaction.
        ``purpose``: at most 16 characters. ``api_token_id``: the code ends with this API token. ``share``: the oldest
        codes beyond it are deleted. Raises AlreadyExists; Unauthorized if the API token is revoked or expired."""
        ...

    async def purpose(self, digest: bytes) -> str | None:
        """Return a live code's purpose, or None. Callers check it before ``redeem``, so guessed codes cause no database
        write."""
        ...

    async def redeem(self, digest: bytes, *, purpose: str) -> str | None:
        """Return the payload to exactly one caller on any host; None if the code is used, expired, unknown or has
        another purpose."""
        ...

    async def read(self, digest: bytes, *, purpose: str) -> str | None:
        """Return a session's payload without using it up; None as in ``redeem``."""
        ...
