"""Field filters of Metabase: controls whose value becomes a whole condition on one column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

Declare = Callable[[str, Mapping[str, Any]], str]
"""``declare(suffix, definition)`` declares a parameter named like the control, plus the suffix, and returns the
parameter's path."""

UNITS: Final = ("minute", "hour", "day", "week", "month", "quarter", "year")
"""Units of a time bucket that have the same name in Metabase and Tenantry."""

_DATES: Final[Mapping[str, Any]] = {"type": "date range"}
_RANGES: Final[Mapping[str, Mapping[str, Any]]] = {
    "date/all-options": {**_DATES, "open": "both"},
    **dict.fromkeys(("date/range", "date/relative", "date/month-year", "date/quarter-year"), _DATES),
}
_PATTERNS = {
    "string/contains": ("like", "contains"),
    "string/does-not-contain": ("not like", "contains"),
    "string/starts-with": ("like", "prefix"),
    "string/ends-with": ("like", "suffix"),
}
_WITH_ILIKE = frozenset({"postgresql", "duckdb", "snowflake", "redshift", "clickhouse", "databricks"})
"""Dialects whose ``like`` is case-sensitive and that have the case-insensitive ``ilike``."""


def field_filter(widget: str, column: str, dialect: str, declare: Declare) -> str | None:
    """Return the condition for a control of the kind ``widget``; None for an unknown kind."""
    if widget in _RANGES:
        return f"{{{{ {declare('', _RANGES[widget])} | within({column}) }}}}"
    if widget == "date/single":
        return f"{{{{ {declare('', {'type': 'date'})} | matches({column}) }}}}"
    if widget in _PATTERNS:
        operator, conversion = _PATTERNS[widget]
        operator = operator.replace("like", "ilike") if dialect in _WITH_ILIKE else operator
        return _optional(f"{column} {operator} {{{{ {declare('', {'type': 'text'})} | {conversion} }}}}")
    return _comparison(widget, column, declare)


def _comparison(widget: str, column: str, declare: Declare) -> str | None:
    kind, _, operator = widget.partition("/")
    one = {"number": "decimal", "id": "integer", "boolean": "boolean"}.get(kind, "text")
    many = {"type": one if one == "boolean" else f"list of {one}"}
    if operator in {"=", ""} or kind == "location":
        return f"{{{{ {declare('', many)} | matches({column}) }}}}"
    if operator == "!=":
        return f"{{{{ {declare('', many)} | excludes({column}) }}}}"
    if operator in {">=", "<="}:
        return _optional(f"{column} {operator} {{{{ {declare('', {'type': one})} }}}}")
    if operator == "between":
        least, greatest = declare("_from", {"type": one}), declare("_to", {"type": one})
        return f"(1 = 1 [[ and {column} >= {{{{ {least} }}}} ]] [[ and {column} <= {{{{ {greatest} }}}} ]])"
    return None


def _optional(condition: str) -> str:
    return f"(1 = 1 [[ and {condition} ]])"
