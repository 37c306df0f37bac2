"""UserGroupMiddleware: the token of a request becomes ``scope["user_group"]``."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from tenantry.accessors import SCOPE_KEY
from tenantry.errors import AmbiguousToken, InvalidToken, MissingToken, OriginNotAllowed, TenantryError
from tenantry.groups import UserGroup
from tenantry.middleware.addresses import ADDRESS_KEY, MASK, restoring
from tenantry.middleware.carriers import DEFAULT_CARRIERS, Carriers, first_of
from tenantry.middleware.denial import deny
from tenantry.middleware.guard import Guard
from tenantry.middleware.live import LiveSocket
from tenantry.middleware.origins import OriginCheck
from tenantry.middleware.privacy import stamp
from tenantry.middleware.taking import taker

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

FOUND_KEY: Final = "tenantry.found"
"""Where the middleware leaves the hash of the token that it found: another one that is mounted further in compares its
own. Python's hash of 97 random characters tells nothing of them."""

_SERVED: Final = frozenset({"http", "websocket"})

F = TypeVar("F", bound=Callable[..., object])


class TokenResolver(Protocol):
    """What the middleware needs of a Resolver; for websockets also what ``LiveResolver`` may have."""

    @property
    def environment(self) -> str | None:
        """The one environment whose groups it finds; None: any."""

    def peek(self, raw: bytes) -> UserGroup | None:
        """The group if it is at hand. No I/O; never raises."""

    async def resolve(self, raw: bytes) -> UserGroup:
        """The group, else InvalidToken or StoreUnavailable."""
        ...


def marked(function: F) -> F:
    """Marks a plain function that returns a coroutine, so that a server's guess is ASGI 3."""
    if sys.version_info >= (3, 12):
        return inspect.markcoroutinefunction(function)
    function._is_coroutine = asyncio.coroutines._is_coroutine  # type: ignore[attr-defined]  # the mark before 3.12
    return function


class UserGroupMiddleware:
    """Pure ASGI, for requests and websockets; anything else passes through.

    ``carriers``: one of ``header(…)``, ``cookie(…)``, ``query(…)``, ``path(…)``, ``first_of(…)``, or several; by
    default the headers, the cookie and the query parameter. Three outcomes:

    - no token: ``scope["user_group"]`` is None and the app runs; a view that asks for the group is answered 401.
      ``required=True`` answers 401 at the door (a CORS preflight carries no token: put a CORS middleware before it).
    - a bad token: 401, whatever the app; two different tokens: 400; the store is down: 503 with Retry-After. A
      websocket gets a denial response, or close 1008 before accept where the server has none. An empty value is a bad
      token, not an absent one.
    - a group: ``scope["user_group"]`` is a UserGroup.

    A browser adds a cookie to what any page asks for. Where the token came in a cookie alone, websockets and methods
    other than GET, HEAD, OPTIONS and TRACE pass only from a page of the host that they were sent to, or of one of
    ``allowed_origins`` (``https://app.example.com``; InvalidSettings for what is not an origin): else 403
    (``OriginCheck``).

    A websocket with a group is looked at again while it is open: it is closed with 4401 within the resolver's staleness
    bound once its token is no longer good, and follows updates of its group (``LiveSocket``).

    The token is taken out of the scope in any case. Responses say ``Vary``, and ``Cache-Control: private`` when there
    was a group. Where another UserGroupMiddleware has found a group already, this one keeps it. If its own carriers
    hold another token, it answers 400; if its own resolver is of another environment, 401.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        resolver: TokenResolver,
        carriers: Carriers | Sequence[Carriers] | None = None,
        required: bool = False,
        allowed_origins: Iterable[str] = (),
    ) -> None:
        if carriers is None:
            carriers = DEFAULT_CARRIERS
        elif not isinstance(carriers, Carriers):
            carriers = first_of(*carriers)
        self.app = app
        self._resolver = resolver
        self._environment = resolver.environment
        self._peek = resolver.peek
        self._take = taker(carriers, OriginCheck(allowed_origins))
        self._take_again = taker(carriers)  # beside a token that was found already: its origin was checked then
        self._required = required
        self._send_private = stamp(carriers.vary, private=True, in_address=bool(carriers.paths))
        self._send_private_query = stamp(carriers.vary, private=True, in_address=True)
        self._send_varied = stamp(carriers.vary, private=False)

    @marked
    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        # A plain def: on a hit the coroutine is the app's own, and no frame of ours exists while it runs.
        kind = scope["type"]
        if kind not in _SERVED:
            return self.app(scope, receive, send)
        if SCOPE_KEY in scope and isinstance(scope[SCOPE_KEY], UserGroup):
            return self._run_found(scope, receive, send)
        try:
            raw = self._take(scope)
        except (AmbiguousToken, OriginNotAllowed) as error:
            scope[SCOPE_KEY] = None
            return deny(error, scope, send)
        if raw is None:
            return self._run_without(scope, receive, send)
        if kind != "http":
            return self._run_socket(raw, scope, receive, send)
        private: Send = (
            MethodType(self._send_private, send) if ADDRESS_KEY not in scope else self._send_from_address(scope, send)
        )
        group = self._peek(raw)
        if group is None:
            return self._run_resolved(raw, scope, receive, send, private)
        scope[SCOPE_KEY] = group
        scope[FOUND_KEY] = hash(raw)
        return self.app(scope, receive, private)

    async def _run_resolved(self, raw: bytes, scope: Scope, receive: Receive, send: Send, private: Send) -> None:
        scope[SCOPE_KEY] = None
        try:
            group = await self._resolver.resolve(raw)
        except TenantryError as error:
            await deny(error, scope, send)
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
            await deny(error, scope, send)
            return
        await LiveSocket(self._resolver, raw, scope, receive, send).run(self.app)

    def _send_from_address(self, scope: Scope, send: Send) -> Send:
        """The send for a token that came in the query or the path, and never reaches the app in this scope."""
        restored: Any = restoring(scope.pop(ADDRESS_KEY), scope, send)
        private: Send = MethodType(self._send_private_query, restored)
        return private

    def _run_found(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Another middleware has found the group: it stays, if nothing here speaks against it."""
        try:
            if self._environment not in {None, scope[SCOPE_KEY].environment.name}:
                raise InvalidToken(InvalidToken.MESSAGE)
            raw = self._take_again(scope)
            # Where the outer one met its own token in the value of a parameter that it does not know, it left the mask.
            if raw not in {None, MASK.encode()} and hash(raw) != scope.get(FOUND_KEY):
                raise AmbiguousToken(AmbiguousToken.MESSAGE)
        except TenantryError as error:
            scope[SCOPE_KEY] = None
            return deny(error, scope, send)
        if raw is None:
            return self.app(scope, receive, send)
        in_address = ADDRESS_KEY in scope
        private = self._send_from_address(scope, send) if in_address else MethodType(self._send_private, send)
        return self.app(scope, receive, private if scope["type"] == "http" else send)

    def _run_without(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        scope[SCOPE_KEY] = None
        if self._required:
            return deny(MissingToken("this request carries no user group token"), scope, send)
        varied: Send = MethodType(self._send_varied, send) if scope["type"] == "http" else send
        return Guard(varied).run(self.app, scope, receive, send)
