"""LiveSocket: a websocket whose group is looked up again and again for as long as it is open.

A request is over in a moment; a websocket may live for days, and the rotation of its group must end it within the
staleness bound X of the resolver. So from its acceptance on the token is looked at about every X/5 (a cache hit, in a
timer's callback that all sockets share: no task, no I/O):

- it is no longer good: the socket is closed with 4401;
- the group was updated: ``scope["user_group"]`` becomes the new record;
- the store cannot be asked, and the answer before is X old: the socket is closed with 1013 (try again later), for
  nobody can say any more that the group was not rotated.

A socket that was closed looks to its app as if the client had gone: ``receive`` gives ``websocket.disconnect`` with the
code, ``send`` raises an OSError (ASGI 2.4), which Starlette turns into WebSocketDisconnect. The app is never cancelled.

X is measured from what is known, not from when it was looked at: an answer under a lease is good until the lease ends
(X after its poll began), and nothing passes a socket, either way, after that. A resolver whose backend knows no leases
gives answers that are up to X old already: there a socket closes when two looks in a row could not be answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from typing import TYPE_CHECKING, Any, Final, Protocol

from tenantry.accessors import HANDSHAKE_KEY, SCOPE_KEY, Handshake
from tenantry.errors import InvalidToken, StoreUnavailable
from tenantry.groups import UserGroup
from tenantry.middleware.privacy import Message, Send
from tenantry.middleware.watch import Visit, Watch
from tenantry.ports import MonotonicClock
from tenantry.slots import monotonic_with_suspend

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope

REVOKED: Final = 4401
"""The close code of a websocket whose token was rotated away, or whose group was deleted."""

TRY_AGAIN_LATER: Final = 1013
"""The close code of a websocket whose group cannot be looked up (IANA's registry of close codes)."""

USUAL_STALENESS: Final = 5.0
"""X, in seconds, for a resolver that does not tell its own."""

_CLOSING: Final = 2.0
"""Seconds that an app's end waits for the close message to go out."""

logger = logging.getLogger(__name__)


class LiveResolver(Protocol):
    """What is asked while a socket lives. ``staleness`` (X, seconds) and ``lease_age`` (seconds since the last poll
    with an answer was begun; None: there is no lease) are asked for if it has them."""

    def peek(self, raw: bytes) -> UserGroup | None: ...

    async def resolve(self, raw: bytes) -> UserGroup: ...


class SocketClosed(ConnectionError):
    """What ``send`` raises once the socket was closed here: an OSError, as servers raise for a client that has gone."""


class LiveSocket:
    """One websocket of a group: what its app receives and sends goes through here."""

    __slots__ = (
        "_clock", "_gone", "_handshake", "_interval", "_over", "_raw", "_receive", "_resolver", "_scope", "_send",
        "_staleness", "_task", "_until", "_verdict", "_visit",
    )  # fmt: skip

    def __init__(
        self,
        resolver: LiveResolver,
        raw: bytes,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        clock: MonotonicClock = monotonic_with_suspend,
    ) -> None:
        self._resolver = resolver
        self._raw = raw
        self._scope = scope
        self._receive = receive
        self._send = send
        self._handshake = scope[HANDSHAKE_KEY] = Handshake()
        self._clock = clock
        self._staleness: float = getattr(resolver, "staleness", USUAL_STALENESS)
        self._interval = self._staleness / 5
        self._until = float("inf")  # looked at first when the app accepts
        self._over = False
        self._gone: Message | None = None
        self._verdict: tuple[int, str] | None = None
        self._visit: Visit | None = None
        self._task: asyncio.Task[None] | None = None

    async def run(self, app: ASGIApp) -> None:
        """Runs the app to its end. Raises what it raises, but for the SocketClosed that it was told."""
        try:
            forward: Any = self.send  # Starlette's types leave open what a message is; ASGI says a dict
            await app(self._scope, self.receive, forward)
        except Exception as error:
            if not _tells_of_closing(error):
                raise
        finally:
            await self._end()

    # --- what the app sees --------------------------------------------------------------------------------------------

    async def receive(self) -> Message:
        """The client's next message, or ``websocket.disconnect`` once the socket was closed."""
        if self._gone is not None:
            return self._gone
        message: Any = await self._receive()
        if self._clock() >= self._until:
            await self._settle()
        if self._gone is not None:
            return self._gone
        if message["type"] == "websocket.disconnect":
            self._stop()
        return message  # type: ignore[no-any-return]  # as above

    async def send(self, message: Message) -> None:
        """Sends it on. Raises SocketClosed once the socket was closed."""
        kind = message["type"]
        if kind == "websocket.accept" or self._clock() >= self._until:
            await self._settle()
        if self._gone is not None:
            if kind == "websocket.close":
                return  # as it is
            raise SocketClosed(f"this websocket was closed: {self._gone['reason']}")
        if kind not in {"websocket.accept", "websocket.send"}:
            self._stop()  # the app closes or denies it
        self._handshake.answered = True
        await self._send(message)

    # --- looking again ------------------------------------------------------------------------------------------------

    async def _settle(self) -> None:
        """Returns when it is known whether this socket may live."""
        self._look()
        while not self._over:
            if self._verdict is not None:
                self._look()  # which closes
            task = self._task
            if task is None or task.done():
                return
            await asyncio.wait({task})

    def _look(self) -> None:
        if self._over or (self._task is not None and not self._task.done()):
            return
        if self._verdict is not None:
            self._begin(self._close(*self._verdict))
            return
        try:
            group = self._resolver.peek(self._raw)
        except Exception:  # noqa: BLE001  # a foreign one that breaks its word must not end the looks: it is asked
            group = None
        if group is None:
            self._begin(self._ask())
        else:
            left = self._lease_left()
            self._live_on(group, 2 * self._interval if left is None else left)

    async def _ask(self) -> None:
        margin = self._margin
        wait = self._interval if self._until == float("inf") else max(self._until - self._clock(), margin)
        try:
            async with asyncio.timeout(wait):
                group = await self._resolver.resolve(self._raw)
        except InvalidToken as error:
            self._condemn(REVOKED, error.code)
        except Exception as error:  # noqa: BLE001  # whatever it was: the group is not known to be good
            if not isinstance(error, StoreUnavailable | TimeoutError):
                logger.error("a live websocket could not be looked at: %s", type(error).__qualname__)  # noqa: TRY400
            rest = self._until - self._clock() - margin
            if 0 < rest < float("inf"):
                self._again(rest)
            else:
                self._condemn(TRY_AGAIN_LATER, StoreUnavailable.code)
        else:
            left = self._lease_left()
            self._live_on(group, left if left is not None and left > margin else 2 * self._interval)

    def _live_on(self, group: UserGroup, left: float) -> None:
        """The group is good for ``left`` seconds more."""
        if self._over:
            return
        self._scope[SCOPE_KEY] = group
        self._until = self._clock() + left
        rest = left - self._margin
        if rest <= 0:
            self._condemn(TRY_AGAIN_LATER, StoreUnavailable.code)
        else:
            self._again(rest)

    def _lease_left(self) -> float | None:
        age: float | None = getattr(self._resolver, "lease_age", None)
        return None if age is None else self._staleness - age

    @property
    def _margin(self) -> float:
        """Seconds before the end of what is known: a close message takes its time too."""
        return self._interval / 10

    def _again(self, rest: float) -> None:
        """Looks again within an interval, but not after ``rest``. Spread out, for many sockets open in one moment."""
        if self._over:
            return
        delay = min(self._interval * (0.8 + 0.2 * random.random()), rest)  # noqa: S311  # no secret
        self._visit_in(delay)

    def _visit_in(self, delay: float) -> None:
        if self._visit is not None:
            self._visit.cancel()
        self._visit = Watch.of(asyncio.get_running_loop()).after(delay, self._look)

    # --- the end ------------------------------------------------------------------------------------------------------

    def _condemn(self, code: int, reason: str) -> None:
        """Nothing passes from now on, and the next look closes: at once if somebody waits for it, else with the few
        whose turn it is. The sockets of one group may be thousands, and one answer condemns them all."""
        if not self._over:
            self._verdict = code, reason
            self._until = float("-inf")
            self._visit_in(0.0)

    async def _close(self, code: int, reason: str) -> None:
        if self._over:
            return
        self._stop()
        self._gone = {"type": "websocket.disconnect", "code": code, "reason": reason}
        with contextlib.suppress(Exception):  # the client may have gone, or the app may close in this very moment
            await self._send({"type": "websocket.close", "code": code, "reason": reason})

    def _begin(self, work: Any) -> None:
        """Runs the one task of this socket: it asks, or closes."""
        self._task = task = asyncio.get_running_loop().create_task(work, name="tenantry.live")
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        if self._task is task:
            self._task = None

    def _stop(self) -> None:
        """Nothing is looked at any more."""
        self._over = True
        self._until = float("inf")
        if self._visit is not None:
            self._visit.cancel()
            self._visit = None

    async def _end(self) -> None:
        """The app is done. A close message under way may go out first; a question is dropped."""
        self._stop()
        task = self._task
        if task is None:
            return
        if self._gone is not None:
            await asyncio.wait({task}, timeout=_CLOSING)
        task.cancel()


def _tells_of_closing(error: BaseException | None) -> bool:
    """Whether an app ends because it was told that its socket is closed; frameworks wrap that in their own errors."""
    while error is not None:
        if isinstance(error, SocketClosed):
            return True
        error = error.__cause__ or error.__context__
    return False
