from __future__ import annotations

from binascii import b2a_base64
from hashlib import sha256
from typing import Final

_BLOCK: Final = 64  # a block of SHA-256, in bytes
_INNER: Final = bytes(byte ^ 0x36 for byte in range(256))  # maps each byte of a key to its byte of the inner key
_OUTER: Final = bytes(byte ^ 0x5C for byte in range(256))
_URLSAFE: Final = bytes.maketrans(b"+/", b"-_")

# The HMAC is computed here, because the standard library takes longer (decision 0037).


class MessageAuthenticator:
    """Computes HMAC-SHA256 (RFC 2104) with a prepared key."""

    __slots__ = ("_inner", "_outer")

    def __init__(self, key: bytes) -> None:
        if len(key) > _BLOCK:
            raise ValueError("the key is longer than 64 bytes: use its SHA-256 as the key")
        padded = key.ljust(_BLOCK, b"\0")
        self._inner = sha256(padded.translate(_INNER))
        self._outer = sha256(padded.translate(_OUTER))

    def digest(self, message: bytes) -> bytes:
        inner = self._inner.copy()
        inner.update(message)
        outer = self._outer.copy()
        outer.update(inner.digest())
        return outer.digest()

    def signature(self, message: bytes) -> bytes:
        """Return the HMAC of ``message`` as 43 base64url characters."""
        return b2a_base64(self.digest(message))[:43].translate(_URLSAFE)


def sign_once(key: bytes, message: bytes) -> bytes:
    """Return the HMAC-SHA256 (RFC 2104) of ``message`` as 43 base64url characters. ``key`` must have more than 64
    bytes."""
    padded = sha256(key).digest().ljust(_BLOCK, b"\0")
    inner = sha256(padded.translate(_INNER) + message)
    outer = sha256(padded.translate(_OUTER) + inner.digest())
    return b2a_base64(outer.digest())[:43].translate(_URLSAFE)
