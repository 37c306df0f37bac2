"""PostgreSQL through psycopg: reads on held connections below its cursors, writes through SQLAlchemy Core.

It works through a pooler as well (tenantry/database/postgres.py).

Connections belong to an event loop, so each loop that uses the store has its own few. They are closed by ``aclose``, or
by the loop itself when it ends (tenantry/loop_local.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.dialects.postgresql.psycopg import PGDialectAsync_psycopg
from sqlalchemy.ext.asyncio import AsyncEngine

from tenantry.backends.sql.engine import remaining
from tenantry.backends.sql.failures import connection_lost, outdated, unavailable
from tenantry.backends.sql.postgres_looks import Looks
from tenantry.backends.sql.postgres_reader import Readers
from tenantry.backends.sql.queries import LOOK, LOOK_MANY, Query, Texts
from tenantry.backends.sql.rows import Row
from tenantry.database.address import PostgresServer
from tenantry.database.postgres import PARAMSTYLE, driver_of, write_engine
from tenantry.errors import OutcomeUnknown, StoreUnavailable
from tenantry.loop_local import LoopLocal

T = TypeVar("T")

_WRITERS = 4
_CONNECT_SECONDS = 5.0
_FAREWELL_SECONDS = 1.0


class PostgresEngine:
    """The Engine of a PostgreSQL database."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._texts = Texts(PGDialectAsync_psycopg(paramstyle=PARAMSTYLE))  # type: ignore[no-untyped-call]  # SQLAlchemy's own
        self._connections = LoopLocal(lambda: _LoopConnections(server), _LoopConnections.aclose)
        self._looks = Looks(self._fetch, self._texts[LOOK].text, self._texts[LOOK_MANY].text)

    async def read(self, query: Query, values: Mapping[str, Any], deadline: float) -> Sequence[Row]:
        compiled = self._texts[query]
        return await self._fetch(compiled.text, compiled.values(values), deadline)

    def look(self, handle: bytes, deadline: float) -> Awaitable[Row]:
        return self._looks.look(handle, deadline)

    async def _fetch(self, text: str, values: tuple[Any, ...], deadline: float) -> Sequence[Row]:
        connections = self._connections.get()
        try:
            return await connections.readers.fetch(text, values, deadline)
        except Exception as error:
            failure = unavailable(error, self._server.label)
            if failure is None:
                raise
            raise failure from error

    async def write(self, work: Callable[[Connection], T], deadline: float, late: Callable[[T | None], None]) -> T:
        connections = self._connections.get()
        transaction = _Transaction(connections.engine, self._server.label)
        task = asyncio.create_task(transaction.run(work))
        connections.keep(task)
        try:
            await asyncio.wait({task}, timeout=remaining(deadline))
        finally:
            # Cancelled, the task gives up its connection; that may take long on a dead network and is not waited for.
            committing = transaction.committing
            finished = task.done() or not task.cancel()
        if finished:
            return task.result()
        if committing:
            raise OutcomeUnknown(_UNKNOWN.format(self._server.label))
        raise StoreUnavailable(f"the {self._server.label} is too slow or busy: try again")

    async def aclose(self) -> None:
        await self._connections.aclose()


_UNKNOWN = "the connection to the {} broke during a commit: look whether it was done before trying again"


class _Transaction:
    """One write. ``committing`` tells whether its commit has been sent."""

    def __init__(self, engine: AsyncEngine, label: str) -> None:
        self._engine = engine
        self._label = label
        self.committing = False

    async def run(self, work: Callable[[Connection], T]) -> T:
        try:
            return await self._twice(work)
        except Exception as error:
            failure = self._failure(error)
            if failure is None:
                raise
            raise failure from error

    async def _twice(self, work: Callable[[Connection], T]) -> T:
        try:
            return await self._attempt(work)
        except Exception as error:
            if self.committing or not (connection_lost(error) or outdated(error)):
                raise
        # A pooled connection had died unseen, or a table was altered; what was not committed is gone, so once more is
        # once. The others are no better.
        await self._engine.dispose()
        return await self._attempt(work)

    async def _attempt(self, work: Callable[[Connection], T]) -> T:
        async with self._engine.connect() as connection:
            await connection.begin()  # SQLAlchemy's part: it sends nothing
            try:
                await driver_of(await connection.get_raw_connection()).begin()
                result = await connection.run_sync(work)
                self.committing = True
                await connection.commit()
            except Exception as error:
                if connection_lost(error):
                    await connection.invalidate()  # fixed statements go past SQLAlchemy, which has not seen it
                raise
            return result

    def _failure(self, error: Exception) -> StoreUnavailable | None:
        if self.committing and connection_lost(error):
            return OutcomeUnknown(_UNKNOWN.format(self._label))
        return unavailable(error, self._label)


class _LoopConnections:
    """The connections of one event loop: an engine for writes, readers for reads."""

    def __init__(self, server: PostgresServer) -> None:
        self.readers = Readers(server)
        self.engine = write_engine(
            lambda: server.connect(seconds=_CONNECT_SECONDS, transactions=True), pool_size=_WRITERS, max_overflow=0
        )
        self._tasks: set[asyncio.Task[Any]] = set()

    def keep(self, task: asyncio.Task[Any]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # seen: the caller has been answered

    async def aclose(self) -> None:
        self.readers.end()
        if self._tasks:  # a connection that is in use now would be closed by nobody
            await asyncio.wait(self._tasks, timeout=_FAREWELL_SECONDS)
        with suppress(TimeoutError):  # then the driver has dropped the connections without a farewell
            async with asyncio.timeout(_FAREWELL_SECONDS):
                await self.engine.dispose()
