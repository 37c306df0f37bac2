"""API tokens: ``ugkc_<43 random base62><6 checksum>``, the secret of a caller of ``/api/user``, shown only once."""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha256
from typing import Final

from tenantry.groups import Tag
from tenantry.tokens.user_group_token import BASE62, checksum

API_TOKEN_LENGTH: Final = 54
API_TOKEN_PATTERN: Final = re.compile(r"ugk[ct]_[0-9A-Za-z]{49}")
"""What an API token looks like, not anchored."""

_DIGITS: Final = 43  # 43 · log2(62) = 256 bits
_FAIR: Final = 256 - 256 % len(BASE62)  # bytes from here on would favour the first digits
_PREFIXES: Final = {Tag.CUSTOMER: b"ugkc_", Tag.TESTING: b"ugkt_"}


def mint_api_token(tag: Tag, random: Callable[[int], bytes]) -> str:
    """A new API token. ``random`` is ``secrets.token_bytes`` or alike; ValueError if it gives nothing usable."""
    checked = _PREFIXES[tag] + _random_digits(random)
    return (checked + checksum(checked)).decode("ascii")


def _random_digits(random: Callable[[int], bytes]) -> bytes:
    digits = bytearray()
    for _ in range(64):  # 64 bytes nearly always do; a source that fails 64 times is broken
        digits += bytes(BASE62[byte % len(BASE62)] for byte in random(64) if byte < _FAIR)
        if len(digits) >= _DIGITS:
            return bytes(digits[:_DIGITS])
    raise ValueError("the source of randomness gives no usable bytes")


def api_token_digest(text: str) -> bytes | None:
    """The SHA-256 (32 bytes) under which a store knows this token; None if it cannot be one, so that no I/O is spent.

    A plain hash does for a secret of 256 random bits; a slow one would only make each call slow.
    """
    if len(text) != API_TOKEN_LENGTH or not API_TOKEN_PATTERN.fullmatch(text):
        return None
    raw = text.encode("ascii")
    if checksum(raw[:-6]) != raw[-6:]:
        return None
    return sha256(raw).digest()
