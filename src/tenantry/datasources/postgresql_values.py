"""Values as asyncpg wants them, which sends each parameter in the binary form of the type that PostgreSQL deduced.

Properties are JSON and viewer input is text, so a date comes as ``"2026-01-31"`` and a number may come as ``"7"``.
Every other driver sends text and lets the server read it; here the same reading is done before sending, by the type.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from tenantry.errors import UnbindableValue

_TRUE = frozenset({"true", "t", "yes", "y", "on", "1"})
_FALSE = frozenset({"false", "f", "no", "n", "off", "0"})


def encode(values: Sequence[Any] | Mapping[str, Any], types: Sequence[Any]) -> list[Any]:
    """One value for each deduced type (asyncpg's ``Type``). Raises UnbindableValue, without the value."""
    if len(values) != len(types):
        raise UnbindableValue(f"the SQL takes {len(types)} parameters and has {len(values)}", name="$")
    return [
        _encode(value, kind.name, number) for number, (value, kind) in enumerate(zip(values, types, strict=True), 1)
    ]


def _encode(value: Any, kind: str, number: int) -> Any:
    if kind.endswith("[]"):
        if not isinstance(value, list | tuple) and value is not None:
            raise _unreadable(kind, number)
        return None if value is None else [_encode(item, kind[:-2], number) for item in value]
    reader = _READERS.get(kind)
    if value is None or reader is None:
        return value
    unreadable = False
    read = None
    try:
        read = reader(value)
    except (ValueError, TypeError, InvalidOperation, OverflowError):
        unreadable = True  # raised below: these errors quote the value
    if unreadable:
        raise _unreadable(kind, number)
    return read


def _unreadable(kind: str, number: int) -> UnbindableValue:
    return UnbindableValue(f"the value of parameter ${number} cannot be read as {kind}", name=f"${number}")


def _integer(bits: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if isinstance(value, bool):
            raise TypeError
        number = int(value) if isinstance(value, str | int) else _whole(value)
        if not -(1 << bits - 1) <= number < 1 << bits - 1:
            raise OverflowError
        return number

    return read


def _whole(value: Any) -> int:
    if not isinstance(value, float | Decimal) or value != int(value):
        raise ValueError
    return int(value)


def _float(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number) and not isinstance(value, str):
        raise ValueError
    return number


def _text(value: Any) -> str:
    """Numbers and booleans as PostgreSQL's own cast to text spells them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float | Decimal | UUID | date | time):
        return str(value)
    raise TypeError


def _boolean(value: Any) -> bool:
    text = str(value).strip().lower()
    if text not in _TRUE | _FALSE:
        raise ValueError
    return text in _TRUE


def _date(value: Any) -> date:
    if isinstance(value, datetime):
        return value.date()
    return value if isinstance(value, date) else datetime.fromisoformat(value).date()


def _timestamptz(value: Any) -> datetime:
    moment = _datetime(value)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _timestamp(value: Any) -> datetime:
    """An instant in UTC, as a column without a zone holds it. A zone in a text is not looked at: so PostgreSQL reads
    it."""
    if isinstance(value, datetime) and value.tzinfo:
        value = value.astimezone(UTC)
    return _datetime(value).replace(tzinfo=None)


def _datetime(value: Any) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)  # noqa: DTZ001  # both callers settle the time zone
    return datetime.fromisoformat(value)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "bool": _boolean,
    "int2": _integer(16),
    "int4": _integer(32),
    "int8": _integer(64),
    "float4": _float,
    "float8": _float,
    "numeric": lambda value: Decimal(str(value)) if isinstance(value, float) else Decimal(value),
    "text": _text,
    "varchar": _text,
    "bpchar": _text,
    "name": _text,
    "json": _text,
    "jsonb": _text,
    "date": _date,
    "time": lambda value: value if isinstance(value, time) else time.fromisoformat(value),
    "timestamp": _timestamp,
    "timestamptz": _timestamptz,
    "uuid": lambda value: value if isinstance(value, UUID) else UUID(value),
}
"""By PostgreSQL's name of the type; a type that is not here takes what asyncpg takes."""
