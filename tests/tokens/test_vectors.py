"""The format never drifts: strings minted once are minted and read for ever."""

from __future__ import annotations

import zlib
from base64 import urlsafe_b64encode
from hashlib import sha256

import pytest
from itsdangerous import Signer

from tenantry.groups import Tag, Token
from tenantry.tokens import TOKEN_LENGTH, TOKEN_PATTERN, KeyRing, api_token_digest, checksum, mint_api_token
from tests.tokens.vectors import KEYS, TOKENS

RING = KeyRing(KEYS)


@pytest.mark.parametrize(("token", "text"), TOKENS)
def test_a_vector_is_minted_and_read(token: Token, text: str) -> None:
    """Red when the salt, the derivation, the byte order of the version or the alphabet of the checksum changes."""
    assert RING.mint(token) == text
    assert RING.read(text) == RING.read(text.encode()) == token


@pytest.mark.parametrize(("token", "text"), TOKENS)
def test_a_vector_is_what_the_design_says(token: Token, text: str) -> None:
    """Built here once more from itsdangerous, base64 and a plain base-62 loop, and the same string comes out."""
    payload = b"\x01" + token.handle + token.version.to_bytes(4, "big") + token.nonce
    secret = {key.id: key.secret for key in KEYS}[token.key_id]
    signer = Signer(secret, salt="tenantry.user-group-token.v1", key_derivation="hmac", digest_method=sha256)
    letter = {Tag.CUSTOMER: "c", Tag.TESTING: "t"}[token.tag]
    signed = signer.sign(f"ugt{letter}_{token.key_id}_{urlsafe_b64encode(payload).decode().rstrip('=')}").decode()
    number, digits = zlib.crc32(signed.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[digit] + digits
    assert signed + digits == text
    assert len(text) == TOKEN_LENGTH
    assert TOKEN_PATTERN.fullmatch(text)


def test_the_checksum_is_the_common_crc_32() -> None:
    """The check value of CRC-32, 0xCBF43926 for 123456789, in base 62; and leading zeros are kept."""
    assert checksum(b"123456789") == b"3jZRME"
    assert checksum(b"") == b"000000"


def test_the_hashes_of_a_body_stay() -> None:
    """A replay after an upgrade must still be recognised: the active key's hash first, then the other's."""
    assert [hashed.hex() for hashed in RING.body_hashes(b'{"current_token":"x"}')] == [
        "97b472059f25751f02a10c875d0f210633305510cd36c0e86ac7111089a79ca5",
        "cf20e2551584cb4cb194d8dfe408a68dada0b86b82c619004dbd8a996f5d0160",
    ]


@pytest.mark.parametrize(
    ("tag", "random", "text", "digest"),
    [
        (
            Tag.CUSTOMER,
            lambda count: bytes(index * 7 % 256 for index in range(count)),
            "ugkc_07ELSZgnu18FMTahov29GNUbipw3AHOVcjqx3AHOVcj1ul9uF",
            "2a2d2757273e411acd24a367f3dded602c4a9e977f2afa003d0ed3584e1ecea6",
        ),
        (
            Tag.TESTING,
            bytes,
            "ugkt_00000000000000000000000000000000000000000000qbd9m",
            "4870ad452cc0140637eb7fb3fb600d18e7cd4ce8225b9896099c35c4d5e25b92",
        ),
    ],
)
def test_an_api_token_stays(tag: Tag, random: object, text: str, digest: str) -> None:
    """A stored digest is found again after an upgrade."""
    assert mint_api_token(tag, random) == text  # type: ignore[arg-type]  # a table of lambdas
    assert api_token_digest(text) == bytes.fromhex(digest) == sha256(text.encode()).digest()
