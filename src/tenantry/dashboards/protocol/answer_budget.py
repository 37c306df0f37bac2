"""Bounds the memory of unread responses. A line waits for its expected size before its query runs."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from cachetools import LRUCache
from starlette.types import Message, Send

from tenantry.aio import LoopLocal
from tenantry.dashboards.protocol.paced_send import PacedSend, in_pieces
from tenantry.errors import AnswersUnread
from tenantry.groups import UserGroup

PROCESS_BYTES: Final = 40 * 1024 * 1024
"""Bytes of lines that may wait in one process. A group may hold as much as stays free for the others: alone half of it,
next to two such groups a quarter."""
MOST_OPEN: Final = 200
"""Answers that one group may have open at once."""
WAIT_SECONDS: Final = 30.0
"""How long a line or an answer waits for room."""
_LOOK_SECONDS: Final = 0.1
_UNKNOWN_BYTES: Final = 16 * 1024
"""Expected size of a line that was never made."""
_ROWS_FACTOR: Final = 2
"""Memory of the rows and their line, in sizes of the line."""
_ATTEMPTS: Final = 3
"""How often a query runs whose line turns out to be larger than the room for it."""
_REMEMBERED: Final = 4_096

LineName: TypeAlias = tuple[str, ...]
Encode: TypeAlias = Callable[[], Iterable[bytes | memoryview]]


class HeldLine(NamedTuple):
    """The pieces of a line, and its reserved bytes."""

    pieces: deque[bytes]
    size: int


@dataclass(slots=True)
class _Share:
    answers: set[OpenAnswer] = field(default_factory=set)
    held: int = 0


class AnswerBudget:
    """The budget of one event loop, shared by its mounts."""

    def __init__(self) -> None:
        self.held: int = 0
        """Reserved bytes of all groups."""
        self._shares: dict[bytes, _Share] = {}
        self._sizes: LRUCache[tuple[bytes | None, LineName], int] = LRUCache(_REMEMBERED)
        self._clock = asyncio.get_running_loop().time
        self._cut_at = 0.0

    def count_open(self, group: UserGroup) -> int:
        """The number of the group's open responses."""
        share = self._shares.get(group.handle)
        return 0 if share is None else len(share.answers)

    @asynccontextmanager
    async def open(self, group: UserGroup) -> AsyncIterator[OpenAnswer]:
        """Open a response until the block ends. Raises AnswersUnread if the group keeps ``MOST_OPEN`` open too long."""
        handle = group.handle
        await self._wait(lambda: self.count_open(group) < MOST_OPEN, lambda: [handle])
        share = self._shares.setdefault(handle, _Share())
        answer = OpenAnswer(self, handle)
        share.answers.add(answer)
        try:
            yield answer
        finally:
            share.answers.discard(answer)
            answer.release(answer.held)
            if not share.answers:
                del self._shares[handle]

    # --- bytes --------------------------------------------------------------------------------------------------------

    def has_capacity(self, group: bytes, size: int) -> bool:
        own, free = self._shares[group].held, PROCESS_BYTES - self.held - size
        return size <= 0 or own + size <= free or (not own and free >= 0)

    def add(self, group: bytes, size: int) -> None:
        """Reserve bytes for the group; negative: release them."""
        self._shares[group].held += size
        self.held += size

    async def wait_for_capacity(self, group: bytes, size: int) -> None:
        """Raises AnswersUnread."""

        def largest() -> list[bytes]:
            own = self._shares[group].held
            return [each for each, share in self._shares.items() if share.held >= own]

        await self._wait(lambda: self.has_capacity(group, size), largest)

    def expected(self, group: bytes, name: LineName) -> int:
        """The last size of the line, for this group, else for any."""
        known = self._sizes.get((group, name)) or self._sizes.get((None, name))
        return known or _UNKNOWN_BYTES

    def learn(self, group: bytes, name: LineName, size: int) -> None:
        """Remember the size of a line, capped at half the budget."""
        self._sizes[group, name] = self._sizes[None, name] = min(size, PROCESS_BYTES // 2)

    # --- waiting ------------------------------------------------------------------------------------------------------

    async def _wait(self, is_done: Callable[[], bool], groups: Callable[[], Iterable[bytes]]) -> None:
        late = self._clock() + WAIT_SECONDS
        while not is_done():
            if self._clock() > late:
                raise AnswersUnread(AnswersUnread.MESSAGE, retry_after=1)
            self._cut_off_slowest(groups)
            await asyncio.sleep(_LOOK_SECONDS)

    def _cut_off_slowest(self, groups: Callable[[], Iterable[bytes]]) -> None:
        if self._clock() - self._cut_at < _LOOK_SECONDS:  # once for all waiters
            return
        self._cut_at = self._clock()
        shares = [share for each in groups() if (share := self._shares.get(each)) is not None]
        slow = [(share.held, each.held, each) for share in shares for each in share.answers if each.pace.is_slow]
        if slow:
            max(slow, key=lambda found: found[:2])[2].pace.cut_off()


class OpenAnswer:
    """One response, and its reserved bytes."""

    def __init__(self, budget: AnswerBudget, group: bytes) -> None:
        self.held: int = 0
        self.pace: Final = PacedSend()
        self._budget = budget
        self._group = group

    def paced(self, send: Send) -> Send:
        """Wrap ``send`` to send in pieces. The wrapper raises ReadTooSlowly."""

        async def send_paced(message: Message) -> None:
            await self.pace.send(send, message)

        return send_paced

    async def line(self, name: LineName, fetch: Callable[[], Awaitable[Encode]]) -> HeldLine:
        """The line for the result of ``fetch``.

        Both run again if the line outgrew its reservation. Raises AnswersUnread, and their errors.
        """
        for _ in range(_ATTEMPTS):
            size = min(_ROWS_FACTOR * self._budget.expected(self._group, name), PROCESS_BYTES // 2)
            await self.hold(size)
            made = await self._try_line(name, size, fetch)
            if made is not None:
                return made
        raise AnswersUnread(AnswersUnread.MESSAGE, retry_after=1)

    async def _try_line(self, name: LineName, size: int, fetch: Callable[[], Awaitable[Encode]]) -> HeldLine | None:
        """None without room."""
        budget, group = self._budget, self._group
        with ExitStack() as unused:
            unused.callback(self.release, size)
            encode = await fetch()
            if budget.has_capacity(
                group, budget.expected(group, name) - size
            ):  # another answer may have learned the size
                pieces = in_pieces(encode())
                budget.learn(group, name, sum(map(len, pieces)))
                more = budget.expected(group, name) - size
                if budget.has_capacity(group, more):
                    self._add(more)
                    unused.pop_all()
                    return HeldLine(pieces, size + more)
        return None

    async def hold(self, size: int) -> None:
        """Reserve bytes until ``release`` or the end of the response. Raises AnswersUnread."""
        await self._budget.wait_for_capacity(self._group, size)
        self._add(size)

    def release(self, size: int) -> None:
        self._add(-size)

    def _add(self, size: int) -> None:
        self.held += size
        self._budget.add(self._group, size)


_budgets: Final = LoopLocal(AnswerBudget)


def answer_budget() -> AnswerBudget:
    return _budgets.get()
