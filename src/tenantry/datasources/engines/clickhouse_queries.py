from __future__ import annotations

import math
import re
from collections.abc import Generator, Mapping, Sequence
from typing import Any, Final

from tenantry.datasources.driver import (
    OpenRows,
    named_word,
    query_error,
    statement_error,
    timeout_error,
    too_many_bytes_error,
    too_many_rows_error,
    unreachable_error,
)
from tenantry.datasources.pool.query_limits import Limits, StreamLimits
from tenantry.datasources.results.arrow import ARROW_TYPES, MAX_DIGITS
from tenantry.datasources.statement import SEVERAL, WRITES
from tenantry.errors import TenantryError, UnbindableValue

_UNREADABLE: Final = re.compile(r"(\w+).* deserialization not supported$|Unrecognized ClickHouse type base: (\w+)")
"""Matches errors about types that the server knows, but the client does not."""
_READ_ONLY: Final = 164
_TIMED_OUT: Final = frozenset({159, 160, 394})  # the query timed out, was expected to time out, or was stopped
_TOO_MUCH: Final = 396
_CONSTRAINT: Final = 452
_SYNTAX: Final = 62
_NAMES: Final = {  # names of common error codes, used instead of the server's message, which may quote a value
    16: "NO_SUCH_COLUMN_IN_TABLE",
    36: "BAD_ARGUMENTS",
    38: "CANNOT_PARSE_DATE",
    41: "CANNOT_PARSE_DATETIME",
    42: "NUMBER_OF_ARGUMENTS_DOESNT_MATCH",
    43: "ILLEGAL_TYPE_OF_ARGUMENT",
    46: "UNKNOWN_FUNCTION",
    47: "UNKNOWN_IDENTIFIER",
    53: "TYPE_MISMATCH",
    60: "UNKNOWN_TABLE",
    62: "SYNTAX_ERROR",
    72: "CANNOT_PARSE_NUMBER",
    115: "UNKNOWN_SETTING",
    153: "ILLEGAL_DIVISION",
    179: "MULTIPLE_EXPRESSIONS_FOR_ALIAS",
    184: "ILLEGAL_AGGREGATION",
    215: "NOT_AN_AGGREGATE",
    241: "MEMORY_LIMIT_EXCEEDED",
    386: "NO_COMMON_TYPE",
    427: "CANNOT_COMPILE_REGEXP",
    452: "SETTING_CONSTRAINT_VIOLATION",
    497: "ACCESS_DENIED",
}
_NAMES_A_WORD: Final = frozenset({46, 47, 60})  # codes whose messages quote a name of the SQL
_NAMED: Final = re.compile(
    r"DB::Exception: (?:(?:\w+ )*[`'](?:\w+\.)*(\w+)[`']|Table (?:\w+\.)*(\w+) does not exist)", re.IGNORECASE
)
# Error codes of a server that is unreachable, refuses the login, or is overloaded.
_AWAY: Final = frozenset({3, 81, 192, 193, 194, 202, 203, 209, 210, 236, 279, 516, 746})
_BAD_VALUE: Final = frozenset(
    {
        # codes for strings that are not a number, date, UUID, address, enum member or regular expression
        *(6, 26, 27, 38, 41, 53, 69, 70, 72, 130, 131, 321, 376, 427, 441, 457, 467, 675, 676, 691),
        *(36, 153, 407),  # arguments, division by zero, decimals that overflow
    }
)

READ_AS: Final = {  # types that the client is to return as strings
    "IPv4": "string",
    "IPv6": "string",
}

_WRAPPED: Final = re.compile(r"(?:Nullable|LowCardinality)\((.*)\)|SimpleAggregateFunction\(\w+, (.*)\)")
_FAMILY: Final = re.compile(r"[A-Za-z]+")
_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("Int", "UInt", "Interval"), "integer"),
    **dict.fromkeys(("Float", "BFloat"), "float"),
    **dict.fromkeys(("String", "Enum", "IPv"), "text"),
    **dict.fromkeys(("Array", "Point", "Ring", "LineString", "Polygon", "MultiPolygon"), "list"),
    **dict.fromkeys(("Map", "Nested"), "struct"),
    **dict.fromkeys(("JSON", "Object"), "json"),
    "Bool": "boolean",
    "Decimal": "decimal",
    "FixedString": "bytes",
    "Date": "date",
    "DateTime": "datetime",
    "Time": "interval",
    "UUID": "uuid",
}
_ARROW_TYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("UInt8", "UInt16", "UInt32", "UInt64"), "uint64"),
    **dict.fromkeys(("Int128", "Int256", "UInt128", "UInt256"), "string"),
}
"""ClickHouse type → Arrow type, where ``ARROW_TYPES`` does not apply."""
_DECIMAL: Final = re.compile(r"Decimal\((\d+), (\d+)\)")
_NAMED_FIELDS: Final = re.compile(r"Tuple\((?:`|\w+ [A-Z])")


def limit_settings(limits: Limits | StreamLimits) -> dict[str, str]:
    # For a stream, the server gets no row limit, because it could refuse the query before the first row. We count the
    # rows and stop the query.
    rows, size = (limits.row_limit, limits.max_bytes) if isinstance(limits, Limits) else (0, 0)
    return {
        "max_execution_time": str(math.ceil(limits.timeout)),
        "timeout_overflow_mode": "throw",
        "max_result_rows": str(rows),
        "max_result_bytes": str(size),
        "result_overflow_mode": "throw",
        "session_timezone": "UTC",
        # Guarded tables rely on these two settings, which are the defaults. With them, names of WITH are visible in
        # inner queries and in each part of a union, and an alias of an outer query never replaces a column.
        "enable_global_with_statement": "1",
        "allow_experimental_analyzer": "1",
    }


def to_rows(columns: Sequence[tuple[str, Any]], rows: Generator[tuple[Any, ...]]) -> OpenRows:
    """``columns``: each column's name and clickhouse-connect type."""
    types = [each.name for _, each in columns]
    names = [name for name, _ in columns]
    return OpenRows(names, rows, [*map(type_word, types)], rows.close, [*map(arrow_type, types)])


def failure_of(
    source_id: str, limits: Limits | StreamLimits, error: Exception, *, has_values: bool = False
) -> TenantryError:
    code = getattr(error, "code", None)
    if code is None:
        return _failure_of_client(source_id, error)
    if code in _TIMED_OUT:
        return timeout_error(source_id, limits.timeout)
    if code == _READ_ONLY:
        return statement_error(source_id, WRITES)
    if code == _TOO_MUCH:
        if "max bytes" in str(error):
            return too_many_bytes_error(source_id, limits.max_bytes)
        return too_many_rows_error(source_id, limits.row_limit)
    if code == _SYNTAX and "Multi-statements" in str(error):
        return statement_error(source_id, SEVERAL)
    evidence = f"{_NAMES.get(code, type(error).__name__)} ({code})"
    if code in _AWAY:
        return unreachable_error(source_id, error, f" ({code})")
    if code == _CONSTRAINT:
        evidence += ": the settings profile of the database user forbids the limits of DataSources"
    elif has_values and code in _BAD_VALUE:
        return UnbindableValue(f"a value does not fit its position in the SQL: {evidence}", name="$")
    word = named_word(str(error), _NAMED) if code in _NAMES_A_WORD else ""
    return query_error(source_id, evidence, word=word)


def _failure_of_client(source_id: str, error: Exception) -> TenantryError:
    unreadable = _UNREADABLE.match(str(error))
    if unreadable is None:
        return unreachable_error(source_id, error)
    name = unreadable[1] or unreadable[2]  # without its arguments, which may be values of an enum
    convert = "convert it in the SQL, for example with toString or finalizeAggregation"
    return query_error(source_id, f"the client cannot read the type {name}: {convert}")


def type_word(name: str) -> str | None:
    """Return the ``ResultColumn.type`` for a ClickHouse type, or None if it is unknown."""
    name = _unwrapped(name)
    family = _FAMILY.match(name)
    if family is None:
        return None
    if family[0].startswith("Interval"):
        return "integer"
    if family[0] == "Tuple":
        return "struct" if _NAMED_FIELDS.match(name) else "list"
    return _WORDS.get(family[0])


def arrow_type(name: str) -> str:
    name = _unwrapped(name)
    digits = _DECIMAL.fullmatch(name)
    if digits is not None and int(digits[1]) <= MAX_DIGITS:
        return f"decimal({digits[1]}, {digits[2]})"
    family, _, arguments = name.partition("(")
    if family in {"DateTime", "DateTime64"} and "'" in arguments:
        return "timestamptz"
    return _ARROW_TYPES.get(family) or ARROW_TYPES.get(type_word(name), "string")


def _unwrapped(name: str) -> str:
    while (wrapped := _WRAPPED.fullmatch(name)) is not None:
        name = wrapped[1] or wrapped[2]
    return name
