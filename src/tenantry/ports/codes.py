from __future__ import annotations

from typing import NamedTuple, Protocol

from tenantry.groups import AuditNote


class CodeShare(NamedTuple):
    """Limits the codes that a group has for one purpose."""

    group: bytes
    """The handle."""
    most: int


class CodeStore(Protocol):
    """Stores single-use codes and sessions. ``digest``: the SHA-256 (32 bytes) of the secret code."""

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
        """Store a code for ``lifetime`` seconds of the store's clock. All effects are one transaction.

        ``purpose``: at most 16 characters. ``api_token_id``: the code ends with this API token. ``audited``: adds an
        audit entry. ``share``: deletes the group's oldest codes beyond it. Raises AlreadyExists; Unauthorized if the
        API token is revoked or expired."""
        ...

    async def purpose(self, digest: bytes) -> str | None:
        """Return a live code's purpose, or None. Check it before ``redeem``, so that guessed codes cause no writes."""
        ...

    async def redeem(self, digest: bytes, *, purpose: str) -> str | None:
        """Delete the code and return its payload, to one of concurrent callers on any host. None if the code is used,
        expired, unknown or has another purpose."""
        ...

    async def read(self, digest: bytes, *, purpose: str) -> str | None:
        """Return a session's payload and keep it. None as in ``redeem``."""
        ...
