from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from typing import Any, Final, Literal
from uuid import UUID

from tenantry.datasources.results.result import is_range
from tenantry.errors import InvalidSettings

MAX_SAFE_INTEGER: Final = 2**53 - 1
"""A double, such as a JavaScript number, holds every integer up to this one exactly (RFC 8259)."""

_QUOTED_IN_RANGES: Final = frozenset(' ,"()[]\\\t\n\r\v\f')
_CHOICES: Final[Mapping[str, tuple[str | bool, ...]]] = {
    "exact_numbers": ("number", "text"),
    "separator": (",", ";", "\t"),
    "decimal_comma": (False, True),
    "byte_order_mark": (False, True),
}


@dataclass(frozen=True, slots=True)
class Format:
    """How values are written:
    - ``exact_numbers``: how JSON writes decimals, and integers that JavaScript cannot hold exactly (beyond
      ±(2^53 - 1)). ``number`` writes them as numbers with all digits, ``text`` as strings.
    - ``zone``: JSON and CSV convert datetimes that have a time zone to this zone; None: no conversion.
    - ``separator``: the character between two fields of CSV.
    - ``decimal_comma``: CSV writes floats and decimals with a comma instead of a point.
    - ``byte_order_mark``: CSV begins with U+FEFF, by which Excel recognises UTF-8.

    Raises InvalidSettings for any other value.
    """

    exact_numbers: Literal["number", "text"] = "number"
    zone: tzinfo | None = None
    separator: Literal[",", ";", "\t"] = ","
    decimal_comma: bool = False
    byte_order_mark: bool = False

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise InvalidSettings(f"{name} is {getattr(self, name)!r}; it takes {' or '.join(map(repr, choices))}")


DEFAULT_FORMAT: Final = Format()


def missing_package_message(package: str, extra: str) -> str:
    return f"this format needs {package}: pip install 'tenantry[{extra}]'"


def clean_text(text: str) -> str:
    """Replace lone surrogates by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return str.__str__(text)  # `text` may be of a subclass


def local_time(value: Any, zone: tzinfo) -> Any:
    if not isinstance(value, datetime) or value.tzinfo is None:
        return value
    try:
        return value.astimezone(zone)
    except OverflowError:  # the first or the last day of the calendar
        return value


def datetime_text(value: datetime) -> str:
    """Format as ISO 8601, with ``Z`` for UTC."""
    text = value.isoformat()
    return f"{text[:-6]}Z" if text.endswith("+00:00") else text


def interval_text(value: timedelta) -> str:
    """Format as an ISO 8601 duration in days and seconds: ``P1DT7200S``, ``-PT0.5S``, ``P0D``."""
    sign, length = ("-", -value) if value < timedelta() else ("", value)
    seconds = f"{length.seconds}.{length.microseconds:06}".rstrip("0").rstrip(".") if length.microseconds else ""
    seconds = seconds or (str(length.seconds) if length.seconds else "")
    days = f"{length.days}D" if length.days else ""
    clock = f"T{seconds}S" if seconds else ""
    return f"{sign}P{days}{clock}" if days or clock else "P0D"


def range_text(value: Any) -> str:
    """Write a range as PostgreSQL does: ``[1,10)``, ``[1,)`` without an upper end, or ``empty``."""
    if value.isempty:
        return "empty"
    lower, upper = (_bound(end) for end in (value.lower, value.upper))
    return f"{'[' if value.lower_inc else '('}{lower},{upper}{']' if value.upper_inc else ')'}"


def _bound(end: Any) -> str:
    if end is None:
        return ""
    text = scalar_text(end)
    if text and _QUOTED_IN_RANGES.isdisjoint(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '""')
    return f'"{escaped}"'


def scalar_text(value: Any, format_: Format = DEFAULT_FORMAT) -> str:
    """Format a value that is not a list or object. A value of a subclass is written like its nearest base class."""
    writer = TEXTS.get(type(value)) or next((TEXTS[each] for each in type(value).__mro__ if each in TEXTS), None)
    if writer is not None:
        return writer(value if format_.zone is None else local_time(value, format_.zone))
    if isinstance(value, bytes | bytearray | memoryview):
        return b64encode(value).decode("ascii")
    return clean_text(range_text(value) if is_range(value) else str(value))


def is_finite(value: float | Decimal) -> bool:
    return value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)


TEXTS: Final[Mapping[type, Callable[[Any], str]]] = {
    str: clean_text,
    bool: lambda value: "true" if value else "false",
    int: int.__repr__,
    float: float.__repr__,
    Decimal: str,
    UUID: str,
    date: date.isoformat,
    datetime: datetime_text,
    time: lambda value: str(value).replace("+00:00", "Z"),
    timedelta: interval_text,
}
