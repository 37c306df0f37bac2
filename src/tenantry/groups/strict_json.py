from __future__ import annotations

import json
from typing import Any


def read_json_strictly(content: str | bytes) -> Any:
    """Parse JSON. Raises ValueError also for repeated names, NaN and Infinity; RecursionError for deep nesting."""
    return json.loads(content, object_pairs_hook=_without_duplicates, parse_constant=_refuse)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("an object has the same name twice: use each name once")
    return made


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
