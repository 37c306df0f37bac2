from __future__ import annotations

import logging
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, Final, TypeAlias

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Send
from starlette.types import Scope as ASGIScope

from tenantry.clock import utc_now
from tenantry.errors import MethodNotAllowed, MissingScope, NotFound, TenantryError, Unauthorized, UnsupportedMediaType
from tenantry.groups import ApiToken, Caller, Scope
from tenantry.http import error_document, has_encoded_slash
from tenantry.ports import ApiTokenStore, Clock, Store
from tenantry.provisioning import Deadline, PropertyContract
from tenantry.provisioning.http.api_token_uses import ApiTokenUses
from tenantry.provisioning.http.request import BODY_SECONDS, ApiRequest, ClientDisconnected
from tenantry.tokens import KeyRing, api_token_digest, mask_within
from tenantry.tracing import HttpServerSpan, set_attribute

STORE_SECONDS: Final = 2.0
"""Default limit, in seconds, for all store calls of a request together."""


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """An answered request, for metrics.
    - ``operation``: ``get_or_create``, ``update``, ``merge``, ``delete``, ``rotate``, ``create_pass``,
      ``revoke_viewer``, ``bulk``, ``rotate_many``, ``list``, ``list_sources``, ``create_source``, ``update_source``,
      ``delete_source`` or ``introspect``; ``none`` if the request failed before its operation was known.
    - ``code``: ``ok`` or the code of the error."""

    operation: str
    status: int
    code: str
    seconds: float


Observer: TypeAlias = Callable[[RequestRecord], None]
"""A function that is called with the record of each answered request. It must not block or raise."""


@dataclass(frozen=True, slots=True)
class ApiContext:
    store: Store
    keys: KeyRing
    body_seconds: float = BODY_SECONDS
    store_seconds: float = STORE_SECONDS
    observer: Observer | None = None
    contract: PropertyContract | None = None
    uses: ApiTokenUses = field(default_factory=ApiTokenUses)
    time_of_day: Clock = utc_now

    async def authenticate(self, digest: bytes, deadline: Deadline) -> ApiToken:
        return await authenticate(self.store.api_tokens, digest, deadline, self.uses)

    async def authenticate_with_group(self, digest: bytes, provided_id: str, deadline: Deadline) -> Caller:
        found = await deadline.read(self.store.api_tokens.get_with_group(digest, provided_id))
        if found is None:
            raise _unauthorized()
        self.uses.note(self.store.api_tokens, found.api_token)
        set_attribute("tenantry.environment", found.api_token.environment.name)
        return found


async def authenticate(tokens: ApiTokenStore, digest: bytes, deadline: Deadline, uses: ApiTokenUses) -> ApiToken:
    """Read an API token from the store and record its use. Raises Unauthorized, StoreUnavailable."""
    found = await deadline.read(tokens.get(digest))
    if found is None:
        raise _unauthorized()
    uses.note(tokens, found)
    set_attribute("tenantry.environment", found.environment.name)
    return found


def require_scope(caller: ApiToken, scope: Scope) -> None:
    if not caller.allows(scope):
        raise MissingScope(f"this API token lacks the scope {scope}: create one with --scope {scope}")


def digest_of(secret: str) -> bytes:
    digest = api_token_digest(secret)
    if digest is None:
        raise _unauthorized()
    return digest


def _unauthorized() -> Unauthorized:
    return Unauthorized("the API token is malformed, unknown or revoked")


_log = logging.getLogger("tenantry.api")
_access_log = logging.getLogger("tenantry.access")

JSON: Final = "application/json; charset=utf-8"
PROBLEM: Final = "application/problem+json"

_ALWAYS: Final = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"vary", b"Authorization, Accept"),
)
_BODY_NOT_READ: Final = (408, 413)
"""Statuses of responses after which the body is not read to its end, so the connection cannot be reused."""

# --- responses --------------------------------------------------------------------------------------------------------


def json_response(
    document: dict[str, Any], status: int = 200, *, media_type: str = JSON, headers: Iterable[tuple[bytes, bytes]] = ()
) -> Response:
    response = Response(to_json(document), status, media_type=media_type)
    response.raw_headers.extend(headers)
    return response


class StreamedResponse(Response):
    """A response that is sent while the work continues. ``code`` is ``ok``, or the code of the error in the last
    line."""

    code: str = "ok"


@dataclass(frozen=True, slots=True)
class ErrorFormat:
    allow: bytes = b""
    challenges: tuple[bytes, ...] = (b'Token realm="api"',)
    accept: bytes = b"application/json"
    document: Callable[[TenantryError, str], dict[str, Any]] = error_document
    scope: bytes = b""
    """The scope that the endpoint needs. If an API token that was sent as Bearer lacks this scope, the challenge in the
    response names the scope."""
    bearer: bool = False
    """Whether the API token was sent as Bearer to an endpoint that accepts this scheme."""

    def for_scheme(self, scheme: bytes) -> ErrorFormat:
        """Return a copy whose only challenge (WWW-Authenticate) is for ``scheme`` (lower case), as RFC 6749 section 5.2
        requires. If the endpoint does not accept the scheme, return ``self``."""
        if len(self.challenges) == 1 or not scheme:
            return self
        matching = tuple(each for each in self.challenges if each.lower().startswith(scheme + b" "))
        return replace(self, challenges=matching, bearer=scheme == b"bearer") if matching else self


DEFAULT_FORMAT: Final = ErrorFormat()
_PHRASES: Final = {413: "Content Too Large", 422: "Unprocessable Content"}
"""Phrases of RFC 9110 that ``HTTPStatus`` does not have before Python 3.13."""


def api_error_response(
    error: TenantryError, request_id: str, *, problem: bool, error_format: ErrorFormat = DEFAULT_FORMAT
) -> Response:
    """Return the response for ``error``. ``problem``: whether to add the members of a problem document (RFC 9457)."""
    document = error_format.document(error, request_id)
    if problem:
        document = {
            "type": "about:blank",  # RFC 9457 section 4.2.1: the code already identifies the error
            "title": _PHRASES.get(error.status) or HTTPStatus(error.status).phrase,
            "status": error.status,
            "detail": error.public_message,
            **document,
        }
    headers: list[tuple[bytes, bytes]] = []
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
    return json_response(document, error.status, media_type=PROBLEM if problem else JSON, headers=headers)


# --- the endpoint -----------------------------------------------------------------------------------------------------


class Endpoint(ABC):
    """The ASGI app for one path. Subclasses implement ``respond`` for ``methods``.

    An unexpected exception is answered with 500. The log then shows the request's id, but no other value of the
    request. ``observer`` is called with each answered request that reached ``respond``."""

    def __init__(
        self, *methods: str, error_format: ErrorFormat = DEFAULT_FORMAT, observer: Observer | None = None
    ) -> None:
        self._methods = frozenset(methods)
        self._allow = ", ".join((*methods, "OPTIONS"))
        self._error_format = replace(error_format, allow=self._allow.encode("ascii"))
        self._observer = observer

    @abstractmethod
    async def respond(self, request: ApiRequest) -> Response:
        """Return the response. If this raises a TenantryError, an error response is sent. If it raises
        ClientDisconnected, nothing is sent."""

    async def __call__(self, scope: ASGIScope, receive: Receive, send: Send) -> None:
        started = time.monotonic()
        request = ApiRequest(scope, receive)
        with HttpServerSpan(scope, {"tenantry.request_id": request.id}) as span:
            code, observer = "ok", None
            try:
                response = self._answer_here(scope, request)
                if response is None:
                    observer = self._observer
                    response = await self.respond(request)
            except ClientDisconnected:
                span.set_attribute("tenantry.outcome", "client_gone")
                return
            except Exception as raised:  # noqa: BLE001 - every request gets a response
                code = raised.code if isinstance(raised, TenantryError) else TenantryError.code
                response = self._error_response(raised, request)
            if isinstance(response, StreamedResponse):
                _add_headers(response, request)
                await response(scope, receive, send)
                code = response.code
            if observer is not None:  # before ``_complete``, which may wait for a slow client
                observer(RequestRecord(request.operation, response.status_code, code, time.monotonic() - started))
            if not isinstance(response, StreamedResponse):
                await _complete(response, request, scope)
                await response(scope, receive, send)
            span.set_response(response.status_code, code)
        _log_access(scope, response.status_code, request.id, started)

    def _answer_here(self, scope: ASGIScope, request: ApiRequest) -> Response | None:
        """Answer OPTIONS, or return None if ``respond`` must answer. Raises NotFound, MethodNotAllowed."""
        if has_encoded_slash(scope):
            raise NotFound("there is nothing at this address")
        if request.method in self._methods:
            return None
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"allow": self._allow})
        raise MethodNotAllowed(f"this address accepts {self._allow}")

    def _error_response(self, raised: Exception, request: ApiRequest) -> Response:
        error = public_error(raised, request)
        error_format = DEFAULT_FORMAT if isinstance(error, NotFound) else self._error_format.for_scheme(request.scheme)
        return api_error_response(error, request.id, problem=request.prefers_problem(), error_format=error_format)


def public_error(raised: Exception, request: ApiRequest) -> TenantryError:
    """Return the error to send. For an unexpected exception, log only the type and traceback."""
    # The message may contain a token.
    error, extra = raised, {"request_id": request.id}
    if not isinstance(error, TenantryError) or error.status == 500:
        frames = "".join(traceback.format_tb(raised.__traceback__))
        _log.error("request %s failed with %s\n%s", request.id, type(raised).__qualname__, frames, extra=extra)
        error = TenantryError("internal error: the server's log has details under the request id")
    elif error.generic_message is not None:
        _log.warning("request %s: %s: %s", request.id, error.code, error.message, extra=extra)
    return error


async def _complete(response: Response, request: ApiRequest, scope: ASGIScope) -> None:
    # The request's body is drained, so that the client can read the response.
    _add_headers(response, request)
    reusable = response.status_code not in _BODY_NOT_READ and await request.drain()
    if not reusable and scope.get("http_version", "1.1").startswith("1"):  # HTTP/2 has no such header
        response.raw_headers.append((b"connection", b"close"))


def _add_headers(response: Response, request: ApiRequest) -> None:
    response.raw_headers += [*_ALWAYS, (b"x-request-id", request.id.encode("ascii"))]


def _log_access(scope: ASGIScope, status: int, request_id: str, started: float) -> None:
    if not _access_log.isEnabledFor(logging.INFO):
        return
    method, path, seconds = scope["method"], mask_within(scope["path"]), round(time.monotonic() - started, 6)
    fields = {"method": method, "path": path, "status": status, "seconds": seconds, "request_id": request_id}
    _access_log.info("%s %s %d", method, path, status, extra=fields)


async def not_found(request: Request, error: Exception) -> Response:
    """Handles 404 in the app that serves the API: ``Starlette(exception_handlers={404: not_found})``."""
    started = time.monotonic()
    received = ApiRequest(request.scope, request.receive)
    missing = NotFound("there is nothing at this address")
    response = api_error_response(missing, received.id, problem=received.prefers_problem())
    await _complete(response, received, request.scope)
    _log_access(request.scope, response.status_code, received.id, started)
    return response
