"""SingleUseCodes: what stands in an address in place of a token, and can be used once."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Collection
from enum import StrEnum
from hashlib import sha256
from typing import Final
from weakref import WeakValueDictionary

from tenantry.groups import AuditNote
from tenantry.ports import CodeShare, CodeStore


class Purpose(StrEnum):
    """What a code is for; a code for one purpose is nothing for another."""

    DOWNLOAD = "download"
    EMBED = "embed"
    PREVIEW = "preview"
    PREVIEW_SESSION = "preview-session"


SECONDS: Final = {Purpose.DOWNLOAD: 60.0, Purpose.EMBED: 60.0, Purpose.PREVIEW: 600.0, Purpose.PREVIEW_SESSION: 600.0}
"""How long a code of each purpose lives unless it is said otherwise."""

MOST: Final = {Purpose.DOWNLOAD: 20, Purpose.EMBED: 1_000}
"""Unredeemed codes of a purpose that a group has at once, of those that its viewers ask for: the oldest go. A page of a
host takes an embedding code at each view."""

MAX_PAYLOAD: Final = 4_096
"""Bytes of what a code stands for, in UTF-8."""

CODE_LENGTH: Final = 43
"""Characters of a code: 32 random bytes in base64url."""


class SingleUseCodes:
    """Codes of 256 random bits, each of which any worker of any host redeems exactly once.

    The store keeps the SHA-256 of each, with an end: nobody who reads it can use one. What a code stands for (its
    payload) is text, and never holds a token.
    """

    def __init__(self, kept: CodeStore) -> None:
        self._kept = kept
        self._turns: WeakValueDictionary[bytes, asyncio.Lock] = WeakValueDictionary()

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
        return await self._add(purpose, payload, lifetime, api_token_id=api_token_id, audited=audited)

    async def issue_for_viewer(self, purpose: Purpose, payload: str, group: bytes) -> str:
        """The same for a viewer of the group with this handle, which keeps the ``MOST`` newest. One at a time is
        written for a group, so its viewers do not fill the queue of the store. Raises StoreUnavailable."""
        async with self._turns.setdefault(group, asyncio.Lock()):
            return await self._add(purpose, payload, None, share=CodeShare(group, MOST[purpose]))

    async def _add(
        self,
        purpose: Purpose,
        payload: str,
        lifetime: float | None,
        *,
        api_token_id: int | None = None,
        audited: AuditNote | None = None,
        share: CodeShare | None = None,
    ) -> str:
        code = secrets.token_urlsafe(32)
        await self._kept.add(
            code_digest(code),
            purpose=purpose.value,
            payload=payload,
            lifetime=SECONDS[purpose] if lifetime is None else lifetime,
            api_token_id=api_token_id,
            audited=audited,
            share=share,
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
        kind = await self._kept.purpose(digest)  # anybody may ask: what is no code costs one read and no write
        purpose = next((each for each in purposes if each.value == kind), None)
        payload = None if purpose is None else await self._kept.redeem(digest, purpose=purpose.value)
        return None if purpose is None or payload is None else (purpose, payload)

    async def read(self, purpose: Purpose, code: str) -> str | None:
        """The same of a code that stands for a session: it stays until its end."""
        return await self.read_digest(purpose, code_digest(code)) if _is_code(code) else None

    async def read_digest(self, purpose: Purpose, digest: bytes) -> str | None:
        """The same by the digest of the code."""
        return await self._kept.read(digest, purpose=purpose.value)


def _is_code(code: str) -> bool:
    """Whether it may be one: else it costs no read."""
    return len(code) == CODE_LENGTH and code.isascii()


def code_digest(code: str) -> bytes:
    """What the store keeps of a code."""
    return sha256(code.encode("ascii")).digest()
