"""A store's engine for PostgreSQL through psycopg, direct or behind a pooler. Each event loop has its own
connections."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any, TypeVar
from weakref import WeakSet

import psycopg
from sqlalchemy import Connection
from sqlalchemy.dialects.postgresql.psycopg import PGDialectAsync_psycopg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.util import greenlet_spawn

from tenantry.aio import LoopLocal
from tenantry.backends.batching import TickBatcher
from tenantry.backends.sql.engine import (
    CompiledQueries,
    StoreBusy,
    StoreEngine,
    compiled_for,
    connection_lost,
    mark_retrieved,
    outdated,
    remaining,
    unavailable,
)
from tenantry.backends.sql.queries import LOOK_UP, LOOK_UP_MANY, Query
from tenantry.backends.sql.rows import Row
from tenantry.database import PARAMSTYLE, PostgresConnection, PostgresServer, driver_of, write_engine
from tenantry.errors import OutcomeUnknown
from tenantry.groups import GroupRow

T = TypeVar("T")

_READERS = 4
_WRITERS = 4
MAX_TOGETHER = 250
"""Maximum number of handles in one statement. A thousand look-ups are faster in four statements than in two: this
process handles rows while the server runs the next statement."""

_HANDLE = 2 + GroupRow._fields.index("handle")

_CONNECT_SECONDS = 5.0
_CLOSE_SECONDS = 1.0

_ERRORS = (psycopg.Error, DBAPIError, PoolTimeout, OSError)
"""Errors that ``unavailable`` converts. OSError includes TimeoutError."""


class PostgresEngine(StoreEngine):
    """Runs statements on PostgreSQL. When an event loop ends, the engine awaits ``before_close`` and then closes that
    loop's connections. ``aclose`` does not await ``before_close``."""

    def __init__(self, server: PostgresServer, before_close: Callable[[], Awaitable[None]] | None = None) -> None:
        self._server = server
        self._before_close = before_close
        self._queries = compiled_for(PGDialectAsync_psycopg(paramstyle=PARAMSTYLE))  # type: ignore[no-untyped-call]  # SQLAlchemy's own
        self._connections = LoopLocal(lambda: _PostgresConnections(server, self._queries), self._close)

    async def read(self, query: Query, values: Mapping[str, Any], deadline: float) -> Sequence[Row]:
        compiled = self._queries[query]
        connections = self._connections.get()
        return await connections.readers.fetch(compiled.text, compiled.values(values), deadline)

    def look_up(self, handle: bytes, deadline: float) -> Awaitable[Row]:
        return self._connections.get().batcher.ask(handle, deadline)

    async def write(self, work: Callable[[Connection], T], deadline: float, late: Callable[[T | None], None]) -> T:
        connections = self._connections.get()
        transaction = _Transaction(connections.engine, self._server.label)
        task = asyncio.create_task(transaction.run(work))
        connections.track(task)
        try:
            await asyncio.wait({task}, timeout=remaining(deadline))
        finally:
            # Do not wait for the cancelled task: it closes a connection, which takes long on a dead network.
            committing = transaction.committing
            finished = task.done() or not task.cancel()
        if finished and not task.cancelled():  # ``aclose`` may have cancelled the task
            return task.result()
        if committing:
            raise OutcomeUnknown(_UNKNOWN.format(self._server.label))
        raise StoreBusy(f"the {self._server.label} is too slow or busy: try again")

    async def aclose(self) -> None:
        await self._connections.aclose()

    async def _close(self, connections: _PostgresConnections) -> None:
        if self._before_close is not None and self._connections.exists():  # ``exists`` is False in ``aclose``
            await self._before_close()
        await connections.aclose()


_UNKNOWN = "the {} did not confirm a commit: check whether the write was done before you retry"


class _Transaction:
    def __init__(self, engine: AsyncEngine, label: str) -> None:
        self._engine = engine
        self._label = label
        self.committing = False

    async def run(self, work: Callable[[Connection], T]) -> T:
        try:
            try:
                return await self._attempt(work)
            except _ERRORS as error:
                if self.committing or not (connection_lost(error) or outdated(error)):
                    raise
            # A pooled connection was dead, or a table was altered. Nothing was committed, so run the write again. Close
            # the other pooled connections, which are likely to fail too.
            await self._engine.dispose()
            return await self._attempt(work)
        except _ERRORS as error:
            if self.committing and connection_lost(error):
                raise OutcomeUnknown(_UNKNOWN.format(self._label)) from error
            failure = unavailable(error, self._label)
            if failure is None:
                raise
            raise failure from error

    async def _attempt(self, work: Callable[[Connection], T]) -> T:
        pool = self._engine.pool
        try:
            return await self._run_once(work)
        finally:
            if self._engine.pool is not pool:  # another write replaced it, and nothing else would close our connection
                await greenlet_spawn(pool.dispose)

    async def _run_once(self, work: Callable[[Connection], T]) -> T:
        async with self._engine.connect() as connection:
            await connection.begin()  # SQLAlchemy's state only: sends nothing
            try:
                await driver_of(await connection.get_raw_connection()).begin()
                result = await connection.run_sync(work)
                self.committing = True
                await connection.commit()
            except _ERRORS as error:
                if connection_lost(error):
                    await connection.invalidate()  # SQLAlchemy does not see the errors of fixed statements
                raise
            return result


class _PostgresConnections:
    def __init__(self, server: PostgresServer, queries: CompiledQueries) -> None:
        self.readers = ReadConnections(server)
        self._one, self._many = queries[LOOK_UP].text, queries[LOOK_UP_MANY].text
        self.batcher: TickBatcher[bytes, Row] = TickBatcher(self._look_up, size=MAX_TOGETHER)
        self._server = server
        self.engine = write_engine(self._connect, pool_size=_WRITERS, max_overflow=0)
        self._writers: WeakSet[PostgresConnection] = WeakSet()
        self._ended = False
        self._tasks: set[asyncio.Task[Any]] = set()

    async def _connect(self) -> PostgresConnection:
        writer: PostgresConnection = await self._server.connect(seconds=_CONNECT_SECONDS, transactions=True)
        self._writers.add(writer)
        if self._ended:  # for a late write, which retries after its connection was terminated
            writer.terminate()
        return writer

    async def _look_up(self, handles: list[bytes], deadline: float) -> dict[bytes, Row]:
        if len(handles) == 1:
            (row,) = await self.readers.fetch(self._one, (handles[0],), deadline)
            return {handles[0]: row}
        rows = await self.readers.fetch(self._many, (handles,), deadline)
        micros, generation, *columns = rows[0]
        without_group: Row = (micros, generation, *[None] * len(columns))
        return dict.fromkeys(handles, without_group) | {row[_HANDLE]: row for row in rows}

    def track(self, task: asyncio.Task[Any]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(mark_retrieved)

    async def aclose(self) -> None:
        self.readers.end()
        try:
            if self._tasks:
                _, late = await asyncio.wait(self._tasks, timeout=_CLOSE_SECONDS)
                for task in late:
                    task.cancel()
                if late:
                    await asyncio.wait(late, timeout=_CLOSE_SECONDS)
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await self.engine.dispose()
        finally:
            self._ended = True
            # ``dispose`` does not close connections that are in use. If it takes too long, it may leave all connections
            # open.
            for writer in self._writers:
                writer.terminate()


class ReadConnections:
    """Keeps at most four connections for the reads of one event loop."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._idle: list[PostgresConnection] = []
        self._free = asyncio.Semaphore(_READERS)
        self._ended = False

    async def fetch(self, text: str, values: tuple[Any, ...], deadline: float) -> Sequence[Row]:
        try:
            async with asyncio.timeout(remaining(deadline)), self._free:
                try:
                    return await self._fetch(text, values, deadline)
                except _ERRORS as error:
                    if isinstance(error, TimeoutError) or not (connection_lost(error) or outdated(error)):
                        raise
                self.close()  # the other idle connections are likely to fail too
                return await self._fetch(text, values, deadline)
        except _ERRORS as error:
            failure = unavailable(error, self._server.label)
            if failure is None:
                raise
            raise failure from error

    async def _fetch(self, text: str, values: tuple[Any, ...], deadline: float) -> Sequence[Row]:
        reader = self._idle.pop() if self._idle else await self._server.connect(seconds=remaining(deadline))
        with ExitStack() as undo:
            undo.callback(reader.terminate)  # an answer may still arrive on it
            rows, _ = await reader.run(text, values)
            undo.pop_all()
        if self._ended:
            reader.terminate()
        else:
            self._idle.append(reader)
        return rows

    def close(self) -> None:
        while self._idle:
            self._idle.pop().terminate()

    def end(self) -> None:
        self._ended = True
        self.close()
