"""Runner: runs reads and writes on an engine, each by its deadline, and tells the listeners of the writes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection

from tenantry.backends.listeners import Listeners
from tenantry.backends.sql.engine import Engine
from tenantry.backends.sql.queries import Query
from tenantry.backends.sql.rows import Row
from tenantry.backends.sql.sqlite import SQLiteEngine
from tenantry.migrations.address import PostgresServer, SQLiteFile

T = TypeVar("T")

_WAITING = 0.95


class Runner:
    """One database, the patience of its callers in seconds, and who hears of its writes."""

    def __init__(self, address: SQLiteFile | PostgresServer, *, patience: float) -> None:
        self.listeners = Listeners()
        self._patience = patience
        self._tasks: set[asyncio.Task[Any]] = set()
        self._engine: Engine
        if isinstance(address, SQLiteFile):
            self._engine = SQLiteEngine(address)
        else:
            from tenantry.backends.sql.postgres import PostgresEngine  # its dialect is loaded for this engine alone

            self._engine = PostgresEngine(address)

    def deadline(self) -> float:
        """The moment until which a call that begins now may wait: a little before its caller's patience ends, so that
        the answer is not late itself."""
        return time.monotonic() + self._patience * _WAITING

    async def read(self, query: Query, deadline: float, /, **values: Any) -> Sequence[Row]:
        return await self._engine.read(query, values, deadline)

    async def write(self, work: Callable[[Connection], T], deadline: float, *, handle: bytes | None = None) -> T:
        """One transaction. It goes on when the caller is cancelled: the listeners hear of its real end, and a cache
        that they keep cannot fill itself with the state before a commit that comes later."""
        task = asyncio.create_task(self._announced(work, deadline, handle))
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return await asyncio.shield(task)

    async def _announced(self, work: Callable[[Connection], T], deadline: float, handle: bytes | None) -> T:
        if handle is None:
            return await self._engine.write(work, deadline, _nothing)
        with self.listeners.announced(handle):
            return await self._engine.write(work, deadline, lambda: self._announce(handle))

    def _announce(self, handle: bytes) -> None:
        """A write whose outcome was unknown has ended after all."""
        with self.listeners.announced(handle):
            pass

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # seen, also when the caller is gone: it has been told or did not want to know

    async def aclose(self) -> None:
        await self._engine.aclose()


def _nothing() -> None:
    return
