from __future__ import annotations

import asyncio
import secrets
from collections.abc import Collection
from enum import StrEnum
from hashlib import sha256
from typing import Final, Protocol, runtime_checkable
from weakref import WeakValueDictionary

from tenantry.groups import AuditNote
from tenantry.ports import CodeShare, CodeStore, GroupStore


@runtime_checkable
class CodesOfGroups(Protocol):
    @property
    def codes(self) -> CodeStore: ...
    @property
    def groups(self) -> GroupStore: ...


class Purpose(StrEnum):
    DOWNLOAD = "download"
    EDITOR = "editor"
    EDITOR_SESSION = "editor-session"
    EMBED = "embed"
    PREVIEW = "preview"
    PREVIEW_SESSION = "preview-session"


SECONDS: Final = {
    Purpose.DOWNLOAD: 60.0,
    Purpose.EDITOR: 600.0,
    Purpose.EDITOR_SESSION: 28_800.0,
    Purpose.EMBED: 60.0,
    Purpose.PREVIEW: 600.0,
    Purpose.PREVIEW_SESSION: 600.0,
}
"""Default lifetime of a code, in seconds."""

MAX_CODES: Final = {Purpose.DOWNLOAD: 20, Purpose.EMBED: 1_000}
"""Maximum number of unredeemed codes of a group, over all its viewers. When one more is issued, the oldest is deleted.
The maximum for EMBED is high, because a host page requests a code at each view."""

MAX_PAYLOAD: Final = 4_096
"""Maximum size of a payload, in bytes of UTF-8, without the claims of a pass, which are limited when the pass is
made."""

CODE_LENGTH: Final = 43
"""Length of a code in characters: 32 random bytes in base64url."""


class SingleUseCodes:
    """Codes that replace a token in the address of a download, an embedded page, a preview or the SQL editor."""

    # A code has 256 random bits. It can be redeemed only once, on any worker. The store keeps only its SHA-256.

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
        share: CodeShare | None = None,
    ) -> str:
        """Issue a code that is valid for ``lifetime`` seconds, but not after the API token ends. Raises
        StoreUnavailable, and Unauthorized for a revoked or expired API token."""
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

    async def issue_for_viewer(self, purpose: Purpose, payload: str, group: bytes) -> str:
        """Issue a code for a viewer of this group. Of the group's codes for this purpose, only the newest
        ``MAX_CODES[purpose]`` stay valid. Raises StoreUnavailable."""
        async with self._turns.setdefault(group, asyncio.Lock()):
            return await self.issue(purpose, payload, share=CodeShare(group, MAX_CODES[purpose]))

    async def redeem(self, purpose: Purpose, code: str) -> str | None:
        """Redeem a code and return its payload, or None for an invalid code. If this raises StoreUnavailable, the code
        may be used up."""
        found = await self.redeem_one_of((purpose,), code)
        return None if found is None else found[1]

    async def redeem_one_of(self, purposes: Collection[Purpose], code: str) -> tuple[Purpose, str] | None:
        if not _is_code(code):
            return None
        digest = code_digest(code)
        # Anyone may send a code, so an unknown code must cost only one read and no write.
        kind = await self._kept.purpose(digest)
        purpose = next((each for each in purposes if each.value == kind), None)
        payload = None if purpose is None else await self._kept.redeem(digest, purpose=purpose.value)
        return None if purpose is None or payload is None else (purpose, payload)

    async def read(self, purpose: Purpose, code: str) -> str | None:
        """Return a code's payload without redeeming it."""
        return await self.read_digest(purpose, code_digest(code)) if _is_code(code) else None

    async def read_digest(self, purpose: Purpose, digest: bytes) -> str | None:
        return await self._kept.read(digest, purpose=purpose.value)

    async def delete(self, purpose: Purpose, group: bytes) -> int:
        """Like ``CodeStore.delete``."""
        return await self._kept.delete(group, purpose=purpose.value)


def _is_code(code: str) -> bool:
    return len(code) == CODE_LENGTH and code.isascii()


def code_digest(code: str) -> bytes:
    return sha256(code.encode("ascii")).digest()
