from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from tenantry.datasources.driver import check_statement, refuse_dynamic_sql
from tenantry.datasources.query_label import untagged
from tenantry.datasources.statement import NOTHING, READING, SEVERAL, UNCLEAR, refusal
from tenantry.errors import TemplateError, UnbindableValue
from tenantry.sql import DIALECTS, BoundSQL, Source, cached_by_text, calls_any
from tenantry.sql.dialects import function_names, naive_utc, seconds
from tenantry.sql.inspect import LexemeKind, lex

_READING: Final = (READING - {"values", "table"}) | {"from", "describe", "desc", "exists"}
_BLANK: Final = " \t\r\n;"

# Functions that reach files, other servers or programs.
_OUTSIDE: Final = (
    function_names(
        """arrowflight arrowstream azureblobstorage* bigquery catboostevaluate cosn deltalake* executable executablepool
        file filecluster filesystem gcs hdfs* hive hudi* iceberg* input jdbc mongodb mysql odbc oss paimon* postgresql
        prometheusquery* python redis remote remotesecure s3* sqlite url urlcluster ytsaurus""",
        escaped_names="\\",
    ),
)
_SETTINGS: Final = (function_names("", settings=True),)
_REACHES_OUT: Final = (
    "it calls a function that reaches files, programs or other servers (file, url, s3, remote, executable, …), or a "
    "name with a backslash that could be such a function: query the tables of the database"
)
_SETS: Final = (
    "it has a clause `settings`, which could lift limits: make the settings in the profile of the data source's user"
)
_WRITES_FILE: Final = "`into outfile` writes a file: leave it out"

_FIRST_DATE, _LAST_DATE = date(1900, 1, 1), date(2299, 12, 31)
_LAST_SMALL_DATE, _EPOCH = date(2149, 6, 6), date(1970, 1, 1)
_DIGITS: Final = (38, 76)  # maximum digits of the two decimal types


# The setting readonly=1 refuses writes, and most table functions that reach files and other servers. This check refuses
# the rest: file(), which reads a file of the server; on chDB, several statements and `into outfile`; with readonly=2, a
# `settings` clause, which would lift every limit.
@cached_by_text
def clickhouse_refusal(sql: str) -> str | None:
    """Return the reason to refuse SQL, or None for a single statement that only reads local tables."""
    reason = refusal(sql, _READING)
    if reason is not None:
        return reason
    dialect = DIALECTS["clickhouse"]
    words = _code_words(sql)
    if words is None:
        return UNCLEAR
    if ";" in words:
        return SEVERAL
    if "outfile" in words and "into" in words:
        return _WRITES_FILE
    if calls_any(sql, dialect, _OUTSIDE):
        return _REACHES_OUT
    return _SETS if calls_any(sql, dialect, _SETTINGS) else None


def _code_words(sql: str) -> list[str] | None:
    source = Source(sql.replace("{{", "{ {").replace("{%", "{ %"))
    try:
        lexemes = lex(source, DIALECTS["clickhouse"])
    except TemplateError:
        return None
    code = "".join(source.text[each.start : each.end] if each.kind is LexemeKind.CODE else " " for each in lexemes)
    return code.lower().replace(";", " ; ").split()


def to_statement(source_id: str, bound: BoundSQL) -> tuple[str, dict[str, Any]]:
    """Return SQL with typed placeholders (``{p1:Int64}``), and the values for the client. Raises the errors of
    ``check_statement``, ``refuse_dynamic_sql`` and ``typed_value``."""
    sql = bound.sql.rstrip(_BLANK)
    check_statement(source_id, clickhouse_refusal(untagged(bound).rstrip(_BLANK)) if sql else NOTHING)
    params = bound.params
    if not params or not isinstance(params, dict):  # always a dict, because this paramstyle uses names
        return sql, {}
    refuse_dynamic_sql(source_id, bound, "clickhouse")
    typed = {name: typed_value(value) for name, value in params.items()}
    placeholders = {name: f"{{{name}:{kind}}}" for name, (kind, _) in typed.items()}
    return sql % placeholders, {name: text for name, (_, text) in typed.items()}


def typed_value(value: Any) -> tuple[str, Any]:
    """Return a value's ClickHouse type, and the value for the client. Raises UnbindableValue if no type fits."""
    if value is None:
        return "Nullable(Nothing)", None
    if isinstance(value, list | tuple):
        return _typed_list(value)
    write = _WRITERS.get(type(value))
    if write is not None:
        return write(value)
    return "String", str(value)


def _typed_list(values: Sequence[Any]) -> tuple[str, list[Any]]:
    if not values:
        return "Array(Nothing)", []
    if all(type(each) is Decimal for each in values):
        kind = _decimal_type([each for each in values if isinstance(each, Decimal)])
        return f"Array({kind})", list(values)  # bind numbers, because the client would quote strings in an array
    typed = [typed_value(each) for each in values]
    kinds = {kind for kind, _ in typed}
    if kinds == {"Date", "Date32"}:
        kinds = {"Date32"}
    if len(kinds) > 1:
        raise UnbindableValue("a list with items of several types cannot be bound on ClickHouse", name="$")
    plain = all(type(each) in {int, float} for each in values)
    return f"Array({kinds.pop()})", list(values) if plain else [text for _, text in typed]


def _decimal(value: Decimal) -> tuple[str, str]:
    return _decimal_type([value]), format(value, "f")


def _decimal_type(values: Sequence[Decimal]) -> str:
    places = [max(0, -int(value.as_tuple().exponent)) for value in values]
    whole = max(max(0, value.adjusted() + 1) for value in values)
    scale = max(places)
    digits = next((digits for digits in _DIGITS if whole + scale <= digits), None)
    if digits is None:
        raise UnbindableValue("a decimal of more than 76 digits cannot be bound on ClickHouse", name="$")
    return f"Decimal({digits}, {scale})"


def _date(value: date) -> tuple[str, str]:
    if not _FIRST_DATE <= value <= _LAST_DATE:
        raise _beyond_years()
    return ("Date" if _EPOCH <= value <= _LAST_SMALL_DATE else "Date32"), value.isoformat()


def _datetime(value: datetime) -> tuple[str, str]:
    if not _FIRST_DATE < value.date() < _LAST_DATE:  # a margin of one day, because the offset may change the date
        raise _beyond_years()
    kind = "DateTime64(6)"
    if value.tzinfo is not None:
        value, kind = naive_utc(value), "DateTime64(6, 'UTC')"
    return kind, value.isoformat(sep=" ", timespec="microseconds")


def _beyond_years() -> UnbindableValue:
    return UnbindableValue("ClickHouse only has dates from 1900 to 2299", name="$")


def _bytes(value: bytes) -> tuple[str, str]:
    raise UnbindableValue("bytes cannot be bound on ClickHouse: bind a hexadecimal string and call unhex()", name="$")


def _timedelta(value: timedelta) -> tuple[str, str]:
    length = seconds(value)
    return ("Int64" if isinstance(length, int) else "Float64"), str(length)


_WRITERS: Final[dict[type, Callable[[Any], tuple[str, str]]]] = {
    bool: lambda value: ("Bool", "true" if value else "false"),
    int: lambda value: ("Int64", str(value)),
    float: lambda value: ("Float64", repr(value)),
    Decimal: _decimal,
    UUID: lambda value: ("UUID", str(value)),
    date: _date,
    datetime: _datetime,
    time: lambda value: ("String", value.isoformat()),
    timedelta: _timedelta,
    bytes: _bytes,
}
