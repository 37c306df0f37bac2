"""Converts viewer input, mostly strings, to the declared type.

Strings must have a strict form: ASCII digits, no underscores in numbers, dates in ISO 8601. Values that already have
the declared type are accepted too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from typing import Any, Final, NamedTuple, TypeAlias
from uuid import UUID

from tenantry.groups import Record, RecordList
from tenantry.sql.binding.bindable_values import check_scalar
from tenantry.sql.parameters.declared import Bounds, Nullable, Parameter, ParameterType
from tenantry.sql.parameters.relative_ranges import RelativeRange, parse_relative

TEXT_SEPARATOR: Final = ".."
"""The characters between the start and the end of a range, if the range is one string."""

_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,100}(?:\.[0-9]{0,100})?|\.[0-9]{1,100})(?:[eE][+-]?[0-9]{1,2})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATETIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})?"
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_INTERVAL_PART = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)\s*(week|day|hour|minute|second)s?\b\s*,?\s*")
_ISO_INTERVAL = re.compile(
    r"P(?:(?P<weeks>[0-9]{1,6})W)?(?:(?P<days>[0-9]{1,7})D)?"
    r"(?:T(?:(?P<hours>[0-9]{1,7})H)?(?:(?P<minutes>[0-9]{1,9})M)?(?:(?P<seconds>[0-9]{1,9}(?:\.[0-9]{1,6})?)S)?)?"
)
_LISTS = (list, tuple, RecordList)
_BOOLEANS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


class EmptyRange(ValueError):
    """The viewer sent a well-formed range that contains nothing."""


class Moment(NamedTuple):
    """The current time (an aware datetime), the time zone of a parameter, and whether weeks begin on Sunday."""

    zone: tzinfo
    now: datetime
    sundays: bool = False


def is_empty(value: Any) -> bool:
    """Whether the viewer sent nothing: None or an empty string."""
    return value is None or (isinstance(value, str) and not value)


def read_value(parameter: Parameter, raw: Any, moment: Moment) -> Any:
    """Convert viewer input to the parameter's type. The result is a tuple for a list, Bounds for a range, Nullable for
    an ``only_matches`` parameter, and a scalar for any other parameter.

    Returns None if the viewer sent nothing. Ignores empty strings in lists. Raises one of REFUSALS for a bad value.
    """
    if parameter.only_matches:
        return _read_nullable(parameter, raw, moment)
    return _read_sent(parameter, raw, moment)


def _read_nullable(parameter: Parameter, raw: Any, moment: Moment) -> Nullable | None:
    items = raw if isinstance(raw, _LISTS) else (raw,)
    others = [item for item in items if item != parameter.is_null and not is_empty(item)]
    if parameter.is_null is None or parameter.is_null not in items:
        value = _read_sent(parameter, raw, moment)
        return None if value is None else Nullable(value, null=False)
    if parameter.is_list:
        return Nullable(read_whole(parameter, others, moment), null=True)
    if others:
        raise ValueError("one value")
    return Nullable(None, null=True)


def _read_sent(parameter: Parameter, raw: Any, moment: Moment) -> Any:
    if is_empty(raw):
        return None
    if not isinstance(raw, _LISTS):
        return read_whole(parameter, raw, moment)
    items = [item for item in raw if not is_empty(item)]
    if len(raw) and not items:
        return None
    if parameter.is_list:
        return read_whole(parameter, items, moment)
    if len(items) != 1:
        raise ValueError("one value")
    return _read_one(parameter, items[0], moment)


def read_whole(parameter: Parameter, raw: Any, moment: Moment) -> Any:
    """Like ``read_value``, but an empty string counts as a value. For a list, a single value becomes a tuple with one
    item."""
    if not parameter.is_list:
        return _read_one(parameter, raw, moment)
    items = raw if isinstance(raw, _LISTS) else (raw,)
    if parameter.max_items is not None and len(items) > parameter.max_items:
        raise ValueError("too many items")
    return tuple([_read_one(parameter, item, moment) for item in items])


def _read_one(parameter: Parameter, raw: Any, moment: Moment) -> Any:
    value = _READERS[parameter.type](raw, moment)
    if value is None:
        return None
    if parameter.choices is not None and value not in parameter.choices:
        raise ValueError("none of the choices")
    if isinstance(value, RelativeRange):
        value = resolve(parameter, value, moment)
    if isinstance(value, Bounds):
        _check_bounds(parameter, value)
    elif parameter.max_length is not None and len(value) > parameter.max_length:
        raise ValueError("too long")
    elif (parameter.min is not None and value < parameter.min) or (parameter.max is not None and value > parameter.max):
        raise ValueError("too small or too great")
    return value


def _check_bounds(parameter: Parameter, bounds: Bounds) -> None:
    start, end, _ = bounds
    if (start is None and "start" not in parameter.open) or (end is None and "end" not in parameter.open):
        raise ValueError("an end is missing")
    if start is not None and end is not None and _in_order(start) >= _in_order(end):
        before = type(end) is date or _in_order(start) > _in_order(end)  # the end is the day after the last date
        raise EmptyRange("ends before it begins" if before else "ends when it begins")
    if parameter.min is not None and (start is None or start < parameter.min):
        raise ValueError("too early")
    if parameter.max is not None:
        last = end - timedelta(days=1) if type(end) is date else end  # the last day, as the viewer sent it
        if last is None or last > parameter.max:
            raise ValueError("too late")


def _in_order(end: Any) -> Any:
    # Python compares times in the same zone by clock time, which repeats an hour in autumn, so compare in UTC.
    return end.astimezone(UTC) if type(end) is datetime else end


def resolve(parameter: Parameter, relative: RelativeRange, moment: Moment) -> Bounds:
    """Return the bounds of a relative range: dates if the parameter is a date range, otherwise instants.

    Raises ValueError for bounds beyond Python's calendar.
    """
    if parameter.type is ParameterType.DATE_RANGE:
        return Bounds(*relative.dates(moment.now.astimezone(moment.zone).date(), sundays=moment.sundays))
    return Bounds(*relative.instants(moment.now, moment.zone, sundays=moment.sundays))


# --- one value of each type -------------------------------------------------------------------------------------------

Reader: TypeAlias = Callable[[Any, Moment], Any]


def _stripped(raw: Any) -> str:
    if not isinstance(raw, str):
        raise TypeError("no text")
    return raw.strip()


def _text(raw: Any, _moment: Moment) -> str:
    if not isinstance(raw, str):
        raise ValueError("no text")  # noqa: TRY004  # a refusal like all others
    text: str = check_scalar(raw)  # neither a NUL nor a lone surrogate
    return text


def _integer(raw: Any, _moment: Moment) -> int:
    if type(raw) is int:
        number = raw
    elif _INTEGER.fullmatch(text := _stripped(raw)):
        number = int(text)
    else:
        raise ValueError("no whole number")
    check_scalar(number)  # 64 bits
    return number


def _decimal(raw: Any, _moment: Moment) -> Decimal:
    if type(raw) is int or type(raw) is float:
        raw = Decimal(repr(raw))
    if type(raw) is Decimal:
        number = raw
    elif _DECIMAL.fullmatch(text := _stripped(raw)):
        number = Decimal(text)
    else:
        raise ValueError("no number")
    check_scalar(number)  # finite
    return number


def _boolean(raw: Any, _moment: Moment) -> bool:
    if type(raw) is bool:
        return raw
    return _BOOLEANS[_stripped(raw).lower()]


def _date(raw: Any, _moment: Moment) -> date:
    if type(raw) is date:
        return raw
    text = _stripped(raw)
    if not _DATE.fullmatch(text):
        raise ValueError("no date")
    return date.fromisoformat(text)


def _datetime(raw: Any, moment: Moment) -> datetime:
    if type(raw) is datetime:
        value = raw
    elif type(raw) is date:
        value = datetime.combine(raw, time())
    else:
        text = _stripped(raw)
        if _DATE.fullmatch(text):
            value = datetime.combine(date.fromisoformat(text), time())
        elif _DATETIME.fullmatch(text):
            value = datetime.fromisoformat(text.upper())
        else:
            raise ValueError("no date and time")
    return value.replace(tzinfo=moment.zone) if value.tzinfo is None else value.astimezone(moment.zone)


def _uuid(raw: Any, _moment: Moment) -> UUID:
    if type(raw) is UUID:
        return raw
    text = _stripped(raw)
    if not _UUID.fullmatch(text):
        raise ValueError("no UUID")
    return UUID(text)


def _interval(raw: Any, _moment: Moment) -> timedelta:
    # Months and years are refused, since their length varies.
    if type(raw) is timedelta:
        return raw
    text = _stripped(raw)
    if (iso := _ISO_INTERVAL.fullmatch(text.upper())) and not text.upper().endswith(("P", "T")):
        return timedelta(**{unit: float(count) for unit, count in iso.groupdict().items() if count})
    parts: dict[str, float] = {}
    offset = 0
    for part in _INTERVAL_PART.finditer(text.lower()):
        if part.start() != offset or f"{part[2]}s" in parts:
            break
        parts[f"{part[2]}s"] = float(part[1])
        offset = part.end()
    if not parts or offset != len(text):
        raise ValueError("no interval")
    return timedelta(**parts)


def _date_range(raw: Any, moment: Moment) -> Bounds | RelativeRange | None:
    # A viewer's last day is in the range, so `end` is the day after it.
    ends = _ends(raw)
    if isinstance(ends, RelativeRange):
        ends.dates(date(2000, 1, 1))  # raises for hours and minutes
        return ends
    # A dashboard that compares a part of today with the same part of another day gives the end as a datetime.
    until = ends[1].astimezone(moment.zone) if type(ends[1]) is datetime else None
    last = ends[1] if until is None else until.date()
    start, end = (None if is_empty(each) else _date(each, moment) for each in (ends[0], last))
    return _bounds(start, None if end is None else end + timedelta(days=1), until)


def _datetime_range(raw: Any, moment: Moment) -> Bounds | RelativeRange | None:
    # If the viewer sends a date as the end, that day is in the range. If the viewer sends a time, the range ends just
    # before that time.
    ends = _ends(raw)
    if isinstance(ends, RelativeRange):
        return ends
    start, end = (None if is_empty(each) else _datetime(each, moment) for each in ends)
    if end is not None and (type(ends[1]) is date or (isinstance(ends[1], str) and _DATE.fullmatch(ends[1].strip()))):
        end = datetime.combine(end.date() + timedelta(days=1), time(), tzinfo=moment.zone)
    return _bounds(start, end)


def _relative_range(raw: Any, _moment: Moment) -> RelativeRange:
    return raw if isinstance(raw, RelativeRange) else parse_relative(_stripped(raw))


def _bounds(start: Any, end: Any, until: datetime | None = None) -> Bounds | None:
    return None if start is None and end is None else Bounds(start, end, until)


def _ends(raw: Any) -> RelativeRange | Sequence[Any]:
    if isinstance(raw, RelativeRange):
        return raw
    if isinstance(raw, Mapping | Record):
        if any(name not in {"start", "end"} for name in raw):
            raise ValueError("no range")
        ends = {name: raw[name] for name in raw}
        return [ends.get("start"), ends.get("end")]
    text = _stripped(raw)
    if TEXT_SEPARATOR not in text:
        return parse_relative(text)
    start, _, end = text.partition(TEXT_SEPARATOR)
    return [start.strip(), end.strip()]


_READERS: Final[Mapping[ParameterType, Reader]] = {
    ParameterType.TEXT: _text,
    ParameterType.INTEGER: _integer,
    ParameterType.DECIMAL: _decimal,
    ParameterType.BOOLEAN: _boolean,
    ParameterType.DATE: _date,
    ParameterType.DATETIME: _datetime,
    ParameterType.UUID: _uuid,
    ParameterType.INTERVAL: _interval,
    ParameterType.CHOICE: _text,
    ParameterType.DATE_RANGE: _date_range,
    ParameterType.DATETIME_RANGE: _datetime_range,
    ParameterType.RELATIVE_RANGE: _relative_range,
}

REFUSALS: Final = (ValueError, TypeError, KeyError, ArithmeticError)
"""Exceptions that a conversion can raise to refuse input."""
