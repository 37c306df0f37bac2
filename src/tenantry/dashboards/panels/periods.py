"""The period that a panel shows, and the same part of the period before, for ``compare``."""

# For example, 1 to 28 November is compared with 1 to 28 October, and the first eleven months of a year with the same
# months of the previous year. A range of times that includes today ends now, and the previous one at the same clock
# time.

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping
from datetime import date, datetime, timedelta, tzinfo
from typing import Any, Final, NamedTuple

from tenantry.groups import Record
from tenantry.sql.parameters import Parameter, ParameterType, RelativeRange, parse_relative, typed_value

_DAY: Final = timedelta(days=1)
_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}
_DAYS: Final = {"day": 1, "week": 7}
_FIRST_MINUTE: Final = "00:01"  # not midnight, because a range that ends when it begins is refused


class Days(NamedTuple):
    """The days from ``start`` to the day before ``end``."""

    start: date
    end: date

    def sent(self, until: str | None = None) -> dict[str, str]:
        """The range as viewers send it, with its last day or the clock time ``until`` on that day."""
        last = (self.end - _DAY).isoformat()
        return {"start": self.start.isoformat(), "end": last if until is None else f"{last}T{until}"}


class Periods(NamedTuple):
    shown: Days
    """The part of the panel's period that has passed, including today."""
    before: Days
    """The same part of the previous period."""
    whole: Days
    """The panel's period."""
    until: str | None
    """The clock time at which ``shown`` and ``before`` end, for a range of times that includes today."""

    def sent(self) -> dict[str, Any]:
        days = {"shown": self.shown.sent(), "before": self.before.sent(), "whole": self.whole.sent()}
        return days if self.until is None else days | {"until": self.until}


def periods(parameter: Parameter, variables: Mapping[str, Any] | Record, now: datetime, zone: tzinfo) -> Periods | None:
    """The periods of a range parameter. None if its range has an open end, is empty, or is a relative range of hours.
    Raises the errors of ``typed_value``."""
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
        before = Days(_earlier(whole.start, months, days), whole.start)
        if shown.end < whole.end or (relative is not None and relative.to_date):
            before = Days(before.start, _earlier(shown.end - _DAY, months, days) + _DAY)
    except (OverflowError, ValueError):  # before the first day of the calendar
        return None
    is_cut = parameter.type is ParameterType.DATETIME_RANGE and shown.end == today + _DAY
    until = max(local.strftime("%H:%M"), _FIRST_MINUTE) if is_cut else None
    return Periods(shown, before, whole, until)


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
    """The day that is ``months`` and ``days`` earlier; in a shorter month, its last day."""
    years, month = divmod(day.month - 1 - months, 12)
    year = day.year + years
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1])) - timedelta(days=days)
