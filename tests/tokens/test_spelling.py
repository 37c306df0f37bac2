"""Exactly one spelling of a token is accepted.

There are two defences, one behind the other: the encoded signatures are compared, and ``decode`` matches the whole text
with the pattern. Where a test says that it goes red when both are broken, either of them alone keeps it green.
"""

from __future__ import annotations

import os
import random
import string
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable
from hashlib import sha256

import pytest
from itsdangerous import Signer

from tenantry.errors import InvalidToken
from tenantry.groups import Token
from tenantry.tokens import KeyRing, SigningKey, checksum

EDITED = int(os.environ.get("TENANTRY_EDITED_TOKENS", "100"))
BASE64URL = string.ascii_letters + string.digits + "-_"
OUTSIDE = [".", "=", "+", "/", " ", "\n", "\0", "~", "%", "é", "K", "\ud800", "\U0001d7d9"]


def accepted(ring: KeyRing, spellings: Iterable[str | bytes]) -> list[str | bytes]:
    """Those that are read at all."""
    found = []
    for spelling in spellings:
        try:
            ring.read(spelling)
        except InvalidToken:
            continue
        found.append(spelling)
    return found


def edits(text: str, alphabet: Iterable[str]) -> Iterable[str]:
    """``text`` with one character replaced: each position, each other character of the alphabet."""
    for position, old in enumerate(text):
        before, after = text[:position], text[position + 1 :]
        for new in alphabet:
            if new != old:
                yield f"{before}{new}{after}"


def sealed(text: str) -> str:
    """``text`` with a right checksum: what a forger would send, for anyone can compute it."""
    return text[:91] + checksum(text[:91].encode()).decode()


def test_every_edit_of_a_hundred_tokens_is_refused(ring: KeyRing, fresh: Callable[[], str]) -> None:
    """One character changed to any other of base64url, at any position, in 100 tokens: 600,000 strings, none read.
    TENANTRY_EDITED_TOKENS=1000 makes it 6 million.

    Red when the checksum is not compared.
    """
    for _ in range(EDITED):
        text = fresh()
        assert ring.read(text)
        spelling = bytearray(text.encode())
        for position, old in enumerate(text.encode()):
            for new in BASE64URL.encode().replace(bytes([old]), b""):
                spelling[position] = new
                try:
                    ring.read(bytes(spelling))
                except InvalidToken:
                    continue
                pytest.fail(f"a token is read with {new} for {old} at position {position}")
            spelling[position] = old


def test_every_edit_to_a_character_from_outside_is_refused(ring: KeyRing, fresh: Callable[[], str]) -> None:
    """A dot, padding, white space, NUL, characters beyond ASCII and lone surrogates at each position of 50 tokens."""
    for _ in range(50):
        assert accepted(ring, edits(fresh(), OUTSIDE)) == []


def test_every_edit_to_any_byte_is_refused(ring: KeyRing, fresh: Callable[[], str]) -> None:
    """Each of the 255 other bytes at each position, given as bytes."""
    raw = fresh().encode()
    spellings = (
        raw[:position] + bytes([byte]) + raw[position + 1 :]
        for position in range(len(raw))
        for byte in range(256)
        if byte != raw[position]
    )
    assert accepted(ring, spellings) == []


def test_an_edit_with_a_repaired_checksum_is_refused(ring: KeyRing, fresh: Callable[[], str]) -> None:
    """The signature alone holds: the checksum of each edited token is made right again.

    Red when the signature is not compared, when only its first characters are, or when it is compared after decoding
    and the pattern is not matched.
    """
    choose = random.Random(7)
    for _ in range(EDITED):
        text = fresh()
        spellings = (
            sealed(text[:position] + choose.choice(BASE64URL.replace(text[position], "")) + text[position + 1 :])
            for position in range(91)
        )
        assert accepted(ring, spellings) == []


def test_each_spelling_that_a_lenient_decoder_takes_is_refused(
    keys: tuple[SigningKey, ...], ring: KeyRing, fresh: Callable[[], str]
) -> None:
    """Three other last characters of the signature decode to the same bytes; itsdangerous takes all of them.

    Red when the decoded signatures are compared and the pattern is not matched.
    """
    text = fresh()
    signature = urlsafe_b64decode(text[48:91] + "=")
    others = [c for c in BASE64URL if c != text[90] and urlsafe_b64decode(text[48:90] + c + "=") == signature]
    assert len(others) == 3
    spellings = [sealed(text[:90] + other) for other in others]
    assert all(signer(keys, text).validate(spelling[:91]) for spelling in spellings)
    assert accepted(ring, spellings) == []


@pytest.mark.parametrize("junk", ["!!!!", "!" * 4_000, "\n" * 4, " " * 4, "éé"])
def test_padding_and_junk_in_the_signature_are_refused(
    keys: tuple[SigningKey, ...], ring: KeyRing, fresh: Callable[[], str], junk: str
) -> None:
    """What itsdangerous skips while decoding makes another string, and another string is another token.

    Red when neither the length is compared nor the pattern is matched.
    """
    text = fresh()
    assert signer(keys, text).validate(text[:91] + "=")
    assert accepted(ring, [text[:91] + "=", text[:91] + "=" + text[91:], text + "="]) == []
    for at in (48, 60, 91):
        assert signer(keys, text).validate((text[:at] + junk + text[at:91]).encode())
        assert accepted(ring, [text[:at] + junk + text[at:], text[:at] + junk + text[at:-1]]) == []


def test_longer_and_shorter_texts_are_refused(ring: KeyRing, fresh: Callable[[], str]) -> None:
    """Every truncation at either end, and every single byte put before, after or between.

    Red when neither the length is compared nor the pattern is matched.
    """
    text = fresh()
    assert accepted(ring, (text[:end] for end in range(len(text)))) == []
    assert accepted(ring, (text[start:] for start in range(1, len(text) + 1))) == []
    raw = text.encode()
    assert accepted(ring, (bytes([byte]) + raw for byte in range(256))) == []
    assert accepted(ring, (raw + bytes([byte]) for byte in range(256))) == []
    assert accepted(ring, (text[:at] + new + text[at:] for at in range(98) for new in "Aa0_-=.\n")) == []
    assert accepted(ring, [text + "\n", " " + text, text + text, f'"{text}"', text.upper(), text.lower()]) == []


def test_what_a_key_holder_writes_otherwise_is_refused(
    keys: tuple[SigningKey, ...], ring: KeyRing, fresh: Callable[[], str]
) -> None:
    """Signed with a real key, yet not as we write it: unused bits set, a foreign character, a format, version 0.

    Red when ``decode`` leaves out the pattern, the format or the version.
    """
    text = fresh()
    payload = urlsafe_b64decode(text[8:47] + "=")
    last = BASE64URL.replace(text[46], "")
    same = [c for c in last if urlsafe_b64decode(text[8:46] + c + "=") == payload]
    assert len(same) == 3
    bodies = [text[8:46] + other for other in same]
    bodies += ["!" + text[9:47], text[8:27] + "=" + text[28:47], text[8:27] + "." + text[28:47], "=" * 39]
    for changed in (b"\0" + payload[1:], b"\2" + payload[1:], payload[:9] + bytes(4) + payload[13:]):
        bodies.append(urlsafe_b64encode(changed).decode().rstrip("="))
    spellings = [sealed(signer(keys, text).sign(text[:8] + body).decode()) for body in bodies]
    assert [len(spelling) for spelling in spellings] == [97] * len(bodies)
    assert accepted(ring, spellings) == []
    assert accepted(ring, [sealed(text[:47] + "x" + text[48:])]) == []  # the dot is under no signature


def test_the_signature_of_one_token_fits_no_other(ring: KeyRing, fresh: Callable[[], str]) -> None:
    """Signatures exchanged, and the tag and key id exchanged, with right checksums."""
    one, two = fresh(), fresh()
    token = ring.read(one)
    retagged = one[:3] + ("t" if one[3] == "c" else "c") + one[4:]
    rekeyed = one[:5] + ("k1" if token.key_id == "k2" else "k2") + one[7:]
    assert accepted(ring, [sealed(one[:48] + two[48:]), sealed(retagged), sealed(rekeyed)]) == []
    assert isinstance(token, Token)


def signer(keys: tuple[SigningKey, ...], text: str) -> Signer:
    """The itsdangerous signer of the key that ``text`` names."""
    secret = {key.id: key.secret for key in keys}[text[5:7]]
    return Signer(secret, salt="tenantry.user-group-token.v1", key_derivation="hmac", digest_method=sha256)
