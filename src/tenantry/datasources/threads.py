"""ThreadedSource: a bounded pool of blocking connections, each used by one thread at a time.

The thread of a query that was cancelled or ran too long is interrupted; its slot in the pool comes free when it has
really stopped, so that no more than ``pool_size`` queries ever run at once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from threading import Lock
from typing import Any, Generic

from tenantry.datasources.driver import (
    Answer,
    C,
    Driver,
    Found,
    ReusingDriver,
    busy_error,
    timeout_error,
    unreachable_error,
)
from tenantry.datasources.limits import Limits
from tenantry.errors import InvalidSource, SourceUnavailable, TenantryError
from tenantry.sql import BoundSQL

_INTERRUPT_INTERVAL = 0.05  # seconds: an interrupt may fall between the opening and the start of a query


class _Query(Generic[C]):
    """One query in its thread. ``run`` returns rows or an error and raises none: a driver's quotes values."""

    def __init__(self, driver: Driver[C], idle: deque[C], is_reusable: Callable[[C], bool] | None) -> None:
        self._driver = driver
        self._idle = idle
        self._is_reusable = is_reusable
        self._lock = Lock()
        self._connection: C | None = None
        self._stopped = False

    def run(self, shape: Callable[[Answer], Found], bound: BoundSQL) -> Found | TenantryError:
        """In a thread: the rows of the query in this shape, or the error."""
        reused = self._take_idle()
        if reused is not None:
            outcome = self._fetch(reused, shape, bound)
            if not isinstance(outcome, SourceUnavailable) or self._stopped:
                return outcome
            # The server closed it while it was idle. A query only reads, so it may be sent once more.
        opened = self._open()
        return opened if isinstance(opened, TenantryError) else self._fetch(opened, shape, bound)

    def _fetch(self, connection: C, shape: Callable[[Answer], Found], bound: BoundSQL) -> Found | TenantryError:
        with self._lock:
            self._connection = connection
        outcome: Found | TenantryError
        try:
            outcome = shape(self._driver.fetch(connection, bound))
        except TenantryError as error:
            outcome = error.with_traceback(None)
        except Exception as error:  # noqa: BLE001  # whatever a driver raises may quote a value: none of it may leave
            outcome = self._driver.failure(error)
        with self._lock:  # from here on nobody may stop this connection: it may serve another query
            self._connection = None
        # One that was told to stop is closed, even if its query had ended: its next query could be stopped instead.
        failed = isinstance(outcome, TenantryError) if self._is_reusable is None else not self._is_reusable(connection)
        if self._stopped or failed:
            with suppress(Exception):
                self._driver.close(connection)
        else:
            self._idle.append(connection)
        return outcome

    def _take_idle(self) -> C | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def _open(self) -> C | TenantryError:
        try:
            return self._driver.open()
        except TenantryError as error:
            return error.with_traceback(None)
        except Exception as error:  # noqa: BLE001  # as above: it may quote the URL
            return unreachable_error(self._driver.source_id, error)

    def stop(self) -> None:
        """From any thread: interrupts the query, and lets no other begin."""
        with self._lock:
            self._stopped = True
            if self._connection is not None:
                with suppress(Exception):
                    self._driver.interrupt(self._connection)


class ThreadedSource(Generic[C]):
    """A DataSource over a blocking driver. Opens nothing before the first query."""

    def __init__(self, driver: Driver[C], limits: Limits) -> None:
        self.dialect: str = driver.dialect
        self.paramstyle: str = driver.paramstyle
        self._driver = driver
        self._limits = limits
        self._is_reusable = driver.is_reusable if isinstance(driver, ReusingDriver) else None
        self._slots = asyncio.Semaphore(limits.pool_size)
        self._threads = ThreadPoolExecutor(limits.pool_size, thread_name_prefix=f"tenantry-{driver.source_id}")
        self._idle: deque[C] = deque()
        self._running: set[_Query[C]] = set()
        self._closed = False

    async def fetch(self, shape: Callable[[Answer], Found], bound: BoundSQL, session: BoundSQL | None = None) -> Found:
        """Raises DataSourceError; SourceUnavailable when no connection comes free in time; InvalidSource for session
        variables, which a Driver cannot set."""
        if session is not None:
            raise InvalidSource(f"data source {self._driver.source_id} cannot set session variables")
        await self._take_slot()
        query = _Query(self._driver, self._idle, self._is_reusable)
        work = asyncio.get_running_loop().run_in_executor(self._threads, query.run, shape, bound)
        self._running.add(query)
        work.add_done_callback(partial(self._finish, query))
        try:
            await asyncio.wait({work}, timeout=self._limits.timeout)
        finally:
            if not work.done():
                self._stop(query, work)
        if not work.done():
            raise timeout_error(self._driver.source_id, self._limits.timeout)
        outcome: Found | TenantryError = work.result()
        if isinstance(outcome, TenantryError):
            raise outcome
        return outcome

    async def _take_slot(self) -> None:
        got = False
        with suppress(TimeoutError):
            async with asyncio.timeout(self._limits.connect_timeout):
                got = await self._slots.acquire()
        if not got:
            raise busy_error(self._driver.source_id)
        if self._closed:
            self._slots.release()
            raise SourceUnavailable(f"data source {self._driver.source_id} is being closed; try again", retry_after=1)

    def _finish(self, query: _Query[C], _: asyncio.Future[Any]) -> None:
        self._running.discard(query)
        self._slots.release()

    def _stop(self, query: _Query[C], work: asyncio.Future[Any]) -> None:
        if not work.done():
            query.stop()
            work.get_loop().call_later(_INTERRUPT_INTERVAL, self._stop, query, work)

    async def aclose(self) -> None:
        """Stops what is running, waits for it, and closes every connection."""
        self._closed = True
        while self._running:
            for query in self._running:
                query.stop()
            await asyncio.sleep(_INTERRUPT_INTERVAL / 10)
        await asyncio.to_thread(self._close_all, True)

    def abandon(self) -> None:
        """The same without waiting for threads that still run."""
        self._closed = True
        for query in self._running:
            query.stop()
        self._close_all(False)

    def _close_all(self, wait: bool) -> None:
        self._threads.shutdown(wait=wait)
        while self._idle:
            with suppress(Exception):
                self._driver.close(self._idle.pop())
        self._driver.shutdown()
