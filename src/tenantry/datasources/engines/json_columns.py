"""The documents of JSON columns, which several engines give as text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

Row: TypeAlias = tuple[Any, ...]

DEEPEST: Final = 500
"""Lists and objects within one another. Pythons differ in how deeply they read, and whoever looks at what was read (the
limit of bytes, the writing of JSON) goes as deep."""


def with_json(rows: Iterable[Row], positions: Sequence[int]) -> Iterator[Row]:
    """The same rows, with the documents at ``positions`` read. Both a NULL and the document ``null`` are None."""
    for row in rows:
        values = list(row)
        for position in positions:
            if values[position] is not None:
                values[position] = read_document(values[position])
        yield tuple(values)


def read_document(text: str) -> Any:
    """The values of a document; the text itself where Python cannot read it: an integer of thousands of digits, or
    nested deeper than ``DEEPEST``."""
    if text.count("[") + text.count("{") > DEEPEST and _depth(text) > DEEPEST:
        return text
    try:
        return json.loads(text, parse_constant=_no_number)
    except ValueError:
        return text


def _depth(text: str) -> int:
    """How deeply a document nests, counted without its texts."""
    depth = deepest = 0
    inside = escaped = False
    for character in text:
        if inside:
            inside = escaped or character != '"'
            escaped = not escaped and character == "\\"
        elif character == '"':
            inside = True
        elif character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest


def _no_number(_: str) -> None:
    """NaN and infinity, which DuckDB's ``to_json`` writes although JSON has neither."""
