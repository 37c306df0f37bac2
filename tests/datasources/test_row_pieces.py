"""Steps of a stream: each is a turn of a thread and a wait for the event loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenantry.datasources.driver import OpenRows
from tenantry.datasources.limits import StreamLimits
from tenantry.datasources.row_pieces import RowPieces
from tenantry.sql import BoundSQL, SQLTemplate

ROWS = 20_000


class Numbers:
    """A StreamingDriver of whole numbers."""

    source_id = "ds_1"

    def open_rows(self, connection: Any, bound: BoundSQL, session: BoundSQL | None) -> OpenRows:
        return OpenRows(["n"], ((n,) for n in range(ROWS)), ["integer"])


class Silent:
    """A PieceWriter that keeps the rows and sends nothing."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []

    def begin(self, names: Sequence[str], types: Sequence[str | None] | None) -> Silent:
        return self

    def write(self, rows: Sequence[tuple[Any, ...]]) -> bytes:
        self.rows += rows
        return b""

    def end(self) -> bytes:
        return b""


def test_a_step_ends_with_something_to_send(monkeypatch: Any) -> None:
    """All rows in one, where time is no matter. Red when each thousand rows are a step: twelve charts were two thousand
    waits for a loop that shares its lock with five threads."""
    monkeypatch.setattr("tenantry.datasources.row_pieces._SILENT_SECONDS", 600.0)
    bound = SQLTemplate("select n").bind({}, "qmark", dialect="sqlite", now=None)
    writer = Silent()
    driver: Any = Numbers()
    pieces = RowPieces(driver, bound, None, writer.begin, StreamLimits())
    piece = pieces.begin(None)
    assert (piece.content, piece.is_last, pieces.row_count) == (b"", True, ROWS)
    assert writer.rows == [(n,) for n in range(ROWS)]
