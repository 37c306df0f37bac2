"""SigningKey: a named secret, and the one-way functions made of it."""

from __future__ import annotations

import hmac
import re
from binascii import b2a_base64
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from tenantry.errors import InvalidKeys

KEY_ID_PATTERN: Final = re.compile(r"[a-z0-9]{2}")
SHORTEST_SECRET: Final = 32

TOKEN_SALT: Final = b"tenantry.user-group-token.v1"
BODY_SALT: Final = b"tenantry.idempotency-body.v1"

_URLSAFE: Final = bytes.maketrans(b"+/", b"-_")
_BLOCK: Final = 64  # bytes that SHA-256 takes at a time


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key that signs user group tokens: an ``id`` of two characters ``[a-z0-9]``, shown in each token that it signed,
    and a ``secret`` of at least 32 random bytes. Raises InvalidKeys."""

    id: str
    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if not KEY_ID_PATTERN.fullmatch(self.id):
            raise InvalidKeys("the id of a signing key is two characters, a to z or 0 to 9, such as k1")
        if len(self.secret) < SHORTEST_SECRET:
            raise InvalidKeys(
                f"signing key {self.id} has a secret of {len(self.secret)} bytes; at least {SHORTEST_SECRET} are needed"
            )

    def derive(self, salt: bytes) -> bytes:
        """A key for one purpose: HMAC-SHA256 of the salt, as itsdangerous' key derivation ``hmac`` does it."""
        return hmac.digest(self.secret, salt, "sha256")


class Seal:
    """HMAC-SHA256 (RFC 2104) with one derived key, absorbed beforehand: a token costs two copied hash states.

    ``hmac.HMAC.copy`` would do the same in twice the time, and refusing a forgery is what a flood makes us do.
    """

    __slots__ = ("_inner", "_outer")

    def __init__(self, key: bytes) -> None:
        if len(key) > _BLOCK:
            raise ValueError("the key is longer than a block of SHA-256")
        padded = key.ljust(_BLOCK, b"\0")
        self._inner = sha256(bytes(byte ^ 0x36 for byte in padded))
        self._outer = sha256(bytes(byte ^ 0x5C for byte in padded))

    def digest(self, message: bytes) -> bytes:
        """The code of ``message``, 32 bytes."""
        inner = self._inner.copy()
        inner.update(message)
        outer = self._outer.copy()
        outer.update(inner.digest())
        return outer.digest()

    def signature(self, message: bytes) -> bytes:
        """The code of ``message`` as 43 characters of base64url: the one spelling that is accepted."""
        return b2a_base64(self.digest(message))[:43].translate(_URLSAFE)
