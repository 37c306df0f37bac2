"""The period of a comparison: the same part of the period before."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tenantry.dashboards.panels.periods import Periods, periods
from tenantry.sql.parameters import declare

VIENNA = ZoneInfo("Europe/Vienna")
NOW = datetime(2026, 11, 28, 10, tzinfo=UTC)


def found_periods(sent: Any, kind: str, now: datetime = NOW, *, by_time: bool = False) -> Periods | None:
    parameter = replace(declare({"period": {"type": kind, "open": "both"}})["period"], zone=VIENNA)
    return periods(parameter, {"params": {"period": sent}}, now, VIENNA, by_time=by_time)


def compared(sent: Any, kind: str = "date range", now: datetime = NOW) -> tuple[str, str] | None:
    found = found_periods(sent, kind, now)
    return found and tuple("..".join(each.sent().values()) for each in (found.shown, found.before))  # type: ignore[return-value]


@pytest.mark.parametrize("kind", ["date range", "datetime range"])
@pytest.mark.parametrize(
    ("sent", "shown", "before"),
    [
        ("this-month", "2026-11-01..2026-11-28", "2026-10-01..2026-10-28"),
        ("month-to-date", "2026-11-01..2026-11-28", "2026-10-01..2026-10-28"),
        ("last-month", "2026-10-01..2026-10-31", "2026-09-01..2026-09-30"),
        ("this-year", "2026-01-01..2026-11-28", "2025-01-01..2025-11-28"),
        ("year-to-date", "2026-01-01..2026-11-28", "2025-01-01..2025-11-28"),
        ("last-12-months", "2025-12-01..2026-11-28", "2024-12-01..2025-11-28"),
        ("previous-3-months", "2026-08-01..2026-10-31", "2026-05-01..2026-07-31"),
        ("this-quarter", "2026-10-01..2026-11-28", "2026-07-01..2026-08-28"),
        ("this-week", "2026-11-23..2026-11-28", "2026-11-16..2026-11-21"),
        ("last-7-days", "2026-11-22..2026-11-28", "2026-11-15..2026-11-21"),
        ("today", "2026-11-28..2026-11-28", "2026-11-27..2026-11-27"),
        ({"start": "2026-10-05", "end": "2026-10-14"}, "2026-10-05..2026-10-14", "2026-09-25..2026-10-04"),
        ({"start": "2026-01-01", "end": "2026-12-31"}, "2026-01-01..2026-11-28", "2025-01-01..2025-11-28"),
        ({"start": "2026-02-01", "end": "2026-03-31"}, "2026-02-01..2026-03-31", "2025-12-01..2026-01-31"),
        ({"start": "2026-11-25", "end": "2026-12-04"}, "2026-11-25..2026-11-28", "2026-11-15..2026-11-18"),
        ({"start": "2027-01-01", "end": "2027-01-31"}, "2027-01-01..2027-01-31", "2026-12-01..2026-12-31"),
    ],
)
def test_the_same_part(kind: str, sent: Any, shown: str, before: str) -> None:
    """Red when the period before is as many days: October was compared with 31 August to 30 September, and eleven
    months with twelve."""
    assert compared(sent, kind) == (shown, before)


def test_a_shorter_month() -> None:
    """Its last day takes the place of the days that it lacks."""
    march = datetime(2026, 3, 30, 10, tzinfo=UTC)
    assert compared("this-month", now=march) == ("2026-03-01..2026-03-30", "2026-02-01..2026-02-28")


def test_the_days_are_of_the_zone() -> None:
    """At 23:30 in UTC the next day has begun in Vienna."""
    assert compared("today", now=datetime(2026, 11, 27, 23, 30, tzinfo=UTC)) == (
        "2026-11-28..2026-11-28",
        "2026-11-27..2026-11-27",
    )


@pytest.mark.parametrize("sent", [{"start": "2026-01-01"}, {"start": "0001-01-01", "end": "0001-12-31"}])
def test_nothing_before(sent: Any) -> None:
    assert compared(sent) is None


@pytest.mark.parametrize(
    ("sent", "shown", "before"),
    [
        ("today", "2026-11-28..2026-11-28T11:00", "2026-11-27..2026-11-27T11:00"),
        ("this-week", "2026-11-23..2026-11-28T11:00", "2026-11-16..2026-11-21T11:00"),
        ("this-month", "2026-11-01..2026-11-28T11:00", "2026-10-01..2026-10-28T11:00"),
        ("last-month", "2026-10-01..2026-10-31", "2026-09-01..2026-09-30"),
        ({"start": "2026-11-19", "end": "2026-11-28"}, "2026-11-19..2026-11-28T11:00", "2026-11-09..2026-11-18T11:00"),
        ({"start": "2026-11-25", "end": "2026-12-04"}, "2026-11-25..2026-11-28T11:00", "2026-11-15..2026-11-18T11:00"),
        ({"start": "2026-12-01", "end": "2026-12-04"}, "2026-12-01..2026-12-04", "2026-11-27..2026-11-30"),
    ],
)
@pytest.mark.parametrize("kind", ["date range", "datetime range"])
def test_the_time_of_today(kind: str, sent: Any, shown: str, before: str) -> None:
    """Red when a part of today was compared with all of yesterday."""
    found = found_periods(sent, kind, by_time=True)
    assert found is not None
    assert ["..".join(each.sent().values()) for each in (found.shown, found.before)] == [shown, before]
    assert found.whole_dates == (kind == "date range" and "T" in shown)


@pytest.mark.parametrize(
    ("now", "sent", "shown", "before"),
    [
        ("2026-11-30", "this-month", "2026-11-01..2026-11-30T11:00", "2026-10-01..2026-10-30T11:00"),
        ("2026-11-01", "this-month", "2026-11-01..2026-11-01T11:00", "2026-10-01..2026-10-01T11:00"),
        ("2026-11-23", "this-week", "2026-11-23..2026-11-23T11:00", "2026-11-16..2026-11-16T11:00"),
        ("2026-03-28", "this-month", "2026-03-01..2026-03-28T11:00", "2026-02-01..2026-02-28T11:00"),
        ("2026-03-29", "this-month", "2026-03-01..2026-03-29T12:00", "2026-02-01..2026-02-28"),
        ("2028-03-29", "this-month", "2028-03-01..2028-03-29T12:00", "2028-02-01..2028-02-29T12:00"),
        ("2028-02-29", "this-year", "2028-01-01..2028-02-29T11:00", "2027-01-01..2027-02-28"),
        ("2026-12-31", "this-quarter", "2026-10-01..2026-12-31T11:00", "2026-07-01..2026-09-30"),
    ],
)
def test_ends_of_months(now: str, sent: str, shown: str, before: str) -> None:
    """Red on the last day of November, which was compared with all of October, and on 29 March, when February ended at
    eleven again."""
    found = found_periods(sent, "date range", datetime.fromisoformat(f"{now}T10:00+00:00"), by_time=True)
    assert found is not None
    assert ["..".join(each.sent().values()) for each in (found.shown, found.before)] == [shown, before]


def test_the_first_minute_of_a_day() -> None:
    """It is no empty range."""
    found = found_periods("today", "datetime range", datetime(2026, 11, 27, 23, 0, 20, tzinfo=UTC), by_time=True)
    assert found is not None
    first_minute = datetime(2026, 11, 27, 0, 1, tzinfo=VIENNA)
    assert found.before.value(VIENNA) == {"start": "2026-11-27", "end": first_minute}
