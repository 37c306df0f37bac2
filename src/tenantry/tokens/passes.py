"""Passes: short-lived credentials, each for one viewer, made from the user group token.

A pass is the part of the token before its dot, with ``ugv`` in place of ``ugt``, then a dot and a JWT (RFC 7519). The
JWT is signed with HS256 (RFC 7515). The key is the complete token. A pass does not reveal the token. When the token
becomes invalid, so does the pass."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from hmac import compare_digest
from typing import Any, Final, NamedTuple

from tenantry.errors import InvalidPass, InvalidToken, PassExpired
from tenantry.groups import (
    LONGEST_PASS,
    Record,
    Token,
    Viewer,
    is_storable_text,
    number_problem,
    read_json_strictly,
    thaw,
)
from tenantry.tokens.authentication import sign_once
from tenantry.tokens.formats import LAST, SIGNED, TOKEN_PATTERN, decode, holds_token
from tenantry.tokens.key_ring import KeyRing

# A cookie can hold 4,096 characters, including the cookie's name.
MAX_PASS_LENGTH: Final = 3_072
"""Maximum number of characters of a pass."""

MAX_SECONDS: Final = LONGEST_PASS
"""Maximum seconds between ``iat`` and ``exp``."""

MAX_AHEAD: Final = 60
"""A pass may be made on a machine whose clock is at most this many seconds ahead of ours."""

AUDIENCE: Final = "tenantry"

MAX_ID: Final = 255
MAX_NAMES: Final = 64
MAX_DEPTH: Final = 4

PASS_PATTERN: Final = re.compile(
    rf"ugv[ct]_[a-z0-9]{{2}}_[A-Za-z0-9_-]{{38}}{LAST}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{{42}}{LAST}"
)
"""Finds a pass in a string (not anchored)."""

_PREFIX: Final = b"ugv"
_TOKEN_PREFIX: Final = b"ugt"
_DOT: Final = slice(SIGNED.stop, SIGNED.stop + 1)
_MESSAGE: Final = slice(SIGNED.stop + 1, -44)
_LAST_DOT: Final = slice(-44, -43)
_SIGNATURE: Final = slice(-43, None)
_HEADER: Final = b"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"
"""``{"alg":"HS256","typ":"JWT"}`` in base64url."""
_ENTRY: Final = r"[a-z][a-z-]*(:([\w./-]+\*?|\*))?"
SCOPE_PATTERN: Final = rf"^{_ENTRY}( {_ENTRY})*$"
"""Matches the scope of a pass: one or more kinds, such as ``app``, separated by spaces. A kind may be followed by a
colon and a name. A name that ends with ``*`` means all names that begin with the characters before it. Example: ``app
dashboard:finance/*``."""


class Pass(NamedTuple):
    token: bytes
    """The user group token that signed the pass."""
    decoded: Token
    viewer: Viewer

    def __repr__(self) -> str:
        return f"Pass(decoded={self.decoded!r}, viewer={self.viewer!r})"


def is_like_a_pass(raw: bytes) -> bool:
    """Whether ``raw`` has the prefix of passes."""
    return raw.startswith(_PREFIX)


def sign_pass(token: str, claims: Mapping[str, Any]) -> str:
    """Return a pass with these claims. Raises InvalidToken if ``token`` is not a user group token, and InvalidPass if a
    claim is not allowed."""
    if not TOKEN_PATTERN.fullmatch(token):
        raise InvalidToken(
            "`token` is not a user group token: give the group's whole token, which begins with ugtc_ or ugtt_"
        )
    viewer_of(claims, 0)
    check_pass_length(claims)
    message = f"{_HEADER.decode()}.{_encoded(claims)}"
    signature = sign_once(token.encode(), message.encode()).decode()
    return f"ugv{token[3 : SIGNED.stop]}.{message}.{signature}"


def check_pass_length(claims: Mapping[str, Any]) -> None:
    """Raise InvalidPass if a pass with these claims would be too long."""
    length = SIGNED.stop + len(f".{_HEADER.decode()}.{_encoded(claims)}") - _LAST_DOT.start
    if length > MAX_PASS_LENGTH:
        raise InvalidPass(
            f"the pass has {length} characters, but at most {MAX_PASS_LENGTH} are allowed: shorten `viewer`",
            claim="viewer",
        )


def read_pass(keys: KeyRing, raw: bytes, clock: Callable[[], datetime]) -> Pass:
    """Verify a pass and read its viewer. Only the store knows whether the token that signed the pass is still valid.

    The signature is checked first. Raises InvalidToken if it is invalid, InvalidPass if the content is malformed or a
    claim is not allowed, and PassExpired if the pass has ended.
    """
    # Nothing is parsed, and the clock is not read, before the signatures are compared: a forged pass costs at most two
    # HMACs.
    token = keys.complete(_TOKEN_PREFIX + raw[3 : SIGNED.stop]) if len(raw) <= MAX_PASS_LENGTH else None
    if token is None or raw[_DOT] + raw[_LAST_DOT] != b"..":
        raise InvalidToken(InvalidToken.MESSAGE)
    message = raw[_MESSAGE]
    # Compares the characters, because base64 can spell the same bytes in several ways.
    if not compare_digest(sign_once(token, message), raw[_SIGNATURE]):
        raise InvalidToken(InvalidToken.MESSAGE)
    decoded = decode(token)
    if decoded is None or not raw.startswith(_PREFIX):
        raise InvalidToken(InvalidToken.MESSAGE)
    header, _, claims = message.partition(b".")
    if header != _HEADER:
        _check_header(_decoded(header, "header"))
    viewer = viewer_of(_decoded(claims, "claims"), decoded.version)
    _check_times(viewer, clock())
    return Pass(token, decoded, viewer)


def claims_of(viewer: Viewer) -> dict[str, Any]:
    """Return the claims of a new pass for a viewer. The new pass ends when the viewer's current pass ends."""
    issued, expires = int(viewer.issued_at.timestamp()), int(viewer.expires_at.timestamp())
    attributes, scope = thaw(viewer.attributes) or None, " ".join(viewer.scope) or None
    return make_claims(issued, expires - issued, viewer.id, attributes, scope)


def make_claims(
    issued: int, seconds: int, viewer_id: str | None, attributes: Mapping[str, Any] | None, scope: str | None
) -> dict[str, Any]:
    """Return the claims of a pass. ``issued``: seconds since 1970."""
    claims = {"iat": issued, "exp": issued + seconds, "sub": viewer_id, "viewer": attributes, "scope": scope}
    return {name: value for name, value in claims.items() if value is not None}


def viewer_of(claims: Mapping[str, Any], token_version: int) -> Viewer:
    """Return the viewer that these claims describe. Raises InvalidPass if a claim is missing or not allowed."""
    for name in claims:
        # An unknown claim may be meant as a restriction, so ignoring it would be unsafe.
        _require(name in _CLAIMS, str(name)[:MAX_ID], f"is not one of {', '.join(_CLAIMS)}")
    for name, check in _CLAIMS.items():
        if name in claims:
            check(name, claims[name])
    for name in ("iat", "exp"):
        _require(name in claims, name, "is missing: give the seconds since 1970")
    issued, expires = claims["iat"], claims["exp"]
    _require(0 < expires - issued <= MAX_SECONDS, "exp", f"must be 1 to {MAX_SECONDS} seconds after iat")
    _require(claims.get("nbf", issued) <= issued, "nbf", "must not be after iat")
    scope = tuple(claims.get("scope", "").split(" ")) if "scope" in claims else ()
    attributes = Record(claims.get("viewer", {}))
    return Viewer(claims.get("sub"), attributes, scope, _moment(issued), _moment(expires), token_version)


def _check_header(header: dict[str, Any]) -> None:
    _require(header.keys() <= {"alg", "typ", "kid"}, "header", "has a name that is not alg, typ or kid")
    _require(header.get("alg") == "HS256", "alg", "must be HS256")
    _require(header.get("typ", "JWT") == "JWT", "typ", "must be JWT, or absent")


def _check_times(viewer: Viewer, now: datetime) -> None:
    ahead = (viewer.issued_at - now).total_seconds()
    _require(ahead <= MAX_AHEAD, "iat", "is in the future: set the clock of the host that made the pass")
    if viewer.expires_at <= now:
        raise PassExpired(PassExpired.MESSAGE)


# --- claims -----------------------------------------------------------------------------------------------------------


def _require(condition: bool, claim: str, rule: str) -> None:  # reads as an assertion
    if not condition:
        raise InvalidPass(f"`{claim}` of this pass {rule}", claim=claim)


_LAST_SECOND: Final = 253_402_300_799
"""Seconds from 1970 to the end of the year 9999, the latest that a datetime can hold."""


def _check_seconds(name: str, value: object) -> None:
    _require(type(value) is int and 0 < value <= _LAST_SECOND, name, "must be a whole number of seconds since 1970")


def _check_id(name: str, value: object) -> None:
    _check_printable(name, value, MAX_ID)
    # An id that contains a token cannot be stored, so its viewer could not be revoked.
    _require(not holds_token(str(value)), name, "(the viewer's id) holds a secret token: was the wrong value given?")


def _check_jti(name: str, value: object) -> None:
    _check_printable(name, value, 64)


def _check_printable(name: str, value: object, most: int) -> None:
    is_text = isinstance(value, str) and 1 <= len(value) <= most and value.isprintable()
    what = "(the viewer's id) " if name == "sub" else ""
    _require(is_text, name, f"{what}must be text of 1 to {most} printable characters")


def _check_audience(name: str, value: object) -> None:
    _require(value == AUDIENCE, name, f"must be {AUDIENCE}, or absent")


def _check_scope(name: str, value: object) -> None:
    is_scope = isinstance(value, str) and not value.endswith("\n") and re.match(SCOPE_PATTERN, value) is not None
    _require(
        is_scope,
        name,
        "must be one or more kinds separated by single spaces, such as `app dashboard:finance/*`; leave it out for a "
        "pass that opens everything",
    )


def _check_issuer(name: str, value: object) -> None:
    pass  # accept any issuer: only a program with the token can make a valid signature


def _check_viewer(name: str, value: object) -> None:
    if not isinstance(value, dict):
        _require(False, name, "must be an object")
        return
    _require("id" not in value, name, "must not contain `id`: give the id as `sub` (in `mint_pass`: `viewer_id`)")
    _require(_count_names(value, 1) <= MAX_NAMES, name, f"has more than {MAX_NAMES} names")


def _count_names(value: Any, depth: int) -> int:
    """Count the names of all objects in ``value``. Raises InvalidPass for a value that is not allowed in properties."""
    if isinstance(value, str):
        _require(is_storable_text(value), "viewer", "has a NUL character or a lone surrogate")
        return 0
    if value is None or isinstance(value, bool):
        return 0
    if isinstance(value, int | float):
        problem = number_problem(value)
        _require(problem is None, "viewer", f"has a wrong number: {problem}")
        return 0
    _require(depth <= MAX_DEPTH, "viewer", f"is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, dict):
        for key in value:
            _require(isinstance(key, str), "viewer", "has a name that is not a string")
            _count_names(key, depth)
        return len(value) + sum(_count_names(item, depth + 1) for item in value.values())
    _require(isinstance(value, list | tuple), "viewer", "has a value that is not JSON")
    return sum(_count_names(item, depth + 1) for item in value)


_CLAIMS: Final[Mapping[str, Callable[[str, object], None]]] = {
    "iat": _check_seconds,
    "exp": _check_seconds,
    "sub": _check_id,
    "viewer": _check_viewer,
    "scope": _check_scope,
    "jti": _check_jti,
    "aud": _check_audience,
    "nbf": _check_seconds,
    "iss": _check_issuer,
}


# --- base64url and JSON -----------------------------------------------------------------------------------------------


_dump: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def _encoded(value: Mapping[str, Any]) -> str:
    plain = {name: thaw(item) for name, item in value.items()}
    # Write UTF-8, as other libraries do. With escapes, the claims of a pass from another library would take more
    # characters in ours.
    return _unpadded(_dump(plain).encode())


def _unpadded(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(part: bytes, what: str) -> dict[str, Any]:
    value: Any = None
    try:
        data = urlsafe_b64decode(part + b"=" * (-len(part) % 4))
        if _unpadded(data).encode() == part:  # the decoder skips characters that are not base64
            value = read_json_strictly(data.decode("utf-8"))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InvalidPass(
            f"this pass is malformed: its {what} part must be base64url of a JSON object with no duplicate keys and "
            "no NaN"
        )
    return value


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
