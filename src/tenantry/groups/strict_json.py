from __future__ import annotations

import json
import math
from typing import Any, Final

MAX_INT: Final = 2**53 - 1
"""The largest integer that all JSON parsers read exactly (RFC 8259 section 6)."""


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a JSON object contains the same name twice: use each name only once")
    return made


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number in JSON")


STRICT_JSON: Final[dict[str, Any]] = {"object_pairs_hook": _without_duplicates, "parse_constant": _refuse}
"""Keyword arguments with which ``json.loads`` raises ValueError for repeated names, NaN and Infinity."""


def read_json_strictly(content: str | bytes) -> Any:
    """Parse JSON. Raises ValueError for invalid JSON, repeated names, NaN and Infinity. Raises RecursionError if the
    nesting is too deep."""
    return json.loads(content, **STRICT_JSON)


def is_storable_text(text: str) -> bool:
    """Whether databases can store the string: it must contain neither a NUL character nor a lone surrogate."""
    return "\0" not in text and (text.isascii() or not any("\ud800" <= each <= "\udfff" for each in text))


def number_problem(number: float) -> str | None:
    """Return why properties and passes must not contain this number, or None."""
    if isinstance(number, int):
        return None if -MAX_INT <= number <= MAX_INT else "integers must be from -(2^53-1) to 2^53-1"
    if math.isnan(number):
        return "NaN is not a number in JSON"
    return None if math.isfinite(number) else "this number is too large"
