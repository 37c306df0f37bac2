from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, Final, Generic, cast

from tenantry.datasources.driver import C, OnEnd, timeout_error
from tenantry.datasources.pool.fair_queue import SLICE, Turn
from tenantry.datasources.pool.pooled_query import Chunk, PooledQuery, Work, stopped_error
from tenantry.datasources.pool.query_limits import Limits
from tenantry.datasources.pool.row_chunks import RowChunks
from tenantry.errors import QueryTimeout, TenantryError

if TYPE_CHECKING:
    from tenantry.datasources.pool.connection_pool import ConnectionPool

# Until then, the engine can end the query itself, which keeps the connection usable.
GRACE: Final = 0.25
"""A query is stopped this many seconds after its timeout."""

_LOOK_SECONDS: Final = 0.5
"""Seconds between checks whether the reader is slow or the stream must yield its connection."""

SLOWEST: Final = 65_536
"""A reader is slow if it took fewer bytes than this in the last ``WINDOW`` seconds."""
WINDOW: Final = 60.0
"""A reader's pace is measured over this many seconds. Only the time in which a chunk waits for the reader counts."""


class ReaderPace:
    def __init__(self) -> None:
        self._waited = 0.0
        self._taken: deque[tuple[float, int]] = deque()  # for each chunk: ``_waited`` when it was taken, its bytes
        self._size = 0

    def take(self, seconds: float, size: int) -> None:
        self._waited += seconds
        self._size += size
        if self._taken and self._waited - self._taken[-1][0] < WINDOW / 100:
            self._taken[-1] = self._taken[-1][0], self._taken[-1][1] + size
        else:
            self._taken.append((self._waited, size))

    def is_slow(self, seconds: float) -> bool:
        """Return whether the reader is slow (see ``SLOWEST``), if the next chunk has already waited ``seconds``."""
        now = self._waited + seconds
        while self._taken and now - self._taken[0][0] >= WINDOW:
            self._size -= self._taken.popleft()[1]
        return now >= WINDOW and self._size < SLOWEST


class SourceStream(Generic[C]):
    """Reads a query's rows, one chunk per call of ``next``. Between chunks, it holds a connection, but no thread.
    ``on_end`` is called once, when the query ends or is stopped."""

    def __init__(
        self, source_id: str, pool: ConnectionPool[C], chunks: RowChunks, limits: Limits, turn: Turn, on_end: OnEnd
    ) -> None:
        self._source_id = source_id
        self._pool = pool
        self._chunks = chunks
        self._limits = limits
        self._turn = turn
        self._on_end: OnEnd | None = on_end
        self._loop = asyncio.get_running_loop()
        self._deadline = self._loop.time() + limits.stream.timeout
        self.outcome: asyncio.Future[Any] = self._loop.create_future()
        self._reader_timer: asyncio.TimerHandle | None = None
        self._pace = ReaderPace()
        self._given = 0  # bytes of the last chunk, which count as taken when the reader asks for the next one
        self._given_at: float | None = None  # since when a chunk waits for the reader
        self._query: PooledQuery[C] | None = None
        self._first: Chunk | None = None
        self._error: TenantryError | None = None
        self._busy = False  # whether a thread runs a step
        self._ended = False

    @property
    def row_count(self) -> int:
        return self._chunks.row_count

    async def start(self, query: PooledQuery[C]) -> None:
        """Run the query until the first chunk. Raises DataSourceError."""
        self._query = query
        self._look()
        self._first = await self._step(self._chunks.begin)

    async def next(self) -> bytes | None:
        if self._error is not None:
            raise self._error.with_traceback(None)
        if self._busy:
            raise RuntimeError("another task already reads this stream: read a stream in one task")
        chunk, self._first = self._first, None
        if chunk is None:
            if self._ended or self._query is None:
                return None
            chunk = await self._step(self._chunks.go_on)
        self._given = len(chunk.content)
        self._wait_for_reader()
        return chunk.content

    async def _step(self, work: Work[C]) -> Chunk:
        self._reader_came()
        left = self._deadline - self._loop.time()
        if left <= 0:
            self._error = timeout_error(self._source_id, self._limits.stream.timeout)
            self._pool.stop(self)
            raise self._error
        self.outcome = self._loop.create_future()
        timer = self._loop.call_later(min(self._limits.timeout, left) + GRACE, self._time_out)
        try:
            self._submit(work)
            outcome = await self.outcome
        except BaseException:  # the reader has left
            self._pool.stop(self)
            raise
        finally:
            timer.cancel()
        if isinstance(outcome, Chunk) and self._error is None:
            self._wait_for_reader()
            return outcome
        self._error = self._error or cast("TenantryError", outcome)
        if self._busy:
            self._pool.stop(self)
        raise self._error

    def _submit(self, work: Work[C]) -> None:
        if self._query is not None:
            self._busy = True
            self._pool.submit(self._query, work)

    def finish(self, _: PooledQuery[C], outcome: Any) -> None:
        self._busy = False
        if isinstance(outcome, Chunk) and not outcome.is_last:
            if self._error is not None:
                self.stop()
        elif not self._ended:
            self._ended = True
            self._reader_came()
            self._pool.end(self, outcome)
            if self._turn.has_ended:  # otherwise the turn waits for another connection
                self._end(outcome.code if isinstance(outcome, TenantryError) else "ok")
            return
        if not self.outcome.done():
            self.outcome.set_result(outcome)

    def stop(self) -> None:
        """Stop the query and drop a chunk that is ready. May be called repeatedly."""
        code = "stopped" if self._error is None else self._error.code
        self._error = self._error or stopped_error(self._source_id)
        self._first = None
        self._reader_came()
        if self._ended or self._query is None:
            return
        if self._busy:
            self._query.stop()
        else:
            self._submit(self._chunks.give_up)
        self._end(code)

    def close(self, error: TenantryError | None = None) -> None:
        was_open = self._error is None
        if error is not None:
            self._error, self._first = self._error or error, None
            self._reader_came()
        if was_open and not self._ended:
            self._pool.stop(self)
            if error is not None and not self.outcome.done():
                self.outcome.set_result(error)

    def _end(self, outcome: str) -> None:
        on_end, self._on_end = self._on_end, None
        if on_end is not None:
            on_end(outcome, self._chunks.row_count, self._chunks.byte_count)

    def _time_out(self) -> None:
        if not self.outcome.done():
            whole = self._loop.time() >= self._deadline
            seconds = self._limits.stream.timeout if whole else self._limits.timeout
            self.outcome.set_result(timeout_error(self._source_id, seconds))

    # --- the reader ---------------------------------------------------------------------------------------------------

    def _wait_for_reader(self) -> None:
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
        self._turn.queue.bar(self._turn.group)
        self._stop_for(
            f"the stream of data source {self._source_id} was not read for {self._limits.stream.reader_timeout:g} s"
        )

    def _look(self) -> None:
        if self._ended or self._error is not None or not self._turn.is_stream:
            return
        if self._given_at is not None and self._pace.is_slow(self._loop.time() - self._given_at):
            self._turn.queue.bar(self._turn.group)
            self._stop_for(
                f"the stream of data source {self._source_id} was read too slowly: less than {SLOWEST} bytes in "
                f"{WINDOW:g} s"
            )
        elif self._turn.queue.must_yield(self._turn):
            self._stop_for(
                f"the stream of data source {self._source_id} used the only connection for {SLICE:g} s, and another "
                "user group waits for this connection"
            )
        else:
            self._loop.call_later(_LOOK_SECONDS, self._look)

    def _stop_for(self, reason: str) -> None:
        self._error = QueryTimeout(f"{reason}, so the stream's query was stopped")
        self._pool.stop(self)
