"""SingleUseCodes: what stands in an address in place of a token, and can be used once."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from enum import StrEnum
from hashlib import sha256
from typing import Final

from tenantry.groups import AuditNote
from tenantry.ports import CodeStore


class Purpose(StrEnum):
    """What a code is for; a code for one purpose is nothing for another."""

    DOWNLOAD = "download"
    EMBED = "embed"
    PREVIEW = "preview"
    PREVIEW_SESSION = "preview-session"


SECONDS: Final = {Purpose.DOWNLOAD: 60.0, Purpose.EMBED: 60.0, Purpose.PREVIEW: 600.0, Purpose.PREVIEW_SESSION: 600.0}
"""How long a code of each purpose lives unless it is said otherwise."""

MAX_PAYLOAD: Final = 65_535
"""Bytes of what a code stands for, in UTF-8: what the smallest text column of a database holds."""

CODE_LENGTH: Final = 43
"""Characters of a code: 32 random bytes in base64url."""


class SingleUseCodes:
    """Codes of 256 random bits, each of which any worker of any host redeems exactly once.

    The store keeps the SHA-256 of each, with an end: nobody who reads it can use one. What a code stands for (its
    payload) is text, and never holds a token.
    """

    def __init__(self, store: CodeStore) -> None:
        self._store = store

    async def issue(
        self,
        purpose: Purpose,
        payload: str,
        lifetime: float | None = None,
        *,
        api_token_id: int | None = None,
        audited: AuditNote | None = None,
    ) -> str:
        """A new code for ``payload``, good for ``lifetime`` seconds and no longer than the API token that issues it.
        Raises StoreUnavailable; Unauthorized where that API token is not good any more."""
        code = secrets.token_urlsafe(32)
        await self._store.add_code(
            code_digest(code),
            purpose=purpose.value,
            payload=payload,
            lifetime=SECONDS[purpose] if lifetime is None else lifetime,
            api_token_id=api_token_id,
            audited=audited,
        )
        return code

    async def redeem(self, purpose: Purpose, code: str) -> str | None:
        """The payload; None for a code that was used, has ended, is for something else or never was one. Raises
        StoreUnavailable: then the code may still be good, or used up."""
        found = await self.redeem_one_of((purpose,), code)
        return None if found is None else found[1]

    async def redeem_one_of(self, purposes: Collection[Purpose], code: str) -> tuple[Purpose, str] | None:
        """The same of a code that is for one of ``purposes``: which one, and the payload."""
        if not _is_code(code):
            return None
        digest = code_digest(code)
        kind = await self._store.code_purpose(digest)  # anybody may ask: what is no code costs one read and no write
        purpose = next((each for each in purposes if each.value == kind), None)
        payload = None if purpose is None else await self._store.redeem_code(digest, purpose=purpose.value)
        return None if purpose is None or payload is None else (purpose, payload)

    async def read(self, purpose: Purpose, code: str) -> str | None:
        """The same of a code that stands for a session: it stays until its end."""
        return await self.read_digest(purpose, code_digest(code)) if _is_code(code) else None

    async def read_digest(self, purpose: Purpose, digest: bytes) -> str | None:
        """The same by the digest of the code."""
        return await self._store.read_code(digest, purpose=purpose.value)


def _is_code(code: str) -> bool:
    """Whether it may be one: else it costs no read."""
    return len(code) == CODE_LENGTH and code.isascii()


def code_digest(code: str) -> bytes:
    """What the store keeps of a code."""
    return sha256(code.encode("ascii")).digest()
