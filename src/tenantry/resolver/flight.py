"""Flight: one load of a user group, and everybody who waits for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tenantry.cache import Fill
    from tenantry.groups import UserGroup


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
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(group)

    def crash(self, error: BaseException) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_exception(error)
