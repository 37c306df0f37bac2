"""SourceChanges: whoever shows rows of a source is told when these have changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

TOGETHER_SECONDS: Final = 0.1
"""Changes that follow one another so soon are told together."""
FOLLOW_SECONDS: Final = 1.0
"""While somebody listens, what other processes changed is asked for so often."""


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
    """The listeners of one event loop. ``follow`` is called now and then while there are any: it starts to ask what
    other processes have changed, and does not wait."""

    def __init__(self, follow: Callable[[], object] | None = None) -> None:
        self._inboxes: set[ChangeInbox] = set()
        self._follow = follow
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
        for inbox in self._inboxes:
            inbox.put(source)

    def end(self) -> None:
        """The process is about to end: nobody waits any longer."""
        for inbox in self._inboxes:
            inbox.end()

    def _keep_following(self) -> None:
        if self._follow is not None:
            self._follow()
            self._timer = asyncio.get_running_loop().call_later(FOLLOW_SECONDS, self._keep_following)
