"""Table: rows as a page shows them, also beside each chart for who cannot see or use it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tenantry.demo.formats import number

NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Column:
    """``format`` is one of formats.FORMATS, or empty for text. ``sorted`` says which way the rows come sorted by it.

    ``spare``: a narrow screen does without it.
    """

    field: str
    title: str
    format: str = ""
    sorted: str = ""
    spare: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """``value`` is None for text; ``text`` is what a reader without scripts sees."""

    text: str
    value: float | None = None
    format: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """The first column names its row."""

    caption: str
    columns: tuple[Column, ...]
    lines: list[list[Cell]]


def table(caption: str, columns: tuple[Column, ...], rows: list[dict[str, Any]]) -> Table:
    """Rows of a query as a table."""
    return Table(caption, columns, [[_cell(row[column.field], column.format) for column in columns] for row in rows])


def _cell(value: Any, style: str) -> Cell:
    if value is None:
        return Cell(NOTHING)
    return Cell(number(value, style), value, style) if style else Cell(str(value))
