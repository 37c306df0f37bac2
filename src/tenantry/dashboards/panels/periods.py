"""The period that a panel shows and, for ``compare``, the part of the previous period to compare with it."""

# For example, 1 to 28 November is compared with 1 to 28 October, and the first eleven months of a year with the same
# months of the previous year. A period that includes today ends now, and the previous one at the same clock time.

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any, Final, NamedTuple

from tenantry.groups import Record
from tenantry.sql.parameters import Parameter, ParameterType, RelativeRange, parse_relative, typed_value

_DAY: Final = timedelta(days=1)
_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}
_DAYS: Final = {"day": 1, "week": 7}
_FIRST_MINUTE: Final = time(0, 1)  # not midnight, because a range that ends when it begins is refused


class Days(NamedTuple):
    """The days from ``start`` to the day before ``end``. If ``until`` is set, the last day ends at this clock time."""

    start: date
    end: date
    until: time | None = None

    @property
    def last(self) -> date:
        return self.end - _DAY

    def sent(self) -> dict[str, str]:
        """The JSON for pages: the first day, and the last with its clock time, such as ``2026-11-30T14:05``."""
        until = "" if self.until is None else f"T{self.until:%H:%M}"
        return {"start": self.start.isoformat(), "end": f"{self.last.isoformat()}{until}"}

    def value(self, zone: tzinfo) -> dict[str, Any]:
        last = self.last.isoformat() if self.until is None else datetime.combine(self.last, self.until, zone)
        return {"start": self.start.isoformat(), "end": last}


class Periods(NamedTuple):
    shown: Days
    """The part of the panel's period up to today, or the whole period if it begins later."""
    before: Days
    """The part of the previous period that ``shown`` is compared with."""
    whole: Days
    """The panel's period."""
    whole_dates: bool = False
    """Whether ``until`` applies only to rows with a time. Rows with only a date count for the whole last day."""

    def sent(self) -> dict[str, Any]:
        days = {"shown": self.shown.sent(), "before": self.before.sent(), "whole": self.whole.sent()}
        return days | ({"whole_dates": True} if self.whole_dates else {})


def periods(
    parameter: Parameter, variables: Mapping[str, Any] | Record, now: datetime, zone: tzinfo, *, by_time: bool
) -> Periods | None:
    """Return the periods to show and to compare. Returns None if the range is empty, has an open end, or is a relative
    range of hours.

    ``by_time``: whether the query can end the range at a time of day."""
    bounds = typed_value(parameter, variables, now)
    if bounds is None or bounds.start is None or bounds.end is None:
        return None
    whole = Days(_day(bounds.start, zone), _day(bounds.end, zone))
    relative = _relative(parameter, variables)
    if (relative is not None and relative.unit not in _MONTHS | _DAYS) or whole.start >= whole.end:
        return None
    local = now.astimezone(zone)
    today = local.date()
    shown = Days(whole.start, min(whole.end, today + _DAY)) if whole.start <= today else whole
    months, days = _length(whole, relative)
    try:
        first, last = _earlier(whole.start, months, days), _earlier(shown.last, months, days)
    except (OverflowError, ValueError):  # before the first day of the calendar
        return None
    is_over = shown.end == whole.end and shown.last != today and not (relative is not None and relative.to_date)
    before = Days(first, whole.start if is_over else last + _DAY)
    if by_time and shown.last == today:
        until = max(time(local.hour, local.minute), _FIRST_MINUTE)
        is_shorter = months > 0 and last.day < shown.last.day  # all of February, on 29 March and later
        shown, before = shown._replace(until=until), before._replace(until=None if is_shorter else until)
    return Periods(shown, before, whole, shown.until is not None and parameter.type is ParameterType.DATE_RANGE)


def _day(end: date, zone: tzinfo) -> date:
    return end.astimezone(zone).date() if isinstance(end, datetime) else end


def _relative(parameter: Parameter, variables: Mapping[str, Any] | Record) -> RelativeRange | None:
    params: Mapping[str, Any] | Record = variables["params"]
    given = params[parameter.name] if parameter.name in params else None  # noqa: SIM401  # a Record has no get
    if given in (None, ""):
        return parameter.default if isinstance(parameter.default, RelativeRange) else None
    try:
        return parse_relative(given) if isinstance(given, str) else None
    except ValueError:  # two days, not a relative range
        return None


def _length(whole: Days, relative: RelativeRange | None) -> tuple[int, int]:
    if relative is not None:
        return _MONTHS.get(relative.unit, 0) * relative.units, _DAYS.get(relative.unit, 0) * relative.units
    if whole.start.day == whole.end.day == 1:  # whole months
        return 12 * (whole.end.year - whole.start.year) + whole.end.month - whole.start.month, 0
    return 0, (whole.end - whole.start).days


def _earlier(day: date, months: int, days: int) -> date:
    """Subtract the months, then the days. One month before 31 March is the last day of February."""
    years, month = divmod(day.month - 1 - months, 12)
    year = day.year + years
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1])) - timedelta(days=days)
