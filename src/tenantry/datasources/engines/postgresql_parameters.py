"""Values as PostgreSQL is sent them: each as a text, without a type, which the server reads as the type of its place.

Properties are JSON and viewer input is text, so a date comes as ``"2026-01-31"`` and a number may come as ``"7"``. Who
reads it is the server, which knows every type; a text that it cannot read is an error of class 22, and names the place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from tenantry.errors import UnbindableValue

_SAFE: Final = 2.0**53
"""A float below this is one integer, if it is whole."""


def encode_parameters(values: Sequence[Any] | Mapping[str, Any]) -> list[bytes | None]:
    """The parameters as libpq takes them. Raises UnbindableValue, without the value."""
    encoded: list[bytes | None] = []
    for number, value in enumerate(values, 1):
        text = None
        try:
            text = None if value is None else _text(value)
            encoded.append(None if text is None else text.encode())
        except (ValueError, TypeError, OverflowError):
            pass  # raised below: these errors quote the value
        if len(encoded) < number or (text is not None and "\0" in text):  # libpq's text would end at the NUL
            raise UnbindableValue(f"the value of parameter ${number} has no text in PostgreSQL", name=f"${number}")
    return encoded


def _text(value: Any) -> str:
    writer = _WRITERS.get(type(value))
    if writer is not None:
        return writer(value)
    for kind, general in _WRITERS.items():  # of a subclass
        if isinstance(value, kind):
            return general(value)
    raise TypeError


def _float(value: float) -> str:
    """``7.0`` as ``7``, as PostgreSQL itself writes it: an integer reads only that."""
    if not math.isfinite(value):
        raise ValueError
    return str(int(value)) if value.is_integer() and abs(value) < _SAFE else repr(value)


def _moment(value: datetime) -> str:
    """An instant in UTC: a column without a zone would drop the offset."""
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
"""In this order: a bool is an int, and a datetime is a date."""
