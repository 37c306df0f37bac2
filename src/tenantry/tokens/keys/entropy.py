"""Detects guessable secrets."""

from __future__ import annotations

from hashlib import sha256
from itertools import pairwise
from typing import Final

# Placeholder words, so long that fewer than one in 10^9 random keys contains one by chance.
_WORDS: Final = (
    b"changeme", b"change-me", b"change_me", b"password", b"passw0rd", b"insecure", b"your-secret", b"your_secret",
    b"yoursecret", b"secret-key", b"secret_key", b"secretkey", b"tenantry", b"letmein", b"placeholder", b"replace-me",
    b"-example", b"_example", b"example-", b"example_", b"0123456789", b"abcdefghij",
)  # fmt: skip

# SHA-256 hashes of published keys, encoded or decoded; the keys themselves would alarm secret scanners.
PUBLISHED: Final = frozenset(
    {
        # The hexadecimal key of Flask's configuration guide, encoded and decoded.
        "2598f7d6adc142d88161630f3db12ab2bd3403521c281811e5e1ce60d4ac5d76",
        "a5aa976fe0932dfa4e28efad79b2bdf0ab22a79a346ed3fe9e0aeda30ab3fd1d",
        # The hexadecimal key of FastAPI's OAuth2 tutorial, encoded and decoded.
        "570dad43de1af4c925f92c16a68a50936da42b7dd6fdeb24850507a1199aac89",
        "4d0f8dec4515d07a611c502f22adb95c854d943d6122fb8f96c9503b42356bac",
        # RFC 7515 appendix A.1, the HMAC key of the JWS example.
        "c8ecc9361a05e285f04c26f9572131a6deab07e9e2b865053c6f75a4d8bd2b32",
        # The two keys of Tenantry's own token vectors (tests/tokens/vectors.py).
        "e921c0909ac8c3c01df39da878fec7ef94f8ba475ee23ea2d38f972c483fb7e8",
        "4fdbe3ad6d67a086c6c6fa444b5463f86091b0fe9f0e650ac00b837816a64d14",
    }
)


def entropy_problem(secret: bytes, written: str = "") -> str | None:
    """Why the secret is too weak to sign with (the end of a sentence), or None. ``written`` is its encoded form."""
    texts = (secret, written.encode())
    if any(sha256(text).hexdigest() in PUBLISHED for text in texts):
        return "is published"
    if any(word in text.lower() for text in texts for word in _WORDS):
        return "contains a placeholder word"
    if any(secret[period:] == secret[:-period] for period in range(1, len(secret) // 2 + 1)):  # one byte, or abcabc
        return "repeats itself"
    if len({(after - before) % 256 for before, after in pairwise(secret)}) <= 1:
        return "counts up or down"
    if len(set(secret)) < 8:
        return "has too few different bytes"
    return None
