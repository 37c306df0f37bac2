"""Refusing a forged token, reading a good one and minting, compared with itsdangerous and PyJWT."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable

import itsdangerous
import jwt

from benchmarks.harness.measure import repeat, run
from benchmarks.harness.table import Aim, Table
from tenantry.errors import InvalidToken
from tenantry.groups import Tag
from tenantry.tokens import KeyRing, SigningKey, draft_token

SECRET = os.urandom(32)


def _refuses(call: Callable[[], object], error: type[Exception]) -> Callable[[], None]:
    """``call``, which must raise ``error``: a benchmark of refusals that accepts would measure nothing."""

    def refuse() -> None:
        try:
            call()
        except error:
            return
        raise AssertionError("a forgery was accepted")

    return refuse


def _flip(text: str, index: int) -> str:
    return text[:index] + ("A" if text[index] != "A" else "E") + text[index + 1 :]


def table() -> Table:
    """Runs it."""
    keys = KeyRing([SigningKey("k1", SECRET)])
    parts = draft_token(Tag.CUSTOMER, "k1", os.urandom)
    good = keys.mint(parts)
    other = KeyRing([SigningKey("k1", os.urandom(32))])
    forged = other.mint(parts)  # right in every way but the key: shape and checksum hold, so the signature is computed
    junk = _flip(good, 60)  # a typing error or a guess: the checksum tells
    signer = itsdangerous.Signer(SECRET, key_derivation="hmac", digest_method=hashlib.sha256)
    timed = itsdangerous.TimestampSigner(SECRET)
    signed = signer.sign(good[:47]).decode()
    stamped = timed.sign(good[:47]).decode()
    bearer = jwt.encode({"sub": "acme"}, SECRET, algorithm="HS256")

    forged_signed, forged_stamped, forged_bearer = (_flip(text, len(text) - 10) for text in (signed, stamped, bearer))

    def decode(token: str) -> object:
        return jwt.decode(token, SECRET, algorithms=["HS256"])

    figures = run(
        {
            "nothing": repeat(lambda: None),
            "Tenantry: forged, signature computed": repeat(_refuses(lambda: keys.read(forged), InvalidToken)),
            "Tenantry: damaged": repeat(_refuses(lambda: keys.read(junk), InvalidToken)),
            "itsdangerous Signer: forged": repeat(
                _refuses(lambda: signer.unsign(forged_signed), itsdangerous.BadSignature)
            ),
            "itsdangerous TimestampSigner: forged": repeat(
                _refuses(lambda: timed.unsign(forged_stamped), itsdangerous.BadSignature)
            ),
            "PyJWT HS256: forged": repeat(_refuses(lambda: decode(forged_bearer), jwt.PyJWTError)),
            "Tenantry: good": repeat(lambda: keys.read(good)),
            "itsdangerous Signer: good": repeat(lambda: signer.unsign(signed)),
            "PyJWT HS256: good": repeat(lambda: decode(bearer)),
            "Tenantry: mint": repeat(lambda: keys.mint(parts)),
            "itsdangerous Signer: sign": repeat(lambda: signer.sign(good[:47])),
        }
    )
    result = Table("A token that is not cached", ["what", "net ns", "× itsdangerous Signer"])
    base = {"forged": "itsdangerous Signer: forged", "damaged": "itsdangerous Signer: forged"}
    base |= {
        "good": "itsdangerous Signer: good",
        "mint": "itsdangerous Signer: sign",
        "sign": "itsdangerous Signer: sign",
    }
    for name in list(figures.rounds)[1:]:
        against = base[name.split(": ")[1].split(",")[0]]
        result.add(name, f"{figures.net(name, 'nothing'):,.0f}", f"{figures.net_ratio(name, against, 'nothing'):.2f}")
    refusal = figures.net_ratio("Tenantry: forged, signature computed", base["forged"], "nothing")
    result.aims = [Aim("refusing a forgery, × itsdangerous Signer", refusal, 1 / 7)]
    return result
