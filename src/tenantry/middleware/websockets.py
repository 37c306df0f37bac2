"""Websockets: the group of an open websocket is checked again and again for as long as it is open.

A websocket may live for days, and the rotation of its group must end it within the resolver's staleness bound. So from
its acceptance on the token is checked about every fifth of the bound (a cache hit, by a timer that all websockets
share: no task, no I/O):

- it is no longer good: the websocket is closed with 4401;
- the group was updated: ``scope["user_group"]`` becomes the new record;
- the store cannot be asked, and the answer before is as old as the bound: the websocket is closed with 1013 (try again
  later), for nobody knows any more that the group was not rotated.

A closed websocket looks to its app as if the client had gone: ``receive`` gives ``websocket.disconnect`` with the code,
``send`` raises an OSError (ASGI 2.4), which Starlette turns into WebSocketDisconnect. The app is never cancelled.

The bound is measured from what is known, not from when it was checked: an answer under a lease is good until the lease
ends, and nothing passes a websocket, either way, after that. A resolver without leases gives answers that are as old as
the bound already: there a websocket closes when two checks in a row could not be answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable, Coroutine
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, runtime_checkable

from tenantry.accessors import HANDSHAKE_KEY, SCOPE_KEY, VIEWER_KEY, Handshake
from tenantry.errors import InvalidToken, StoreUnavailable
from tenantry.groups import UserGroup
from tenantry.loop_local import LoopLocal
from tenantry.middleware.cache_headers import Message, Send
from tenantry.ports import MonotonicClock
from tenantry.read_ahead import ReadAhead
from tenantry.slots import monotonic_with_suspend

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope

REVOKED: Final = 4401
"""The close code of a websocket whose token was rotated away, or whose group was deleted."""

TRY_AGAIN_LATER: Final = 1013
"""The close code of a websocket whose group cannot be resolved (IANA's registry of close codes)."""

DEFAULT_STALENESS: Final = 5.0
"""The staleness bound, in seconds, of a resolver that has none of its own."""

BATCH: Final = 16
"""Callbacks before the loop may do other work. Each may turn out to have to close a websocket, which is 50 µs."""

_MIN_INTERVAL: Final = 0.004
"""Seconds between two wakings of a TimerQueue, unless some timers are overdue."""

_CLOSE_SECONDS: Final = 2.0
"""How long an app's end waits for the close message to go out."""

logger: logging.Logger = logging.getLogger(__name__)

T = TypeVar("T")


@runtime_checkable
class WebSocketResolver(Protocol):
    """What a WebSocketSession asks; ``with_staleness`` makes one of a plain resolver."""

    @property
    def staleness(self) -> float:
        """The staleness bound in seconds."""

    @property
    def lease_age(self) -> float | None:
        """Seconds since the last poll with an answer was begun; None: there is no lease."""

    def peek(self, raw: bytes) -> UserGroup | None:
        """The group if it is cached. No I/O."""

    async def resolve(self, raw: bytes) -> UserGroup:
        """The group, else InvalidToken or StoreUnavailable."""
        ...


class SocketClosed(ConnectionError):
    """What ``send`` raises once the websocket was closed here: an OSError, as servers raise for a client that left."""


class WebSocketSession:
    """One websocket of a group: what its app receives and sends goes through here."""

    __slots__ = (
        "_clock", "_close_reason", "_disconnect", "_handshake", "_interval", "_margin", "_raw", "_receive", "_resolver",
        "_scope", "_send", "_staleness", "_stopped", "_task", "_timer", "_valid_until",
    )  # fmt: skip

    def __init__(
        self,
        resolver: WebSocketResolver,
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
        self._receive = scope[VIEWER_KEY] = ReadAhead(receive)
        self._send = send
        self._handshake = scope[HANDSHAKE_KEY] = Handshake()
        self._clock = clock
        self._staleness = resolver.staleness
        self._interval = self._staleness / 5
        self._margin = self._interval / 10  # before the end of what is known: a close message takes its time too
        self._valid_until = float("inf")  # checked first when the app accepts
        self._stopped = False
        self._disconnect: Message | None = None
        self._close_reason: tuple[int, str] | None = None
        self._timer: TimerHandle | None = None
        self._task: asyncio.Task[Any] | None = None

    async def run(self, app: ASGIApp) -> None:
        """Runs the app to its end. Raises what it raises, but for a SocketClosed of this session."""
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_exit(self._end)
            await app(self._scope, self.receive, self.send)

    # --- what the app sees --------------------------------------------------------------------------------------------

    async def receive(self) -> Message:
        """The client's next message, or ``websocket.disconnect`` once the websocket was closed."""
        if self._disconnect is not None:
            return self._disconnect
        message = await self._receive()
        if self._clock() >= self._valid_until:
            await self._wait()
        if self._disconnect is not None:
            return self._disconnect
        if message["type"] == "websocket.disconnect":
            self._stop()
        return message

    async def send(self, message: Message) -> None:
        """Sends it on. Raises SocketClosed once the websocket was closed."""
        kind = message["type"]
        if kind == "websocket.accept" or self._clock() >= self._valid_until:
            await self._wait()
        if self._disconnect is not None:
            if kind == "websocket.close":
                return
            raise SocketClosed(f"this websocket was closed: {self._disconnect['reason']}")
        if kind not in {"websocket.accept", "websocket.send"}:
            self._stop()  # the app closes or denies it
        self._handshake.answered = True
        await self._send(message)

    # --- checks -------------------------------------------------------------------------------------------------------

    async def _wait(self) -> None:
        """Returns when it is known whether this websocket may stay open."""
        self._check()
        while not self._stopped:
            if self._close_reason is not None:
                self._check()  # which closes
            task = self._task
            if task is None or task.done():
                return
            await asyncio.wait({task})

    def _check(self) -> None:
        if self._stopped or (self._task is not None and not self._task.done()):
            return
        if self._close_reason is not None:
            self._start_task(self._close(*self._close_reason), self._forget)
            return
        try:
            group = self._resolver.peek(self._raw)
        except Exception:  # noqa: BLE001  # a foreign one that breaks its contract must not end the checks: it is asked
            group = None
        if group is None:
            self._start_task(self._resolve(), self._resolved)
        else:
            left = self._lease_left()
            self._extend(group, 2 * self._interval if left is None else left)

    async def _resolve(self) -> UserGroup:
        first = self._valid_until == float("inf")
        async with asyncio.timeout(self._interval if first else max(self._valid_until - self._clock(), self._margin)):
            return await self._resolver.resolve(self._raw)

    def _resolved(self, task: asyncio.Task[UserGroup]) -> None:
        self._forget(task)
        if task.cancelled():
            return
        error, left = task.exception(), self._lease_left()
        if error is None:
            self._extend(task.result(), left if left is not None and left > self._margin else 2 * self._interval)
            return
        if isinstance(error, InvalidToken):
            self._mark_revoked(REVOKED, error.code)
            return
        if not isinstance(error, StoreUnavailable | TimeoutError):
            logger.error("an open websocket could not be checked: %s", type(error).__qualname__)
        if 0 < (rest := self._valid_until - self._clock() - self._margin) < float("inf"):
            self._schedule(rest)
        else:  # the group is not known to be good
            self._mark_revoked(TRY_AGAIN_LATER, StoreUnavailable.code)

    def _extend(self, group: UserGroup, left: float) -> None:
        """The group is good for ``left`` seconds more."""
        if self._stopped:
            return
        self._scope[SCOPE_KEY] = group
        self._valid_until = self._clock() + left
        if (rest := left - self._margin) <= 0:
            self._mark_revoked(TRY_AGAIN_LATER, StoreUnavailable.code)
        else:
            self._schedule(rest)

    def _lease_left(self) -> float | None:
        age = self._resolver.lease_age
        return None if age is None else self._staleness - age

    def _schedule(self, rest: float) -> None:
        """Checks again within an interval, but not after ``rest``; at a random moment, for many websockets are opened
        at once."""
        if not self._stopped:
            delay = self._interval * (0.8 + 0.2 * random.random())  # noqa: S311  # no secret
            self._set_timer(min(delay, rest))

    def _set_timer(self, delay: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = _timer_queues.get().call_later(delay, self._check)

    # --- the end ------------------------------------------------------------------------------------------------------

    def _mark_revoked(self, code: int, reason: str) -> None:
        """Nothing passes from now on, and the next check closes: at once if somebody waits for it, else in its batch.
        One answer may revoke the websockets of a group by the thousand."""
        if not self._stopped:
            self._close_reason = code, reason
            self._valid_until = float("-inf")
            self._set_timer(0.0)

    async def _close(self, code: int, reason: str) -> None:
        if self._stopped:
            return
        self._stop()
        self._disconnect = {"type": "websocket.disconnect", "code": code, "reason": reason}
        self._receive.mark_left()
        await self._send({"type": "websocket.close", "code": code, "reason": reason})

    def _start_task(self, work: Coroutine[Any, Any, T], done: Callable[[asyncio.Task[T]], None]) -> None:
        """Runs the one task of this websocket: it resolves, or closes."""
        task = asyncio.get_running_loop().create_task(work, name="tenantry.live")
        task.add_done_callback(done)
        self._task = task

    def _forget(self, task: asyncio.Task[Any]) -> None:
        if self._task is task:
            self._task = None
        if not task.cancelled():
            task.exception()  # is no news: the client may have gone, or the app may have closed in this very moment

    def _stop(self) -> None:
        """Nothing is checked any more."""
        self._stopped = True
        self._valid_until = float("inf")
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def _end(self, _: object, error: BaseException | None, __: object) -> bool:
        """The app has ended. A close message under way may go out first; a resolve is cancelled. True where it ended
        because its websocket was closed; frameworks wrap that in errors of their own."""
        self._stop()
        if (task := self._task) is not None:
            if self._disconnect is not None:
                await asyncio.wait({task}, timeout=_CLOSE_SECONDS)
            task.cancel()
        cause: BaseException | None = error if isinstance(error, Exception) else None
        while cause is not None and not isinstance(cause, SocketClosed):
            cause = cause.__cause__ or cause.__context__
        return cause is not None


# --- timers -----------------------------------------------------------------------------------------------------------


class TimerHandle:
    """A callback that is due, unless it is cancelled: then nothing refers to it any more."""

    __slots__ = ("callback",)

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        """Does nothing if it was called already."""
        self.callback = None


class TimerQueue:
    """Many timers as one: ten thousand of asyncio's own cost a tenth of a core, and all that are due run in one go."""

    __slots__ = ("_handles", "_numbers", "_wakes_at")

    def __init__(self) -> None:
        self._handles: list[tuple[float, int, TimerHandle]] = []
        self._numbers = count()
        self._wakes_at = float("inf")

    def call_later(self, seconds: float, callback: Callable[[], None]) -> TimerHandle:
        """Calls it in so many seconds, or a little later where many are due."""
        loop = asyncio.get_running_loop()
        due, handle = loop.time() + seconds, TimerHandle(callback)
        heappush(self._handles, (due, next(self._numbers), handle))
        if due + _MIN_INTERVAL < self._wakes_at:
            self._wake(loop, due)
        return handle

    def _wake(self, loop: asyncio.AbstractEventLoop, when: float) -> None:
        self._wakes_at = when
        loop.call_at(when, self._run, when)

    def _run(self, when: float) -> None:
        if when != self._wakes_at:
            return  # an earlier waking has replaced this one
        self._wakes_at = float("-inf")  # nobody else is to wake it now
        loop = asyncio.get_running_loop()
        now, handles = loop.time(), self._handles
        try:
            for _ in range(BATCH):
                if not handles or handles[0][0] > now:
                    return
                callback = heappop(handles)[2].callback
                if callback is not None:
                    callback()
        finally:
            self._wakes_at = float("inf")
            if handles:
                due = handles[0][0]
                self._wake(loop, now if due <= now else max(due, now + _MIN_INTERVAL))


_timer_queues: LoopLocal[TimerQueue] = LoopLocal(TimerQueue)
