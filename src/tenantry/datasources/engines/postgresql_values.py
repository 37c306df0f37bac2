# docs/engine-postgresql.md lists the types.

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple
from uuid import UUID

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Loader, Transformer
from psycopg.pq.abc import PGresult
from psycopg.types import datetime as moments
from psycopg.types.string import TextLoader

from tenantry.datasources.engines.json_columns import read_document
from tenantry.datasources.results.arrow import ARROW_TYPES, MAX_DIGITS
from tenantry.errors import UnbindableValue

_SAFE: Final = 2.0**53  # below it, every whole number is an exact float


# Parameters are sent as text, without a type: a property (JSON) or a viewer's input may contain a date as "2026-01-31"
# and a number as "7". The server reads each parameter as the type that its position in the SQL requires.
def encode_parameters(values: Sequence[Any] | Mapping[str, Any]) -> list[bytes | None]:
    """Encode parameters for libpq. Raises UnbindableValue, whose message omits the value."""
    encoded: list[bytes | None] = []
    for number, value in enumerate(values, 1):
        text = None
        try:
            text = None if value is None else _text(value)
            encoded.append(None if text is None else text.encode())
        except (ValueError, TypeError, OverflowError):
            pass  # UnbindableValue is raised below: these errors quote the value
        if len(encoded) < number or (text is not None and "\0" in text):  # libpq would end the string at the NUL
            raise UnbindableValue(
                f"the value of parameter ${number} cannot be sent to PostgreSQL: pass a number, boolean, string, date, "
                "time, interval, UUID, bytes or a list of these, without NUL, lone surrogates, NaN or infinity",
                name=f"${number}",
            )
    return encoded


def _text(value: Any) -> str:
    writer = _WRITERS.get(type(value))
    if writer is not None:
        return writer(value)
    for kind, general in _WRITERS.items():  # a subclass
        if isinstance(value, kind):
            return general(value)
    raise TypeError


def _float(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError
    # Whole numbers as `7`, because the server does not read `7.0` as an integer.
    return str(int(value)) if value.is_integer() and abs(value) < _SAFE else repr(value)


def _moment(value: datetime) -> str:
    # In UTC, because a column without a time zone ignores the offset.
    return (value.astimezone(UTC) if value.tzinfo else value).isoformat(" ")


def _interval(value: timedelta) -> str:
    return f"{value.days} days {value.seconds} seconds {value.microseconds} microseconds"


def _array(items: Sequence[Any]) -> str:
    return "{" + ",".join(map(_item, items)) + "}"


def _item(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, list | tuple):
        return _array(value)
    return '"' + _text(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


# Subclasses come before their bases: bool before int, datetime before date.
_WRITERS: Final[dict[type, Callable[[Any], str]]] = {
    str: str.__str__,
    bool: lambda value: "true" if value else "false",
    int: int.__repr__,
    float: _float,
    Decimal: Decimal.__str__,
    datetime: _moment,
    date: date.isoformat,
    time: time.isoformat,
    timedelta: _interval,
    UUID: UUID.__str__,
    bytes: lambda value: "\\x" + value.hex(),
    list: _array,
    tuple: _array,
}

# Types whose values are read as strings, because Python or JSON has no such type.
_AS_TEXT: Final = (
    "cidr", "inet", "record",
    "int4range", "int8range", "numrange", "tsrange", "tstzrange", "daterange",
    "int4multirange", "int8multirange", "nummultirange", "tsmultirange", "tstzmultirange", "datemultirange",
)  # fmt: skip

# An ISO 8601 interval of fixed length. One with years or months, whose length varies, stays a string such as `P1M2D`.
_FIXED_INTERVAL: Final = re.compile(r"P(?:(-?\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?\d+(?:\.\d+)?)S)?)?", re.ASCII)


_WORDS: Final[Mapping[int, str]] = {
    psycopg.adapters.types[name].oid: word
    for word, names in {
        "boolean": "bool",
        "integer": "int2 int4 int8 oid",
        "float": "float4 float8",
        "decimal": "numeric",
        "date": "date",
        "time": "time timetz",
        "datetime": "timestamp timestamptz",
        "interval": "interval",
        "uuid": "uuid",
        "bytes": "bytea",
        "json": "json jsonb",
    }.items()
    for name in names.split()
}


_ARROW_TYPES: Final[Mapping[int, str]] = {
    psycopg.adapters.types["interval"].oid: "string",  # it may have months
    psycopg.adapters.types["timetz"].oid: "string",
    psycopg.adapters.types["timestamptz"].oid: "timestamptz",
}
"""OID of a type → Arrow type, where ``ARROW_TYPES`` does not apply."""
_NUMERIC: Final = psycopg.adapters.types["numeric"].oid


class ServerColumn(NamedTuple):
    name: str
    type: str
    arrow_type: str | None


def columns_of(answer: PGresult) -> list[ServerColumn]:
    """Return the columns' names and types. The type of an array is ``list``. An unknown type becomes
    ``text``."""
    columns = []
    for number in range(answer.nfields):
        oid = answer.ftype(number)
        word = _WORDS.get(oid)
        if word is None:
            known = psycopg.adapters.types.get(oid)
            word = "list" if known is not None and oid == known.array_oid else "text"
        name = (answer.fname(number) or b"").decode()
        columns.append(ServerColumn(name, word, _arrow_type(oid, word, answer.fmod(number))))
    return columns


def _arrow_type(oid: int, word: str, modifier: int) -> str | None:
    if oid != _NUMERIC:
        return _ARROW_TYPES.get(oid) or ARROW_TYPES.get(word, "string")
    # The modifier of numeric(9, 2) is (9 << 16) + 2 + 4, and that of numeric is -1.
    digits, scale = (modifier - 4) >> 16, (modifier - 4) & 0x7FF
    return f"decimal({digits}, {scale})" if modifier >= 0 and scale <= digits <= MAX_DIGITS else None


class _JSONLoader(Loader):
    def load(self, data: Buffer) -> Any:
        return read_document(str(data, "utf-8"))


class _IntervalLoader(Loader):
    def load(self, data: Buffer) -> timedelta | str:
        text = str(data, "utf-8")
        match = _FIXED_INTERVAL.fullmatch(text)
        if match is None:
            return text
        days, hours, minutes = (int(part or 0) for part in match.groups()[:3])
        microseconds = int(Decimal(match[4] or 0) * 1_000_000)
        try:
            return timedelta(days=days, hours=hours, minutes=minutes, microseconds=microseconds)
        except OverflowError:
            return text


# Return a loader that gives a string for a value that Python's type cannot hold (`infinity`, a year before 1).
def _tolerant(loader: type[Loader]) -> type[Loader]:
    class TolerantLoader(loader):  # type: ignore[misc, valid-type]  # the base is a variable
        def load(self, data: Buffer) -> Any:
            try:
                return super().load(data)
            except psycopg.DataError:
                return str(data, "utf-8")

    return TolerantLoader


def _adapters() -> AdaptersMap:
    adapters = AdaptersMap(psycopg.adapters)
    for name in _AS_TEXT:
        adapters.register_loader(name, TextLoader)
    for name in ("json", "jsonb"):
        adapters.register_loader(name, _JSONLoader)
    adapters.register_loader("interval", _IntervalLoader)
    return adapters


def _tolerant_adapters() -> AdaptersMap:
    adapters = AdaptersMap(_ADAPTERS)
    for name, loader in (
        ("date", moments.DateLoader),
        ("time", moments.TimeLoader),
        ("timetz", moments.TimetzLoader),
        ("timestamp", moments.TimestampLoader),
        ("timestamptz", moments.TimestamptzLoader),
    ):
        adapters.register_loader(name, _tolerant(loader))
    return adapters


_ADAPTERS: Final = _adapters()
_TOLERANT_ADAPTERS: Final = _tolerant_adapters()


class RowReader:
    """Converts libpq's rows to Python values. Aware datetimes are in UTC. Raises ValueError or psycopg's DataError if a
    value cannot be converted."""

    def __init__(self) -> None:
        # No connection is given, because the transformer would use the connection's time zone.
        self._transformer = Transformer(_ADAPTERS)
        self._has_loaders = False

    def read(self, piece: PGresult) -> Sequence[tuple[Any, ...]]:
        count = piece.ntuples
        self._transformer.set_pgresult(piece, set_loaders=not self._has_loaders)
        self._has_loaders = True
        try:
            return self._transformer.load_rows(0, count, tuple)
        except psycopg.DataError:
            pass
        tolerant = Transformer(_TOLERANT_ADAPTERS)
        tolerant.set_pgresult(piece)
        return tolerant.load_rows(0, count, tuple)
