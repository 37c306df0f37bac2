"""Table: rows as a page shows them, also beside each chart for readers who cannot see it; numbers and dates as text.

They are written in American English; the page's script writes them again in the group's locale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any

FORMATS: dict[str, Callable[[float], str]] = {
    "integer": "{:,.0f}".format,
    "decimal": "{:,.1f}".format,
    "percent": "{:.1%}".format,
    "money": "${:,.0f}".format,
}
"""Name (as in ``data-format``) -> text. dashboard.js has the same four."""


def number(value: float, style: str) -> str:
    """``number(0.8123, "percent")`` is ``81.2%``. Raises KeyError for another style."""
    return FORMATS[style](value)


def day(value: date) -> str:
    """July 1, 2013"""
    return f"{value:%B} {value.day}, {value.year}"


NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Column:
    """``format`` is one of FORMATS, or empty for text. ``sorted`` says which way the rows come sorted by it.

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
