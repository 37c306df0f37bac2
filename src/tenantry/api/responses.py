"""Responses: JSON that always has ``success`` (SPEC section 7), the headers of each, and how an error is written."""

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


class ApiResponse(NamedTuple):
    """A whole response. ``body`` is None for 204."""

    status: int
    body: bytes | None
    media_type: bytes = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()
    close_connection: bool = False
    """The rest of the request's body is not read, so the connection cannot serve another request."""

    async def send(self, scope: Scope, send: Send, request_id: str) -> None:
        """Sends it as ASGI messages, with the headers that every response has."""
        headers: RawHeaders = [*_ALWAYS, (b"x-request-id", request_id.encode("ascii")), *self.headers]
        if self.body is not None:
            headers.append((b"content-type", self.media_type))
            headers.append((b"content-length", b"%d" % len(self.body)))
        if self.close_connection and scope.get("http_version", "1.1").startswith("1"):  # HTTP/2 has no such header
            headers.append((b"connection", b"close"))
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body or b""})


def success_response(document: dict[str, Any], headers: tuple[tuple[bytes, bytes], ...] = ()) -> ApiResponse:
    """200."""
    return ApiResponse(200, to_json(document), headers=headers)


# --- errors -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ErrorFormat:
    """How an endpoint writes its errors: the document, and the methods, challenges and media type that it names."""

    allow: bytes = b""
    challenges: tuple[bytes, ...] = (b'Token realm="api"',)
    accept: bytes = b"application/json"
    document: Callable[[TenantryError, str], dict[str, Any]] = error_document
    scope: bytes = b""
    """The scope that an API token needs here; named to a bearer whose token lacks it."""
    bearer: bool = False
    """Whether the API token came as Bearer, where that is read."""

    def for_scheme(self, scheme: bytes) -> ErrorFormat:
        """The same for a caller who used this scheme (lower case): the challenge is of that scheme alone, if it is
        read here (RFC 6749 section 5.2)."""
        if len(self.challenges) == 1 or not scheme:
            return self
        matching = tuple(each for each in self.challenges if each.lower().startswith(scheme + b" "))
        return replace(self, challenges=matching, bearer=scheme == b"bearer") if matching else self


DEFAULT_FORMAT: Final = ErrorFormat()


def api_error_response(
    error: TenantryError, request_id: str, *, problem: bool, error_format: ErrorFormat = DEFAULT_FORMAT
) -> ApiResponse:
    """The response for ``error``: the endpoint's own document, or RFC 9457 with the same members as extensions.

    The problem's ``type`` is ``about:blank`` (RFC 9457 section 4.2.1): errors differ by their code.
    """
    document = error_format.document(error, request_id)
    if problem:
        document = {
            "type": "about:blank",
            "title": HTTPStatus(error.status).phrase,
            "status": error.status,
            "detail": error.public_message,
            **document,
        }
    return ApiResponse(
        error.status,
        to_json(document),
        PROBLEM if problem else JSON,
        _error_headers(error, error_format),
        close_connection=error.status in (408, 413),
    )


def _error_headers(error: TenantryError, error_format: ErrorFormat) -> tuple[tuple[bytes, bytes], ...]:
    headers: RawHeaders = []
    if isinstance(error, Unauthorized):  # RFC 9110 section 11.6.1
        headers.extend((b"www-authenticate", challenge) for challenge in error_format.challenges)
    if isinstance(error, MissingScope) and error_format.bearer:  # RFC 6750 section 3
        insufficient = b'Bearer realm="api", error="insufficient_scope", scope="%b"' % error_format.scope
        headers.append((b"www-authenticate", insufficient))
    if isinstance(error, MethodNotAllowed):
        headers.append((b"allow", error_format.allow))
    if isinstance(error, UnsupportedMediaType):
        headers.append((b"accept", error_format.accept))  # RFC 9110 section 15.5.16
    if error.retry_after is not None:
        headers.append((b"retry-after", b"%d" % error.retry_after))
    return tuple(headers)
