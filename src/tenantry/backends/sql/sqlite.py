"""SQLite: reads directly in the event loop, writes on one thread of their own.

A point read takes less time than the hop to another thread would. A write waits for the disk, so all writes go to one
thread with one connection, which is also the order in which SQLite would take them.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.dialects.sqlite import dialect as sqlite_dialect

from tenantry.backends.sql.driver_errors import is_locked, unavailable
from tenantry.backends.sql.engine import remaining
from tenantry.backends.sql.queries import CALLER, LOOK_UP, Query
from tenantry.backends.sql.rows import Row
from tenantry.backends.sql.sqlite_writer import SQLiteWriter
from tenantry.backends.sql.statements import CompiledQueries
from tenantry.database.address import RUN_MIGRATE, FileIdentity, SQLiteFile
from tenantry.errors import MigrationNeeded, OutcomeUnknown, StoreUnavailable

T = TypeVar("T")

_CACHE_KIB = 2_000
"""Pages that the reader caches at most. The first read after any write drops them all, in the event loop: that takes
250 µs, and 1.7 ms with 16 MB, for which a look-up of one of 50,000 groups takes a twentieth less."""

_LOCK_POLL_SECONDS = 0.01
_COMMIT_SLACK_SECONDS = 0.25
"""How much longer than its deadline a write is waited for that has its lock and is at work."""


class SQLiteEngine:
    """The Engine of an SQLite file. May be used from several event loops and threads."""

    def __init__(self, file: SQLiteFile) -> None:
        self._file = file
        self._queries = CompiledQueries(sqlite_dialect())
        self._look_up = self._queries[LOOK_UP].text
        self._identity = FileIdentity(file)
        self._reader: sqlite3.Cursor | None = None  # one for all reads, which have all their rows when they end
        self._reading = threading.Lock()
        self._writer: SQLiteWriter | None = None
        self._writing = threading.Lock()

    async def read(self, query: Query, values: Mapping[str, Any], deadline: float) -> Sequence[Row]:
        compiled = self._queries[query]
        text, bound = compiled.text, compiled.values(values)
        rows = self._fast_read(text, bound) if query is CALLER else None
        return await self._fetch(text, bound, deadline) if rows is None else rows

    async def look_up(self, handle: bytes, deadline: float) -> Row:
        rows = self._fast_read(self._look_up, (handle,))
        if rows is None:
            rows = await self._fetch(self._look_up, (handle,), deadline)
        if not rows:
            raise MigrationNeeded(f"the {self._file.label} has lost its generation: {RUN_MIGRATE}")
        return rows[0]

    def _fast_read(self, text: str, values: tuple[Any, ...]) -> Sequence[Row] | None:
        """For the two reads that come in crowds (docs/decisions/0021-fast-reads.md). None if SQLite would not: then
        ``_fetch`` handles it."""
        try:
            with self._reading:
                self._identity.check_recent()
                return self._read(text, values)
        except sqlite3.Error:
            return None

    async def _fetch(self, text: str, values: tuple[Any, ...], deadline: float) -> Sequence[Row]:
        while True:
            try:
                return self._checked_read(text, values)
            except sqlite3.Error as error:
                # In WAL mode no writer locks readers out; recovery after a crash and exclusive tools do.
                if is_locked(error) and remaining(deadline):
                    await asyncio.sleep(_LOCK_POLL_SECONDS)
                    continue
                failure = unavailable(error, self._file.label)
                if failure is None:
                    raise
                self._close_reader()
                raise failure from error

    def _close_reader(self) -> None:
        """The next read opens the file anew: this connection caches what it read of one that was damaged."""
        with self._reading:
            reader, self._reader = self._reader, None
        if reader is not None:
            reader.connection.close()

    def _checked_read(self, text: str, values: tuple[Any, ...]) -> Sequence[Row]:
        with self._reading:
            self._identity.check()
            return self._read(text, values)

    def _read(self, text: str, values: tuple[Any, ...]) -> Sequence[Row]:
        """To be called with the lock held and the identity of the file checked."""
        return (self._reader or self._open()).execute(text, values).fetchall()

    def _open(self) -> sqlite3.Cursor:
        connection = self._file.connect(timeout=0)  # a wait for a lock would hold the event loop
        try:
            self._identity.remember()
            for setting in ("query_only = 1", f"cache_size = -{_CACHE_KIB}"):
                connection.execute(f"pragma {setting}").close()
        except BaseException:
            connection.close()
            raise
        self._reader = connection.cursor()
        return self._reader

    async def write(self, work: Callable[[Connection], T], deadline: float, late: Callable[[T | None], None]) -> T:
        future = self._submit(work, deadline)
        waiting = asyncio.wrap_future(future)
        await asyncio.wait({waiting}, timeout=remaining(deadline))
        if not waiting.done() and not future.cancel():
            await asyncio.wait({waiting}, timeout=_COMMIT_SLACK_SECONDS)
        if waiting.done() and not waiting.cancelled():
            return waiting.result()
        if future.cancelled():
            raise StoreUnavailable(f"the {self._file.label} has a queue of writes: try again")
        waiting.add_done_callback(lambda done: late(_result(done)))
        raise OutcomeUnknown(f"the {self._file.label} has not confirmed the write in time: check before trying again")

    def _submit(self, work: Callable[[Connection], T], deadline: float) -> Future[T]:
        with (
            self._writing
        ):  # another loop may be closing the store: a writer that is being closed is given no more work
            if self._writer is None:
                self._writer = SQLiteWriter(self._file, self._identity)
            return self._writer.submit(work, deadline)

    async def aclose(self) -> None:
        with self._reading:
            reader, self._reader = self._reader, None
        with self._writing:
            writer, self._writer = self._writer, None
        if reader is not None:
            reader.connection.close()
        if writer is not None:
            await asyncio.to_thread(writer.close)
        self._identity.forget()


def _result(done: asyncio.Future[T]) -> T | None:
    return None if done.cancelled() or done.exception() is not None else done.result()
