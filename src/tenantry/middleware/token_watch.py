"""TokenWatch: the token of what is open is checked again and again for as long as it is open.

A websocket may live for days and a response may stream for hours, and the rotation of their group must end them within
the resolver's staleness bound. So the token is checked about every fifth of the bound (a cache hit, by a timer that all
share: no task, no I/O):

- it is no longer good: the connection ends; at the end date of its group a check is due;
- the store cannot be asked, and the answer before is as old as the bound: it ends too, for nobody knows any more that
  the group was not rotated.

The bound is measured from what is known, not from when it was checked: an answer under a lease is good until the lease
ends, and nothing passes a connection, either way, after that. A resolver without leases gives answers that are as old
as the bound already: there a connection ends when two checks in a row could not be answered.
"""

from __future__ import annotations

import asyncio
import logging
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from math import inf
from typing import Any, Final, Protocol, TypeVar, runtime_checkable

from tenantry.errors import InvalidToken, StoreUnavailable, UserGroupExpired
from tenantry.groups import UserGroup
from tenantry.http import GROUP_CHANGED
from tenantry.middleware.timers import TimerHandle, timer_queues
from tenantry.ports import MonotonicClock

REVOKED: Final = 4401
"""The close code of a websocket whose token was rotated away, or whose group was deleted or has ended."""

TRY_AGAIN_LATER: Final = 1013
"""The close code of a websocket whose group cannot be resolved (IANA's registry of close codes)."""

DEFAULT_STALENESS: Final = 5.0
"""The staleness bound, in seconds, of a resolver that has none of its own."""

logger: logging.Logger = logging.getLogger(__name__)

T = TypeVar("T")


@runtime_checkable
class BoundedResolver(Protocol):
    """What a TokenWatch asks of a resolver with a staleness bound; ``with_staleness`` makes one of any resolver."""

    @property
    def staleness(self) -> float:
        """The staleness bound in seconds."""

    @property
    def lease_age(self) -> float | None:
        """Seconds since the last poll with an answer was begun; None: there is no lease."""

    def seconds_left(self, group: UserGroup) -> float:
        """Until the end date of the group, by the clock that it is judged by; ``inf`` without one."""
        ...

    def peek(self, raw: bytes) -> UserGroup | None:
        """The group if it is cached. No I/O."""

    async def resolve(self, raw: bytes) -> UserGroup:
        """The group, else InvalidToken or StoreUnavailable."""
        ...


class TokenWatch(ABC):
    """The checks of one connection. They begin with the first ``_check``, and end with ``_stop``."""

    __slots__ = (
        "__weakref__",
        "_clock",
        "_close_reason",
        "_interval",
        "_margin",
        "_raw",
        "_resolver",
        "_staleness",
        "_stopped",
        "_task",
        "_timer",
        "_valid_until",
    )  # fmt: skip

    def __init__(self, resolver: BoundedResolver, raw: bytes, clock: MonotonicClock) -> None:
        self._resolver = resolver
        self._raw = raw
        self._clock = clock
        self._staleness = resolver.staleness
        self._interval = self._staleness / 5
        self._margin = self._interval / 10  # before the end of what is known: a close message takes its time too
        self._valid_until = float("inf")  # until it is checked first
        self._stopped = False
        self._close_reason: tuple[int, str] | None = None
        self._timer: TimerHandle | None = None
        self._task: asyncio.Task[Any] | None = None

    @abstractmethod
    def _renewed(self, group: UserGroup) -> bool:
        """The token is good, and this is the record of its group now. Whether the connection goes on with it."""

    @abstractmethod
    async def _close(self, code: int, reason: str) -> None:
        """Ends the connection, unless the checks were stopped meanwhile."""

    # --- checks -------------------------------------------------------------------------------------------------------

    async def _wait(self) -> None:
        """Returns when it is known whether what is open may go on."""
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
            logger.error("an open connection could not be checked: %s", type(error).__qualname__)
        if 0 < (rest := self._valid_until - self._clock() - self._margin) < float("inf"):
            self._schedule(rest)
        else:  # the group is not known to be good
            self._mark_revoked(TRY_AGAIN_LATER, StoreUnavailable.code)

    def _extend(self, group: UserGroup, left: float) -> None:
        """The group is good for ``left`` seconds more."""
        if self._stopped:
            return
        if not self._renewed(group):
            self._mark_revoked(REVOKED, GROUP_CHANGED)
            return
        now = self._clock()  # read first: a busy machine may pause between two clocks, and the end must not move back
        ends = inf if group.expires_at is None else self._resolver.seconds_left(group)
        self._valid_until = now + min(left, ends)
        if ends <= 0:  # the clock was set since the group was resolved
            self._mark_revoked(REVOKED, UserGroupExpired.code)
        elif (rest := left - self._margin) <= 0:
            self._mark_revoked(TRY_AGAIN_LATER, StoreUnavailable.code)
        else:
            self._schedule(min(rest, ends))

    def _lease_left(self) -> float | None:
        age = self._resolver.lease_age
        return None if age is None else self._staleness - age

    def _schedule(self, rest: float) -> None:
        """Checks again within an interval, but not after ``rest``; at a random moment, for much is opened at
        once."""
        if not self._stopped:
            delay = self._interval * (0.8 + 0.2 * random.random())  # noqa: S311  # no secret
            self._set_timer(min(delay, rest))

    def _set_timer(self, delay: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = timer_queues.get().call_later(delay, self._check)

    def _mark_revoked(self, code: int, reason: str) -> None:
        """Nothing passes from now on, and the next check closes: at once if somebody waits for it, else in its batch.
        One answer may revoke the connections of a group by the thousand."""
        if not self._stopped:
            self._close_reason = code, reason
            self._valid_until = float("-inf")
            self._set_timer(0.0)

    def _start_task(self, work: Coroutine[Any, Any, T], done: Callable[[asyncio.Task[T]], None]) -> None:
        """Runs the one task of this connection: it resolves, or closes."""
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
