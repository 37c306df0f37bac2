"""SingleUseCodes: what stands in an address in place of a token, and can be used once."""

from __future__ import annotations

import secrets
from enum import StrEnum
from hashlib import sha256
from typing import Final

from tenantry.ports import CodeStore


class Purpose(StrEnum):
    """What a code is for; a code for one purpose is nothing for another."""

    DOWNLOAD = "download"
    EMBED = "embed"
    PREVIEW = "preview"


SECONDS: Final = {Purpose.DOWNLOAD: 60.0, Purpose.EMBED: 60.0, Purpose.PREVIEW: 600.0}
"""How long a code of each purpose lives unless it is said otherwise."""

CODE_LENGTH: Final = 43
"""Characters of a code: 32 random bytes in base64url."""


class SingleUseCodes:
    """Codes of 256 random bits, each of which any worker of any host redeems exactly once.

    The store keeps the SHA-256 of each, with an end: nobody who reads it can use one. What a code stands for (its
    payload) is text, and never holds a token.
    """

    def __init__(self, store: CodeStore) -> None:
        self._store = store

    async def issue(self, purpose: Purpose, payload: str, lifetime: float | None = None) -> str:
        """A new code for ``payload``, good for ``lifetime`` seconds. Raises StoreUnavailable."""
        code = secrets.token_urlsafe(32)
        seconds = SECONDS[purpose] if lifetime is None else lifetime
        await self._store.add_code(_digest(code), purpose=purpose.value, payload=payload, lifetime=seconds)
        return code

    async def redeem(self, purpose: Purpose, code: str) -> str | None:
        """The payload; None for a code that was used, has ended, is for something else or never was one. Raises
        StoreUnavailable: then the code may still be good, or used up."""
        if len(code) != CODE_LENGTH or not code.isascii():  # costs no read
            return None
        return await self._store.redeem_code(_digest(code), purpose=purpose.value)


def _digest(code: str) -> bytes:
    return sha256(code.encode("ascii")).digest()
