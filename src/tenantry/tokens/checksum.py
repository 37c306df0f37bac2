"""The six characters that end each token: CRC-32 in base 62, so that a typo or a find can be judged without a key."""

from __future__ import annotations

from itertools import product
from typing import Final
from zlib import crc32

BASE62: Final = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

# All two-digit numbers of base 62: three table look-ups instead of six divisions, on the way of every forgery.
_PAIRS: Final = [bytes(pair) for pair in product(BASE62, repeat=2)]
_PAIR: Final = len(_PAIRS)
_SQUARE: Final = _PAIR * _PAIR


def checksum(text: bytes) -> bytes:
    """The CRC-32 (that of zlib, RFC 1952 section 8) of ``text`` as six base-62 digits ``0-9A-Za-z``, highest first.

    The whole text before the checksum goes in, prefix and signature included. It guards against accidents only: anyone
    can compute it. One number has one spelling, since six digits hold every CRC and leading zeros are kept.
    """
    number = crc32(text)
    return _PAIRS[number // _SQUARE] + _PAIRS[number // _PAIR % _PAIR] + _PAIRS[number % _PAIR]
