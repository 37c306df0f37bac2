"""Looks: look-ups that are asked together.

When many groups are missed in one tick of a loop, as after a start or a flush, one statement for all of them costs
each a fraction of its own round trip. A lone look-up waits for the end of the tick and no longer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from tenantry.backends.sql.rows import Row

MOST_TOGETHER = 250
"""Handles in one statement: its answer is at most so many rows, read in one piece. While the server makes the next
ones, this process has the first to work on: a thousand at once take less time in four statements than in two."""

_HANDLE = 7
"""The column of the handle in LOOK_MANY."""

Asked: TypeAlias = list[tuple[bytes, asyncio.Future[Row]]]


class Fetch(Protocol):
    """Reads all rows of a statement on a connection of the running loop."""

    async def __call__(self, text: str, values: tuple[Any, ...], deadline: float) -> Sequence[Row]: ...


class Looks:
    """Those of all event loops, each loop's by themselves. ``one`` and ``many`` are the texts of LOOK and LOOK_MANY."""

    def __init__(self, fetch: Fetch, one: str, many: str) -> None:
        self._fetch = fetch
        self._one = one
        self._many = many
        self._asked: dict[asyncio.AbstractEventLoop, Asked] = {}  # in this tick of each loop
        self._tasks: set[asyncio.Task[None]] = set()

    def look(self, handle: bytes, deadline: float) -> asyncio.Future[Row]:
        """The row of LOOK for this handle. Fails as ``fetch`` does."""
        loop = asyncio.get_running_loop()
        asked = self._asked.get(loop)
        if asked is None:
            asked = self._begin(loop, deadline)
        answer: asyncio.Future[Row] = loop.create_future()
        asked.append((handle, answer))
        return answer

    def _begin(self, loop: asyncio.AbstractEventLoop, deadline: float) -> Asked:
        for other in [other for other in list(self._asked) if other.is_closed()]:
            self._asked.pop(other, None)  # it was closed in the middle of a tick
        asked = self._asked[loop] = []
        loop.call_soon(self._ask_all, loop, deadline)  # of the first: the others have asked in the same tick
        return asked

    def _ask_all(self, loop: asyncio.AbstractEventLoop, deadline: float) -> None:
        asked = self._asked.pop(loop)
        for start in range(0, len(asked), MOST_TOGETHER):
            task = loop.create_task(self._ask(asked[start : start + MOST_TOGETHER], deadline))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _ask(self, asked: Asked, deadline: float) -> None:
        try:
            found, nothing = await self._rows([handle for handle, _ in asked], deadline)
        except BaseException as error:
            for _, answer in asked:
                _fail(answer, error)
            if not isinstance(error, Exception):
                raise
            return
        for handle, answer in asked:
            if not answer.done():
                answer.set_result(found.get(handle, nothing))

    async def _rows(self, handles: list[bytes], deadline: float) -> tuple[dict[bytes, Row], Row]:
        """The rows that were found, by handle, and the row of the others."""
        if len(handles) == 1:
            (row,) = await self._fetch(self._one, (handles[0],), deadline)
            return {}, row
        rows = await self._fetch(self._many, (handles,), deadline)
        micros, generation, *columns = rows[0]
        return {row[_HANDLE]: row for row in rows}, (micros, generation, *[None] * len(columns))


def _fail(answer: asyncio.Future[Row], error: BaseException) -> None:
    if answer.done():
        return
    if isinstance(error, Exception):
        answer.set_exception(error)
    else:
        answer.cancel()  # the loop is ending
