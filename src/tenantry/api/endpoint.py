"""An endpoint and the ASGI app around it: whatever happens behind it, the response is JSON with ``success``."""

from __future__ import annotations

import logging
import time
import traceback
from dataclasses import replace
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tenantry.api.body import MAX_BODY, BodyReceiver, ClientDisconnected
from tenantry.api.headers import RequestHeaders
from tenantry.api.responses import DEFAULT_FORMAT, ApiResponse, ErrorFormat, api_error_response
from tenantry.errors import MethodNotAllowed, NotFound, TenantryError
from tenantry.tokens import mask_within
from tenantry.tracing import HttpServerSpan

_log = logging.getLogger("tenantry.api")
_access_log = logging.getLogger("tenantry.access")


class Endpoint(Protocol):
    """What serves the requests of one path."""

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that it serves, OPTIONS apart."""

    async def respond(self, method: str, headers: RequestHeaders, receive: Receive) -> ApiResponse:
        """The response to a request of one of ``methods``. May raise any TenantryError."""


class EndpointApp:
    """A plain ASGI app around an Endpoint. A method that it does not serve is 405; an error becomes a response; a bug
    becomes a 500 that has the request id only, and its traceback is logged without the values of the request."""

    def __init__(self, endpoint: Endpoint, error_format: ErrorFormat = DEFAULT_FORMAT) -> None:
        self._endpoint = endpoint
        self._methods = frozenset(endpoint.methods)
        self._allow = ", ".join((*endpoint.methods, "OPTIONS")).encode("ascii")
        self._error_format = replace(error_format, allow=self._allow)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.monotonic()
        headers = RequestHeaders(scope["headers"])
        request_id = headers.request_id
        receiver = BodyReceiver(receive)
        with HttpServerSpan(scope, {"tenantry.request_id": request_id}) as span:
            try:
                response, code = await self._respond(scope, headers, receiver)
            except ClientDisconnected:
                span.set_attribute("tenantry.outcome", "client_gone")
                return
            if not receiver.complete:
                response = await _after_drain(response, headers, receiver)
            await response.send(scope, send, request_id)
            span.set_response(response.status, code)
        _log_access(scope, response.status, request_id, started)

    async def _respond(self, scope: Scope, headers: RequestHeaders, receiver: BodyReceiver) -> tuple[ApiResponse, str]:
        """The response, and ``ok`` or the code of the error. Raises ClientDisconnected."""
        error: TenantryError
        try:
            _require_plain_path(scope)
            method: str = scope["method"]
            if method not in self._methods:
                return self._respond_to_other(method), "ok"
            return await self._endpoint.respond(method, headers, receiver.receive), "ok"
        except ClientDisconnected:
            raise
        except TenantryError as raised:
            error = _internal_error(raised, headers.request_id) if raised.status == 500 else raised
            if error is raised and error.generic_message is not None:
                extra = {"request_id": headers.request_id}
                _log.warning("request %s: %s: %s", headers.request_id, error.code, error.message, extra=extra)
        except Exception as raised:  # noqa: BLE001 - the last resort: every request gets a response
            error = _internal_error(raised, headers.request_id)
        error_format = DEFAULT_FORMAT if isinstance(error, NotFound) else self._error_format.for_scheme(headers.scheme)
        problem = headers.prefers_problem()
        return api_error_response(error, headers.request_id, problem=problem, error_format=error_format), error.code

    def _respond_to_other(self, method: str) -> ApiResponse:
        if method == "OPTIONS":
            return ApiResponse(204, None, headers=((b"allow", self._allow),))
        raise MethodNotAllowed(f"this address answers {self._allow.decode('ascii')}")


def _require_plain_path(scope: Scope) -> None:
    """Raises NotFound for an encoded slash: ``/api%2fuser`` is another path than ``/api/user`` (RFC 3986 section 2.2),
    though a server decodes both to one."""
    raw = scope.get("raw_path") or b""
    if b"%" in raw and b"%2f" in raw.partition(b"?")[0].lower():
        raise NotFound("there is nothing at this address")


async def _after_drain(response: ApiResponse, headers: RequestHeaders, receiver: BodyReceiver) -> ApiResponse:
    """A response that can be sent: no client loses it because it was still sending a small body."""
    if response.close_connection or not headers.may_drain(MAX_BODY):
        return response
    await receiver.drain()
    return response if receiver.complete else response._replace(close_connection=True)


def _internal_error(error: Exception, request_id: str) -> TenantryError:
    """Logs where it happened. The message of a foreign error may hold a token or a property, so only its type is."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    kind = type(error).__qualname__
    _log.error("request %s failed with %s\n%s", request_id, kind, frames, extra={"request_id": request_id})
    return TenantryError("something went wrong here; the log has more under the request id")


def _log_access(scope: Scope, status: int, request_id: str, started: float) -> None:
    """One record for each request, which is off unless the logger ``tenantry.access`` is set to INFO."""
    if not _access_log.isEnabledFor(logging.INFO):
        return
    method, path, seconds = scope["method"], mask_within(scope["path"]), round(time.monotonic() - started, 6)
    fields = {"method": method, "path": path, "status": status, "seconds": seconds, "request_id": request_id}
    _access_log.info("%s %s %d", method, path, status, extra=fields)


async def not_found(request: Request, error: Exception) -> Response:
    """The 404 of an app that serves this interface: ``Starlette(exception_handlers={404: not_found})``."""
    headers = RequestHeaders(request.scope["headers"])
    missing = NotFound("there is nothing at this address")
    response = api_error_response(missing, headers.request_id, problem=headers.prefers_problem())
    return _StarletteResponse(response, headers)


class _StarletteResponse(Response):
    """An ApiResponse as a Starlette response."""

    def __init__(self, response: ApiResponse, headers: RequestHeaders) -> None:
        super().__init__(response.body, response.status)
        self._response = response
        self._request = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.monotonic()
        response = await _after_drain(self._response, self._request, BodyReceiver(receive))
        await response.send(scope, send, self._request.request_id)
        _log_access(scope, self.status_code, self._request.request_id, started)
