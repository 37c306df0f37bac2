from __future__ import annotations

import asyncio
import logging
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from math import inf
from typing import Any, Final, Protocol, TypeVar

from tenantry.errors import InvalidToken, PassExpired, StoreUnavailable
from tenantry.groups import UserGroup
from tenantry.http import GROUP_CHANGED
from tenantry.middleware.timers import TimerHandle, timer_queues
from tenantry.ports import MonotonicClock

REVOKED: Final = 4401
"""Websocket close code if the token or pass is no longer valid."""

TRY_AGAIN_LATER: Final = 1013
"""Websocket close code (IANA) if the group cannot be resolved."""

DEFAULT_STALENESS: Final = 5.0
"""If a resolver has no property ``staleness``, this many seconds are used."""

logger: logging.Logger = logging.getLogger(__name__)

T = TypeVar("T")


class BoundedResolver(Protocol):
    @property
    def staleness(self) -> float:
        """The resolver's staleness bound, in seconds."""
        ...

    @property
    def lease_age(self) -> float | None: ...

    def seconds_left(self, group: UserGroup) -> float: ...

    def peek(self, raw: bytes) -> UserGroup | None: ...

    async def resolve(self, raw: bytes) -> UserGroup: ...


class TokenWatch(ABC):
    """Checks the token of an open websocket or stream about five times per ``staleness`` of the resolver."""

    __slots__ = (
        "__weakref__",
        "_clock",
        "_close_reason",
        "_interval",
        "_margin",
        "_of_pass",
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
        self._margin = (
            self._interval / 10
        )  # seconds from the start of a check to ``_valid_until``: leaves time for the close message
        self._valid_until = float("inf")  # until the first check
        self._of_pass: UserGroup | None = None  # the group, if it ends with its pass
        self._stopped = False
        self._close_reason: tuple[int, str] | None = None
        self._timer: TimerHandle | None = None
        self._task: asyncio.Task[Any] | None = None

    @abstractmethod
    def _renewed(self, group: UserGroup) -> bool: ...

    @abstractmethod
    async def _close(self, code: int, reason: str) -> None: ...

    # --- checks -------------------------------------------------------------------------------------------------------

    async def _wait(self) -> None:
        self._check()
        while not self._stopped:
            if self._close_reason is not None:
                self._check()  # starts the task that closes the connection
            task = self._task
            if task is None or task.done():
                return
            await asyncio.wait({task})

    def _check(self) -> None:
        if self._stopped or (self._task is not None and not self._task.done()):
            return
        # The end of a pass cannot be moved, so the resolver need not be asked.
        if self._close_reason is None and self._of_pass and self._resolver.seconds_left(self._of_pass) <= 0:
            self._close_reason = REVOKED, PassExpired.code
        if self._close_reason is not None:
            self._start_task(self._close(*self._close_reason), self._forget)
            return
        try:
            group = self._resolver.peek(self._raw)
        except Exception:  # noqa: BLE001  # a custom resolver may raise, although it must not: continue checking
            group = None
        if group is None:
            self._start_task(self._resolve(), self._resolved)
        else:
            left = self._lease_left()  # None without a lease: the answer is then valid for two intervals
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
        else:  # no check has succeeded within the bound
            self._mark_revoked(TRY_AGAIN_LATER, StoreUnavailable.code)

    def _extend(self, group: UserGroup, left: float) -> None:
        if self._stopped:
            return
        if not self._renewed(group):
            self._mark_revoked(REVOKED, GROUP_CHANGED)
            return
        # Read before ``seconds_left``: a pause between the two reads then makes the group end early, not late.
        now = self._clock()
        ends = inf if group.expires_at is None else self._resolver.seconds_left(group)
        self._valid_until = now + min(left, ends)
        self._of_pass = group if group.ends_with_pass else None
        if ends <= 0:  # possible if the time of day was set after the group was resolved
            self._mark_revoked(REVOKED, group.end_error.code)
        elif (rest := left - self._margin) <= 0:
            self._mark_revoked(TRY_AGAIN_LATER, StoreUnavailable.code)
        else:
            self._schedule(min(rest, ends))

    def _lease_left(self) -> float | None:
        age = self._resolver.lease_age
        return None if age is None else self._staleness - age

    def _schedule(self, rest: float) -> None:
        if not self._stopped:
            # Random, to spread the checks of connections that opened at the same time.
            delay = self._interval * (0.8 + 0.2 * random.random())  # noqa: S311  # not for security
            self._set_timer(min(delay, rest))

    def _set_timer(self, delay: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = timer_queues.get().call_later(delay, self._check)

    def _mark_revoked(self, code: int, reason: str) -> None:
        # Leave the close to a timer. One change may revoke thousands of connections; the TimerQueue closes them in
        # batches.
        if not self._stopped:
            self._close_reason = code, reason
            self._valid_until = float("-inf")
            self._set_timer(0.0)

    def _start_task(self, work: Coroutine[Any, Any, T], done: Callable[[asyncio.Task[T]], None]) -> None:
        task = asyncio.get_running_loop().create_task(work, name="tenantry.live")
        task.add_done_callback(done)
        self._task = task

    def _forget(self, task: asyncio.Task[Any]) -> None:
        if self._task is task:
            self._task = None
        if not task.cancelled():
            task.exception()  # read the error, so that asyncio does not log it: the client may have left

    def _stop(self) -> None:
        self._stopped = True
        self._valid_until = float("inf")
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
