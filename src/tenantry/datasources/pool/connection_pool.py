# A query keeps its turn until its thread has finished, even if its caller got a timeout earlier. So at most
# `pool_size` queries run at once.

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
    NoConnectionLeft,
    OnEnd,
    ReusingDriver,
    SessionDriver,
    closing_error,
    timeout_error,
)
from tenantry.datasources.pool.fair_queue import Turn
from tenantry.datasources.pool.pooled_query import Idle, PooledQuery, Work
from tenantry.datasources.pool.query_limits import Limits
from tenantry.datasources.pool.row_chunks import RowChunks
from tenantry.datasources.pool.source_stream import GRACE, SourceStream
from tenantry.datasources.results.chunks import MakeWriter
from tenantry.errors import InvalidSource, TenantryError
from tenantry.sql import BoundSQL

_INTERRUPT_INTERVAL = 0.05  # seconds; repeated, because an interrupt before the query begins has no effect

IDLE_SECONDS = 300.0
"""An idle connection is closed after at least this many seconds, and after at most twice as many."""


class ConnectionPool(Generic[C]):
    """Runs queries in threads, over the connections of one source. ``check`` refuses a new connection by raising a
    TenantryError."""

    def __init__(self, driver: Driver[C], limits: Limits, check: Callable[[C], None] | None = None) -> None:
        self.dialect: str = driver.dialect
        self.paramstyle: str = driver.paramstyle
        self.driver: Driver[C] = driver
        self._is_reusable = driver.is_reusable if isinstance(driver, ReusingDriver) else None
        self._sets_sessions = isinstance(driver, SessionDriver)
        self._limits = limits
        self._check = check
        self._threads = ThreadPoolExecutor(limits.pool_size, thread_name_prefix=f"tenantry-{driver.source_id}")
        self._idle: Idle[C] = deque()
        self._closing_idle: asyncio.TimerHandle | None = None
        self._running: dict[PooledQuery[C] | SourceStream[C], Turn] = {}
        self._closed = False

    async def fetch(
        self, shape: Callable[[Answer], Found], bound: BoundSQL, turn: Turn, session: BoundSQL | None = None
    ) -> Found:
        """Run a query and return ``shape(answer)``, computed in the query's thread. The pool releases ``turn``, which
        must have a connection. Raises DataSourceError, such as InvalidSource if the driver cannot set session
        variables."""
        work: Work[C] = self.driver.fetch
        arguments: tuple[BoundSQL, ...] = (bound,)
        if session is not None:
            work, arguments = cast("SessionDriver", self.driver).fetch_in_session, (bound, session)
        while True:
            query: PooledQuery[C] = PooledQuery(self.driver, self._is_reusable, self._idle, self.end, self._check)
            self._begin(query, turn, session)
            timer = asyncio.get_running_loop().call_later(self._limits.timeout + GRACE, self._time_out, query)
            try:
                self._threads.submit(query.run, work, arguments, shape)
                outcome: Found | TenantryError = await query.outcome
            finally:
                timer.cancel()
                if query in self._running:
                    self.stop(query)
            if not isinstance(outcome, TenantryError):
                return outcome
            if self._closed:
                raise self._closing_error()
            if turn.is_kept or turn.has_ended:
                raise outcome
            await turn.wait()  # the server had no free connection, so the turn waits for another one

    async def stream(
        self, make_writer: MakeWriter, bound: BoundSQL, turn: Turn, session: BoundSQL | None, on_end: OnEnd
    ) -> SourceStream[C]:
        """Run a query and return its rows as chunks, once the first chunk is ready."""
        while True:
            chunks = RowChunks(self.driver, bound, session, make_writer, self._limits.stream)
            stream: SourceStream[C] = SourceStream(self.driver.source_id, self, chunks, self._limits, turn, on_end)
            self._begin(stream, turn, session)
            try:
                await stream.start(
                    PooledQuery(self.driver, self._is_reusable, self._idle, stream.finish, self._check, chunks.close)
                )
            except NoConnectionLeft:
                if turn.is_kept or turn.has_ended:
                    raise
            else:
                return stream
            await turn.wait()

    def _begin(self, running: PooledQuery[C] | SourceStream[C], turn: Turn, session: BoundSQL | None) -> None:
        if self._closed:
            raise self._closing_error()
        if session is not None and not self._sets_sessions:
            raise InvalidSource(f"data source {self.driver.source_id} cannot set session variables")
        turn.is_kept = True
        self._running[running] = turn

    def submit(self, query: PooledQuery[C], work: Work[C]) -> None:
        self._threads.submit(query.run, work)

    def _time_out(self, query: PooledQuery[C]) -> None:
        if not query.outcome.done():
            query.outcome.set_result(timeout_error(self.driver.source_id, self._limits.timeout))

    def _closing_error(self) -> TenantryError:
        return closing_error(self.driver.source_id)

    def end(self, running: PooledQuery[C] | SourceStream[C], outcome: Any) -> None:
        """Deliver the outcome of a query or stream, and release its turn. If the server refused a connection, put the
        turn back into the queue instead."""
        turn = self._running.pop(running)
        is_wanted = not running.outcome.done()
        may_wait = is_wanted and not self._closed and isinstance(outcome, NoConnectionLeft)
        if not (may_wait and turn.queue.refuse(turn, len(self._idle))):
            turn.queue.release(turn)
        if is_wanted:
            running.outcome.set_result(outcome)
        if self._closing_idle is None and self._idle and not self._closed:
            self._closing_idle = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._close_idle)

    def _close_idle(self) -> None:
        self._closing_idle = None
        for connection in self._take_idle(IDLE_SECONDS):
            self._threads.submit(self.driver.close, connection)
        if self._idle:
            self._closing_idle = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._close_idle)

    def _take_idle(self, seconds: float) -> list[C]:
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
        """Interrupt a query or stream repeatedly until it ends. Does not wait."""
        if running in self._running:
            running.stop()
            asyncio.get_running_loop().call_later(_INTERRUPT_INTERVAL, self.stop, running)

    @property
    def is_running(self) -> bool:
        return bool(self._running)

    def stop_all(self) -> None:
        """Stop all queries without waiting. Callers get SourceUnavailable."""
        self._closed = True
        for running in self._running:
            if not running.outcome.done():  # do not wait: some engines cannot stop a query
                running.outcome.set_result(self._closing_error())
            running.stop()

    async def aclose(self) -> None:
        self._closed = True
        if self._closing_idle is not None:
            self._closing_idle.cancel()
        while self._running:
            for running in self._running:
                running.stop()
            await asyncio.sleep(_INTERRUPT_INTERVAL / 10)
        await asyncio.to_thread(self._close_all, True)

    def abandon(self) -> None:
        """Close without waiting for running queries. Used if the event loop has closed or the server does not
        answer."""
        self._closed = True
        for running in self._running:
            running.stop()
        self._close_all(False)

    def _close_all(self, wait: bool) -> None:
        self._threads.shutdown(wait=wait)
        for connection in self._take_idle(0):
            with suppress(Exception):
                self.driver.close(connection)
        self.driver.shutdown()
