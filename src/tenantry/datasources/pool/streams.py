"""A stream of one source, in the event loop: it asks for a piece at a time, and stops the query that nobody reads.

A piece is made when it is asked for, so a reader that stops reading stops the query's rows as well. Between two pieces
the query has its connection, and no thread.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, Generic, Protocol, cast

from tenantry.datasources.driver import C, OnEnd, timeout_error
from tenantry.datasources.pool.limits import Limits
from tenantry.datasources.pool.pooled_query import Piece, PooledQuery, Work, stopped_error
from tenantry.datasources.pool.row_pieces import RowPieces
from tenantry.datasources.pool.turns import SLICE, Turn
from tenantry.datasources.reader_pace import SLOWEST, WINDOW, ReaderPace
from tenantry.errors import QueryTimeout, TenantryError

GRACE: Final = 0.25
"""Seconds for an engine that ends a query at its timeout itself: its connection can be used again."""

_LOOK_SECONDS: Final = 0.5
"""From one look whether a stream may go on to the next one."""


class Host(Protocol[C]):
    """The source of a stream."""

    def submit(self, query: PooledQuery[C], work: Work[C]) -> None:
        """Has a thread do a step of a query."""
        ...

    def stop(self, running: SourceStream[C]) -> None:
        """Stops it, again and again until it has ended."""
        ...

    def end(self, running: SourceStream[C], outcome: Any) -> None:
        """It has ended, with this outcome."""
        ...


class SourceStream(Generic[C]):
    """The pieces of one query, for one reader. ``on_end`` is called once, when it has ended or is told to stop."""

    def __init__(
        self, source_id: str, host: Host[C], pieces: RowPieces, limits: Limits, turn: Turn, on_end: OnEnd
    ) -> None:
        self._source_id = source_id
        self._host = host
        self._pieces = pieces
        self._limits = limits
        self._turn = turn
        self._on_end: OnEnd | None = on_end
        self._loop = asyncio.get_running_loop()
        self._deadline = self._loop.time() + limits.stream.timeout
        self.outcome: asyncio.Future[Any] = self._loop.create_future()
        self._reader_timer: asyncio.TimerHandle | None = None
        self._pace = ReaderPace()
        self._given = 0  # bytes that the reader has taken when it asks for the next piece
        self._given_at: float | None = None  # since when they wait for it
        self._query: PooledQuery[C] | None = None
        self._first: Piece | None = None
        self._error: TenantryError | None = None
        self._busy = False  # whether a thread has it
        self._ended = False

    @property
    def row_count(self) -> int:
        """Rows so far."""
        return self._pieces.row_count

    async def start(self, query: PooledQuery[C]) -> None:
        """Makes the first piece. Raises DataSourceError."""
        self._query = query
        self._look()
        self._first = await self._step(self._pieces.begin)

    async def next(self) -> bytes | None:
        """The next piece; None after the last one. Raises DataSourceError: also each time after it did."""
        if self._error is not None:
            raise self._error.with_traceback(None)
        if self._busy:
            raise RuntimeError("a stream has one reader: another task waits for its next piece")
        piece, self._first = self._first, None
        if piece is None:
            if self._ended or self._query is None:
                return None
            piece = await self._step(self._pieces.go_on)
        self._given = len(piece.content)
        self._wait_for_reader()
        return piece.content

    async def _step(self, work: Work[C]) -> Piece:
        self._reader_came()
        left = self._deadline - self._loop.time()
        if left <= 0:
            self._error = timeout_error(self._source_id, self._limits.stream.timeout)
            self._host.stop(self)
            raise self._error
        self.outcome = self._loop.create_future()
        timer = self._loop.call_later(min(self._limits.timeout, left) + GRACE, self._time_out)
        try:
            self._submit(work)
            outcome = await self.outcome
        except BaseException:  # whoever waited is gone
            self._host.stop(self)
            raise
        finally:
            timer.cancel()
        if isinstance(outcome, Piece) and self._error is None:
            self._wait_for_reader()
            return outcome
        self._error = self._error or cast("TenantryError", outcome)
        if self._busy:
            self._host.stop(self)
        raise self._error

    def _submit(self, work: Work[C]) -> None:
        if self._query is not None:
            self._busy = True
            self._host.submit(self._query, work)

    def finish(self, _: PooledQuery[C], outcome: Any) -> None:
        """A thread is done with a step of it."""
        self._busy = False
        if isinstance(outcome, Piece) and not outcome.is_last:
            if self._error is not None:
                self.stop()
        elif not self._ended:
            self._ended = True
            self._reader_came()
            self._host.end(self, outcome)
            if self._turn.has_ended:  # else the source tries it again, on another connection
                self._end(outcome.code if isinstance(outcome, TenantryError) else "ok")
            return
        if not self.outcome.done():
            self.outcome.set_result(outcome)

    def stop(self) -> None:
        """Stops the query, wherever it is."""
        code = "stopped" if self._error is None else self._error.code
        self._error = self._error or stopped_error(self._source_id)
        self._first = None
        self._reader_came()
        if self._ended or self._query is None:
            return
        if self._busy:
            self._query.stop()
        else:
            self._submit(self._pieces.give_up)
        self._end(code)

    def close(self, error: TenantryError | None = None) -> None:
        """Its reader reads no more, or gets ``error`` from now on: also in place of rows that the engine has given
        already, and while a thread does not come back."""
        was_open = self._error is None
        if error is not None:
            self._error, self._first = self._error or error, None
            self._reader_came()
        if was_open and not self._ended:
            self._host.stop(self)
            if error is not None and not self.outcome.done():
                self.outcome.set_result(error)

    def _end(self, outcome: str) -> None:
        on_end, self._on_end = self._on_end, None
        if on_end is not None:
            on_end(outcome, self._pieces.row_count, self._pieces.byte_count)

    def _time_out(self) -> None:
        if not self.outcome.done():
            whole = self._loop.time() >= self._deadline
            seconds = self._limits.stream.timeout if whole else self._limits.timeout
            self.outcome.set_result(timeout_error(self._source_id, seconds))

    # --- the reader ---------------------------------------------------------------------------------------------------

    def _wait_for_reader(self) -> None:
        """Its time begins. The time that the engine needs for a piece is not the reader's."""
        self._reader_came()
        if not self._ended:
            self._given_at = self._loop.time()
            self._reader_timer = self._loop.call_later(self._limits.stream.reader_timeout, self._reader_is_late)

    def _reader_came(self) -> None:
        if self._reader_timer is not None:
            self._reader_timer.cancel()
            self._reader_timer = None
        if self._given_at is not None:
            self._pace.take(self._loop.time() - self._given_at, self._given)
            self._given_at, self._given = None, 0

    def _reader_is_late(self) -> None:
        self._turn.bar()
        self._stop_for(
            f"nobody read on in the stream of data source {self._source_id} for "
            f"{self._limits.stream.reader_timeout:g} s"
        )

    def _look(self) -> None:
        """Looks again and again whether it may go on, until it has ended."""
        if self._ended or self._error is not None or not self._turn.is_stream:
            return
        if self._given_at is not None and self._pace.is_slow(self._loop.time() - self._given_at):
            self._turn.bar()
            self._stop_for(
                f"the reader of the stream of data source {self._source_id} took less than {SLOWEST} bytes in "
                f"{WINDOW:g} s"
            )
        elif self._turn.must_yield:
            self._stop_for(
                f"the stream of data source {self._source_id} had its only connection for {SLICE:g} s, and another "
                "user group waits for it"
            )
        else:
            self._loop.call_later(_LOOK_SECONDS, self._look)

    def _stop_for(self, reason: str) -> None:
        self._error = QueryTimeout(f"{reason}, so its query was stopped")
        self._host.stop(self)
