"""The rows of a query, written piece by piece in the threads of its source.

One row is read first, then at most twice as many as before: so many that a piece is near ``_PIECE_BYTES``, fewer where
they come slowly. So what is in memory does not depend on how many rows there are, and no call holds the interpreter's
lock for long.
"""

from __future__ import annotations

from collections.abc import Iterator
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
from tenantry.datasources.pool.limits import StreamLimits, check_names
from tenantry.datasources.pool.pooled_query import Piece, stopped_error
from tenantry.datasources.results.pieces import MakeWriter, PieceWriter
from tenantry.datasources.results.result import CHUNK
from tenantry.sql import BoundSQL

_FIRST_ROWS: Final = 64
_PIECE_BYTES: Final = 65_536
_PIECE_SECONDS: Final = 0.05
"""Rows that come slowly are sent after so long."""
_SILENT_SECONDS: Final = 0.5
"""For so long a writer is given rows that has nothing to send: each step of a stream waits for the event loop."""


class RowPieces:
    """Of one query. ``begin`` may be called again, on another connection, while it has given no piece."""

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
        self._size = 1  # one row alone may be as large as the limit
        self.row_count: int = 0
        """Rows of the pieces that were given."""
        self.byte_count: int = 0
        """Bytes of these."""

    def begin(self, connection: Any) -> Piece:
        """The first piece. Raises what ``fetch`` of a driver does, and what the writer does."""
        self._opened = opened = self._open(connection)
        try:
            check_names(self._driver.source_id, opened.names)
            self._writer: PieceWriter = self._make_writer(tuple(opened.names), opened.types)
        except BaseException:
            self.close()
            raise
        self._rows = iter(opened.rows)
        return self.go_on(connection)

    def go_on(self, connection: Any) -> Piece:
        """The next piece."""
        try:
            piece = self._next()
        except BaseException:
            self.close()
            raise
        if piece.is_last:
            self.close()
        return piece

    def give_up(self, connection: Any) -> Piece:
        """Stops the query. Raises SourceUnavailable in any case."""
        self.close()
        raise stopped_error(self._driver.source_id)

    def close(self) -> None:
        """Ends the query, if it has not ended."""
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
        return OpenRows(result.names, iter(result.rows), result.types)

    def _next(self) -> Piece:
        begun = monotonic()
        piece = self._write()
        while not piece.is_last and monotonic() - begun < self._patience(piece):
            more = self._write()
            piece = Piece(piece.content + more.content, more.is_last)
        return piece

    def _patience(self, piece: Piece) -> float:
        """Seconds for which more is added to a piece. The first one has several rows where they are small, so that what
        is wrong with them is known before anything is sent."""
        if not piece.content:
            return _SILENT_SECONDS
        is_short = self.row_count < _FIRST_ROWS and len(piece.content) < _PIECE_BYTES
        return _PIECE_SECONDS if is_short else 0.0

    def _write(self) -> Piece:
        rows, is_last = self._take()
        self.row_count += len(rows)
        if self.row_count > self._limits.row_limit:
            raise too_many_rows_error(self._driver.source_id, self._limits.row_limit)
        content = self._writer.write(rows)
        if rows:  # at most twice as many as before: the next ones may be larger
            fitting = _PIECE_BYTES * len(rows) // (len(content) + 1)
            self._size = max(1, min(2 * self._size, fitting, CHUNK))
        if is_last:
            content += self._writer.end()
        self.byte_count += len(content)
        if self.byte_count > self._limits.max_bytes:
            raise too_many_bytes_error(self._driver.source_id, self._limits.max_bytes)
        return Piece(content, is_last)

    def _take(self) -> tuple[list[tuple[Any, ...]], bool]:
        """Some rows, and whether they are the last ones."""
        taken: list[tuple[Any, ...]] = []
        enough, late = self._size, monotonic() + _PIECE_SECONDS
        for row in self._rows:
            taken.append(row)
            if len(taken) >= enough or monotonic() > late:
                return taken, False
        return taken, True
