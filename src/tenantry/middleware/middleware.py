from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeGuard, TypeVar

from tenantry.clock import utc_now
from tenantry.errors import AmbiguousToken, InvalidToken, MissingToken, OriginNotAllowed, OutOfScope, TenantryError
from tenantry.groups import UserGroup
from tenantry.http import FOUND_KEY, OUT_OF_SCOPE_KEY, SCOPE_KEY
from tenantry.middleware.addresses import ADDRESS_KEY, IN_QUERY_KEY, MASK, restore_redirects
from tenantry.middleware.cache_headers import CacheHeaders, Header, Message, Receive, Send
from tenantry.middleware.carriers import AnyCarriers, read_carriers
from tenantry.middleware.extraction import Extractor
from tenantry.middleware.long_responses import Exchange
from tenantry.middleware.origins import OriginCheck
from tenantry.middleware.preview_keys import is_preview_key, run_with_preview_key
from tenantry.middleware.token_watch import DEFAULT_STALENESS, BoundedResolver
from tenantry.middleware.unauthorized import LateUnauthorized, send_error
from tenantry.middleware.websockets import WebSocketSession

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Scope

F = TypeVar("F", bound=Callable[..., Any])

_SERVED: Final = frozenset({"http", "websocket"})


class TokenResolver(Protocol):
    """The methods of a resolver that the middleware calls."""

    @property
    def environment(self) -> str | None: ...

    def peek(self, raw: bytes) -> UserGroup | None:
        """Return the token's group if it is cached and valid. Does no I/O and never raises."""

    async def resolve(self, raw: bytes) -> UserGroup:
        """Return the token's group. Raises InvalidToken or StoreUnavailable."""
        ...


class _PlainResolver:
    def __init__(self, resolver: TokenResolver) -> None:
        self.staleness: float = DEFAULT_STALENESS
        self.lease_age: float | None = None
        self.peek = resolver.peek
        self.resolve = resolver.resolve

    def seconds_left(self, group: UserGroup) -> float:
        return group.seconds_left(utc_now())


def with_staleness(resolver: TokenResolver) -> BoundedResolver:
    return resolver if _has_staleness(resolver) else _PlainResolver(resolver)


def _has_staleness(resolver: TokenResolver) -> TypeGuard[BoundedResolver]:
    # Use hasattr, because isinstance misses attributes that a wrapper provides by ``__getattr__`` (Python 3.12).
    return all(hasattr(resolver, name) for name in ("staleness", "lease_age", "seconds_left"))


def mark_coroutine(function: F) -> F:
    """Mark a plain function that returns an awaitable, so that servers and frameworks recognise an ASGI 3 app."""
    if sys.version_info >= (3, 12):
        return inspect.markcoroutinefunction(function)
    function._is_coroutine = asyncio.coroutines._is_coroutine  # type: ignore[attr-defined, unused-ignore]  # before 3.12
    return function


class UserGroupMiddleware:
    """Pure ASGI middleware for HTTP requests and websockets; other scopes pass through.

    ``carriers``: one carrier, several, or None for DEFAULT_CARRIERS. Tokens are always removed from the ASGI scope.

    The response depends on the token:
    - No token: the app runs with ``scope["user_group"]`` None, and a view that requires the group gets 401. With
      ``required=True``, every request without a token gets 401. Preflight requests have no token, so put a CORS
      middleware outside this one.
    - Bad or empty token: 401. Two different tokens: 400. Store unavailable: 503 with Retry-After. A websocket gets the
      same status in a denial response, or is closed with 1008.
    - Valid token: ``scope["user_group"]`` is a UserGroup. If the token is revoked, websockets are closed with 4401 and
      streams end, within the resolver's ``staleness``. Streams also end when the group changes.
    - Valid pass: the same, with ``UserGroup.viewer``. If the pass does not permit this middleware's ``audience``,
      a view that requires the group gets 403.
    - Preview key (shows an operator or author what a group sees): only the mounted dashboards that issued it accept
      it. Elsewhere, or with ``required=True``, it is a bad token.

    If the token came only in a cookie, a page on another host cannot open websockets or send requests with an unsafe
    method (such as POST): they get 403. ``allowed_origins``: origins whose pages may do this. The app's responses get
    ``Vary`` and, for a group or a preview, ``Cache-Control: private``.

    An inner UserGroupMiddleware keeps the group that the outer one found. The response is 400 if the inner
    one finds a different token, and 401 if the inner one's resolver is for another environment than the group's.

    Raises InvalidSettings for a malformed origin."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        resolver: TokenResolver,
        carriers: AnyCarriers = None,
        required: bool = False,
        allowed_origins: Iterable[str] = (),
        audience: str = "app",
    ) -> None:
        carriers = read_carriers(carriers)
        self.app = app
        self._resolver = resolver
        self._environment = resolver.environment
        self._peek = resolver.peek
        self._flush_usage: Callable[[], Awaitable[None]] | None = getattr(resolver, "flush_usage", None)
        self._bounded_resolver = with_staleness(resolver)
        self._extract = Extractor(carriers, OriginCheck(allowed_origins)).extract
        self._extract_again = Extractor(carriers).extract  # an outer middleware checked the origin
        self._required = required
        self._audience = audience
        self._private = CacheHeaders(carriers.vary, private=True, in_address=bool(carriers.paths))
        self._private_address = CacheHeaders(carriers.vary, private=True, in_address=True)
        self._varied = CacheHeaders(carriers.vary, private=False)

    @mark_coroutine
    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        # Not async: for a cached group this returns the app's own coroutine, and so adds no frame to its stack.
        kind = scope["type"]
        if kind not in _SERVED:
            return self.app(
                scope, receive, send if self._flush_usage is None else _flush_first(self._flush_usage, send)
            )
        if SCOPE_KEY in scope and (isinstance(scope[SCOPE_KEY], UserGroup) or OUT_OF_SCOPE_KEY in scope):
            return self._run_found(scope, receive, send)
        sent = scope["headers"]
        try:
            raw = self._extract(scope)
        except (AmbiguousToken, OriginNotAllowed) as error:
            scope[SCOPE_KEY] = None
            return send_error(error, scope, send)
        if raw is None:
            return self._run_without(scope, receive, send)
        if kind == "websocket":
            return self._run_socket(raw, scope, receive, send)
        if ADDRESS_KEY in scope:
            scope[IN_QUERY_KEY] = scope[ADDRESS_KEY].query_name is not None
        group = self._peek(raw)
        if group is None:
            return self._run_miss(raw, sent, scope, receive, send)
        return self._run(raw, group, scope, receive, send)

    def _run(self, raw: bytes, group: UserGroup, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        scope[SCOPE_KEY] = group
        scope[FOUND_KEY] = hash(raw)
        headers, restoring = self._headers_and_send(scope, send)
        exchange = Exchange(self._bounded_resolver, raw, group, receive, restoring, headers)
        if group.viewer is not None and not group.viewer.may_open(self._audience):
            return self._run_out_of_scope(group, scope, exchange.receive, exchange.send)
        return self.app(scope, exchange.receive, exchange.send)

    async def _run_out_of_scope(self, group: UserGroup, scope: Scope, receive: Receive, send: Send) -> None:
        scope[SCOPE_KEY] = None
        refusal = OutOfScope(OutOfScope.MESSAGE)
        if self._required:
            await send_error(refusal, scope, send)
            return
        scope[OUT_OF_SCOPE_KEY] = group
        await LateUnauthorized(send, refusal).run(self.app, scope, receive, send)

    async def _run_miss(self, raw: bytes, sent: Iterable[Header], scope: Scope, receive: Receive, send: Send) -> None:
        scope[SCOPE_KEY] = None
        if is_preview_key(raw, sent) and not self._required:
            headers, _ = self._headers_and_send(scope, send)
            await run_with_preview_key(raw, self.app, scope, receive, send, headers.wrap(send))
            return
        try:
            group = await self._resolver.resolve(raw)
        except TenantryError as error:
            await send_error(error, scope, send)
            return
        await self._run(raw, group, scope, receive, send)

    async def _run_socket(self, raw: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        scope[SCOPE_KEY] = None
        scope.pop(ADDRESS_KEY, None)
        scope[FOUND_KEY] = hash(raw)
        try:
            group = await self._resolver.resolve(raw)
        except TenantryError as error:
            await send_error(error, scope, send)
            return
        scope[SCOPE_KEY] = group
        session, app = WebSocketSession(self._bounded_resolver, raw, scope, receive, send), self.app
        if group.viewer is not None and not group.viewer.may_open(self._audience):
            app = partial(self._run_out_of_scope, group)
        await session.run(app)

    def _headers_and_send(self, scope: Scope, send: Send) -> tuple[CacheHeaders, Send]:
        if ADDRESS_KEY not in scope:
            return self._private, send
        return self._private_address, restore_redirects(scope.pop(ADDRESS_KEY), scope, send)

    async def _run_found(self, scope: Scope, receive: Receive, send: Send) -> None:
        group: UserGroup = scope.pop(OUT_OF_SCOPE_KEY, None) or scope[SCOPE_KEY]
        try:
            if self._environment not in {None, group.environment.name}:
                raise InvalidToken(InvalidToken.MESSAGE)
            raw = self._extract_again(scope)
            # The outer middleware masks every copy of the token, even in parameters that only this middleware reads. So
            # MASK is not a second token.
            if raw not in {None, MASK.encode()} and hash(raw) != scope.get(FOUND_KEY):
                raise AmbiguousToken(AmbiguousToken.MESSAGE)
        except TenantryError as error:
            scope[SCOPE_KEY] = None
            await send_error(error, scope, send)
            return
        if group.viewer is not None and not group.viewer.may_open(self._audience):
            await self._run_out_of_scope(group, scope, receive, send)
            return
        scope[SCOPE_KEY] = group
        # The outer middleware watches the response.
        if raw is not None:
            headers, restoring = self._headers_and_send(scope, send)
            if scope["type"] == "http":
                send = headers.wrap(restoring)
        await self.app(scope, receive, send)

    async def _run_without(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[SCOPE_KEY] = None
        if self._required:
            await send_error(MissingToken(MissingToken.MESSAGE), scope, send)
            return
        varied = self._varied.wrap(send) if scope["type"] == "http" else send
        await LateUnauthorized(varied, MissingToken(MissingToken.MESSAGE)).run(self.app, scope, receive, send)


def _flush_first(flush: Callable[[], Awaitable[None]], send: Send) -> Send:
    # Flush before the shutdown is confirmed, because uvicorn ends the process right after that.
    async def flushing(message: Message) -> None:
        if message["type"].startswith("lifespan.shutdown"):
            await flush()
        await send(message)

    return flushing
