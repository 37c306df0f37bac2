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
from time import monotonic
from typing import Any, Generic, cast

from tenantry.datasources.driver import (
    Answer,
    C,
    Driver,
    Found,
    OnEnd,
    ReusingDriver,
    SessionDriver,
    busy_error,
    timeout_error,
)
from tenantry.datasources.limits import Limits
from tenantry.datasources.pooled_query import Idle, PooledQuery, Work
from tenantry.datasources.row_pieces import RowPieces
from tenantry.datasources.streams import GRACE, SourceStream
from tenantry.errors import InvalidSource, SourceUnavailable, TenantryError
from tenantry.results.pieces import MakeWriter
from tenantry.sql import BoundSQL

_INTERRUPT_INTERVAL = 0.05  # seconds: an interrupt may fall between the opening and the start of a query

IDLE_SECONDS = 300.0
"""A connection that nobody used for so long, or up to twice as long, is closed."""


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
        self._idle: Idle[C] = deque()
        self._closing_idle: asyncio.TimerHandle | None = None
        self._running: set[PooledQuery[C] | SourceStream[C]] = set()
        self._closed = False

    async def fetch(self, shape: Callable[[Answer], Found], bound: BoundSQL, session: BoundSQL | None = None) -> Found:
        """Raises DataSourceError; SourceUnavailable when no connection comes free in time; InvalidSource for session
        variables that the driver cannot set."""
        if session is not None:
            self._check_session()
        if self._closed or self._slots.locked():
            await self._wait_for_slot()
        else:
            await self._slots.acquire()  # without a timer: it does not wait
        work: Work[C] = self._driver.fetch
        arguments: tuple[BoundSQL, ...] = (bound,)
        if session is not None:
            work, arguments = cast("SessionDriver", self._driver).fetch_in_session, (bound, session)
        query: PooledQuery[C] = PooledQuery(self._driver, self._is_reusable, self._idle, self.end)
        self._running.add(query)
        timer = asyncio.get_running_loop().call_later(self._limits.timeout + GRACE, self._time_out, query)
        try:
            self._threads.submit(query.run, work, arguments, shape)
            outcome: Found | TenantryError = await query.outcome
        finally:
            timer.cancel()
            if query in self._running:
                self.stop(query)
        if isinstance(outcome, TenantryError):
            raise self._closing_error() if self._closed else outcome
        return outcome

    async def stream(
        self, make_writer: MakeWriter, bound: BoundSQL, session: BoundSQL | None, on_end: OnEnd
    ) -> SourceStream[C]:
        """Raises as ``fetch`` does, and what the writer does."""
        if session is not None:
            self._check_session()
        await self._wait_for_slot()
        pieces = RowPieces(self._driver, bound, session, make_writer, self._limits.stream)
        stream: SourceStream[C] = SourceStream(self._driver.source_id, self, pieces, self._limits, on_end)
        self._running.add(stream)
        await stream.start(PooledQuery(self._driver, self._is_reusable, self._idle, stream.finish, pieces.close))
        return stream

    def _check_session(self) -> None:
        if not self._sets_sessions:
            raise InvalidSource(f"data source {self._driver.source_id} cannot set session variables")

    def submit(self, query: PooledQuery[C], work: Work[C]) -> None:
        """Has a thread do a step of a query."""
        self._threads.submit(query.run, work)

    def _time_out(self, query: PooledQuery[C]) -> None:
        if not query.outcome.done():
            query.outcome.set_result(timeout_error(self._driver.source_id, self._limits.timeout))

    def _closing_error(self) -> TenantryError:
        return SourceUnavailable(f"data source {self._driver.source_id} is being closed; try again", retry_after=1)

    async def _wait_for_slot(self) -> None:
        if self._closed:
            raise self._closing_error()
        got = False
        with suppress(TimeoutError):
            async with asyncio.timeout(self._limits.connect_timeout):
                got = await self._slots.acquire()
        if not got:
            raise busy_error(self._driver.source_id)
        if self._closed:
            self._slots.release()
            raise self._closing_error()

    def end(self, running: PooledQuery[C] | SourceStream[C], outcome: Any) -> None:
        """A query, or a stream, has ended: its connection is free or closed."""
        self._running.discard(running)
        self._slots.release()
        if not running.outcome.done():
            running.outcome.set_result(outcome)
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

    def stop(self, running: PooledQuery[C] | SourceStream[C]) -> None:
        """Stops it, again and again until it has ended."""
        if running in self._running:
            running.stop()
            asyncio.get_running_loop().call_later(_INTERRUPT_INTERVAL, self.stop, running)

    @property
    def is_running(self) -> bool:
        """Whether a query of it has not ended yet."""
        return bool(self._running)

    def stop_all(self) -> None:
        """Stops what is running, without waiting, and lets nothing begin."""
        self._closed = True
        for running in self._running:
            if not running.outcome.done():  # whoever waits need not wait for an engine that does not stop
                running.outcome.set_result(self._closing_error())
            running.stop()

    async def aclose(self) -> None:
        """Stops what is running, waits for it, and closes every connection."""
        self._closed = True
        if self._closing_idle is not None:
            self._closing_idle.cancel()
        while self._running:
            for running in self._running:
                running.stop()
            await asyncio.sleep(_INTERRUPT_INTERVAL / 10)
        await asyncio.to_thread(self._close_all, True)

    def abandon(self) -> None:
        """The same without waiting for threads that still run."""
        self._closed = True
        for running in self._running:
            running.stop()
        self._close_all(False)

    def _close_all(self, wait: bool) -> None:
        self._threads.shutdown(wait=wait)
        for connection in self._take_idle(0):
            with suppress(Exception):
                self._driver.close(connection)
        self._driver.shutdown()
