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
from threading import Lock
from time import monotonic
from typing import Any, Final, Generic, TypeAlias, cast

from tenantry.datasources.driver import (
    Answer,
    C,
    Driver,
    Found,
    ReusingDriver,
    SessionDriver,
    busy_error,
    query_error,
    timeout_error,
    unreachable_error,
)
from tenantry.datasources.limits import Limits
from tenantry.errors import InvalidSource, SourceUnavailable, TenantryError
from tenantry.sql import BoundSQL

_INTERRUPT_INTERVAL = 0.05  # seconds: an interrupt may fall between the opening and the start of a query

_GRACE = 0.25
"""Seconds for an engine that ends a query at its timeout itself: its connection can be used again."""

IDLE_SECONDS = 300.0
"""A connection that nobody used for so long, or up to twice as long, is closed."""

Shape: TypeAlias = Callable[[Answer], Any]
Finish: TypeAlias = Callable[["_Query[C]", Any], None]
"""Takes the query and its outcome: its rows in their shape, or a TenantryError."""


class _Query(Generic[C]):
    """One query in its thread. ``run`` gives rows or an error to ``finish`` and raises none: a driver's quotes values.

    ``outcome`` is what its caller waits for.
    """

    def __init__(
        self,
        driver: Driver[C],
        is_reusable: Callable[[C], bool] | None,
        idle: deque[tuple[float, C]],
        outcome: asyncio.Future[Any],
    ) -> None:
        self.outcome: Final = outcome
        self._driver = driver
        self._is_reusable = is_reusable
        self._idle = idle
        self._lock = Lock()
        self._connection: C | None = None
        self._stopped = False

    def run(self, shape: Shape, bound: BoundSQL, session: BoundSQL | None, finish: Finish[C]) -> None:
        """In a thread; ``finish`` is called in the event loop."""
        outcome: Any = None
        try:
            reused = None
            with suppress(IndexError):
                reused = self._idle.pop()[1]
            if reused is not None:
                outcome = self._fetch(reused, shape, bound, session)
            if outcome is None or (isinstance(outcome, SourceUnavailable) and not self._stopped):
                # Or the server closed it while it was idle. A query only reads, so it may be sent once more.
                opened = self._open()
                outcome = opened if isinstance(opened, TenantryError) else self._fetch(opened, shape, bound, session)
        except BaseException as error:  # noqa: BLE001  # whatever it is, somebody waits for an outcome
            outcome = query_error(self._driver.source_id, type(error).__name__)
        with suppress(RuntimeError):  # the loop is closed
            self.outcome.get_loop().call_soon_threadsafe(finish, self, outcome)

    def _fetch(self, connection: C, shape: Shape, bound: BoundSQL, session: BoundSQL | None) -> Any:
        with self._lock:
            self._connection = connection
        outcome: Any
        try:
            if session is None:
                outcome = shape(self._driver.fetch(connection, bound))
            else:
                outcome = shape(cast("SessionDriver", self._driver).fetch_in_session(connection, bound, session))
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
            self._idle.append((monotonic(), connection))
        return outcome

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
        self._is_reusable = driver.is_reusable if isinstance(driver, ReusingDriver) else None
        self._sets_sessions = isinstance(driver, SessionDriver)
        self._limits = limits
        self._slots = asyncio.Semaphore(limits.pool_size)
        self._threads = ThreadPoolExecutor(limits.pool_size, thread_name_prefix=f"tenantry-{driver.source_id}")
        self._idle: deque[tuple[float, C]] = deque()  # since when, the oldest first
        self._closing_idle: asyncio.TimerHandle | None = None
        self._running: set[_Query[C]] = set()
        self._closed = False

    async def fetch(self, shape: Callable[[Answer], Found], bound: BoundSQL, session: BoundSQL | None = None) -> Found:
        """Raises DataSourceError; SourceUnavailable when no connection comes free in time; InvalidSource for session
        variables that the driver cannot set."""
        if session is not None and not self._sets_sessions:
            raise InvalidSource(f"data source {self._driver.source_id} cannot set session variables")
        if self._closed or self._slots.locked():
            await self._wait_for_slot()
        else:
            await self._slots.acquire()  # without a timer: it does not wait
        loop = asyncio.get_running_loop()
        query = _Query(self._driver, self._is_reusable, self._idle, loop.create_future())
        self._running.add(query)
        timer = loop.call_later(self._limits.timeout + _GRACE, self._time_out, query)
        try:
            self._threads.submit(query.run, shape, bound, session, self._finish)
            outcome: Found | TenantryError = await query.outcome
        finally:
            timer.cancel()
            if query in self._running:
                self._stop(query)
        if isinstance(outcome, TenantryError):
            raise self._closing_error() if self._closed else outcome
        return outcome

    def _time_out(self, query: _Query[C]) -> None:
        if not query.outcome.done():
            query.outcome.set_result(timeout_error(self._driver.source_id, self._limits.timeout))

    def _closing_error(self) -> TenantryError:
        return SourceUnavailable(f"data source {self._driver.source_id} is being closed; try again", retry_after=1)

    async def _wait_for_slot(self) -> None:
        got = False
        with suppress(TimeoutError):
            async with asyncio.timeout(self._limits.connect_timeout):
                got = await self._slots.acquire()
        if not got:
            raise busy_error(self._driver.source_id)
        if self._closed:
            self._slots.release()
            raise self._closing_error()

    def _finish(self, query: _Query[C], outcome: Any) -> None:
        self._running.discard(query)
        self._slots.release()
        if not query.outcome.done():
            query.outcome.set_result(outcome)
        if self._closing_idle is None and self._idle and not self._closed:
            self._closing_idle = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._close_idle)

    def _close_idle(self) -> None:
        self._closing_idle = None
        for connection in self._take_idle(IDLE_SECONDS):
            self._threads.submit(self._driver.close, connection)
        if self._idle:
            self._closing_idle = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._close_idle)

    def _take_idle(self, seconds: float) -> list[C]:
        """The connections that have been idle for so long."""
        taken: list[C] = []
        with suppress(IndexError):
            while True:
                since, connection = self._idle.popleft()
                if monotonic() - since < seconds:
                    self._idle.appendleft((since, connection))
                    break
                taken.append(connection)
        return taken

    def _stop(self, query: _Query[C]) -> None:
        if query in self._running:
            query.stop()
            asyncio.get_running_loop().call_later(_INTERRUPT_INTERVAL, self._stop, query)

    async def aclose(self) -> None:
        """Stops what is running, waits for it, and closes every connection."""
        self._closed = True
        if self._closing_idle is not None:
            self._closing_idle.cancel()
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
        for connection in self._take_idle(0):
            with suppress(Exception):
                self._driver.close(connection)
        self._driver.shutdown()
