"""Looks: the look-ups of one event loop, asked together.

When many groups are missed in one tick of the loop, as after a start or a flush, one statement for all of them costs
each a fraction of its own round trip. A lone look-up waits for the end of the tick and no longer.
"""

from __future__ import annotations

import asyncio
from typing import Any

from tenantry.backends.sql.postgres_reader import Readers
from tenantry.backends.sql.rows import Row

MOST_TOGETHER = 500
"""Handles in one statement: its answer is at most so many rows, read in one piece."""

_HANDLE = 7
"""The column of the handle in LOOK_MANY."""


class Looks:
    """``one`` and ``many`` are the texts of LOOK and LOOK_MANY."""

    def __init__(self, readers: Readers, one: str, many: str) -> None:
        self._readers = readers
        self._one = one
        self._many = many
        self._waiting: dict[bytes, list[asyncio.Future[Row]]] = {}
        self._deadline = 0.0
        self._tasks: set[asyncio.Task[None]] = set()

    async def look(self, handle: bytes, deadline: float) -> Row:
        """Raises the driver's errors, and TimeoutError at the deadline."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            self._deadline = deadline  # of the first: the others have asked in the same tick
            loop.call_soon(self._ask_all)
        answer: asyncio.Future[Row] = loop.create_future()
        self._waiting.setdefault(handle, []).append(answer)
        return await answer

    def _ask_all(self) -> None:
        waiting, self._waiting = self._waiting, {}
        handles = list(waiting)
        for start in range(0, len(handles), MOST_TOGETHER):
            some = {handle: waiting[handle] for handle in handles[start : start + MOST_TOGETHER]}
            task = asyncio.get_running_loop().create_task(self._ask(some, self._deadline))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _ask(self, waiting: dict[bytes, list[asyncio.Future[Row]]], deadline: float) -> None:
        try:
            found = await self._fetch(list(waiting), deadline)
        except BaseException as error:
            for answers in waiting.values():
                for answer in answers:
                    _fail(answer, error)
            if not isinstance(error, Exception):
                raise
            return
        for handle, answers in waiting.items():
            for answer in answers:
                if not answer.done():
                    answer.set_result(found[handle])

    async def _fetch(self, handles: list[bytes], deadline: float) -> dict[bytes, Row]:
        if len(handles) == 1:
            return {handles[0]: (await self._readers.fetch(self._one, (handles[0],), deadline))[0]}
        rows = await self._readers.fetch(self._many, (handles,), deadline)
        nothing: tuple[Any, ...] = (rows[0][0], rows[0][1], *[None] * (len(rows[0]) - 2))
        return dict.fromkeys(handles, nothing) | {row[_HANDLE]: row for row in rows if row[_HANDLE] is not None}


def _fail(answer: asyncio.Future[Row], error: BaseException) -> None:
    if answer.done():
        return
    if isinstance(error, Exception):
        answer.set_exception(error)
    else:
        answer.cancel()  # the loop is ending
