"""SourceChanges: whoever shows rows of a source is told when these have changed, at once or when he asks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, Protocol

TOGETHER_SECONDS: Final = 0.1
"""Changes that follow one another so soon are told together."""
FOLLOW_SECONDS: Final = 1.0
"""While somebody listens, what other processes changed is asked for so often."""
LATE_SECONDS: Final = 5.0
"""So late may it be known here what another process changed."""


class ChangeTimes:
    """When the rows of sources changed, in seconds since 1970."""

    def __init__(self) -> None:
        self._of: dict[str, float] = {}
        self._of_all = -1.0

    def note(self, source: str | None, at: float) -> None:
        """A source changed; None: any may have."""
        if source is None:
            self._of_all = at
        else:
            self._of[source] = at

    def of(self, source: str) -> float:
        """The last time; below 0 if there was none."""
        return max(self._of_all, self._of.get(source, -1.0))


class OtherProcesses(Protocol):
    """What tells of changes in other processes: the shared level of a cache."""

    def is_current(self) -> bool:
        """Whether they are known. Mostly they are; now and then this asks in the background."""
        ...

    async def follow(self) -> bool:
        """The same; if they are not known, it waits a moment for them."""
        ...


class ChangeInbox:
    """What one listener was told and has not taken yet."""

    def __init__(self) -> None:
        self.has_ended = False
        """The process is about to end: nothing more comes."""
        self._sources: set[str | None] = set()
        self._changed = asyncio.Event()

    def put(self, source: str | None) -> None:
        """A source changed; None: any may have."""
        self._sources.add(source)
        self._changed.set()

    def end(self) -> None:
        """Wakes the listener for the last time."""
        self.has_ended = True
        self._changed.set()

    async def wait(self, seconds: float) -> bool:
        """Waits so long for a change. Whether there is one."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        return self._changed.is_set()

    async def take(self) -> frozenset[str | None]:
        """Waits for a change, and a moment for others. The sources that changed; None stands for any of them."""
        await self._changed.wait()
        if not self.has_ended:
            await asyncio.sleep(TOGETHER_SECONDS)
        self._changed.clear()
        taken, self._sources = frozenset(self._sources), set()
        return taken


class SourceChanges:
    """The listeners of one event loop, and the changes that this process knows of. What ``others`` have changed is
    asked for now and then while there are listeners. ``clock`` gives seconds since 1970, as the ``as_of`` of rows.
    ``forget`` is called with a source that changed before anybody is told: who asks then joins no query of before.
    """

    def __init__(
        self,
        others: OtherProcesses | None = None,
        clock: Callable[[], float] = time.time,
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
        """The inbox is told of every change while the block runs."""
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
        """A source (``source_name``) changed; None: any may have."""
        self._forget(source)
        self._times.note(source, self._clock())
        for inbox in self._inboxes:
            inbox.put(source)

    def certain_until(self) -> float:
        """Rows that are given out from now on have every change before this time, even those of a cache."""
        return self._clock() - LATE_SECONDS

    async def follow(self) -> None:
        """Asks for what other processes have changed, if that is not known."""
        if self._others is not None:
            await self._others.follow()

    def may_be_old(self, source: str, as_of: float) -> bool:
        """Whether rows of ``as_of`` may lack a change of their source: one that is known, or one from before this
        process knew of any."""
        return as_of < self._known_since or as_of <= self._times.of(source)

    def end(self) -> None:
        """The process is about to end: nobody waits any longer."""
        for inbox in self._inboxes:
            inbox.end()

    def _keep_following(self) -> None:
        if self._others is not None:
            self._others.is_current()
            self._timer = asyncio.get_running_loop().call_later(FOLLOW_SECONDS, self._keep_following)
