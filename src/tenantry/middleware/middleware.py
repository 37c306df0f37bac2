"""UserGroupMiddleware: sets ``scope["user_group"]``."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Awaitable, Callable, Iterable
from types import MethodType
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from tenantry.clock import utc_now
from tenantry.errors import AmbiguousToken, InvalidToken, MissingToken, OriginNotAllowed, TenantryError
from tenantry.groups import UserGroup
from tenantry.http import FOUND_KEY, SCOPE_KEY
from tenantry.middleware.addresses import ADDRESS_KEY, IN_QUERY_KEY, MASK, restore_redirects
from tenantry.middleware.cache_headers import Exchange, Message, Receive, Send, set_headers
from tenantry.middleware.carriers import AnyCarriers, read_carriers
from tenantry.middleware.extraction import create_extractor
from tenantry.middleware.long_responses import watch_responses
from tenantry.middleware.origins import OriginCheck
from tenantry.middleware.preview_keys import is_preview_key, run_with_preview_key
from tenantry.middleware.token_watch import DEFAULT_STALENESS, BoundedResolver
from tenantry.middleware.unauthorized import LateUnauthorized, send_error
from tenantry.middleware.websockets import WebSocketSession

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Scope

_SERVED: Final = frozenset({"http", "websocket"})

F = TypeVar("F", bound=Callable[..., object])


class TokenResolver(Protocol):
    """The part of a Resolver that the middleware needs. Open connections also use BoundedResolver, if present."""

    @property
    def environment(self) -> str | None:
        """The only accepted environment; None: any."""

    def peek(self, raw: bytes) -> UserGroup | None:
        """The cached group. No I/O; never raises."""

    async def resolve(self, raw: bytes) -> UserGroup:
        """The group. Raises InvalidToken or StoreUnavailable."""
        ...


class _PlainResolver:
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
    """The resolver as a BoundedResolver, with defaults for missing parts."""
    if isinstance(resolver, BoundedResolver):
        return resolver
    return _PlainResolver(resolver)


def mark_coroutine(function: F) -> F:
    """Mark a function as a coroutine function, so that servers detect ASGI 3."""
    if sys.version_info >= (3, 12):
        return inspect.markcoroutinefunction(function)
    function._is_coroutine = asyncio.coroutines._is_coroutine  # type: ignore[attr-defined]  # the mark before 3.12
    return function


class UserGroupMiddleware:
    """Pure ASGI middleware for requests and websockets; other scopes pass through.

    ``carriers``: one or several; by default DEFAULT_CARRIERS.

    - No token: the app runs with ``scope["user_group"]`` None; a view that requires the group gets 401. With
      ``required=True`` every request gets 401 (put a CORS middleware outside: preflights have no token).
    - Bad or empty token: 401; two different tokens: 400; store unavailable: 503 with Retry-After. A websocket gets a
      denial response, or close 1008.
    - Valid token: ``scope["user_group"]`` is a UserGroup. After revocation, websockets close with 4401 and streams end
      within the staleness bound. Streams also end when the group changes.
    - Preview key: passed on to the mount that made it; elsewhere, or with ``required=True``, it is a bad token.

    In any case the token is removed from the scope.

    With a cookie token, websockets and unsafe methods must come from the same host or ``allowed_origins``
    (InvalidSettings), else 403. Responses get ``Vary``, and with a group or preview ``Cache-Control: private``.

    Inside another UserGroupMiddleware its group is kept; another token is 400, another environment 401.
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
        self._extract_again = create_extractor(carriers)  # an outer middleware checked the origin
        self._required = required
        self._receive_while_good, send_part = watch_responses(self._bounded_resolver)
        self._send_private = set_headers(
            carriers.vary, private=True, in_address=bool(carriers.paths), send_part=send_part
        )
        self._send_private_query = set_headers(carriers.vary, private=True, in_address=True, send_part=send_part)
        # An outer middleware watches the response of a group that it found.
        self._send_private_found = set_headers(carriers.vary, private=True, in_address=bool(carriers.paths))
        self._send_private_found_query = set_headers(carriers.vary, private=True, in_address=True)
        self._send_varied = set_headers(carriers.vary, private=False)

    @mark_coroutine
    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        # A plain def: on a hit it returns the app's own coroutine, without a frame of ours.
        kind = scope["type"]
        if kind not in _SERVED:
            return self.app(scope, receive, send if self._flush_usage is None else self._flush_first(send))
        if SCOPE_KEY in scope and isinstance(scope[SCOPE_KEY], UserGroup):
            return self._run_found(scope, receive, send)
        sent = scope["headers"]
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
            if is_preview_key(raw, sent) and not self._required:
                scope[SCOPE_KEY] = None
                unwatched: Send = MethodType(self._send_private_found, (send,))
                return run_with_preview_key(raw, self.app, scope, receive, send, unwatched)
            return self._run_resolved(raw, scope, watched, send, private)
        scope[SCOPE_KEY] = group
        scope[FOUND_KEY] = hash(raw)
        return self.app(scope, watched, private)

    def _flush_first(self, send: Send) -> Send:
        # uvicorn ends the process right after the shutdown, before the store could take the usage.
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
        return restore_redirects(scope.pop(ADDRESS_KEY), scope, send)

    def _run_found(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        try:
            if self._environment not in {None, scope[SCOPE_KEY].environment.name}:
                raise InvalidToken(InvalidToken.MESSAGE)
            raw = self._extract_again(scope)
            # The outer middleware masked its token in parameters that it does not read.
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
