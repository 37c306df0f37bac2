from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import date, datetime, time
from typing import Any, Final, NamedTuple

from pymysql.constants import FIELD_TYPE, FLAG
from pymysql.converters import conversions
from pymysql.protocol import FieldDescriptorPacket

from tenantry.datasources.engines.json_columns import read_document
from tenantry.datasources.results.arrow import ARROW_TYPES, MAX_DIGITS
from tenantry.errors import UnbindableValue
from tenantry.sql.dialects import naive_utc

SESSION_ZONE: Final = "+00:00"
_NULL: Final = 251  # this byte instead of a length means NULL
_WIDTHS: Final = {252: 2, 253: 3, 254: 8}
_BINARY: Final = 63  # the character set of columns with bytes
_TEXT_OR_BYTES: Final = frozenset(
    {
        *(FIELD_TYPE.VARCHAR, FIELD_TYPE.VAR_STRING, FIELD_TYPE.STRING),
        *(FIELD_TYPE.BLOB, FIELD_TYPE.TINY_BLOB, FIELD_TYPE.MEDIUM_BLOB, FIELD_TYPE.LONG_BLOB),
    }
)
_WORDS: Final[dict[int, str]] = {
    **dict.fromkeys((FIELD_TYPE.TINY, FIELD_TYPE.SHORT, FIELD_TYPE.INT24, FIELD_TYPE.LONG), "integer"),
    **dict.fromkeys((FIELD_TYPE.LONGLONG, FIELD_TYPE.YEAR), "integer"),
    **dict.fromkeys((FIELD_TYPE.FLOAT, FIELD_TYPE.DOUBLE), "float"),
    **dict.fromkeys((FIELD_TYPE.DECIMAL, FIELD_TYPE.NEWDECIMAL), "decimal"),
    **dict.fromkeys((FIELD_TYPE.DATETIME, FIELD_TYPE.TIMESTAMP), "datetime"),
    **dict.fromkeys((FIELD_TYPE.BIT, FIELD_TYPE.GEOMETRY), "bytes"),
    FIELD_TYPE.DATE: "date",
    FIELD_TYPE.TIME: "interval",
    FIELD_TYPE.JSON: "json",
}


class MySQLColumn(NamedTuple):
    name: str
    type: str | None
    arrow_type: str | None


def described(field: FieldDescriptorPacket) -> MySQLColumn:
    kind, is_unsigned = field.type_code, bool(field.flags & FLAG.UNSIGNED)
    if kind in _TEXT_OR_BYTES:
        word: str | None = "bytes" if field.charsetnr == _BINARY else "text"
    else:
        word = _WORDS.get(kind)
    if word == "decimal":
        digits = field.length - (not is_unsigned) - (field.scale > 0)  # the length counts the sign and the point
        return MySQLColumn(field.name, word, f"decimal({digits}, {field.scale})" if digits <= MAX_DIGITS else None)
    if word is None:
        return MySQLColumn(field.name, None, None)
    arrow_type = "uint64" if word == "integer" and is_unsigned else ARROW_TYPES.get(word, "string")
    return MySQLColumn(field.name, word, arrow_type)


def to_parameters(values: Iterable[Any]) -> list[Any]:
    """Return the values, with aware datetimes in UTC, the session's time zone. Raises UnbindableValue if this is
    impossible."""
    return [_in_session_zone(value) if isinstance(value, datetime | time) else value for value in values]


def _in_session_zone(value: datetime | time) -> datetime | time:
    if value.tzinfo is None:
        return value
    # PyMySQL would drop the offset.
    converted = None
    if isinstance(value, datetime):
        with suppress(OverflowError):  # UnbindableValue is raised below, without the value
            converted = naive_utc(value)
    if converted is None:
        raise UnbindableValue(
            "a time of day with an offset, or a datetime outside the years 1 to 9999 in UTC, cannot be bound on MySQL: "
            "pass a value in UTC, without an offset",
            name="$",
        )
    return converted


def _to_datetime(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _to_date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def read_row(data: bytes, converters: Sequence[tuple[str | None, Callable[[Any], Any] | None]]) -> tuple[Any, ...]:
    # Parses MySQL's text protocol, faster than PyMySQL.
    row: list[Any] = []
    position = 0
    for encoding, convert in converters:
        size = data[position]
        position += 1
        if size == _NULL:
            row.append(None)
            continue
        if size > _NULL:
            width = _WIDTHS[size]
            size = int.from_bytes(data[position : position + width], "little")
            position += width
        value: Any = data[position : position + size]
        position += size
        if encoding is not None:
            value = value.decode(encoding)
        row.append(value if convert is None else convert(value))
    return tuple(row)


# These converters are several times faster than PyMySQL's.
CONVERSIONS: Final[dict[Any, Any]] = {
    **conversions,
    FIELD_TYPE.DATE: _to_date,
    FIELD_TYPE.DATETIME: _to_datetime,
    FIELD_TYPE.TIMESTAMP: _to_datetime,
    FIELD_TYPE.JSON: read_document,
}
"""The value for PyMySQL's argument ``conv``. An impossible date, such as ``2026-02-31``, becomes None."""
