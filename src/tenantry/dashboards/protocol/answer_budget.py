from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from starlette.types import Message, Send

from tenantry.aio import LoopLocal
from tenantry.dashboards.protocol.paced_send import PacedSend, in_pieces
from tenantry.errors import AnswersUnread
from tenantry.groups import UserGroup

PROCESS_BYTES: Final = 40 * 1024 * 1024
"""Maximum bytes of unsent lines on one event loop. After a reservation, a group must not hold more bytes than
remain free. So one group alone gets half of the maximum. But a group that holds nothing may take all free bytes for a
line."""
MAX_RESPONSES: Final = 200
"""Maximum number of open responses of a group. A further response waits."""
MAX_RESPONSES_OF_VIEWER: Final = 40
"""Maximum number of open responses of one viewer. It is below ``MAX_RESPONSES``, so that other viewers can open
some."""
WAIT_SECONDS: Final = 30.0
"""Maximum seconds that a line waits for free bytes, or a new response waits for others to end."""
_LOOK_SECONDS: Final = 0.1
_UNKNOWN_BYTES: Final = 16 * 1024
"""Expected size of a line that was never encoded before."""
_ROWS_FACTOR: Final = 2
"""The reservation for a line is this multiple of its expected size, because its rows are in memory too."""
_ATTEMPTS: Final = 3
"""How often a query runs at most. It runs again if its line exceeds the reservation."""
_REMEMBERED: Final = 4_096

LineName: TypeAlias = tuple[str, ...]
Encode: TypeAlias = Callable[[], Iterable[bytes | memoryview]]


class HeldLine(NamedTuple):
    pieces: deque[bytes]
    size: int
    """Bytes reserved for the line."""


@dataclass(slots=True)
class Share:
    group: bytes
    answers: set[OpenAnswer] = field(default_factory=set)
    held: int = 0


class AnswerBudget:
    """Bounds the memory of unsent responses on one event loop. A query runs only when there is space for its line."""

    def __init__(self) -> None:
        self.held: int = 0
        """Reserved bytes of all groups."""
        self._shares: dict[bytes, Share] = {}
        self._sizes: dict[tuple[bytes | None, LineName], int] = {}
        self._clock = asyncio.get_running_loop().time
        self._cut_at = 0.0

    def count_open(self, group: UserGroup) -> int:
        share = self._shares.get(group.handle)
        return 0 if share is None else len(share.answers)

    def count_open_of_viewer(self, group: UserGroup) -> int:
        viewer_id, share = group.viewer_id, self._shares.get(group.handle)
        return 0 if viewer_id is None or share is None else sum(each.viewer_id == viewer_id for each in share.answers)

    @asynccontextmanager
    async def open(self, group: UserGroup) -> AsyncIterator[OpenAnswer]:
        """Count a response as open until the block ends. If ``MAX_RESPONSES`` responses of the group or
        ``MAX_RESPONSES_OF_VIEWER`` of its viewer are open, wait until one ends. Raises AnswersUnread after
        ``WAIT_SECONDS``."""
        handle = group.handle
        await self._wait(
            lambda: (
                self.count_open(group) < MAX_RESPONSES and self.count_open_of_viewer(group) < MAX_RESPONSES_OF_VIEWER
            ),
            lambda: [handle],
        )
        share = self._shares.setdefault(handle, Share(handle))
        answer = OpenAnswer(self, share, group.viewer_id)
        share.answers.add(answer)
        try:
            yield answer
        finally:
            share.answers.discard(answer)
            answer.release(answer.held)
            if not share.answers:
                del self._shares[handle]

    # --- bytes --------------------------------------------------------------------------------------------------------

    def has_capacity(self, share: Share, size: int) -> bool:
        if size <= 0:
            return True
        own, free = share.held, PROCESS_BYTES - self.held - size
        return own + size <= free or (not own and free >= 0)

    async def wait_for_capacity(self, share: Share, size: int) -> None:
        """Wait until the group can reserve the bytes. Raises AnswersUnread after ``WAIT_SECONDS``."""

        def largest() -> list[bytes]:
            return [each for each, other in self._shares.items() if other.held >= share.held]

        await self._wait(lambda: self.has_capacity(share, size), largest)

    def expected(self, group: bytes, name: LineName) -> int:
        """Return the last size of this line in bytes, for this group or else for any group. If none is known, return
        an estimate."""
        known = self._sizes.get((group, name)) or self._sizes.get((None, name))
        return known or _UNKNOWN_BYTES

    def learn(self, group: bytes, name: LineName, size: int) -> int:
        """Record the size of a line. Return the size to expect next time."""
        size = min(size, PROCESS_BYTES // 2)
        if self._sizes.get((group, name)) != size:
            self._sizes[group, name] = self._sizes[None, name] = size
            while len(self._sizes) > _REMEMBERED:
                del self._sizes[next(iter(self._sizes))]
        return size

    # --- waiting ------------------------------------------------------------------------------------------------------

    async def _wait(self, is_done: Callable[[], bool], groups: Callable[[], Iterable[bytes]]) -> None:
        late = self._clock() + WAIT_SECONDS
        while not is_done():
            if self._clock() > late:
                raise AnswersUnread(AnswersUnread.MESSAGE)
            self._cut_off_slowest(groups)
            await asyncio.sleep(_LOOK_SECONDS)

    def _cut_off_slowest(self, groups: Callable[[], Iterable[bytes]]) -> None:
        if self._clock() - self._cut_at < _LOOK_SECONDS:  # all waiters share one call of `cut_off`
            return
        self._cut_at = self._clock()
        shares = [share for each in groups() if (share := self._shares.get(each)) is not None]
        slow = [(share.held, each.held, each) for share in shares for each in share.answers if each.pace.is_slow]
        if slow:
            max(slow, key=lambda found: found[:2])[2].pace.cut_off()


class OpenAnswer:
    def __init__(self, budget: AnswerBudget, share: Share, viewer_id: str | None) -> None:
        self.held: int = 0
        self.viewer_id: Final = viewer_id
        self.pace: Final = PacedSend()
        self._budget = budget
        self._share = share

    def paced(self, send: Send) -> Send:
        """Return a ``send`` that sends in pieces, and raises ReadTooSlowly if the reader is too slow."""

        async def send_paced(message: Message) -> None:
            await self.pace.send(send, message)

        return send_paced

    async def line(self, name: LineName, fetch: Callable[[], Awaitable[Encode]]) -> HeldLine:
        """Reserve space, call ``fetch``, and encode the rows as a line. Raises AnswersUnread if space is
        lacking, and the errors of ``fetch`` and of the encoder."""
        for _ in range(_ATTEMPTS):
            size = min(_ROWS_FACTOR * self._budget.expected(self._share.group, name), PROCESS_BYTES // 2)
            await self.hold(size)
            made = await self._try_line(name, size, fetch)
            if made is not None:
                return made
        raise AnswersUnread(AnswersUnread.MESSAGE)

    async def _try_line(self, name: LineName, size: int, fetch: Callable[[], Awaitable[Encode]]) -> HeldLine | None:
        """Return the line, or None if it needs more than ``size`` bytes and the group cannot reserve the rest."""
        budget, share = self._budget, self._share
        unused = size
        try:
            encode = await fetch()
            # Meanwhile, another response may have recorded a larger size for this line.
            if budget.has_capacity(share, budget.expected(share.group, name) - size):
                pieces = in_pieces(encode())
                more = budget.learn(share.group, name, sum(map(len, pieces))) - size
                if budget.has_capacity(share, more):
                    unused = -more
                    return HeldLine(pieces, size + more)
        finally:
            self.release(unused)
        return None

    async def hold(self, size: int) -> None:
        """Reserve bytes until they are released or the response ends. Raises AnswersUnread after ``WAIT_SECONDS``."""
        if not self._budget.has_capacity(self._share, size):
            await self._budget.wait_for_capacity(self._share, size)
        self._add(size)

    def release(self, size: int) -> None:
        self._add(-size)

    def _add(self, size: int) -> None:
        self.held += size
        self._share.held += size
        self._budget.held += size


_budgets: Final = LoopLocal(AnswerBudget)


def answer_budget() -> AnswerBudget:
    return _budgets.get()
