"""Keys that a person typed or copied do not sign."""

from __future__ import annotations

import re
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from tenantry.tokens.keys import PUBLISHED, entropy_problem
from tests.tokens.vectors import KEYS

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("secret", "reason"),
    [
        (bytes(32), "repeats itself"),
        (b"\xff" * 64, "repeats itself"),
        (b"abc" * 11, "repeats itself"),
        (b"Wq8_zR5-Tn2+Lm7!" * 2, "repeats itself"),
        (bytes(range(32)), "counts"),
        (bytes(range(255, 223, -1)), "counts"),
        (bytes(range(0, 96, 3)), "counts"),
        (bytes([1, 2, 3, 4, 5, 6, 7] * 3 + [7, 6, 5, 4, 3, 2, 1] * 3), "too few different bytes"),
        (b"changeme1-Zk4Rt9Qw2Lp7Xv3Bn8Hd5Js", "placeholder"),
        (b"Zk4Rt9Qw2Lp7Xv3Bn8Hd5Js-ChangeMe", "placeholder"),
        (b"my-password-is-Zk4Rt9Qw2Lp7Xv3Bn8", "placeholder"),
        (b"tenantry-Zk4Rt9Qw2Lp7Xv3Bn8Hd5JsM", "placeholder"),
        (b"Zk4Rt9Qw2Lp-example-7Xv3Bn8Hd5JsM", "placeholder"),
    ],
)
def test_a_weak_secret_is_named(secret: bytes, reason: str) -> None:
    """Red when the check of that kind is left out."""
    assert len(secret) >= 32
    assert reason in str(entropy_problem(secret))


def test_eight_different_bytes_are_enough() -> None:
    """The bound is eight. Red when it is nine."""
    assert entropy_problem(bytes([1, 2, 3, 4, 5, 6, 7, 9] * 2 + [9, 7, 6, 5, 4, 3, 2, 1] * 2)) is None


@pytest.mark.parametrize("written", ["changeme-changeme-changeme-changeme-1234567", "REPLACE-ME" + "x7Qz" * 8 + "y1"])
def test_a_word_is_found_in_the_text_as_well(written: str) -> None:
    """A typed word is itself base64url, and its bytes look random. Red when only the bytes are looked at."""
    secret = urlsafe_b64decode(written + "=" * (-len(written) % 4))
    assert entropy_problem(secret, written) == "contains a placeholder word"


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.id)
def test_the_keys_of_the_vectors_are_published(key: object) -> None:
    """They are in this repository, so anybody has them. Red when their fingerprints are not listed."""
    assert entropy_problem(key.secret) == "is published"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("published", "encodings"),
    [
        ("192b9bdd22ab9ed4d12e236c78afcb9a393ec15f71bbf5dc" + "987d54727823bcbf", "hex"),
        ("09d25e094faa6ca2556c818166b7a9563b93f7099f6f0f4c" + "aa6cf63b88e8d3e7", "hex"),
        ("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aK" + "tMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow", "base64url"),
    ],
)
def test_keys_of_well_known_documents_are_refused(published: str, encodings: str) -> None:
    """Given as text, as what that text spells in base64url, and as the bytes of it: a copied key stays a copied key."""
    as_base64 = urlsafe_b64decode(published + "=" * (-len(published) % 4))
    assert entropy_problem(as_base64, published)
    if encodings == "hex":
        raw = bytes.fromhex(published)
        assert entropy_problem(raw, urlsafe_b64encode(raw).decode().rstrip("="))
        assert entropy_problem(published.encode())


def test_random_secrets_pass() -> None:
    """10,000 of them, of 32 and 64 bytes, and hexadecimal text of one."""
    for size in (32, 64):
        for _ in range(5_000):
            secret = secrets.token_bytes(size)
            assert entropy_problem(secret, urlsafe_b64encode(secret).decode().rstrip("=")) is None
    assert entropy_problem(secrets.token_hex(32).encode()) is None


def test_every_key_that_our_documents_print_is_refused() -> None:
    """A line of a key file in README, docs or examples gets copied. Red when one is printed that is not weak by rule.

    Fix: print ``<43 characters>`` instead, or add its fingerprint to PUBLISHED.
    """
    line = re.compile(r"\b[a-z0-9]{2}\s+\d{4}-\d\d-\d\dT[\d:]+Z\s+(?:active|verify-only)\s+([A-Za-z0-9_-]{43,})")
    texts = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.*")]
    for path in texts:
        if path.suffix in {".md", ".py", ".txt", ".keys", ".toml", ".sh"}:
            for written in line.findall(path.read_text(encoding="utf-8")):
                secret = urlsafe_b64decode(written + "=" * (-len(written) % 4))
                assert entropy_problem(secret, written), f"{path} prints a usable key"


def test_fingerprints_are_fingerprints() -> None:
    """The list holds SHA-256 in lower-case hexadecimal, or it would never match."""
    assert all(re.fullmatch(r"[0-9a-f]{64}", fingerprint) for fingerprint in PUBLISHED)
    assert sha256(KEYS[0].secret).hexdigest() in PUBLISHED
