"""The documents of JSON columns, which several engines give as text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

Row: TypeAlias = tuple[Any, ...]


def with_json(rows: Iterable[Row], positions: Sequence[int]) -> Iterator[Row]:
    """The same rows, with the documents at ``positions`` read. Both a NULL and the document ``null`` are None."""
    for row in rows:
        values = list(row)
        for position in positions:
            if values[position] is not None:
                values[position] = _read(values[position])
        yield tuple(values)


def _read(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):  # an integer of thousands of digits; nested deeper than Python reads
        return text


def _no_number(_: str) -> None:
    """NaN and infinity, which DuckDB's ``to_json`` writes although JSON has neither."""
