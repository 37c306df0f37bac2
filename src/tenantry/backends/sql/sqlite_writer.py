"""The thread that writes to an SQLite file.

What a write costs is the wait for the disk at its commit. So the writes that have queued up meanwhile are done in one
transaction, each within a savepoint of its own, and share one commit (docs/decisions/0012-group-commit.md).
"""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from tenantry.backends.sql.driver_errors import is_locked, unavailable
from tenantry.backends.sql.engine import remaining
from tenantry.backends.sql.rows import dump_json
from tenantry.database.address import FileIdentity, SQLiteFile
from tenantry.errors import StoreUnavailable

T = TypeVar("T")

MOST_TOGETHER = 64
"""How many writes share a commit. They hold the lock of the file for some 15 ms, and the last one's for that longer."""

_REPORT_MILLISECONDS = 50
"""A wait for a lock ends so much before the deadline, so that its failure is raised in time."""


@dataclass(slots=True, eq=False)
class _Job:
    """A write that somebody waits for."""

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
    """A thread that writes, and its one connection, which is made at the first write."""

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
        job = _Job(work, deadline)
        with self._lock:
            self._queue.append(job)
            if not self._awake:
                self._thread.submit(self._work_off)
                self._awake = True
        return job.future

    def close(self) -> None:
        """Ends the thread when the writes that it has are done."""
        self._thread.submit(self._disconnect)
        self._thread.shutdown()

    def _work_off(self) -> None:
        while jobs := self._take():
            try:
                self._commit_in_time(jobs)
            except BaseException as error:  # noqa: BLE001 - a job that nobody answers would be waited for in vain
                for job in jobs:
                    if not job.future.done():
                        job.fail(error)

    def _take(self) -> list[_Job]:
        with self._lock:
            queue = self._queue
            jobs = [queue.popleft() for _ in range(min(len(queue), MOST_TOGETHER))]
            self._awake = bool(jobs)
        return jobs

    def _commit_in_time(self, jobs: list[_Job]) -> None:
        """Commits those that still wait; while another program holds the lock of the file, until their deadlines."""
        waiting = [job for job in jobs if job.future.set_running_or_notify_cancel()]
        while waiting:
            late = [job for job in waiting if remaining(job.deadline) * 1000 <= 1]
            for job in late:
                job.fail(StoreUnavailable(f"the {self._file.label} has a queue of writes: try again"))
            waiting = self._commit([job for job in waiting if job not in late])

    def _commit(self, jobs: list[_Job]) -> list[_Job]:
        """One transaction for all of them; those that it could not begin with but that still have time for another."""
        if not jobs:
            return []
        try:
            self._run_all(jobs)
        except (DBAPIError, sqlite3.Error) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            assert isinstance(cause, sqlite3.Error)  # noqa: S101 - no other driver is here
            locked = is_locked(cause)
            if not locked:
                self._disconnect()  # the next write opens the file anew
            if len(jobs) > 1 and not locked:
                for job in jobs:  # one of them is at fault, none was committed: each for itself
                    self._commit([job])
                return []
            # Those whose deadline ended the wait fail now; the others go on waiting.
            in_time = [job for job in jobs if remaining(job.deadline) * 1000 > 2 * _REPORT_MILLISECONDS]
            given_up = [job for job in jobs if job not in in_time] if locked else jobs
            for job in given_up or jobs:
                job.fail(_caller_error(error, self._file.label))
            return in_time if locked and given_up else []
        except Exception as error:  # noqa: BLE001 - of the file: it is not there, or not to be opened
            self._disconnect()
            for job in jobs:
                job.fail(error)
            return []
        for job in jobs:
            job.answer()  # now, after the commit
        return []

    def _run_all(self, jobs: list[_Job]) -> None:
        self._identity.check()
        deadline = min(job.deadline for job in jobs)
        if self._core is None or self._connection is None:
            self._core, self._connection = self._connect(remaining(deadline))
        core, connection = self._core, self._connection
        connection.execute(f"pragma busy_timeout = {_wait_for_locks(deadline)}").close()
        with core.begin():  # which sends nothing to the driver
            # The write lock at the start: a transaction that reads first and writes later could find it gone.
            connection.execute("begin immediate").close()
            for job in jobs:
                _run(core, connection, job)

    def _connect(self, left: float) -> tuple[Connection, sqlite3.Connection]:
        connection = self._file.connect(timeout=left)
        try:
            self._identity.remember()
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
    """Does one write. What it refuses is undone alone; an error of the database ends the transaction of all."""
    job.result, job.error = None, None
    connection.execute("savepoint this").close()
    try:
        job.result = job.work(core)
    except (DBAPIError, sqlite3.Error):
        raise
    except Exception as error:  # noqa: BLE001 - raised where the write is awaited
        job.error = error
        connection.execute("rollback to this").close()
    connection.execute("release this").close()


def _wait_for_locks(deadline: float) -> int:
    """Milliseconds, in round numbers: so the statement that sets them is mostly one that has been prepared before."""
    left = int(remaining(deadline) * 1000) - _REPORT_MILLISECONDS
    return max(1, left // 10 * 10)


def _caller_error(error: Exception, label: str) -> BaseException:
    """What the caller gets for an error of the database."""
    failure = unavailable(error, label)
    if failure is None:
        return error
    failure.__cause__ = error
    return failure
