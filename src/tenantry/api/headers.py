"""The headers of a request that the interface reads, collected in one pass."""

from __future__ import annotations

import re
from collections.abc import Iterable
from secrets import token_hex
from typing import Final

from tenantry.errors import AmbiguousAuthorization, BadRequest, Unauthorized, UnsupportedMediaType
from tenantry.http import prefers_problem, request_id_of
from tenantry.tokens import holds_token

_READ: Final = frozenset(
    {
        b"accept",
        b"authorization",
        b"content-encoding",
        b"content-length",
        b"content-type",
        b"expect",
        b"idempotency-key",
        b"transfer-encoding",
        b"x-request-id",
    }
)
_IDEMPOTENCY_KEY: Final = re.compile(rb"[\x21-\x7e]{1,255}")
_DIGITS: Final = re.compile(rb"[0-9]{1,18}")
_SPACE: Final = b" \t"
_UTF_8: Final = ("utf-8", "utf8")
"""The registered name, and a common spelling."""

SMALL_BODY: Final = 8 * 1024
"""Bytes of a body that may be read before the caller is authenticated. Most bodies are of a few hundred."""


class RequestHeaders:
    """The headers of one request. Of a header that came twice, neither value is silently used."""

    __slots__ = ("_request_id", "_values")

    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        values: dict[bytes, list[bytes]] = {}
        for name, value in raw:
            if name in _READ:
                values.setdefault(name, []).append(value)
        self._values = values
        given = [(b"x-request-id", value) for value in values.get(b"x-request-id", ())]
        self._request_id = request_id_of(given) or token_hex(8)

    @property
    def request_id(self) -> str:
        """The caller's own X-Request-Id, if it has a plain shape and is no token, else a new one: it is logged."""
        return self._request_id

    def api_token(self) -> str:
        """What follows ``Token`` (any case) in Authorization. Raises Unauthorized, AmbiguousAuthorization."""
        given = self.authorization()
        if given is None:
            raise Unauthorized("send the header  Authorization: Token <API_TOKEN>")
        scheme, secret = given
        if scheme != b"token":
            raise Unauthorized("the scheme of Authorization must be Token: send  Authorization: Token <API_TOKEN>")
        return secret

    def authorization(self) -> tuple[bytes, str] | None:
        """The scheme of Authorization in lower case, and what follows it; None if there is no such header. Raises
        AmbiguousAuthorization."""
        given = self._values.get(b"authorization")
        if given is None:
            return None
        if len(given) > 1:
            raise AmbiguousAuthorization("the request has more than one Authorization header: send one")
        scheme, _, secret = given[0].strip(_SPACE).partition(b" ")
        return scheme.lower(), secret.strip(_SPACE).decode("latin-1")

    @property
    def scheme(self) -> bytes:
        """The scheme of the only Authorization, in lower case, or nothing."""
        given = self._values.get(b"authorization", ())
        return given[0].strip(_SPACE).partition(b" ")[0].lower() if len(given) == 1 else b""

    @property
    def has_media_type(self) -> bool:
        """Whether there is a Content-Type. A request without a body needs none."""
        return b"content-type" in self._values

    def content_length(self) -> int | None:
        """The length that is announced, in bytes; None if none is. Raises BadRequest."""
        given = self._values.get(b"content-length")
        if given is None:
            return None
        if len(set(given)) > 1 or not _DIGITS.fullmatch(given[0]):
            raise BadRequest("the header Content-Length is not one number of bytes")
        return int(given[0])

    def is_small_body(self) -> bool:
        """Whether a body is announced that will arrive soon: of at most SMALL_BODY bytes, and not held back until it is
        asked for (``Expect``, RFC 9110 section 10.1.1)."""
        if b"content-length" not in self._values or b"expect" in self._values:
            return False
        digits = self._values[b"content-length"][0]
        return digits.isdigit() and len(digits) <= 4 and int(digits) <= SMALL_BODY

    def may_drain(self, most: int) -> bool:
        """Whether the rest of an unused body is worth reading: at most ``most`` bytes or of unknown length, not held
        back until it is asked for."""
        if b"expect" in self._values:
            return False
        lengths = self._values.get(b"content-length", ())
        if not lengths:
            return b"transfer-encoding" in self._values
        return all(_DIGITS.fullmatch(length) and 0 < int(length) <= most for length in lengths)

    def require_json(self) -> None:
        """Raises UnsupportedMediaType unless the body is ``application/json`` in UTF-8, and not compressed."""
        self._require("application/json")

    def require_form(self) -> None:
        """The same for ``application/x-www-form-urlencoded``."""
        self._require("application/x-www-form-urlencoded")

    def _require(self, kind: str) -> None:
        given = self._values.get(b"content-type", ())
        if len(given) != 1 or (given[0] != kind.encode("ascii") and not _matches(kind, given[0])):
            raise UnsupportedMediaType(f"send the body as  Content-Type: {kind}  (in UTF-8)")
        if any(value.strip().lower() != b"identity" for value in self._values.get(b"content-encoding", ())):
            raise UnsupportedMediaType("send the body without Content-Encoding")

    def idempotency_key(self) -> str | None:
        """1 to 255 visible ASCII characters; None if there is none. Raises BadRequest, also for one that holds a token:
        it is stored."""
        given = self._values.get(b"idempotency-key")
        if given is None:
            return None
        if len(given) > 1 or not _IDEMPOTENCY_KEY.fullmatch(given[0]):
            raise BadRequest("the header Idempotency-Key must be one of 1 to 255 visible ASCII characters")
        key = given[0].decode("ascii")
        if holds_token(key):
            raise BadRequest("the header Idempotency-Key holds a secret token: send a random text of your own")
        return key

    def prefers_problem(self) -> bool:
        """Whether Accept names ``application/problem+json``, at no lower quality than plain JSON."""
        return prefers_problem((b"accept", value) for value in self._values.get(b"accept", ()))


def _matches(wanted: str, value: bytes) -> bool:
    kind, *parameters = [part.strip().lower() for part in value.decode("latin-1").split(";")]
    named = [part.partition("=") for part in parameters]
    charsets = [value.strip(' \t"') for name, _, value in named if name.strip() == "charset"]
    return kind == wanted and (not charsets or (len(charsets) == 1 and charsets[0] in _UTF_8))
