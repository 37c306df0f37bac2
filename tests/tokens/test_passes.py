"""What is a pass and what is not. Red if ``read_pass`` compares decoded signatures, skips the rule of a claim, or takes
a claim that it does not know."""

from __future__ import annotations

import hmac
import json
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenantry import mint_pass
from tenantry.clock import utc_now
from tenantry.errors import InvalidPass, InvalidToken, PassExpired
from tenantry.groups import Record, Tag
from tenantry.tokens import (
    PASS_PATTERN,
    KeyRing,
    SigningKey,
    claims_of,
    draft_token,
    holds_token,
    make_claims,
    read_pass,
    sign_pass,
)

RING = KeyRing([SigningKey(key_id, secrets.token_bytes(32)) for key_id in ("k1", "k2")])
TOKEN = RING.mint(draft_token(Tag.CUSTOMER, "k2", secrets.token_bytes))
OTHER = RING.mint(draft_token(Tag.CUSTOMER, "k2", secrets.token_bytes))
NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
SECONDS = int(NOW.timestamp())
TIMES = {"iat": SECONDS, "exp": SECONDS + 600}
HEADER = '{"alg":"HS256","typ":"JWT"}'


def b64(data: str | bytes) -> str:
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def signed(claims: str, header: str = HEADER, key: str = TOKEN) -> bytes:
    """A pass with the right signature, whatever it says."""
    message = f"{b64(header)}.{b64(claims)}"
    return f"ugv{TOKEN[3:47]}.{message}.{b64(hmac.digest(key.encode(), message.encode(), 'sha256'))}".encode()


def of_claims(**claims: Any) -> bytes:
    return signed(json.dumps({**TIMES, **claims}))


def test_a_pass_tells_its_token_and_viewer() -> None:
    raw = sign_pass(
        TOKEN, {**TIMES, "sub": "ada", "viewer": {"region": "eu", "teams": ["a"]}, "scope": "app dashboard:x/*"}
    )
    found = read_pass(RING, raw.encode(), lambda: NOW)
    assert found.token == TOKEN.encode()
    assert found.decoded == RING.read(TOKEN)
    assert found.viewer.variables == Record({"region": "eu", "teams": ["a"], "id": "ada"})
    assert found.viewer.expires_at == NOW + timedelta(seconds=600)
    assert PASS_PATTERN.fullmatch(raw)
    assert holds_token(f"see {raw}")
    assert TOKEN[47:] not in raw
    again = sign_pass(TOKEN, claims_of(found.viewer)).encode()
    assert read_pass(RING, again, lambda: NOW).viewer == found.viewer


def test_a_pass_of_another_library_is_repeated() -> None:
    """For a code, from its claims. Red when ours are escaped, and so three times as long in Chinese: such a pass could
    not be exchanged."""
    text = json.dumps({**TIMES, "sub": "ada", "viewer": {"名": "名" * 600}}, ensure_ascii=False)
    found = read_pass(RING, signed(text), lambda: NOW)
    again = sign_pass(TOKEN, claims_of(found.viewer))
    assert read_pass(RING, again.encode(), lambda: NOW).viewer == found.viewer


def test_neither_errors_nor_reprs_show_a_pass_or_its_token() -> None:
    """Whatever is wrong with it. Red when ``Pass`` shows its token, which signs others."""
    good = sign_pass(TOKEN, {**TIMES, "sub": "ada", "viewer": {"region": "eu"}})
    read = read_pass(RING, good.encode(), lambda: NOW)
    assert not holds_token(repr(read) + repr(read.viewer))
    assert "eu" not in repr(read)
    for raw, moment in ((good, NOW + timedelta(hours=1)), (good[:-1], NOW), (good, NOW - timedelta(hours=1))):
        with pytest.raises(InvalidToken) as caught:
            read_pass(RING, raw.encode(), lambda moment=moment: moment)
        assert not holds_token(f"{caught.value!r} {caught.value}")


@pytest.mark.parametrize("claims", ['{"iat": 1, "iat": 1}', '{"viewer": {"a": NaN}}', "[]", "{} x", "\ufeff{}"])
def test_a_malformed_pass_is_told_what_claims_are(claims: str) -> None:
    with pytest.raises(
        InvalidPass, match="its claims part must be base64url of a JSON object with no duplicate keys and no NaN"
    ):
        read_pass(RING, signed(claims), lambda: NOW)


@pytest.mark.parametrize("seconds", [0, -5, 86_401, 1.5, True, "60", float("nan")])
def test_minting_names_its_argument(seconds: Any) -> None:
    """The caller gave ``seconds``, and no ``exp``. Red when the rule of the claim is told."""
    with pytest.raises(InvalidPass, match=r"^`seconds` must be a whole number from 1 to 86,400$"):
        mint_pass(TOKEN, seconds=seconds)


@pytest.mark.parametrize("scope", ["", " ", "app ", " ".join(f"dashboard:{name}" for name in [])])
def test_minting_refuses_an_empty_scope(scope: str) -> None:
    """An empty list of dashboards would otherwise open all of them. Red when an empty text counts as no scope."""
    with pytest.raises(InvalidPass, match=r"`scope` of this pass must be one or more kinds.*leave it out"):
        mint_pass(TOKEN, "ada", scope=scope)
    assert read_pass(RING, mint_pass(TOKEN, "ada").encode(), utc_now).viewer.scope == ()


def test_minting_takes_the_time_of_day() -> None:
    raw = mint_pass(TOKEN, "ada", {"region": "eu"}, seconds=60, scope="app")
    viewer = read_pass(RING, raw.encode(), utc_now).viewer
    assert (viewer.id, viewer.scope) == ("ada", ("app",))
    assert viewer.expires_at - viewer.issued_at == timedelta(seconds=60)
    with pytest.raises(InvalidToken, match="is not a user group token"):
        mint_pass(raw)
    with pytest.raises(InvalidPass, match="shorten `viewer`"):
        mint_pass(TOKEN, viewer={"text": "x" * 3_000})
    longest = (3_072 - len(mint_pass(TOKEN, viewer={"text": ""}))) // 4 * 3
    assert len(mint_pass(TOKEN, viewer={"text": "x" * longest})) in range(3_069, 3_073)
    with pytest.raises(InvalidPass, match=r"the pass has 307[3-8] characters, but at most 3072"):
        mint_pass(TOKEN, viewer={"text": "x" * (longest + 4)})


@pytest.mark.parametrize(
    ("moment", "error"),
    [
        (timedelta(seconds=599), None),
        (timedelta(seconds=600), PassExpired),
        (timedelta(seconds=-60), None),
        (timedelta(seconds=-61), InvalidPass),
    ],
)
def test_times(moment: timedelta, error: type[InvalidToken] | None) -> None:
    """No leeway at the end, a minute at the beginning."""
    raw = sign_pass(TOKEN, TIMES).encode()
    if error is None:
        read_pass(RING, raw, lambda: NOW + moment)
        return
    with pytest.raises(error):
        read_pass(RING, raw, lambda: NOW + moment)


@pytest.mark.parametrize(
    ("claims", "named"),
    [
        ({"role": "admin"}, "role"),
        ({"exp": SECONDS + 86_401}, "exp"),
        ({"exp": SECONDS}, "exp"),
        ({"exp": True}, "exp"),
        ({"iat": 253_402_300_800, "exp": 253_402_300_860}, "iat"),  # in the year 10000, which no datetime holds
        ({"exp": SECONDS + 0.5}, "exp"),
        ({"exp": str(SECONDS + 60)}, "exp"),
        ({"nbf": SECONDS + 1}, "nbf"),
        ({"sub": ""}, "sub"),
        ({"sub": "x" * 256}, "sub"),
        ({"sub": "a\r\nb"}, "sub"),
        ({"sub": "a\u202eb"}, "sub"),
        ({"sub": "a\0b"}, "sub"),
        ({"sub": 7}, "sub"),
        ({"viewer": []}, "viewer"),
        ({"viewer": {"id": "root"}}, "viewer"),
        ({"viewer": {"a": {"b": {"c": {"d": {}}}}}}, "viewer"),
        ({"viewer": {f"n{number}": 1 for number in range(65)}}, "viewer"),
        ({"viewer": {"n": 2**60}}, "viewer"),
        ({"viewer": {"n": "\0"}}, "viewer"),
        ({"scope": ""}, "scope"),
        ({"scope": "app  dashboard"}, "scope"),
        ({"scope": ["app"]}, "scope"),
        ({"scope": "dashboard:"}, "scope"),
        ({"scope": "dashboard:a*b"}, "scope"),
        ({"jti": "x" * 65}, "jti"),
        ({"aud": "another"}, "aud"),
        ({"aud": ["tenantry"]}, "aud"),
    ],
)
def test_a_claim_that_breaks_its_rule_is_named(claims: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidPass, match=f"`{named}`"):
        read_pass(RING, of_claims(**claims), lambda: NOW)


@pytest.mark.parametrize("name", ["iat", "exp"])
def test_both_times_are_required(name: str) -> None:
    with pytest.raises(InvalidPass, match=f"`{name}`"):
        read_pass(RING, signed(json.dumps({key: value for key, value in TIMES.items() if key != name})), lambda: NOW)


@pytest.mark.parametrize(
    "claims",
    [
        '{"iat":1,"iat":1,"exp":2}',
        '{"viewer":{"n":NaN},"iat":1,"exp":2}',
        '{"viewer":{"n":1e400},"iat":1,"exp":2}',
        "[]",
        "{",
        '{"viewer":' + "[" * 5_000,
        '{"viewer":{"n":"\\ud800"},"iat":1,"exp":2}',
        '\ufeff{"iat":1,"exp":2}',
        "\ud800",
    ],
    ids=range(9),
)
def test_json_is_strict(claims: str) -> None:
    with pytest.raises(InvalidToken):
        read_pass(RING, signed(claims), lambda: NOW)


@pytest.mark.parametrize(
    "header",
    [
        '{"alg":"none"}',
        '{"alg":"hs256"}',
        '{"alg":"RS256"}',
        '{"alg":["HS256"]}',
        '{"alg":"HS256","typ":"at+jwt"}',
        '{"alg":"HS256","crit":["exp"]}',
        '{"alg":"HS256","zip":"DEF"}',
        '{"alg":"HS256","jwk":{}}',
        "{}",
    ],
)
def test_headers_that_ask_for_another_rule_are_refused(header: str) -> None:
    with pytest.raises(InvalidPass):
        read_pass(RING, signed(json.dumps(TIMES), header), lambda: NOW)


@pytest.mark.parametrize(
    "forge",
    [
        lambda raw: signed(json.dumps(TIMES), key=OTHER),
        lambda raw: signed(json.dumps(TIMES), key=TOKEN[:47]),
        lambda raw: signed(json.dumps(TIMES), key=raw.decode()),
        lambda raw: signed(json.dumps(TIMES), key=""),
        lambda raw: raw + b"=",
        lambda raw: raw[:-1],
        lambda raw: raw.replace(b"ugvc", b"ugvt", 1),
        lambda raw: raw.replace(b"ugv", b"ugt", 1),
        lambda raw: raw.replace(b"_k2_", b"_k1_", 1),
        lambda raw: raw.replace(b"_k2_", b"_k9_", 1),
        lambda raw: raw + b"x" * 3_072,
        lambda raw: b"ugv" + OTHER[3:47].encode() + raw[47:],
        lambda raw: TOKEN.encode(),
        lambda raw: b"ugv" + TOKEN[3:].encode(),
        lambda raw: b"",
        lambda raw: b"ugv",
        lambda raw: raw.replace(b".", b"", 1),
    ],
)
def test_forgeries(forge: Callable[[bytes], bytes]) -> None:
    with pytest.raises(InvalidToken) as refused:
        read_pass(RING, forge(sign_pass(TOKEN, TIMES).encode()), lambda: NOW)
    assert type(refused.value) is InvalidToken


@settings(max_examples=300)
@given(st.integers(0, 400), st.integers(0, 255))
def test_every_other_spelling_is_refused(place: int, byte: int) -> None:
    """One byte replaced, at each place."""
    raw = sign_pass(TOKEN, {**TIMES, "sub": "ada"}).encode()
    place %= len(raw)
    changed = raw[:place] + bytes([byte]) + raw[place + 1 :]
    if changed == raw:
        return
    with pytest.raises(InvalidToken):
        read_pass(RING, changed, lambda: NOW)


def test_every_mutation_is_refused() -> None:
    """At each place: another character of base64, one left out, one twice, two exchanged, a byte that no pass has; and
    characters added at both ends. All are forgeries, and none reads a claim. Red when a signature is compared after
    decoding."""
    raw = sign_pass(TOKEN, {**TIMES, "sub": "ada", "viewer": {"region": "eu"}}).encode()
    mutations = {raw + end for end in (b"=", b"\n", b" ", b"\0", b".", b"A")} | {b" " + raw, b"u" + raw, raw.upper()}
    for place in range(len(raw)):
        before, here, after = raw[:place], raw[place : place + 1], raw[place + 1 :]
        mutations |= {before + bytes([byte]) + after for byte in (*b"ABQgwyz019-_.", 0, 10, 61, 128, 255)}
        mutations |= {before + after, before + here * 2 + after, before + after[:1] + here + after[1:]}
        mutations |= {before + here.swapcase() + after}
    mutations.discard(raw)
    assert len(mutations) > 4_000
    for each in mutations:
        with pytest.raises(InvalidToken) as refused:
            read_pass(RING, each, lambda: NOW)
        assert type(refused.value) is InvalidToken, each


_CLAIM_VALUES = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=8)
_VIEWERS = st.dictionaries(st.text(min_size=1, max_size=8).filter(lambda name: name != "id"), _CLAIM_VALUES, max_size=5)


@settings(max_examples=200, deadline=None)
@given(
    _VIEWERS, st.text(min_size=1, max_size=20).filter(str.isprintable), st.sampled_from([None, "app", "dashboard:a/*"])
)
def test_pyjwt_reads_what_we_sign_and_signs_what_we_read(viewer: dict[str, Any], sub: str, scope: str | None) -> None:
    """The same claims, both ways, and the same signature. Red when our JSON is not theirs."""
    claims = make_claims(SECONDS, 600, sub, viewer, scope)
    try:
        ours = sign_pass(TOKEN, claims)
    except InvalidPass:  # a NUL character, for example
        return
    options = {"verify_exp": False, "verify_iat": False}
    assert jwt.decode(ours.split(".", 1)[1], TOKEN, algorithms=["HS256"], options=options) == claims
    theirs = f"ugv{TOKEN[3:47]}." + jwt.encode(claims, TOKEN, algorithm="HS256")
    assert read_pass(RING, theirs.encode(), lambda: NOW) == read_pass(RING, ours.encode(), lambda: NOW)
