"""Conversions: what filters such as ``contains``, ``array`` and ``json`` do to a value before it is bound."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Any, Final

from tenantry.groups import Record, RecordList
from tenantry.sql.binding.bindable_values import as_text, check_scalar, list_items, type_name
from tenantry.sql.dialects import Dialect

PATTERNS: Final = {"contains": ("%", "%"), "prefix": ("", "%"), "suffix": ("%", "")}
"""Filter → the wildcards before and after the value."""
ARRAY: Final = "array"
JSON: Final = "json"
CONVERSIONS: Final = frozenset({*PATTERNS, ARRAY, JSON})
NEXT_DAY: Final = "next day"  # not a filter: `matches` uses it to get the end of a day

_MAX_DEPTH = 64  # maximum depth of nested JSON, far below the recursion limit


def placeholder_template(conversion: str, dialect: Dialect) -> str:
    """Return the SQL for a converted value, such as ``{placeholder} escape '!'``. Return an empty string if the dialect
    cannot bind the value."""
    if conversion in PATTERNS:
        return f"{{placeholder}} {dialect.like_escape_clause}".rstrip()
    return dialect.array_parameter if conversion == ARRAY else dialect.json_parameter


def converter(conversion: str, dialect: Dialect) -> Callable[[Any], Any]:
    """Return a function that converts a value for binding. Its ValueErrors do not show the value."""
    if conversion in PATTERNS:
        before, after = PATTERNS[conversion]
        wildcards = re.compile(f"[{re.escape(dialect.like_wildcards + dialect.like_escape)}]")
        escaped = dialect.like_escape.replace("\\", "\\\\") + r"\g<0>"
        return lambda value: before + wildcards.sub(escaped, as_text(value)) + after
    return {ARRAY: list_items, JSON: _json, NEXT_DAY: _next_day}[conversion]


def _next_day(value: Any) -> Any:
    try:
        if isinstance(value, str):
            return (date.fromisoformat(value) + timedelta(days=1)).isoformat()
        return value + timedelta(days=1)
    except OverflowError:
        raise ValueError("no day follows it") from None


def _json(value: Any) -> str:
    return str(check_scalar(json.dumps(_plain(value, 0), ensure_ascii=False, separators=(",", ":"))))


def _plain(value: Any, depth: int) -> Any:
    if depth > _MAX_DEPTH:
        raise ValueError(f"JSON can be nested at most {_MAX_DEPTH} levels deep")
    if isinstance(value, Mapping | Record):
        if not all(isinstance(key, str) for key in value):
            raise ValueError("JSON keys must be strings")
        return {_scalar(key): _plain(value[key], depth + 1) for key in value}
    if isinstance(value, list | tuple | RecordList):
        return [_plain(item, depth + 1) for item in value]
    return _scalar(value)


def _scalar(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, str | bool | int | float):
        return check_scalar(value)
    raise ValueError(f"{type_name(value)} cannot be in JSON")
