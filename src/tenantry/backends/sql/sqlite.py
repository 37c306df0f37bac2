"""A store's engine for SQLite. Reads run in the event loop, writes on one thread. Waiting writes share a transaction,
each in a savepoint (docs/decisions/0012-group-commit.md)."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Connection, create_engine
from sqlalchemy.dialects.sqlite import dialect as sqlite_dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from tenantry.backends.sql.engine import StoreBusy, StoreEngine, compiled_for, is_locked, remaining, unavailable
from tenantry.backends.sql.queries import LOOK_UP, Query
from tenantry.backends.sql.rows import Row, dump_json
from tenantry.database import RUN_MIGRATE, FileIdentity, SQLiteFile
from tenantry.errors import MigrationNeeded, OutcomeUnknown

T = TypeVar("T")

MAX_TOGETHER = 64
"""Maximum number of writes that share a commit. They hold the file's lock for about 15 ms."""

_REPORT_MILLISECONDS = 50
"""A wait for a lock ends this long before the deadline, so that the caller gets the error in time."""

_CACHE_KIB = 2_000
"""Size of the reader's page cache. The first read after a write drops all pages, which blocks the event loop for 250 µs
(1.7 ms with 16 MB)."""

_LOCK_POLL_SECONDS = 0.01
_COMMIT_SLACK_SECONDS = 0.25
"""The caller of a running write waits this much longer than the deadline."""


class SQLiteEngine(StoreEngine):
    def __init__(self, file: SQLiteFile) -> None:
        self._file = file
        self._queries = compiled_for(sqlite_dialect())
        self._look_up = self._queries[LOOK_UP].text
        self._identity = FileIdentity(file)
        self._reader: sqlite3.Cursor | None = None  # for all reads: each fetches all its rows at once
        self._reading = threading.Lock()
        self._writer: SQLiteWriter | None = None
        self._writing = threading.Lock()

    async def read(self, query: Query, values: Mapping[str, Any], deadline: float) -> Sequence[Row]:
        compiled = self._queries[query]
        return await self._fetch(compiled.text, compiled.values(values), deadline)

    async def look_up(self, handle: bytes, deadline: float) -> Row:
        rows = await self._fetch(self._look_up, (handle,), deadline)
        if not rows:
            raise MigrationNeeded(f"the {self._file.label} has an empty table `generation`: {RUN_MIGRATE}")
        return rows[0]

    async def _fetch(self, text: str, values: tuple[Any, ...], deadline: float) -> Sequence[Row]:
        while True:
            try:
                with self._reading:
                    self._identity.check()
                    return self._read(text, values)
            except sqlite3.Error as error:
                # In WAL mode a reader never waits for a writer. It waits only for an exclusive lock, or for recovery
                # after a crash.
                if is_locked(error) and remaining(deadline):
                    await asyncio.sleep(_LOCK_POLL_SECONDS)
                    continue
                failure = unavailable(error, self._file.label, self._file.problem)
                if failure is None:
                    raise
                self._close_reader()  # its cache may hold pages of the damaged file
                raise failure from error

    def _close_reader(self) -> None:
        with self._reading:
            reader, self._reader = self._reader, None
        if reader is not None:
            reader.connection.close()

    def _read(self, text: str, values: tuple[Any, ...]) -> Sequence[Row]:
        """The caller must hold the lock and have checked the file's identity."""
        return (self._reader or self._open()).execute(text, values).fetchall()

    def _open(self) -> sqlite3.Cursor:
        connection = self._file.connect(timeout=0)  # waiting for a lock would block the event loop
        with ExitStack() as undo:
            undo.callback(connection.close)
            self._identity.remember()
            for setting in ("query_only = 1", f"cache_size = -{_CACHE_KIB}"):
                connection.execute(f"pragma {setting}").close()
            undo.pop_all()
        self._reader = connection.cursor()
        return self._reader

    async def write(self, work: Callable[[Connection], T], deadline: float, late: Callable[[T | None], None]) -> T:
        with self._writing:  # so that ``aclose`` in another event loop does not close a writer with new work
            if self._writer is None:
                self._writer = SQLiteWriter(self._file, self._identity)
            future = self._writer.submit(work, deadline)
        waiting = asyncio.wrap_future(future)
        await asyncio.wait({waiting}, timeout=remaining(deadline))
        if not waiting.done() and not future.cancel():
            await asyncio.wait({waiting}, timeout=_COMMIT_SLACK_SECONDS)
        if waiting.done() and not waiting.cancelled():
            return waiting.result()
        if future.cancelled():
            raise StoreBusy(f"the {self._file.label} has too many queued writes: try again")

        def report(done: asyncio.Future[T]) -> None:
            late(None if done.cancelled() or done.exception() is not None else done.result())

        waiting.add_done_callback(report)
        raise OutcomeUnknown(
            f"the {self._file.label} has not confirmed the write in time: before you try again, "
            "check whether it was done"
        )

    async def aclose(self) -> None:
        self._close_reader()
        with self._writing:
            writer, self._writer = self._writer, None
        if writer is not None:
            await asyncio.to_thread(writer.close)
        self._identity.forget()


# --- the thread that writes ---


@dataclass(slots=True, eq=False)
class _Job:
    work: Callable[[Connection], Any]
    deadline: float
    future: Future[Any] = field(default_factory=Future)
    result: Any = None
    error: BaseException | None = None

    def answer(self) -> None:
        if self.error is None:
            self.future.set_result(self.result)
        else:
            self.future.set_exception(self.error)

    def fail(self, error: BaseException) -> None:
        self.error = error
        self.answer()


class SQLiteWriter:
    def __init__(self, file: SQLiteFile, identity: FileIdentity) -> None:
        self._file = file
        self._identity = identity
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tenantry-writer")
        self._queue: deque[_Job] = deque()
        self._awake = False
        self._lock = threading.Lock()
        self._core: Connection | None = None
        self._connection: sqlite3.Connection | None = None

    def submit(self, work: Callable[[Connection], T], deadline: float) -> Future[T]:
        """Queue a write. The future fails with the error of ``work`` or with StoreUnavailable."""
        job = _Job(work, deadline)
        with self._lock:
            self._queue.append(job)
            if not self._awake:
                self._thread.submit(self._work_off)
                self._awake = True
        return job.future

    def close(self) -> None:
        self._thread.submit(self._disconnect)
        self._thread.shutdown()

    def _work_off(self) -> None:
        queue = self._queue
        while True:
            with self._lock:
                jobs = [queue.popleft() for _ in range(min(len(queue), MAX_TOGETHER))]
                self._awake = bool(jobs)
            if not jobs:
                return
            try:
                with ExitStack() as undo:
                    undo.callback(self._disconnect)  # after an error such as a missing file
                    self._commit_in_time(jobs)
                    undo.pop_all()
            except BaseException as error:  # noqa: BLE001 - each job needs an answer, or its caller waits forever
                for job in jobs:
                    if not job.future.done():
                        job.fail(error)

    def _commit_in_time(self, jobs: list[_Job]) -> None:
        waiting = [job for job in jobs if job.future.set_running_or_notify_cancel()]
        while waiting:
            late = [job for job in waiting if remaining(job.deadline) * 1000 <= 1]
            for job in late:
                job.fail(StoreBusy(f"the {self._file.label} has too many queued writes: try again"))
            waiting = self._commit([job for job in waiting if job not in late])

    def _commit(self, jobs: list[_Job]) -> list[_Job]:
        """Commit the writes together. If the file is locked, return the writes whose deadlines allow another
        attempt."""
        if not jobs:
            return []
        try:
            self._run_all(jobs)
        except (DBAPIError, sqlite3.Error) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            assert isinstance(cause, sqlite3.Error)  # noqa: S101 - only sqlite3 is used here
            locked = is_locked(cause)
            if not locked:
                self._disconnect()  # the next write opens the file anew
            if len(jobs) > 1 and not locked:
                for job in jobs:  # one of the jobs caused the error, and none was committed, so run each alone
                    self._commit([job])
                return []
            # The lock wait ended at the earliest deadline. Writes with a later deadline are tried again.
            in_time = [job for job in jobs if remaining(job.deadline) * 1000 > 2 * _REPORT_MILLISECONDS]
            given_up = [job for job in jobs if job not in in_time] if locked else jobs
            failure = unavailable(error, self._file.label, self._file.problem)
            if failure is not None:
                failure.__cause__ = error
            for job in given_up or jobs:
                job.fail(failure or error)
            return in_time if locked and given_up else []
        for job in jobs:
            job.answer()  # only after the commit
        return []

    def _run_all(self, jobs: list[_Job]) -> None:
        self._identity.check()
        deadline = min(job.deadline for job in jobs)
        if self._core is None or self._connection is None:
            self._core, self._connection = self._connect(remaining(deadline))
        core, connection = self._core, self._connection
        # Rounded to 10 ms, so that sqlite3 usually finds the statement in its statement cache.
        wait = max(1, (int(remaining(deadline) * 1000) - _REPORT_MILLISECONDS) // 10 * 10)
        connection.execute(f"pragma busy_timeout = {wait}").close()
        with core.begin():  # SQLAlchemy's state only: sends nothing
            # Take the write lock now: a transaction that begins with a read may fail to get it later.
            connection.execute("begin immediate").close()
            for job in jobs:
                _run(core, connection, job)

    def _connect(self, left: float) -> tuple[Connection, sqlite3.Connection]:
        connection = self._file.connect(timeout=left)
        with ExitStack() as undo:
            undo.callback(connection.close)
            self._identity.remember()
            for setting in ("journal_mode = wal", "synchronous = full", "foreign_keys = on"):
                connection.execute(f"pragma {setting}").close()
            undo.pop_all()
        engine = create_engine(
            "sqlite://",
            creator=lambda: connection,
            poolclass=StaticPool,
            json_serializer=dump_json,
            hide_parameters=True,
        )
        return engine.connect(), connection

    def _disconnect(self) -> None:
        core, self._core = self._core, None
        connection, self._connection = self._connection, None
        if core is not None:
            core.close()
            core.engine.dispose()
        if connection is not None:
            connection.close()


def _run(core: Connection, connection: sqlite3.Connection, job: _Job) -> None:
    """Run one write. A database error ends the shared transaction; any other error undoes only this write."""
    job.result, job.error = None, None
    connection.execute("savepoint this").close()
    try:
        job.result = job.work(core)
    except (DBAPIError, sqlite3.Error):
        raise
    except Exception as error:  # noqa: BLE001 - the caller's future gets it
        job.error = error
        connection.execute("rollback to this").close()
    connection.execute("release this").close()
