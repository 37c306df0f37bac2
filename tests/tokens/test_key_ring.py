"""A ring mints what it reads, reads what it minted, and reveals nothing of the rest."""

from __future__ import annotations

import secrets
import traceback
from base64 import urlsafe_b64decode
from collections.abc import Callable
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from itsdangerous import BadSignature, Signer

from tenantry.errors import InvalidKeys, InvalidToken, SigningKeyMissing
from tenantry.groups import Tag, Token
from tenantry.tokens import TOKEN_PATTERN, KeyRing, SigningKey, checksum, draft_token
from tests.tokens.vectors import KEYS, TOKENS

RING = KeyRing(KEYS)
SIGNERS = {
    key.id: Signer(key.secret, salt="tenantry.user-group-token.v1", key_derivation="hmac", digest_method=sha256)
    for key in KEYS
}
tokens = st.builds(
    Token,
    tag=st.sampled_from(Tag),
    key_id=st.sampled_from(RING.ids),
    handle=st.binary(min_size=8, max_size=8),
    version=st.integers(1, 2**32 - 1),
    nonce=st.binary(min_size=16, max_size=16),
)


@given(tokens)
def test_mint_then_read_then_mint_is_the_identity(token: Token) -> None:
    """Both ways, for str and bytes; and what is minted has the published pattern."""
    text = RING.mint(token)
    assert RING.read(text) == RING.read(text.encode()) == token
    assert RING.mint(RING.read(text)) == text
    assert TOKEN_PATTERN.fullmatch(text)


@given(tokens)
def test_itsdangerous_agrees_on_a_canonical_token(token: Token) -> None:
    """A stock Signer verifies what we mint, and signs what we read."""
    text = RING.mint(token)
    assert SIGNERS[token.key_id].unsign(text[:91]) == text[:47].encode()
    signed = SIGNERS[token.key_id].sign(text[:47])
    assert RING.read(signed + checksum(signed)) == token


@given(tokens, st.data())
def test_we_never_accept_what_itsdangerous_refuses(token: Token, data: st.DataObject) -> None:
    """Tokens cut and spliced anyhow, with a right checksum: whenever we read one, the stock Signer verifies it too."""
    text = RING.mint(token)
    start, end = sorted((data.draw(st.integers(0, 91)), data.draw(st.integers(0, 91))))
    checked = text[:start].encode() + data.draw(st.binary(max_size=8)) + text[end:91].encode()
    spliced = checked + checksum(checked)
    try:
        found = RING.read(spliced)
    except InvalidToken:
        return
    assert SIGNERS[found.key_id].validate(checked)
    assert RING.mint(found).encode() == spliced


@given(st.one_of(st.text(), st.binary(), st.from_regex(TOKEN_PATTERN, fullmatch=True), st.none(), st.integers()))
def test_whatever_comes_only_invalid_token_is_raised(junk: object) -> None:
    """Text with surrogates, bytes, strings of the right pattern, and things that are no text."""
    with pytest.raises(InvalidToken):
        RING.read(junk)  # type: ignore[arg-type]  # a host program may pass on anything


@pytest.mark.parametrize(
    "junk",
    [
        "\ud800" * 97,
        "é" * 97,
        "x" * 10_000_000,
        b"\xff" * 97,
        b"." * 97,
        "",
        b"",
        bytearray(TOKENS[0][1].encode()),
        memoryview(TOKENS[0][1].encode()),
        [TOKENS[0][1]],
    ],
    ids=lambda junk: type(junk).__name__,
)
def test_odd_inputs_are_refused(junk: object) -> None:
    """Huge, of the right length but not ASCII, and other buffers than bytes."""
    with pytest.raises(InvalidToken):
        RING.read(junk)  # type: ignore[arg-type]  # a host program may pass on anything


def test_random_strings_of_the_right_shape_are_refused() -> None:
    """10,000 forgeries with the right pattern, key id and checksum. Red when the signature is not compared."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for _ in range(10_000):
        payload, signature = (
            "".join(alphabet[byte % 64] for byte in secrets.token_bytes(size)) + "A" for size in (38, 42)
        )
        checked = f"ugtc_k2_{payload}.{signature}".encode()
        with pytest.raises(InvalidToken):
            RING.read(checked + checksum(checked))


def test_a_refusal_says_nothing_of_the_token_and_all_say_the_same() -> None:
    """Wherever it fails, the message is one, and neither it nor its causes hold any of the text.

    Red when ``str.encode`` is tried and its UnicodeEncodeError, which holds the text, becomes the context.
    """
    good = TOKENS[0][1]
    bad = [good[:-1] + "!", good[:60] + "A" + good[61:], good.replace("k1", "zz"), good[:50], good[:-1] + "é", "x" * 97]
    messages = set()
    for text in bad:
        with pytest.raises(InvalidToken) as caught:
            RING.read(text)
        error = caught.value
        messages.add(str(error))
        assert error.__context__ is None
        assert error.__cause__ is None
        shown = "".join(traceback.format_exception(error)) + repr(error) + repr(vars(error))
        assert text[8:40] not in shown
    assert len(messages) == 1


def test_an_unknown_key_id_is_an_invalid_token(fresh: Callable[[], str], keys: tuple[SigningKey, ...]) -> None:
    """A token of a key that was removed is refused, and its minting says what to do."""
    only = KeyRing([SigningKey("zz", secrets.token_bytes(32))])
    with pytest.raises(InvalidToken):
        only.read(fresh())
    with pytest.raises(SigningKeyMissing, match=r"signing key k1 .* rotate the group"):
        only.mint(draft_token(Tag.CUSTOMER, "k1", secrets.token_bytes))


def test_a_key_with_the_same_id_and_another_secret_verifies_nothing(fresh: Callable[[], str]) -> None:
    """The id only says which key to try. Red when the signature is not compared."""
    impostors = KeyRing([SigningKey(key_id, secrets.token_bytes(32)) for key_id in ("k1", "k2")])
    with pytest.raises(InvalidToken):
        impostors.read(fresh())


def test_after_a_rotation_old_tokens_are_read_and_minted_as_before() -> None:
    """A new active key changes no token of an older one: GET must give the same string, bit for bit."""
    old = SigningKey("k1", secrets.token_bytes(32))
    before = KeyRing([old])
    token = draft_token(Tag.TESTING, before.active_id, secrets.token_bytes)
    text = before.mint(token)
    after = KeyRing([old, SigningKey("k2", secrets.token_bytes(32))])
    assert after.active_id == "k2"
    assert after.read(text) == token
    assert after.mint(token) == text


def test_the_active_key_is_the_last_unless_named() -> None:
    """And the hashes of a body begin with the active key's."""
    assert KeyRing(KEYS).active_id == "k2"
    first = KeyRing(KEYS, active="k1")
    assert first.active_id == "k1"
    assert first.ids == ("k1", "k2")
    assert first.body_hashes(b"x") == tuple(reversed(KeyRing(KEYS).body_hashes(b"x")))


def test_a_body_hash_is_no_signature() -> None:
    """Hashing the signed part of a token does not give its signature. Red with one salt for both."""
    for token, text in TOKENS:
        hashes = RING.body_hashes(text[:47].encode())
        assert urlsafe_b64decode(text[48:91] + "=") not in hashes, token.key_id
        assert {len(hashed) for hashed in hashes} == {32}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KeyRing([]), "tenantry keys new"),
        (lambda: KeyRing([KEYS[0], SigningKey("k1", KEYS[1].secret)]), "same id"),
        (lambda: KeyRing(KEYS, active="k3"), "k3 does not exist; the ids are k1, k2"),
        (lambda: SigningKey("k1", bytes(31)), "31 bytes; use at least 32"),
        (lambda: SigningKey("K1", bytes(32)), "two characters"),
        (lambda: SigningKey("k1\n", bytes(32)), "two characters"),
        (lambda: SigningKey("k", bytes(32)), "two characters"),
        (lambda: SigningKey("é1", bytes(32)), "two characters"),
    ],
)
def test_unusable_keys_are_refused(make: Callable[[], object], message: str) -> None:
    """No key, two of one id, an unknown active one, a short secret, an id that no token can carry."""
    with pytest.raises(InvalidKeys, match=message):
        make()


@pytest.mark.parametrize(
    "change", [{"handle": b"short"}, {"nonce": b""}, {"version": 0}, {"version": 2**32}, {"handle": bytes(9)}]
)
def test_parts_that_no_token_has_are_not_minted(change: dict[str, object]) -> None:
    """A mistake of a store or a source of randomness is raised at once and not cut to size."""
    parts: dict[str, object] = {"tag": Tag.CUSTOMER, "key_id": "k1", "handle": bytes(8), "version": 1}
    with pytest.raises(ValueError, match="a handle of 8 bytes"):
        RING.mint(Token(**{"nonce": bytes(16), **parts, **change}))  # type: ignore[arg-type]  # wrong on purpose


def test_a_drafted_token_is_fresh() -> None:
    """Version 1, the tag and key that were asked for, and 24 bytes of the given randomness."""
    drawn: list[bytes] = []

    def random(count: int) -> bytes:
        drawn.append(secrets.token_bytes(count))
        return drawn[-1]

    token = draft_token(Tag.TESTING, "k1", random)
    assert token == Token(Tag.TESTING, "k1", drawn[0], 1, drawn[1])
    assert [len(part) for part in drawn] == [8, 16]


def test_no_repr_shows_a_secret() -> None:
    """Neither of a key, nor of a ring, nor of a token's nonce."""
    key = SigningKey("k1", b"S3cretS3cretS3cretS3cretS3cretS3")
    ring = KeyRing([key])
    token = Token(Tag.CUSTOMER, "k1", bytes(8), 1, b"N0nceN0nceN0nceN")
    assert "S3" not in repr(key) + str(key) + repr(ring) + str(ring)
    assert "N0" not in repr(token)
    assert repr(ring) == "<KeyRing k1; active k1>"


def test_a_refusal_never_reaches_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of a forgery is decoded. Red when the payload is parsed before the signature is compared."""
    monkeypatch.setattr("tenantry.tokens.key_ring.decode", lambda raw: pytest.fail("parsed an unsigned payload"))
    text = TOKENS[0][1]
    for position in [*range(47), *range(48, 97)]:  # the dot between the two is under no signature
        checked = (text[:position] + ("A" if text[position] != "A" else "B") + text[position + 1 :])[:91].encode()
        with pytest.raises(InvalidToken):
            RING.read(checked + (checksum(checked) if position < 91 else b"000000"))


def test_a_stock_signer_without_our_settings_verifies_nothing() -> None:
    """The defaults of itsdangerous (SHA-1, django-concat) and another salt sign something else."""
    text = TOKENS[0][1]
    for signer in (Signer(KEYS[0].secret), Signer(KEYS[0].secret, salt="other", key_derivation="hmac")):
        with pytest.raises(BadSignature):
            signer.unsign(text[:91])
