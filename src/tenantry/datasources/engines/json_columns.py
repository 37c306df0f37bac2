from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

Row: TypeAlias = tuple[Any, ...]

# With deeper documents, functions that recurse into values (to count bytes or write JSON) would exceed Python's
# recursion limit.
DEEPEST: Final = 500
"""Maximum nesting of a document that is parsed."""


def with_json(rows: Iterable[Row], positions: Sequence[int]) -> Iterator[Row]:
    """Parse the JSON in the columns at ``positions``. SQL's NULL and JSON's ``null`` both become None."""
    for row in rows:
        values = list(row)
        for position in positions:
            if values[position] is not None:
                values[position] = read_document(values[position])
        yield tuple(values)


def read_document(text: str) -> Any:
    """Parse JSON. Return ``text`` itself if it is not JSON, or is nested deeper than ``DEEPEST``."""
    if text.count("[") + text.count("{") > DEEPEST and _depth(text) > DEEPEST:
        return text
    try:
        return json.loads(text, parse_constant=_null)  # for NaN and Infinity, which DuckDB writes and JSON lacks
    except ValueError:
        return text


def _depth(text: str) -> int:
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


def _null(_: str) -> None:
    pass
