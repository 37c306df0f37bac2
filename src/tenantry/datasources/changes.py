from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from tenantry.clock import steady_time

if TYPE_CHECKING:
    from tenantry.datasources.caching.redis_results import RedisResults

TOGETHER_SECONDS: Final = 0.1
"""Changes within this many seconds reach a listener together."""
FOLLOW_SECONDS: Final = 1.0
"""Seconds between two reads of other processes' changes, while there are listeners."""
LATE_SECONDS: Final = 5.0
"""A change in another process is known here within this many seconds."""


class ChangeTimes:
    def __init__(self) -> None:
        self._of: dict[str, float] = {}
        self._of_all = -1.0

    def note(self, source: str | None, at: float) -> None:
        """Record that a source (None: every source) changed at a Unix time."""
        if source is None:
            self._of_all = at
        else:
            self._of[source] = at

    def of(self, source: str) -> float:
        """Return the Unix time when the source last changed, or a negative number if it never changed."""
        return max(self._of_all, self._of.get(source, -1.0))


class ChangeInbox:
    def __init__(self) -> None:
        self.has_ended: bool = False
        """Whether the process is about to end, so that no more changes come."""
        self._sources: set[str | None] = set()
        self._changed = asyncio.Event()

    def put(self, source: str | None) -> None:
        self._sources.add(source)
        self._changed.set()

    def end(self) -> None:
        self.has_ended = True
        self._changed.set()

    async def wait(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        return self._changed.is_set()

    async def take(self) -> frozenset[str | None]:
        """Wait for a change, collect further changes for ``TOGETHER_SECONDS``, and return the changed sources. None in
        the set means that any source may have changed."""
        await self._changed.wait()
        if not self.has_ended:
            await asyncio.sleep(TOGETHER_SECONDS)
        self._changed.clear()
        taken, self._sources = frozenset(self._sources), set()
        return taken


class SourceChanges:
    """Notifies the listeners of one event loop, such as open dashboards, when the rows of a source change."""

    # `forget` is called with a changed source before the listeners are notified.

    def __init__(
        self,
        others: RedisResults | None = None,
        clock: Callable[[], float] = steady_time,
        forget: Callable[[str | None], object] = lambda _: None,
    ) -> None:
        self._inboxes: set[ChangeInbox] = set()
        self._others = others
        self._clock = clock
        self._forget = forget
        self._times = ChangeTimes()
        self._known_since = clock()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._inboxes)

    @contextmanager
    def listen(self) -> Iterator[ChangeInbox]:
        inbox = ChangeInbox()
        self._inboxes.add(inbox)
        if self._timer is None:
            self._keep_following()
        try:
            yield inbox
        finally:
            self._inboxes.discard(inbox)
            if not self._inboxes and self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def notify(self, source: str | None) -> None:
        """Notify listeners that the source with this ``source_name`` changed. None: any source may have changed."""
        self._forget(source)
        self._times.note(source, self._clock())
        for inbox in self._inboxes:
            inbox.put(source)

    def certain_until(self) -> float:
        """Return the Unix time ``LATE_SECONDS`` ago. Rows read from now on include every change before this time."""
        return self._clock() - LATE_SECONDS

    async def follow(self) -> None:
        if self._others is not None:
            await self._others.follow()

    def may_be_old(self, source: str, as_of: float) -> bool:
        return as_of < self._known_since or as_of <= self._times.of(source)

    def end(self) -> None:
        for inbox in self._inboxes:
            inbox.end()

    def _keep_following(self) -> None:
        if self._others is not None:
            self._others.is_current()
            self._timer = asyncio.get_running_loop().call_later(FOLLOW_SECONDS, self._keep_following)
