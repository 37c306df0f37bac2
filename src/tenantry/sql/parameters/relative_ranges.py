"""Relative ranges: converts a range such as ``last 30 days`` to two dates or two instants. The second is not in the
range."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

RELATIVE_FORMS: Final = (
    "today",
    "yesterday",
    "tomorrow",
    "this month",
    "last month",
    "next month",
    "last 30 days",
    "previous 30 days",
    "next 30 days",
    "month to date",
)
"""One example for each form of a relative range. The unit of a range is minute, hour, day, week, month, quarter or
year."""

_DAYS: Final = {"today": 0, "yesterday": -1, "tomorrow": 1}
_THIS: Final = {"this": 0, "last": -1, "previous": -1, "next": 1}
_AROUND: Final = {0: "this", -1: "last", 1: "next"}
_UNIT = "(minute|hour|day|week|month|quarter|year)"
_ONE: Final = re.compile(rf"(this|last|previous|next) {_UNIT}")
_SEVERAL: Final = re.compile(rf"(last|previous|next) ([1-9][0-9]{{0,3}}) {_UNIT}s?")
_TO_DATE: Final = re.compile(r"(week|month|quarter|year) to date")
_SEPARATORS: Final = re.compile(r"[\s_+-]+")
_CLOCK_UNITS: Final = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}


@dataclass(frozen=True, slots=True)
class RelativeRange:
    """A range of whole calendar units."""

    unit: str
    first: int
    """The first unit in the range. 0 means the current unit, -1 the previous unit."""
    units: int
    to_date: bool = False
    """Whether the last day of the range is today, and not the last day of the unit."""

    def __str__(self) -> str:
        if self.to_date:
            return f"{self.unit} to date"
        if self.units == 1 and self.first in _AROUND:
            days = {offset: name for name, offset in _DAYS.items()}
            return days[self.first] if self.unit == "day" else f"{_AROUND[self.first]} {self.unit}"
        word = "next" if self.first == 0 else "last" if self.first + self.units == 1 else "previous"
        return f"{word} {self.units} {self.unit}s"

    def dates(self, today: date, *, sundays: bool = False) -> tuple[date, date]:
        """Return the first day of the range, and the day after the last day. ``sundays``: whether weeks begin on Sunday
        instead of Monday.

        Raises ValueError for a range of hours or minutes, and for days beyond Python's calendar.
        """
        if self.unit in _CLOCK_UNITS:
            raise ValueError(f"`dates` does not work for a range of {self.unit}s: call `instants`")
        begin = _start_of(self.unit, today, sundays=sundays)
        try:
            end = today + timedelta(days=1) if self.to_date else _add(self.unit, begin, self.first + self.units)
            return _add(self.unit, begin, self.first), end
        except OverflowError:
            raise ValueError("beyond the calendar") from None

    def instants(self, now: datetime, zone: tzinfo, *, sundays: bool = False) -> tuple[datetime, datetime]:
        """Return the start and the end of the range in ``zone``. ``now`` must be aware.

        Raises ValueError for instants beyond Python's calendar.
        """
        local = now.astimezone(zone)
        length = _CLOCK_UNITS.get(self.unit)
        if length is None:
            first, end = self.dates(local.date(), sundays=sundays)
            return datetime.combine(first, time(), tzinfo=zone), datetime.combine(end, time(), tzinfo=zone)
        local = local.replace(minute=local.minute if self.unit == "minute" else 0, second=0, microsecond=0)
        begin = local.astimezone(UTC)  # in UTC every hour has the same length, even when local clocks change
        try:
            bounds = begin + length * self.first, begin + length * (self.first + self.units)
            return bounds[0].astimezone(zone), bounds[1].astimezone(zone)
        except OverflowError:
            raise ValueError("beyond the calendar") from None


def parse_relative(text: str) -> RelativeRange:
    """Parse the name of a range. Case is ignored. Spaces, ``-``, ``_`` and ``+`` separate words.

    ``last hour`` is the previous whole hour, but ``last 2 hours`` ends with the current hour. Raises ValueError for an
    unknown name; the message does not show the name.
    """
    name = _SEPARATORS.sub(" ", text.strip()).lower()
    if name in _DAYS:
        return RelativeRange("day", _DAYS[name], 1)
    if one := _ONE.fullmatch(name):
        return RelativeRange(one[2], _THIS[one[1]], 1)
    if to_date := _TO_DATE.fullmatch(name):
        return RelativeRange(to_date[1], 0, 1, to_date=True)
    if several := _SEVERAL.fullmatch(name):
        count = int(several[2])
        if count == 1:
            return RelativeRange(several[3], _THIS[several[1]], 1)
        first = {"last": 1 - count, "previous": -count, "next": 0}[several[1]]
        return RelativeRange(several[3], first, count)
    raise ValueError("no relative range")


def _start_of(unit: str, day: date, *, sundays: bool) -> date:
    if unit == "day":
        return day
    if unit == "week":
        return day - timedelta(days=(day.weekday() + sundays) % 7)
    months = _MONTHS[unit]
    return date(day.year, (day.month - 1) // months * months + 1, 1)


def _add(unit: str, day: date, count: int) -> date:
    if unit not in _MONTHS:
        return day + timedelta(days=count if unit == "day" else 7 * count)
    years, month = divmod(day.month - 1 + count * _MONTHS[unit], 12)
    return date(day.year + years, month + 1, 1)
