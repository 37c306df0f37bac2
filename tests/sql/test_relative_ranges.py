"""Relative ranges: whole units of the calendar, half-open, in a zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenantry.sql.parameters.relative_ranges import RELATIVE_FORMS, RelativeRange, parse_relative

VIENNA = ZoneInfo("Europe/Vienna")
WEDNESDAY = date(2026, 5, 20)


@pytest.mark.parametrize(
    ("name", "start", "end"),
    [
        ("today", "2026-05-20", "2026-05-21"),
        ("yesterday", "2026-05-19", "2026-05-20"),
        ("tomorrow", "2026-05-21", "2026-05-22"),
        ("this week", "2026-05-18", "2026-05-25"),
        ("last week", "2026-05-11", "2026-05-18"),
        ("this month", "2026-05-01", "2026-06-01"),
        ("last month", "2026-04-01", "2026-05-01"),
        ("previous month", "2026-04-01", "2026-05-01"),
        ("next month", "2026-06-01", "2026-07-01"),
        ("this quarter", "2026-04-01", "2026-07-01"),
        ("last quarter", "2026-01-01", "2026-04-01"),
        ("this year", "2026-01-01", "2027-01-01"),
        ("last 7 days", "2026-05-14", "2026-05-21"),
        ("last 1 day", "2026-05-19", "2026-05-20"),
        ("previous 7 days", "2026-05-13", "2026-05-20"),
        ("next 7 days", "2026-05-20", "2026-05-27"),
        ("last 3 months", "2026-03-01", "2026-06-01"),
        ("previous 3 months", "2026-02-01", "2026-05-01"),
        ("last 6 quarters", "2025-01-01", "2026-07-01"),
        ("week to date", "2026-05-18", "2026-05-21"),
        ("month to date", "2026-05-01", "2026-05-21"),
        ("year to date", "2026-01-01", "2026-05-21"),
        ("LAST-30-days", "2026-04-21", "2026-05-21"),
        (" last_30_days ", "2026-04-21", "2026-05-21"),
    ],
)
def test_dates(name: str, start: str, end: str) -> None:
    """``last 7 days`` includes today, ``previous 7 days`` does not. Red when a bound is one unit off."""
    relative = parse_relative(name)
    assert tuple(map(date.isoformat, relative.dates(WEDNESDAY))) == (start, end)
    assert parse_relative(str(relative)) == relative


@pytest.mark.parametrize("days", range(7))
def test_each_day_is_in_the_week_that_began_on_its_sunday(days: int) -> None:
    """Also the Sunday itself. Red when it belongs to the week before."""
    week = parse_relative("this week").dates(date(2026, 5, 17) + timedelta(days=days), sundays=True)
    assert tuple(map(date.isoformat, week)) == ("2026-05-17", "2026-05-24")


UNITS = ("minute", "hour", "day", "week", "month", "quarter", "year")


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("word", ["last", "previous", "next"])
def test_one_unit_is_a_unit(word: str, unit: str) -> None:
    """``last hour`` and ``last 1 hour`` mean one thing. Broken: with a count of 1 that counts the current unit."""
    one = parse_relative(f"{word} {unit}")
    assert parse_relative(f"{word} 1 {unit}") == parse_relative(f"{word}-1-{unit}s") == one
    assert parse_relative(str(one)) == one


@pytest.mark.parametrize("name", RELATIVE_FORMS)
def test_every_form_that_is_listed_is_read(name: str) -> None:
    """Control of the list that the docs show."""
    start, end = parse_relative(name).dates(WEDNESDAY)
    assert start < end


@pytest.mark.parametrize(
    "name",
    [
        "",
        "last",
        "last days",
        "last 0 days",
        "last 10000 days",
        "last 3.5 days",
        "30 days",
        "today; drop",
        "last ٣ days",
    ],
)
def test_what_is_none(name: str) -> None:
    """Digits are ASCII; nothing comes after the name. The error never shows it."""
    with pytest.raises(ValueError, match=r"^no relative range$"):
        parse_relative(name)


@pytest.mark.parametrize("name", ["last 2 hours", "this minute"])
def test_hours_are_no_dates(name: str) -> None:
    """Red without the check: a column of dates would be compared with a time."""
    with pytest.raises(ValueError, match="`dates` does not work for a range of"):
        parse_relative(name).dates(WEDNESDAY)


@pytest.mark.parametrize("name", ["last 9999 years", "next 9999 years", "previous 9999 years"])
def test_beyond_the_calendar(name: str) -> None:
    """A ValueError, which is the viewer's, and no crash."""
    with pytest.raises(ValueError):  # noqa: PT011  # what the calendar itself says
        parse_relative(name).instants(datetime(2026, 5, 20, tzinfo=UTC), UTC)


def test_a_day_begins_at_midnight_of_the_zone() -> None:
    """23:30 in London is tomorrow in Vienna. Red when ``now`` is not taken to the zone first."""
    now = datetime(2026, 5, 19, 22, 30, tzinfo=UTC)
    start, end = parse_relative("today").instants(now, VIENNA)
    assert (start.isoformat(), end.isoformat()) == ("2026-05-20T00:00:00+02:00", "2026-05-21T00:00:00+02:00")
    assert parse_relative("today").instants(now, UTC)[0] == datetime(2026, 5, 19, tzinfo=UTC)


def test_the_clock_changes() -> None:
    """The day has 23 hours; ``last 24 hours`` are 24. Red when hours are subtracted from the clock on the wall."""
    now = datetime(2026, 3, 29, 20, 15, tzinfo=UTC)
    start, end = parse_relative("today").instants(now, VIENNA)
    assert end.astimezone(UTC) - start.astimezone(UTC) == datetime(2026, 1, 1, 23) - datetime(2026, 1, 1)  # noqa: DTZ001
    start, end = parse_relative("last 24 hours").instants(now, VIENNA)
    assert (end.astimezone(UTC) - start.astimezone(UTC)).total_seconds() == 24 * 3600
    assert (start.isoformat(), end.isoformat()) == ("2026-03-28T22:00:00+01:00", "2026-03-29T23:00:00+02:00")


def test_hours_of_a_zone_with_half_an_hour() -> None:
    """An hour begins when the clock of the zone strikes. Red when it is that of UTC."""
    start, end = parse_relative("this hour").instants(
        datetime(2026, 5, 20, 10, 10, tzinfo=UTC), ZoneInfo("Asia/Kolkata")
    )
    assert (start.isoformat(), end.isoformat()) == ("2026-05-20T15:00:00+05:30", "2026-05-20T16:00:00+05:30")


@given(st.sampled_from(UNITS), st.integers(1, 50), st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1)))  # noqa: DTZ001
def test_ranges_follow_one_another(unit: str, units: int, now: datetime) -> None:
    """The previous n end where this one begins, the last n with the end of this one, and now is in this one. One unit
    is the unit before or after this one."""
    moment = now.replace(tzinfo=UTC)
    this = RelativeRange(unit, 0, 1).instants(moment, VIENNA)
    assert this[0] <= moment < this[1]
    assert parse_relative(f"previous {units} {unit}s").instants(moment, VIENNA)[1] == this[0]
    ends, begins = (this[1], this[0]) if units > 1 else (this[0], this[1])
    assert parse_relative(f"last {units} {unit}s").instants(moment, VIENNA)[1] == ends
    assert parse_relative(f"next {units} {unit}s").instants(moment, VIENNA)[0] == begins
