"""Steps of a stream: each is a turn of a thread and a wait for the event loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tenantry.datasources.driver import OpenRows
from tenantry.datasources.pool.query_limits import StreamLimits
from tenantry.datasources.pool.row_chunks import RowChunks
from tenantry.errors import TooManyBytes
from tenantry.sql import BoundSQL, SQLTemplate

ROWS = 20_000
BOUND = SQLTemplate("select n").bind({}, "qmark", dialect="sqlite", now=None)


class Numbers:
    """A StreamingDriver of whole numbers. ``given``: the rows that were read."""

    source_id = "ds_1"
    given = 0

    def open_rows(self, connection: Any, bound: BoundSQL, session: BoundSQL | None) -> OpenRows:
        return OpenRows(["n"], self._rows(), ["integer"])

    def _rows(self) -> Iterator[tuple[int]]:
        for n in range(ROWS):
            self.given += 1
            yield (n,)


class Silent:
    """A ChunkWriter that keeps the rows and sends nothing."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []

    def begin(self, names: Sequence[str], types: Sequence[str | None] | None, arrow_types: Any = None) -> Silent:
        return self

    def write(self, rows: Sequence[tuple[Any, ...]]) -> bytes:
        self.rows += rows
        return b""

    def end(self) -> bytes:
        return b""


def test_a_step_ends_with_something_to_send(monkeypatch: Any) -> None:
    """All rows in one, where time is no matter. Red when each thousand rows are a step: twelve charts were two thousand
    waits for a loop that shares its lock with five threads."""
    monkeypatch.setattr("tenantry.datasources.pool.row_chunks._SILENT_SECONDS", 600.0)
    writer = Silent()
    driver: Any = Numbers()
    pieces = RowChunks(driver, BOUND, None, writer.begin, StreamLimits())
    piece = pieces.begin(None)
    assert (piece.content, piece.is_last, pieces.row_count) == (b"", True, ROWS)
    assert writer.rows == [(n,) for n in range(ROWS)]


class Wide(Silent):
    """Writes each row as 10,000 bytes."""

    def begin(self, names: Sequence[str], types: Sequence[str | None] | None, arrow_types: Any = None) -> Wide:
        return self

    def write(self, rows: Sequence[tuple[Any, ...]]) -> bytes:
        return b"x" * 10_000 * len(rows)


def test_a_stream_begins_with_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then two, then four: rows that are too large are noticed after one of them. The first piece has more than one
    where they are small. Red with 64 rows at first."""
    monkeypatch.setattr("tenantry.datasources.pool.row_chunks._CHUNK_SECONDS", 600.0)
    driver: Any = Numbers()
    pieces = RowChunks(driver, BOUND, None, Wide().begin, StreamLimits())
    assert len(pieces.begin(None).content) == 70_000
    assert driver.given == 1 + 2 + 4
    driver.given = 0
    small = RowChunks(driver, BOUND, None, Wide().begin, StreamLimits(max_bytes=9_999))
    with pytest.raises(TooManyBytes):
        small.begin(None)
    assert driver.given == 1
