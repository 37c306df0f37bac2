"""Tokens that were minted once and are minted and read for ever. No key file takes their keys: they are published."""

from __future__ import annotations

from hashlib import sha256

from tenantry.groups import Tag, Token
from tenantry.tokens import SigningKey

KEYS = tuple(
    SigningKey(key_id, sha256(f"Tenantry token vectors, key {key_id}".encode()).digest()) for key_id in ("k1", "k2")
)

TOKENS = [
    (
        Token(Tag.CUSTOMER, "k1", bytes(8), 1, bytes(16)),
        "ugtc_k1_AQAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAA.DF_xJlT0mwT4CGbNC36t3cTedGLKmJsq8yNpdofHfao4g6Hw7",
    ),
    (
        Token(Tag.TESTING, "k2", b"\xff" * 8, 2**32 - 1, b"\xff" * 16),
        "ugtt_k2_Af____________________________________8.ng1Fy7sYs78U4dCgKNwYqBOnkYYyuEm4_9eUcug-VpY3Mrm2U",
    ),
    (
        Token(Tag.CUSTOMER, "k2", bytes(range(8)), 7, bytes(range(16, 32))),
        "ugtc_k2_AQABAgMEBQYHAAAABxAREhMUFRYXGBkaGxwdHh8.zT6jeeBBCDPpsKfB9I48abuil8KRgxWjSebgvkIZkII3iK6Ik",
    ),
    (
        Token(
            Tag.TESTING,
            "k1",
            bytes.fromhex("fbefbefbefbefbef"),
            0x01020304,
            bytes.fromhex("78377b525757b494427f89014f97d799"),
        ),
        "ugtt_k1_AfvvvvvvvvvvAQIDBHg3e1JXV7SUQn-JAU-X15k.moDSLxNbDFvvJ-4bc37WYU9Pt9bmEPi4JjILj10DBbw3PA0DD",
    ),
]
