"""The port of ``store.codes``: single-use codes and sessions."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from tenantry.groups import AuditNote


class CodeShare(NamedTuple):
    """At most ``most`` codes of one purpose are kept for the group with the handle ``group``."""

    group: bytes
    most: int


class CodeStore(Protocol):
    """Keeps single-use codes. It sees only the SHA-256 ``digest`` (32 bytes) of a code."""

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
        """Keeps ``payload`` for ``lifetime`` seconds of the store's clock, and deletes some expired codes.

        ``purpose`` is a word of at most 16 characters. ``api_token_id``: the API token that issues the code, with
        whose revocation or end date it ends. ``audited`` goes into the audit trail in the same transaction. ``share``:
        the oldest codes of this purpose beyond the share are deleted in it. Raises AlreadyExists; Unauthorized where
        the API token is revoked or expired."""
        ...

    async def purpose(self, digest: bytes) -> str | None:
        """The purpose of a live code, or None. A read in the database too: callers check it first, so that guessed
        codes cost no write."""
        ...

    async def redeem(self, digest: bytes, *, purpose: str) -> str | None:
        """The payload, to exactly one caller on any host; None if the code is used, expired or unknown, or has another
        purpose (then it stays)."""
        ...

    async def read(self, digest: bytes, *, purpose: str) -> str | None:
        """The payload of a session's code, which stays until it expires; None as with ``redeem``. A read in the
        database too."""
        ...
