"""SQLite: reads directly in the event loop, writes on one thread of their own.

A point read takes less time than the hop to another thread would. A write waits for the disk, so all writes go to one
thread with one connection, which is also the order in which SQLite would take them.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from sqlalchemy import Connection, create_engine, event
from sqlalchemy import Engine as CoreEngine
from sqlalchemy.dialects.sqlite import dialect as sqlite_dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from tenantry.backends.sql.engine import remaining
from tenantry.backends.sql.failures import is_locked, unavailable
from tenantry.backends.sql.queries import Query, Texts
from tenantry.backends.sql.rows import Row, dump_json
from tenantry.errors import OutcomeUnknown, StoreUnavailable
from tenantry.migrations.address import SQLiteFile

T = TypeVar("T")

_LOCK_POLL_SECONDS = 0.01
_COMMIT_SLACK_SECONDS = 0.25
"""How much longer than its deadline a write is waited for that has its lock and is at work."""

_REPORT_MILLISECONDS = 50
"""A wait for a lock ends so much before the deadline, so that its failure is told in time."""


class SQLiteEngine:
    """The Engine of an SQLite file. May be used from several event loops and threads."""

    def __init__(self, file: SQLiteFile) -> None:
        self._file = file
        self._texts = Texts(sqlite_dialect())
        self._place = _Place(file)
        self._reader: sqlite3.Connection | None = None
        self._reading = threading.Lock()
        self._writer: _Writer | None = None
        self._writing = threading.Lock()

    async def read(self, query: Query, values: Mapping[str, Any], deadline: float) -> Sequence[Row]:
        compiled = self._texts[query]
        parameters = compiled.values(values)
        while True:
            try:
                with self._reading:
                    self._place.check()
                    reader = self._reader or self._open()
                    return reader.execute(compiled.text, parameters).fetchall()
            except sqlite3.Error as error:
                # In WAL mode no writer locks readers out; recovery after a crash and exclusive tools do.
                if is_locked(error) and remaining(deadline):
                    await asyncio.sleep(_LOCK_POLL_SECONDS)
                    continue
                failure = unavailable(error, self._file.label)
                if failure is None:
                    raise
                raise failure from error

    def _open(self) -> sqlite3.Connection:
        reader = self._file.connect(timeout=0)  # a wait for a lock would hold the event loop
        try:
            self._place.remember()
            reader.execute("pragma query_only = 1")
        except BaseException:
            reader.close()
            raise
        self._reader = reader
        return reader

    async def write(self, work: Callable[[Connection], T], deadline: float, late: Callable[[], None]) -> T:
        future = self._submit(work, deadline)
        waiting = asyncio.wrap_future(future)
        await asyncio.wait({waiting}, timeout=remaining(deadline))
        if not waiting.done() and not future.cancel():
            await asyncio.wait({waiting}, timeout=_COMMIT_SLACK_SECONDS)
        if waiting.done() and not waiting.cancelled():
            return waiting.result()
        if future.cancelled():
            raise StoreUnavailable(f"the {self._file.label} has a queue of writes: try again")
        waiting.add_done_callback(lambda _: late())
        raise OutcomeUnknown(f"the {self._file.label} has not confirmed the write in time: look before trying again")

    def _submit(self, work: Callable[[Connection], T], deadline: float) -> Future[T]:
        with self._writing:  # another loop may be closing the store: a writer that was let go is given no more work
            if self._writer is None:
                self._writer = _Writer(self._file, self._place)
            return self._writer.submit(work, deadline)

    async def aclose(self) -> None:
        with self._reading:
            reader, self._reader = self._reader, None
        with self._writing:
            writer, self._writer = self._writer, None
        if reader is not None:
            reader.close()
        if writer is not None:
            await asyncio.to_thread(writer.close)
        self._place.forget()


class _Place:
    """Notices that another file has come to the path: what is open would go on in one that nobody can find again."""

    def __init__(self, file: SQLiteFile) -> None:
        self._file = file
        self._opened: tuple[int, int] | None = None

    def remember(self) -> None:
        if self._opened is None:
            self._opened = self._file.identity()

    def check(self) -> None:
        """Raises StoreUnavailable. Opening the new file is no way out: the old one's write-ahead log is beside it."""
        opened = self._opened  # another thread may forget it meanwhile
        if opened is not None and self._file.identity() != opened:
            raise StoreUnavailable(
                f"the {self._file.label} was moved, deleted or replaced while it was open: "
                "stop all programs that use it and start them again"
            )

    def forget(self) -> None:
        self._opened = None


class _Writer:
    """A thread that writes, and its one connection, which is made at the first write."""

    def __init__(self, file: SQLiteFile, place: _Place) -> None:
        self._file = file
        self._place = place
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tenantry-writer")
        self._engine: CoreEngine | None = None
        self._connection: sqlite3.Connection | None = None

    def submit(self, work: Callable[[Connection], T], deadline: float) -> Future[T]:
        return self._thread.submit(self._run, work, deadline)

    def close(self) -> None:
        """Ends the thread when the writes that it has are done."""
        self._thread.submit(self._disconnect)
        self._thread.shutdown()

    def _run(self, work: Callable[[Connection], T], deadline: float) -> T:
        left = remaining(deadline)
        if not left:
            raise StoreUnavailable(f"the {self._file.label} has a queue of writes: try again")
        self._place.check()
        try:
            engine = self._engine or self._connect(left)
            self._wait_for_locks_until(deadline)
            with engine.begin() as connection:
                return work(connection)
        except (DBAPIError, sqlite3.Error) as error:
            failure = unavailable(error, self._file.label)
            if failure is None:
                raise
            if not is_locked(error.orig if isinstance(error, DBAPIError) else error):  # type: ignore[arg-type]  # of sqlite3
                self._disconnect()  # the next write looks at the file anew
            raise failure from error

    def _wait_for_locks_until(self, deadline: float) -> None:
        if self._connection is not None:
            milliseconds = int(remaining(deadline) * 1000) - _REPORT_MILLISECONDS
            self._connection.execute(f"pragma busy_timeout = {max(1, milliseconds)}").close()

    def _connect(self, left: float) -> CoreEngine:
        connection = self._file.connect(timeout=left)
        try:
            self._place.remember()
            for setting in ("journal_mode = wal", "synchronous = full", "foreign_keys = on"):
                connection.execute(f"pragma {setting}").close()
        except BaseException:
            connection.close()
            raise
        engine = create_engine(
            "sqlite://",
            creator=lambda: connection,
            poolclass=StaticPool,
            json_serializer=dump_json,
            hide_parameters=True,
        )
        event.listen(engine, "begin", _begin_immediate)
        self._connection, self._engine = connection, engine
        return engine

    def _disconnect(self) -> None:
        engine, self._engine = self._engine, None
        connection, self._connection = self._connection, None
        if engine is not None:
            engine.dispose()
        if connection is not None:
            connection.close()


def _begin_immediate(connection: Connection) -> None:
    """Takes the write lock at the start: a transaction that reads first and writes later could find it gone."""
    connection.exec_driver_sql("begin immediate")
