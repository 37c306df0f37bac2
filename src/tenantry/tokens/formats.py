from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from hashlib import sha256
from itertools import product
from struct import Struct
from typing import Final
from zlib import crc32

from tenantry.groups import Tag, Token

TOKEN_LENGTH: Final = 97

# Payload (29 bytes) and signature (32 bytes) leave the lowest two bits of their last base64 character unused. Lenient
# decoders ignore these bits. Canonical base64 (RFC 4648 section 3.5) requires zeros, so the last character is one of
# sixteen.
LAST: Final = "[AEIMQUYcgkosw048]"

TOKEN_PATTERN: Final = re.compile(
    rf"ugt[ct]_[a-z0-9]{{2}}_[A-Za-z0-9_-]{{38}}{LAST}\.[A-Za-z0-9_-]{{42}}{LAST}[0-9A-Za-z]{{6}}"
)
"""Finds a user group token in a string (not anchored)."""

# 0     5  8                47 48                91     97
# ugtc_ k2 _ <payload 29 B> .  <HMAC-SHA256 32 B> <CRC-32>
#
# ``c`` or ``t`` is the environment's tag, ``k2`` the signing key's id. The payload is format 1 · handle 8 · version 4
# (big-endian) · nonce 16. Payload and signature are unpadded base64url (RFC 4648 section 5).
HEAD: Final = slice(0, 8)
SIGNED: Final = slice(0, 47)
SIGNATURE: Final = slice(48, 91)
CHECKED: Final = slice(0, 91)
CHECKSUM: Final = slice(91, 97)

_FORMAT: Final = 1
_PAYLOAD: Final = Struct(">B8sI16s")
_LETTERS: Final = {Tag.CUSTOMER: "c", Tag.TESTING: "t"}
_TAGS: Final = {letter: tag for tag, letter in _LETTERS.items()}
_WHOLE: Final = re.compile(TOKEN_PATTERN.pattern.encode("ascii"))


def head(tag: Tag, key_id: str) -> bytes:
    return f"ugt{_LETTERS[tag]}_{key_id}_".encode()


def encode(token: Token) -> bytes:
    """Return the part of a token that is signed. Raises ValueError for values that the format cannot represent."""
    if len(token.handle) != 8 or len(token.nonce) != 16 or not 1 <= token.version < 2**32:
        raise ValueError("a token has a handle of 8 bytes, a nonce of 16 bytes and a version from 1 to 2^32-1")
    payload = urlsafe_b64encode(_PAYLOAD.pack(_FORMAT, token.handle, token.version, token.nonce))
    return head(token.tag, token.key_id) + payload.rstrip(b"=")


def decode(raw: bytes) -> Token | None:
    """Decode a token whose signature was verified. Returns None if it is malformed."""
    if not _WHOLE.fullmatch(raw):
        return None
    form, handle, version, nonce = _PAYLOAD.unpack(urlsafe_b64decode(raw[8:47] + b"="))
    if form != _FORMAT or version == 0:
        return None
    text = raw.decode("ascii")
    return Token(_TAGS[text[3]], text[5:7], handle, version, nonce)


def draft_token(tag: Tag, key_id: str, random: Callable[[int], bytes]) -> Token:
    """Return a group's first token, unsigned. ``random``: a function like ``secrets.token_bytes``."""
    return Token(tag=tag, key_id=key_id, handle=random(8), version=1, nonce=random(16))


# --- the checksum of both formats -------------------------------------------------------------------------------------

BASE62: Final = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

# All two-digit numbers of base 62, so that a checksum takes three look-ups, not six divisions.
_PAIRS: Final = [bytes(pair) for pair in product(BASE62, repeat=2)]
_PAIR: Final = len(_PAIRS)
_SQUARE: Final = _PAIR * _PAIR


def checksum(text: bytes) -> bytes:
    """Return the CRC-32 (RFC 1952 section 8) of ``text`` as six base-62 digits."""
    number = crc32(text)
    return _PAIRS[number // _SQUARE] + _PAIRS[number // _PAIR % _PAIR] + _PAIRS[number % _PAIR]


# --- API tokens -------------------------------------------------------------------------------------------------------

API_TOKEN_LENGTH: Final = 54
API_TOKEN_PATTERN: Final = re.compile(r"ugk[ct]_[0-9A-Za-z]{49}")
"""Finds an API token in a string (not anchored)."""

_DIGITS: Final = 43  # 43 · log2(62) = 256 bits
_FAIR: Final = 256 - 256 % len(BASE62)  # from this byte value on, the first digits would be more likely than others
_PREFIXES: Final = {Tag.CUSTOMER: b"ugkc_", Tag.TESTING: b"ugkt_"}


def mint_api_token(tag: Tag, random: Callable[[int], bytes]) -> str:
    """Return a new API token. Raises ValueError if ``random`` returns too few bytes below 248."""
    digits = bytearray()
    for _ in range(64):  # the first 64 bytes are nearly always enough
        digits += bytes(BASE62[byte % len(BASE62)] for byte in random(64) if byte < _FAIR)
        if len(digits) >= _DIGITS:
            checked = _PREFIXES[tag] + digits[:_DIGITS]
            return (checked + checksum(checked)).decode("ascii")
    raise ValueError("`random` returned too few bytes below 248: pass a function like secrets.token_bytes")


def api_token_digest(text: str) -> bytes | None:
    """Return the SHA-256 (32 bytes) of an API token, by which stores find it. Return None for any other string."""
    if len(text) != API_TOKEN_LENGTH or not API_TOKEN_PATTERN.fullmatch(text):
        return None
    raw = text.encode("ascii")
    if checksum(raw[:-6]) != raw[-6:]:
        return None
    # A plain hash is enough for a secret of 256 random bits.
    return sha256(raw).digest()


PREVIEW_PREFIX: Final = "ugpv_"
"""Prefix of the key of a preview session (``dashboards.preview``). The key is as secret as a token."""

# --- masks ------------------------------------------------------------------------------------------------------------

_LIKE_A_TOKEN: Final = re.compile(
    r"((?:u|%75)(?:g|%67)(?:(?:[ktv]|%6[Bb]|%7[46])(?:[ct]|%63|%74)|(?:p|%70)(?:v|%76)))(?:_|%5[Ff])[\w.~%-]{16,}",
    re.ASCII,
)


def holds_token(text: str) -> bool:
    """Whether ``text`` contains a token, a pass, or the key of a preview session, even if it is mistyped,
    truncated or percent-encoded."""
    return _may_hold_token(text) and _LIKE_A_TOKEN.search(text) is not None


def replace_tokens(text: str, end: str) -> str:
    """Replace each secret that ``holds_token`` finds in ``text`` by its prefix (such as ``ugtc``) followed by
    ``end``."""
    return _LIKE_A_TOKEN.sub(rf"\1{end}", text) if _may_hold_token(text) else text


def _may_hold_token(text: str) -> bool:  # much faster than the pattern
    return "ug" in text or "%75" in text or "%67" in text


def mask(text: str) -> str:
    """Return ``ugtc_…wXyZ`` for a token, and ``…`` for any other string."""
    if TOKEN_PATTERN.fullmatch(text) or API_TOKEN_PATTERN.fullmatch(text):
        return f"{text[:5]}…{text[-4:]}"
    return "…"


def mask_within(text: str) -> str:
    """Return ``text`` with every token masked, also those that ``holds_token`` finds in a broken form."""
    for pattern in (TOKEN_PATTERN, API_TOKEN_PATTERN):
        text = pattern.sub(lambda found: mask(found[0]), text)
    return replace_tokens(text, "_…")
