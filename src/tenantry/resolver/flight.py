"""Flight: one load of a user group, and everybody who waits for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tenantry.cache import Fill
    from tenantry.groups import UserGroup

SLICE = 64
"""How many of those who wait are told before the loop may do other work. All sockets of a group may wait for one."""


class Flight:
    """One load and those who wait for it, all on one event loop. ``fill`` is None until the backend is asked.

    The task belongs to the resolver, so that the cancellation of one who waits, the first one too, harms nobody else.
    """

    __slots__ = ("_loop", "_waiters", "fill", "task")

    task: asyncio.Task[None]

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.fill: Fill | None = None
        self._loop = loop
        self._waiters: list[asyncio.Future[UserGroup]] = []

    def join(self) -> asyncio.Future[UserGroup]:
        waiter: asyncio.Future[UserGroup] = self._loop.create_future()
        self._waiters.append(waiter)
        return waiter

    def land(self, group: UserGroup) -> None:
        self._tell(0, group, None)

    def crash(self, error: BaseException) -> None:
        self._tell(0, None, error)

    def _tell(self, first: int, group: UserGroup | None, error: BaseException | None) -> None:
        for waiter in self._waiters[first : first + SLICE]:
            if waiter.done():
                continue
            if group is not None:
                waiter.set_result(group)
            elif error is not None:
                waiter.set_exception(error)
        first += SLICE
        if first < len(self._waiters):
            self._loop.call_soon(self._tell, first, group, error)
