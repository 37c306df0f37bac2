# Steps grow from one row to `_CHUNK_BYTES` of output. So memory is bounded even if rows are large, and no step holds
# the interpreter's lock for long.

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from time import monotonic
from typing import Any, Final, cast

from tenantry.datasources.driver import (
    C,
    Driver,
    OpenRows,
    SessionDriver,
    StreamingDriver,
    as_result,
    too_many_bytes_error,
    too_many_rows_error,
)
from tenantry.datasources.pool.pooled_query import Chunk, stopped_error
from tenantry.datasources.pool.query_limits import StreamLimits, check_names
from tenantry.datasources.results.chunks import ChunkWriter, MakeWriter
from tenantry.datasources.results.result import CHUNK
from tenantry.sql import BoundSQL

# The first chunk waits, so that an error in the first rows is raised before anything is sent.
_FIRST_ROWS: Final = 64
"""Until this many rows are read, a chunk waits ``_CHUNK_SECONDS`` for more rows."""
_CHUNK_BYTES: Final = 65_536
_CHUNK_SECONDS: Final = 0.05
"""After this many seconds, a chunk is sent with the rows read so far."""
# They do not return earlier, because a new call would wait for the event loop.
_SILENT_SECONDS: Final = 0.5
"""If the writer returns no output, ``begin`` and ``go_on`` continue to read rows for this many seconds."""


class RowChunks:
    """Writes a query's rows, one chunk per call. If ``begin`` fails, the pool may call ``begin`` again with another
    connection."""

    def __init__(
        self,
        driver: Driver[C],
        bound: BoundSQL,
        session: BoundSQL | None,
        make_writer: MakeWriter,
        limits: StreamLimits,
    ) -> None:
        self._driver: Driver[Any] = driver
        self._bound = bound
        self._session = session
        self._make_writer = make_writer
        self._limits = limits
        self._opened: OpenRows | None = None
        self._rows: Iterator[tuple[Any, ...]] = iter(())
        self._size = 1  # rows to take at once: 1 at first, because a single row may be as large as the limit
        self.row_count: int = 0
        self.byte_count: int = 0

    def begin(self, connection: Any) -> Chunk:
        self._opened = opened = self._open(connection)
        with ExitStack() as stack:
            stack.callback(self.close)
            check_names(self._driver.source_id, opened.names)
            self._writer: ChunkWriter = self._make_writer(tuple(opened.names), opened.types, opened.arrow_types)
            self._rows = iter(opened.rows)
            stack.pop_all()
        return self.go_on(connection)

    def go_on(self, connection: Any) -> Chunk:
        with ExitStack() as stack:
            stack.callback(self.close)
            chunk = self._next()
            if not chunk.is_last:
                stack.pop_all()
        return chunk

    def give_up(self, connection: Any) -> Chunk:
        """Stop the query. Always raises SourceUnavailable."""
        self.close()
        raise stopped_error(self._driver.source_id)

    def close(self) -> None:
        opened, self._opened = self._opened, None
        self._rows = iter(())
        if opened is not None:
            opened.close()

    def _open(self, connection: Any) -> OpenRows:
        driver, session = self._driver, self._session
        if isinstance(driver, StreamingDriver):
            return driver.open_rows(connection, self._bound, session)
        if session is None:
            answer = driver.fetch(connection, self._bound)
        else:
            answer = cast("SessionDriver", driver).fetch_in_session(connection, self._bound, session)
        result = as_result(answer)
        return OpenRows(result.names, iter(result.rows), result.types, arrow_types=result.arrow_types)

    def _next(self) -> Chunk:
        begun = monotonic()
        chunk = self._write()
        while not chunk.is_last and monotonic() - begun < self._collect_seconds(chunk):
            more = self._write()
            chunk = Chunk(chunk.content + more.content, more.is_last)
        return chunk

    def _collect_seconds(self, chunk: Chunk) -> float:
        if not chunk.content:
            return _SILENT_SECONDS
        is_short = self.row_count < _FIRST_ROWS and len(chunk.content) < _CHUNK_BYTES
        return _CHUNK_SECONDS if is_short else 0.0

    def _write(self) -> Chunk:
        rows, is_last = self._take()
        self.row_count += len(rows)
        if self.row_count > self._limits.row_limit:
            raise too_many_rows_error(self._driver.source_id, self._limits.row_limit)
        content = self._writer.write(rows)
        if rows:  # take at most twice as many next time, because the next rows may be larger
            fitting = _CHUNK_BYTES * len(rows) // (len(content) + 1)
            self._size = max(1, min(2 * self._size, fitting, CHUNK))
        if is_last:
            content += self._writer.end()
        self.byte_count += len(content)
        if self.byte_count > self._limits.max_bytes:
            raise too_many_bytes_error(self._driver.source_id, self._limits.max_bytes)
        return Chunk(content, is_last)

    def _take(self) -> tuple[list[tuple[Any, ...]], bool]:
        taken: list[tuple[Any, ...]] = []
        enough, late = self._size, monotonic() + _CHUNK_SECONDS
        for row in self._rows:
            taken.append(row)
            if len(taken) >= enough or monotonic() > late:
                return taken, False
        return taken, True
