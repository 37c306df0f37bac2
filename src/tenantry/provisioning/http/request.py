from __future__ import annotations

import re
from contextlib import suppress
from secrets import token_hex
from typing import Final
from urllib.parse import parse_qsl

from starlette.types import Receive, Scope

from tenantry.errors import (
    AmbiguousAuthorization,
    BadRequest,
    BodyTooLarge,
    InvalidBody,
    RequestTimeout,
    Unauthorized,
    UnsupportedMediaType,
)
from tenantry.http import prefers_problem, request_id_of
from tenantry.provisioning.deadline import DeadlineExceeded, run_with_timeout
from tenantry.provisioning.limits import check_text
from tenantry.tokens import holds_token
from tenantry.tracing import set_attribute

MAX_BODY: Final = 64 * 1024
"""Maximum bytes of a body, except in bulk requests."""

SMALL_BODY: Final = 8 * 1024
"""Maximum bytes of a body that is read before authentication."""
# Most bodies have a few hundred bytes.

BODY_SECONDS: Final = 10.0
"""Default time limit for a client to send its body, in seconds."""

DRAIN_SECONDS: Final = 1.0
"""Maximum seconds that ``drain`` waits for the rest of a body."""

_READ: Final = frozenset(
    {
        b"accept",
        b"authorization",
        b"content-encoding",
        b"content-length",
        b"content-type",
        b"expect",
        b"idempotency-key",
        b"prefer",
        b"transfer-encoding",
        b"x-request-id",
    }
)
_IDEMPOTENCY_KEY: Final = re.compile(rb"[\x21-\x7e]{1,255}")
_DIGITS: Final = re.compile(rb"[0-9]{1,18}")
_SPACE: Final = b" \t"
_UTF_8: Final = ("utf-8", "utf8")


class ClientDisconnected(Exception): ...


class ApiRequest:
    """A request's headers, query parameters and body, within limits of size and time.
    - ``id``: the X-Request-Id header, or a random id if the header is absent, malformed or contains a token.
    - ``complete``: whether the whole body was received."""

    __slots__ = ("_query", "_receive", "_values", "complete", "id", "method", "operation", "root_path")

    def __init__(self, scope: Scope, receive: Receive) -> None:
        values: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            if name in _READ:
                values.setdefault(name, []).append(value)
        self._values = values
        self._receive = receive
        self._query: bytes = scope.get("query_string") or b""
        self.method: str = scope["method"]
        self.root_path: str = scope.get("root_path", "")
        own = request_id_of(scope["headers"]) if b"x-request-id" in values else None
        self.id: str = own or token_hex(8)
        self.complete: bool = False
        self.operation: str = "none"

    def set_operation(self, name: str) -> None:
        self.operation = name
        set_attribute("tenantry.operation", name)

    # --- headers ------------------------------------------------------------------------------------------------------

    def api_token(self) -> str:
        """Return the API token in ``Authorization: Token …``. Raises Unauthorized, AmbiguousAuthorization."""
        given = self.authorization()
        if given is None:
            raise Unauthorized("send the header  Authorization: Token <API_TOKEN>")
        scheme, secret = given
        if scheme != b"token":
            raise Unauthorized("the scheme of Authorization must be Token: send  Authorization: Token <API_TOKEN>")
        return secret

    def authorization(self) -> tuple[bytes, str] | None:
        """Return the scheme (lower case) and the credentials of the Authorization header. Raises AmbiguousAuthorization
        if the header is repeated."""
        given = self._values.get(b"authorization")
        if given is None:
            return None
        if len(given) > 1:
            raise AmbiguousAuthorization("the request has more than one Authorization header: send one")
        scheme, _, secret = given[0].strip(_SPACE).partition(b" ")
        return scheme.lower(), secret.strip(_SPACE).decode("latin-1")

    @property
    def scheme(self) -> bytes:
        """The scheme of the Authorization header, in lower case. Empty if the header is absent or repeated."""
        given = self._values.get(b"authorization", ())
        return given[0].strip(_SPACE).partition(b" ")[0].lower() if len(given) == 1 else b""

    def prefers(self, preference: bytes) -> bool:
        """Whether a Prefer header (RFC 7240) contains ``preference`` (lower case) without a value."""
        given = b",".join(self._values.get(b"prefer", ()))
        return preference in (each.strip(_SPACE).lower() for each in given.split(b","))

    @property
    def has_media_type(self) -> bool:
        return b"content-type" in self._values

    def require_media_type(self, *kinds: str) -> None:
        """Raises UnsupportedMediaType unless the body is uncompressed UTF-8 and has one of these media types."""
        given = self._values.get(b"content-type", ())
        if len(given) != 1 or (given[0] != kinds[0].encode("ascii") and not _is_utf_8_of(kinds, given[0])):
            raise UnsupportedMediaType(f"send the body in UTF-8, with the header  Content-Type: {kinds[-1]}")
        encodings = self._values.get(b"content-encoding")
        if encodings is not None and any(each.strip().lower() != b"identity" for each in encodings):
            raise UnsupportedMediaType("send the body without Content-Encoding")

    @property
    def has_idempotency_key(self) -> bool:
        return b"idempotency-key" in self._values

    def idempotency_key(self) -> str | None:
        """Return the Idempotency-Key. Raises BadRequest unless the key has 1 to 255 visible ASCII characters and
        contains no token."""
        given = self._values.get(b"idempotency-key")
        if given is None:
            return None
        if len(given) > 1 or not _IDEMPOTENCY_KEY.fullmatch(given[0]):
            raise BadRequest("send one Idempotency-Key header of 1 to 255 visible ASCII characters")
        key = given[0].decode("ascii")
        if holds_token(key):
            raise BadRequest("the header Idempotency-Key holds a secret token: send a random string")
        return key

    def dry_run(self, *others: str) -> bool:
        """Whether the query string has ``dry_run=true``. ``others``: parameters that it may also have. Raises
        BadRequest for any other parameter or value."""
        return read_flag(self.query(*others, "dry_run"), "dry_run")

    def query(self, *names: str) -> dict[str, str]:
        if not self._query:
            return {}
        try:
            pairs = parse_qsl(self._query.decode("ascii"), keep_blank_values=True, errors="strict")
        except UnicodeDecodeError:
            pairs = None
        if pairs is None:
            raise BadRequest("the query parameters are not percent-encoded UTF-8")
        if len({name for name, _ in pairs} & set(names)) != len(pairs):
            raise BadRequest(f"this request takes only these query parameters, each at most once: {', '.join(names)}")
        return dict(pairs)

    def prefers_problem(self) -> bool:
        return prefers_problem([(b"accept", value) for value in self._values.get(b"accept", ())])

    # --- the body -----------------------------------------------------------------------------------------------------

    def has_small_body(self) -> bool:
        """Whether Content-Length is at most SMALL_BODY and the request has no Expect header (RFC 9110 section
        10.1.1)."""
        if b"content-length" not in self._values or b"expect" in self._values:
            return False
        digits = self._values[b"content-length"][0]
        return digits.isdigit() and len(digits) <= 4 and int(digits) <= SMALL_BODY

    async def read_body(self, seconds: float = BODY_SECONDS) -> bytes:
        """Read the whole body within ``seconds``. Raises BadRequest, BodyTooLarge, RequestTimeout,
        ClientDisconnected."""
        self.require_length(MAX_BODY)  # before the first receive, for which servers send 100 Continue
        try:
            return await run_with_timeout(seconds, self._read())
        except DeadlineExceeded:
            raise RequestTimeout(f"the body did not arrive within {seconds:g} seconds") from None

    def require_length(self, most: int) -> None:
        """Raises BodyTooLarge if Content-Length is more than ``most`` bytes, and BadRequest if it is malformed."""
        lengths = self._values.get(b"content-length", ())
        if lengths:
            if len(set(lengths)) > 1 or not _DIGITS.fullmatch(lengths[0]):
                raise BadRequest("the header Content-Length must be a single number of bytes")
            check_size(int(lengths[0]), most)

    async def next_part(self, seconds: float) -> bytes:
        """Read the next part of the body. After the last part, ``complete`` is true. Raises RequestTimeout,
        ClientDisconnected."""
        try:
            return await run_with_timeout(seconds, self._next_part())
        except DeadlineExceeded:
            raise RequestTimeout(f"no more of the body arrived within {seconds:g} seconds") from None

    async def _read(self) -> bytes:
        first = await self._next_chunk()
        if self.complete:
            return first
        body = bytearray(first)  # linear in the size, even for many small chunks
        while not self.complete:
            body += await self._next_chunk()
            check_size(len(body), MAX_BODY)
        return bytes(body)

    async def _next_chunk(self) -> bytes:
        chunk = await self._next_part()
        check_size(len(chunk), MAX_BODY)
        return chunk

    async def _next_part(self) -> bytes:
        message = await self._receive()
        self.complete = not message.get("more_body", False)
        if message["type"] == "http.disconnect":
            raise ClientDisconnected
        part: bytes = message.get("body", b"")
        return part

    async def drain(self) -> bool:
        """Read and discard the rest of a body, up to MAX_BODY bytes and DRAIN_SECONDS. Return False if bytes are left.
        If Content-Length is larger than MAX_BODY, or there is an Expect header, read nothing and return True."""
        # If the server closes a connection with unread bytes, the client may not receive the response (RFC 9112 section
        # 9.6).
        lengths = self._values.get(b"content-length", ())
        if self.complete or b"expect" in self._values or (not lengths and b"transfer-encoding" not in self._values):
            return True
        if not all(_DIGITS.fullmatch(length) and 0 < int(length) <= MAX_BODY for length in lengths):
            return True
        with suppress(DeadlineExceeded, ClientDisconnected, BodyTooLarge):
            await run_with_timeout(DRAIN_SECONDS, self._read())
        return self.complete


def check_size(size: int, most: int) -> None:
    if size > most:
        raise BodyTooLarge(f"the body is larger than {most} bytes")


def _is_utf_8_of(wanted: tuple[str, ...], value: bytes) -> bool:
    kind, *parameters = [part.strip().lower() for part in value.decode("latin-1").split(";")]
    named = [part.partition("=") for part in parameters]
    charsets = [value.strip(' \t"') for name, _, value in named if name.strip() == "charset"]
    return kind in wanted and (not charsets or (len(charsets) == 1 and charsets[0] in _UTF_8))


# --- query parameters: errors name the parameter and never show its value ---------------------------------------------


def read_text(parameters: dict[str, str], name: str) -> str | None:
    text = parameters.get(name)
    if text is None:
        return None
    try:
        check_text(text, f"/{name}")
    except InvalidBody as error:
        reason = error.message
    else:
        return text
    raise BadRequest(f"the query parameter {name}: {reason}")


def read_number(parameters: dict[str, str], name: str, least: int, most: int, default: int) -> int:
    text = parameters.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most)) and least <= int(text) <= most):
        raise BadRequest(f"the query parameter {name} must be a whole number from {least} to {most}")
    return int(text)


def read_flag(parameters: dict[str, str], name: str) -> bool:
    """Whether the parameter ``name`` is ``true``. Raises BadRequest if its value is neither ``true`` nor ``false``."""
    match parameters.get(name, "false"):
        case "true" | "false" as value:
            return value == "true"
    raise BadRequest(f"the query parameter {name} must be true or false")
