"""API tokens: 256 random bits, a checksum, and a digest that is only computed for what can be one."""

from __future__ import annotations

import secrets
import string
from collections import Counter
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenantry.groups import Tag
from tenantry.tokens import (
    API_TOKEN_LENGTH,
    API_TOKEN_PATTERN,
    TOKEN_PATTERN,
    api_token_digest,
    holds_token,
    mask,
    mask_within,
    mint_api_token,
)
from tests.tokens.vectors import TOKENS


@pytest.mark.parametrize(("tag", "prefix"), [(Tag.CUSTOMER, "ugkc_"), (Tag.TESTING, "ugkt_")])
def test_a_minted_token_has_its_shape_and_a_digest(tag: Tag, prefix: str) -> None:
    """The prefix shows the tag; the digest is the SHA-256 of the whole string."""
    text = mint_api_token(tag, secrets.token_bytes)
    assert text.startswith(prefix)
    assert len(text) == API_TOKEN_LENGTH == 54
    assert API_TOKEN_PATTERN.fullmatch(text)
    assert api_token_digest(text) == sha256(text.encode()).digest()


def test_every_edit_of_a_token_has_no_digest() -> None:
    """One character changed costs no look-up. Red when the checksum is not compared."""
    alphabet = string.printable + "é\ud800٣"
    for _ in range(20):
        text = mint_api_token(Tag.CUSTOMER, secrets.token_bytes)
        for position, old in enumerate(text):
            for new in alphabet.replace(old, ""):
                assert api_token_digest(text[:position] + new + text[position + 1 :]) is None


@given(st.text())
def test_no_other_text_has_a_digest(text: str) -> None:
    """Whatever comes in a header is answered, never raised at."""
    assert api_token_digest(text) is None


def test_longer_and_shorter_texts_have_no_digest() -> None:
    """Also a user group token, which is a secret of another kind."""
    text = mint_api_token(Tag.CUSTOMER, secrets.token_bytes)
    for other in (text[:-1], text + "0", text + "\n", " " + text, "", TOKENS[0][1], "ugkc_" * 1_000_000):
        assert api_token_digest(other) is None


def test_all_digits_are_equally_likely() -> None:
    """Each digit is made of exactly four of the 256 bytes; eight bytes, which would favour the first digits, for none.

    Red when ``byte % 62`` is taken of every byte.
    """
    seen: Counter[str] = Counter()
    rejected = 0
    for byte in range(256):
        try:
            seen[mint_api_token(Tag.CUSTOMER, bytes([byte]).__mul__)[5]] += 1
        except ValueError:
            rejected += 1
    assert seen == dict.fromkeys(string.digits + string.ascii_letters, 4)
    assert rejected == 8


def test_rejected_bytes_are_replaced() -> None:
    """A drawing with too few usable bytes is filled up by the next one."""
    drawings = iter([b"\xff" * 63 + b"\x01", b"\x02" * 64])
    assert mint_api_token(Tag.CUSTOMER, lambda count: next(drawings))[5:48] == "1" + "2" * 42


def test_a_broken_source_of_randomness_is_an_error() -> None:
    """Bytes that are always rejected must not hang the program."""
    with pytest.raises(ValueError, match="too few bytes below 248"):
        mint_api_token(Tag.CUSTOMER, b"\xff".__mul__)


def test_tokens_do_not_repeat() -> None:
    """A thousand tokens are a thousand tokens."""
    assert len({mint_api_token(Tag.TESTING, secrets.token_bytes) for _ in range(1_000)}) == 1_000


def test_the_two_kinds_of_token_have_patterns_apart() -> None:
    """A scanner knows which of the two it found, in the middle of a line of a log too."""
    api = mint_api_token(Tag.CUSTOMER, secrets.token_bytes)
    line = f"GET /?a={TOKENS[1][1]}&b={api} HTTP/1.1"
    assert TOKEN_PATTERN.findall(line) == [TOKENS[1][1]]
    assert API_TOKEN_PATTERN.findall(line) == [api]


def test_a_mask_shows_the_kind_and_four_characters_of_the_checksum() -> None:
    """And nothing at all of a text that is no token: it may be a password."""
    text = TOKENS[0][1]
    assert mask(text) == "ugtc_…6Hw7"
    api = mint_api_token(Tag.TESTING, secrets.token_bytes)
    assert mask(api) == f"ugkt_…{api[-4:]}"
    for other in ("", "hunter2", text[:-1], text + "x", "ugtc_" + "x" * 30, "\ud800"):
        assert mask(other) == "…"


def test_a_part_of_a_token_is_masked_too() -> None:
    """A truncated or percent-encoded token is most of a secret. Red with the old pattern of 32 plain characters."""
    text = TOKENS[0][1]
    for part in (text, text[:25], text.replace("_", "%5F", 1), text.replace("_", "%5f")):
        assert holds_token(f"see {part}")
        assert mask_within(f"see {part}.").startswith("see ugtc_…")
        assert text[8:20] not in mask_within(f"see {part}")
    assert not holds_token("ugtc_" + "x" * 15)
