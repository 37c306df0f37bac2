"""UserGroupMiddleware: the token of a request becomes ``scope["user_group"]``."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import MethodType
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from tenantry.accessors import DEMAND_KEY, FOUND_KEY, HANDSHAKE_KEY, SCOPE_KEY, Demand, Handshake
from tenantry.errors import AmbiguousToken, InvalidToken, MissingToken, OriginNotAllowed, TenantryError
from tenantry.groups import UserGroup
from tenantry.http import error_response
from tenantry.middleware.addresses import ADDRESS_KEY, IN_QUERY_KEY, MASK, restore_redirects
from tenantry.middleware.cache_headers import Exchange, Message, Receive, Send, set_headers
from tenantry.middleware.carriers import AnyCarriers, read_carriers
from tenantry.middleware.extraction import create_extractor
from tenantry.middleware.long_responses import watch_responses
from tenantry.middleware.origins import OriginCheck
from tenantry.middleware.token_watch import DEFAULT_STALENESS, BoundedResolver
from tenantry.middleware.websockets import WebSocketSession
from tenantry.slots import utc_now

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Scope

POLICY_VIOLATION: Final = 1008
"""The close code of a websocket that may not be opened (RFC 6455 section 7.4.1)."""

_HELD_MESSAGES: Final = 8
_NO_HANDSHAKE: Final = Handshake()  # of an HTTP request
_SERVED: Final = frozenset({"http", "websocket"})

F = TypeVar("F", bound=Callable[..., object])


class TokenResolver(Protocol):
    """What the middleware needs of a Resolver; for what stays open also what ``BoundedResolver`` has, if it has it."""

    @property
    def environment(self) -> str | None:
        """The one environment whose groups it finds; None: any."""

    def peek(self, raw: bytes) -> UserGroup | None:
        """The group if it is cached. No I/O; never raises."""

    async def resolve(self, raw: bytes) -> UserGroup:
        """The group, else InvalidToken or StoreUnavailable."""
        ...


class _PlainResolver:
    """A resolver without a staleness bound, leases or a clock for end dates: it has the defaults of what it lacks."""

    def __init__(self, resolver: TokenResolver) -> None:
        self._resolver = resolver
        self.staleness: float = getattr(resolver, "staleness", DEFAULT_STALENESS)
        self.seconds_left: Callable[[UserGroup], float] = getattr(resolver, "seconds_left", _seconds_left)
        self.peek = resolver.peek
        self.resolve = resolver.resolve

    @property
    def lease_age(self) -> float | None:
        age: float | None = getattr(self._resolver, "lease_age", None)
        return age


def _seconds_left(group: UserGroup) -> float:
    return group.seconds_left(utc_now())


def with_staleness(resolver: TokenResolver) -> BoundedResolver:
    """The resolver itself if it has all that a TokenWatch asks for, else one around it that has the defaults."""
    if isinstance(resolver, BoundedResolver):
        return resolver
    return _PlainResolver(resolver)


def mark_coroutine(function: F) -> F:
    """Marks a plain function that returns a coroutine, so that a server detects ASGI 3."""
    if sys.version_info >= (3, 12):
        return inspect.markcoroutinefunction(function)
    function._is_coroutine = asyncio.coroutines._is_coroutine  # type: ignore[attr-defined]  # the mark before 3.12
    return function


class UserGroupMiddleware:
    """Pure ASGI, for requests and websockets; anything else passes through.

    ``carriers``: one of ``header(…)``, ``cookie(…)``, ``query(…)``, ``path(…)``, ``first_of(…)``, a ``Carrier`` of your
    own, or several; by default the headers, the cookie and the query parameter. Three outcomes:

    - no token: ``scope["user_group"]`` is None and the app runs; a view that asks for the group is answered 401.
      ``required=True`` answers 401 at once (a CORS preflight carries no token: put a CORS middleware before it).
    - a bad token: 401, whatever the app; two different tokens: 400; the store is down: 503 with Retry-After. A
      websocket gets a denial response, or close 1008 before accept where the server has none. An empty value is a bad
      token, not an absent one.
    - a group: ``scope["user_group"]`` is a UserGroup.

    A browser adds a cookie to what any page asks for. Where the token came in a cookie alone, websockets and methods
    other than GET, HEAD, OPTIONS and TRACE pass only from a page of the host that they were sent to, or of one of
    ``allowed_origins`` (``https://app.example.com``; InvalidSettings for what is not an origin): else 403
    (``OriginCheck``).

    A websocket with a group is checked again while it is open: it is closed with 4401 within the resolver's staleness
    bound once its token is no longer good, and follows updates of its group (``WebSocketSession``). A response that
    streams is ended within the same bound (``LongResponse``).

    The token is taken out of the scope in any case. Responses have ``Vary``, and ``Cache-Control: private`` when there
    was a group. A group that another UserGroupMiddleware has found already stays. If its own carriers
    hold another token, it answers 400; if its own resolver is of another environment, 401.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        resolver: TokenResolver,
        carriers: AnyCarriers = None,
        required: bool = False,
        allowed_origins: Iterable[str] = (),
    ) -> None:
        carriers = read_carriers(carriers)
        self.app = app
        self._resolver = resolver
        self._environment = resolver.environment
        self._peek = resolver.peek
        self._flush_usage: Callable[[], Awaitable[None]] | None = getattr(resolver, "flush_usage", None)
        self._bounded_resolver = with_staleness(resolver)
        self._extract = create_extractor(carriers, OriginCheck(allowed_origins))
        self._extract_again = create_extractor(
            carriers
        )  # beside a token that was found already: its origin was checked then
        self._required = required
        self._receive_while_good, send_part = watch_responses(self._bounded_resolver)
        self._send_private = set_headers(
            carriers.vary, private=True, in_address=bool(carriers.paths), send_part=send_part
        )
        self._send_private_query = set_headers(carriers.vary, private=True, in_address=True, send_part=send_part)
        # Another middleware around this one watches a response whose group it has found.
        self._send_private_found = set_headers(carriers.vary, private=True, in_address=bool(carriers.paths))
        self._send_private_found_query = set_headers(carriers.vary, private=True, in_address=True)
        self._send_varied = set_headers(carriers.vary, private=False)

    @mark_coroutine
    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        # A plain def: on a hit the coroutine is the app's own, and no frame of ours exists while it runs.
        kind = scope["type"]
        if kind not in _SERVED:
            return self.app(scope, receive, send if self._flush_usage is None else self._flush_first(send))
        if SCOPE_KEY in scope and isinstance(scope[SCOPE_KEY], UserGroup):
            return self._run_found(scope, receive, send)
        try:
            raw = self._extract(scope)
        except (AmbiguousToken, OriginNotAllowed) as error:
            scope[SCOPE_KEY] = None
            return send_error(error, scope, send)
        if raw is None:
            return self._run_without(scope, receive, send)
        if kind != "http":
            return self._run_socket(raw, scope, receive, send)
        private: Send
        if ADDRESS_KEY not in scope:
            exchange: Exchange = (send, receive, raw, scope)
            private = MethodType(self._send_private, exchange)
        else:
            scope[IN_QUERY_KEY] = scope[ADDRESS_KEY].query_name is not None
            exchange = (self._restore(scope, send), receive, raw, scope)
            private = MethodType(self._send_private_query, exchange)
        watched: Receive = MethodType(self._receive_while_good, exchange)
        group = self._peek(raw)
        if group is None:
            return self._run_resolved(raw, scope, watched, send, private)
        scope[SCOPE_KEY] = group
        scope[FOUND_KEY] = hash(raw)
        return self.app(scope, watched, private)

    def _flush_first(self, send: Send) -> Send:
        """For the app's lifespan. uvicorn ends the process with its event loop running, right after the shutdown: what
        was counted since the store took usage last would be lost with an app that closes nothing."""
        flush = self._flush_usage
        assert flush is not None  # noqa: S101 - the caller has looked

        async def flushing(message: Message) -> None:
            if message["type"].startswith("lifespan.shutdown"):
                await flush()
            await send(message)

        return flushing

    async def _run_resolved(self, raw: bytes, scope: Scope, receive: Receive, send: Send, private: Send) -> None:
        scope[SCOPE_KEY] = None
        try:
            group = await self._resolver.resolve(raw)
        except TenantryError as error:
            await send_error(error, scope, send)
            return
        scope[SCOPE_KEY] = group
        scope[FOUND_KEY] = hash(raw)
        await self.app(scope, receive, private)

    async def _run_socket(self, raw: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        scope[SCOPE_KEY] = None
        scope.pop(ADDRESS_KEY, None)
        scope[FOUND_KEY] = hash(raw)
        try:
            scope[SCOPE_KEY] = await self._resolver.resolve(raw)
        except TenantryError as error:
            await send_error(error, scope, send)
            return
        await WebSocketSession(self._bounded_resolver, raw, scope, receive, send).run(self.app)

    def _restore(self, scope: Scope, send: Send) -> Send:
        """The send for a token that came in the query or the path, and never reaches the app in this scope."""
        return restore_redirects(scope.pop(ADDRESS_KEY), scope, send)

    def _run_found(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Another middleware has found the group: it stays, unless this request has another token or environment."""
        try:
            if self._environment not in {None, scope[SCOPE_KEY].environment.name}:
                raise InvalidToken(InvalidToken.MESSAGE)
            raw = self._extract_again(scope)
            # The outer one masked its own token in the value of a parameter that it does not know.
            if raw not in {None, MASK.encode()} and hash(raw) != scope.get(FOUND_KEY):
                raise AmbiguousToken(AmbiguousToken.MESSAGE)
        except TenantryError as error:
            scope[SCOPE_KEY] = None
            return send_error(error, scope, send)
        if raw is None:
            return self.app(scope, receive, send)
        private: Send
        if ADDRESS_KEY in scope:
            private = MethodType(self._send_private_found_query, (self._restore(scope, send),))
        else:
            private = MethodType(self._send_private_found, (send,))
        return self.app(scope, receive, private if scope["type"] == "http" else send)

    def _run_without(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        scope[SCOPE_KEY] = None
        if self._required:
            return send_error(MissingToken(MissingToken.MESSAGE), scope, send)
        varied: Send = MethodType(self._send_varied, (send,)) if scope["type"] == "http" else send
        return LateUnauthorized(varied).run(self.app, scope, receive, send)


# --- error responses --------------------------------------------------------------------------------------------------


class LateUnauthorized:
    """Runs an app without a user group, and answers 401 when a view turns out to need one.

    A mounted Starlette app answers every exception with a 500 of its own and raises it again; Litestar
    raises nothing. So a 500, and the close of a websocket that was not accepted, are held back until the app ends
    (or streams on). If the app ends with MissingToken, or without an error after a view asked for the group, they are
    dropped, else sent unchanged.
    """

    __slots__ = ("_demand", "_handshake", "_held", "_last", "_send")

    def __init__(self, send: Send) -> None:
        self._send = send
        self._demand = Demand()
        self._handshake = _NO_HANDSHAKE
        self._held: list[Message] = []
        self._last = ""

    async def run(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Runs the app. An error response goes to ``send``. Raises what the app raises, but an early MissingToken."""
        scope[DEMAND_KEY] = self._demand
        if scope["type"] == "websocket":
            self._handshake = scope[HANDSHAKE_KEY] = Handshake()
        try:
            await app(scope, receive, self.send)
        except MissingToken as error:
            if not self._last:
                await send_error(error, scope, send)
            elif self._last in {"websocket.accept", "websocket.send"}:
                await _close(error, send)
            else:  # too late: the response has begun, or the websocket is closed
                raise
        except Exception:
            await self._release()
            raise
        else:
            if self._held and self._demand.made:
                await send_error(MissingToken(MissingToken.MESSAGE), scope, send)
            else:
                await self._release()

    def send(self, message: Message) -> Awaitable[None]:
        """What the app is given as its ``send``."""
        if self._held or self._may_hide_missing_token(message):
            self._held.append(message)
            return self._release() if len(self._held) > _HELD_MESSAGES else _nothing()
        self._handshake.answered = True
        self._last = message["type"]
        return self._send(message)

    def _may_hide_missing_token(self, message: Message) -> bool:
        """Whether an app may have made it of a MissingToken."""
        if message["type"] == "http.response.start":
            hides: bool = message["status"] == 500
        else:
            hides = message["type"] == "websocket.close" and not self._last and self._demand.made
        # Litestar sends where it catches: an app that copes without a group, and fails for another reason, is known by
        # that. Starlette raises its error again, so there it is known anyway.
        return hides and not (self._demand.made and _is_other_error(sys.exc_info()[1]))

    async def _release(self) -> None:
        held, self._held = self._held, []
        for message in held:
            self._last = message["type"]
            await self._send(message)


def _is_other_error(error: BaseException | None) -> bool:
    """Whether an error is handled that is no MissingToken, nor caused by one."""
    if error is None:
        return False
    while error is not None and not isinstance(error, MissingToken):
        error = error.__cause__
    return error is None


async def _nothing() -> None:
    """What is awaited for a message that is held back."""


async def send_error(error: TenantryError, scope: Mapping[str, Any], send: Send) -> None:
    """Answers with ``error``: an HTTP response, or for a websocket that is not yet accepted the Denial Response of the
    ASGI extension ``websocket.http.response``; where the server lacks it, a close before accept (a bare 403)."""
    if scope["type"] == "http":
        prefix = "http.response"
    elif "websocket.http.response" in (scope.get("extensions") or {}):
        prefix = "websocket.http.response"
    else:
        await _close(error, send)
        return
    status, headers, body = error_response(error, scope)
    await send({"type": f"{prefix}.start", "status": status, "headers": headers})
    await send({"type": f"{prefix}.body", "body": body})


async def _close(error: TenantryError, send: Send) -> None:
    """Closes a websocket, whether it was accepted or not. The reason is the error's code."""
    await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": error.code})
