"""The door of each of our own addresses: whatever happens behind it, the answer is JSON with ``success``."""

from __future__ import annotations

import logging
import time
import traceback
from dataclasses import replace
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tenantry.api.answers import Answer, Terms, refusal
from tenantry.api.body import MAX_BODY, ClientGone, Incoming
from tenantry.api.headers import RequestHeaders
from tenantry.errors import MethodNotAllowed, NotFound, TenantryError
from tenantry.tokens import mask_within
from tenantry.tracing import HttpServerSpan

_log = logging.getLogger("tenantry.api")
_access = logging.getLogger("tenantry.access")
_TERMS = Terms()


class Room(Protocol):
    """What stands behind a door."""

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that it serves, OPTIONS apart."""

    async def answer(self, method: str, headers: RequestHeaders, receive: Receive) -> Answer:
        """Answers a request of one of ``methods``. May raise any TenantryError."""


class Door:
    """A plain ASGI app. A method that its room does not serve is 405; an error becomes an answer; a bug becomes a 500
    that shows the request id only, and its traceback is logged without the values that were on the way."""

    def __init__(self, room: Room, terms: Terms = _TERMS) -> None:
        self._room = room
        self._methods = frozenset(room.methods)
        self._allow = ", ".join((*room.methods, "OPTIONS")).encode("ascii")
        self._terms = replace(terms, allow=self._allow)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = time.monotonic()
        headers = RequestHeaders(scope["headers"])
        request_id = headers.request_id
        incoming = Incoming(receive)
        with HttpServerSpan(scope, {"tenantry.request_id": request_id}) as span:
            try:
                answer, code = await self._answer(scope, headers, incoming)
            except ClientGone:
                span.set_attribute("tenantry.outcome", "client_gone")
                return
            if not incoming.whole:
                answer = await _drained(answer, headers, incoming)
            await answer.send(scope, send, request_id)
            span.set_response(answer.status, code)
        if _access.isEnabledFor(logging.INFO):
            _note(scope, answer.status, request_id, time.monotonic() - begun)

    async def _answer(self, scope: Scope, headers: RequestHeaders, incoming: Incoming) -> tuple[Answer, str]:
        """And ``ok``, or the code of the error. Raises ClientGone."""
        error: TenantryError
        try:
            _require_plain_path(scope)
            method: str = scope["method"]
            if method not in self._methods:
                return self._answer_other(method), "ok"
            return await self._room.answer(method, headers, incoming.receive), "ok"
        except ClientGone:
            raise
        except TenantryError as refused:
            error = _bug(refused, headers.request_id) if refused.status == 500 else refused
            if error is refused and error.generic_message is not None:
                told = {"request_id": headers.request_id}
                _log.warning("request %s: %s: %s", headers.request_id, error.code, error.message, extra=told)
        except Exception as failed:  # noqa: BLE001 - the last resort: every request gets an answer
            error = _bug(failed, headers.request_id)
        return self._refusal(error, headers), error.code

    def _refusal(self, error: TenantryError, headers: RequestHeaders) -> Answer:
        terms = _TERMS if isinstance(error, NotFound) else self._terms.for_scheme(headers.scheme)
        return refusal(error, headers.request_id, problem=headers.wants_problem(), terms=terms)

    def _answer_other(self, method: str) -> Answer:
        if method == "OPTIONS":
            return Answer(204, None, headers=((b"allow", self._allow),))
        raise MethodNotAllowed(f"this address answers {self._allow.decode('ascii')}")


def _require_plain_path(scope: Scope) -> None:
    """Raises NotFound for an encoded slash: ``/api%2fuser`` is another path than ``/api/user`` (RFC 3986 section 2.2),
    though a server decodes both to one."""
    raw = scope.get("raw_path") or b""
    if b"%" in raw and b"%2f" in raw.partition(b"?")[0].lower():
        raise NotFound("there is nothing at this address")


async def _drained(answer: Answer, headers: RequestHeaders, incoming: Incoming) -> Answer:
    """An answer that can be sent: no client loses it because it was still sending a small body."""
    if answer.closes or not headers.may_drain(MAX_BODY):
        return answer
    await incoming.drain()
    return answer if incoming.whole else answer._replace(closes=True)


def _bug(error: Exception, request_id: str) -> TenantryError:
    """Logs where it happened. The message of a foreign error may hold a token or a property, so only its type is."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    kind = type(error).__qualname__
    _log.error("request %s failed with %s\n%s", request_id, kind, frames, extra={"request_id": request_id})
    return TenantryError("something went wrong here; the log has more under the request id")


def _note(scope: Scope, status: int, request_id: str, seconds: float) -> None:
    """One record for each request, which is off unless somebody turns the logger ``tenantry.access`` to INFO."""
    method, path = scope["method"], mask_within(scope["path"])
    fields = {"method": method, "path": path, "status": status, "seconds": round(seconds, 6), "request_id": request_id}
    _access.info("%s %s %d", method, path, status, extra=fields)


async def not_found(request: Request, error: Exception) -> Response:
    """The 404 of an app that serves this interface: ``Starlette(exception_handlers={404: not_found})``."""
    headers = RequestHeaders(request.scope["headers"])
    request_id = headers.request_id
    answer = refusal(NotFound("there is nothing at this address"), request_id, problem=headers.wants_problem())
    return _Whole(answer, headers)


class _Whole(Response):
    """An Answer in the shape of a Starlette response."""

    def __init__(self, answer: Answer, headers: RequestHeaders) -> None:
        super().__init__(answer.body, answer.status)
        self._answer = answer
        self._request = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = time.monotonic()
        request_id = self._request.request_id
        answer = await _drained(self._answer, self._request, Incoming(receive))
        await answer.send(scope, send, request_id)
        if _access.isEnabledFor(logging.INFO):
            _note(scope, self.status_code, request_id, time.monotonic() - begun)
