"""Answers: bytes of JSON that always carry ``success`` (SPEC section 7), and the headers that go with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from pydantic_core import to_json
from starlette.types import Scope, Send

from tenantry.errors import MethodNotAllowed, MissingScope, TenantryError, Unauthorized, UnsupportedMediaType
from tenantry.http import error_document

RawHeaders = list[tuple[bytes, bytes]]

JSON: Final = b"application/json; charset=utf-8"
PROBLEM: Final = b"application/problem+json"

_ALWAYS: Final = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"vary", b"Authorization, Accept"),
)


@dataclass(frozen=True, slots=True)
class Terms:
    """What an address says of itself in a refusal: its methods, authentication schemes and bodies, and its way to
    write an error."""

    allow: bytes = b""
    challenges: tuple[bytes, ...] = (b'Token realm="api"',)
    accept: bytes = b"application/json"
    document: Callable[[TenantryError, str], dict[str, Any]] = error_document
    scope: bytes = b""
    """The scope that an API token needs here; said to a bearer who lacks it."""
    bearer: bool = False
    """Whether the API token came as Bearer, where that is read."""

    def for_scheme(self, scheme: bytes) -> Terms:
        """The same for a caller who used this scheme (lower case): he is challenged with it alone, if it is read here
        (RFC 6749 section 5.2)."""
        if len(self.challenges) == 1 or not scheme:
            return self
        fitting = tuple(each for each in self.challenges if each.lower().startswith(scheme + b" "))
        return replace(self, challenges=fitting, bearer=scheme == b"bearer") if fitting else self


class Answer(NamedTuple):
    """A whole response. ``body`` is None for 204."""

    status: int
    body: bytes | None
    media_type: bytes = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()
    closes: bool = False
    """The rest of the request's body is not read, so the connection cannot serve another request."""

    async def send(self, scope: Scope, send: Send, request_id: str) -> None:
        headers: RawHeaders = [*_ALWAYS, (b"x-request-id", request_id.encode("ascii")), *self.headers]
        if self.body is not None:
            headers.append((b"content-type", self.media_type))
            headers.append((b"content-length", b"%d" % len(self.body)))
        if self.closes and scope.get("http_version", "1.1").startswith("1"):  # HTTP/2 has no such header
            headers.append((b"connection", b"close"))
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body or b""})


def success(document: dict[str, Any], headers: tuple[tuple[bytes, bytes], ...] = ()) -> Answer:
    """200."""
    return Answer(200, to_json(document), headers=headers)


_TERMS: Final = Terms()


def refusal(error: TenantryError, request_id: str, *, problem: bool, terms: Terms = _TERMS) -> Answer:
    """The answer to ``error``: the address' own shape, or RFC 9457 with the same members as extensions when asked for.

    The problem's ``type`` is ``about:blank`` (RFC 9457 section 4.2.1): what tells errors apart is their code.
    """
    document = terms.document(error, request_id)
    if problem:
        title = HTTPStatus(error.status).phrase
        document = {
            "type": "about:blank",
            "title": title,
            "status": error.status,
            "detail": error.public_message,
            **document,
        }
    return Answer(
        error.status,
        to_json(document),
        PROBLEM if problem else JSON,
        _headers_of(error, terms),
        closes=error.status in (408, 413),
    )


def _headers_of(error: TenantryError, terms: Terms) -> tuple[tuple[bytes, bytes], ...]:
    headers: RawHeaders = []
    if isinstance(error, Unauthorized):
        headers.extend((b"www-authenticate", challenge) for challenge in terms.challenges)  # RFC 9110 section 11.6.1
    if isinstance(error, MissingScope) and terms.bearer:  # RFC 6750 section 3
        lacking = b'Bearer realm="api", error="insufficient_scope", scope="%b"' % terms.scope
        headers.append((b"www-authenticate", lacking))
    if isinstance(error, MethodNotAllowed):
        headers.append((b"allow", terms.allow))
    if isinstance(error, UnsupportedMediaType):
        headers.append((b"accept", terms.accept))  # RFC 9110 section 15.5.16
    if error.retry_after is not None:
        headers.append((b"retry-after", b"%d" % error.retry_after))
    return tuple(headers)
