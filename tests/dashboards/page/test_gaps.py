"""Buckets without a row are gaps of lines and areas; times that are no buckets have none. Hours where clocks change."""

from __future__ import annotations

import itertools
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from playwright.async_api import Locator

from tenantry.dashboards.charts.m4 import Plot, reduce_rows
from tenantry.datasources.results import Result
from tests.dashboards.page.conftest import Visit
from tests.dashboards.page.marks import boxes, panel_of, panels_of, path
from tests.dashboards.page.stand_in import Message, StandIn, rows
from tests.dashboards.page.test_time import answer, labels, titles

pytestmark = pytest.mark.slow

DAYS = ["2026-01-01", "2026-01-02", "2026-01-05", "2026-01-09", "2026-01-10"]


def panel(kind: str, given: Message, **more: Any) -> Message:
    return {"kind": kind, kind: ["n"], "by": "day", "answer": given} | more


async def runs(shown: Locator, what: str = ".line") -> list[int]:
    """How many corners each part of a line has."""
    return [len(part) for part in await path(shown, what)]


def hours(zone: str, first: date, count: int) -> list[str]:
    """Each hour from midnight on, as an engine has it."""
    begin = datetime(first.year, first.month, first.day, tzinfo=ZoneInfo(zone)).astimezone(UTC)
    return [(begin + timedelta(hours=n)).astimezone(ZoneInfo(zone)).isoformat() for n in range(count)]


@pytest.mark.parametrize("kind", ["line", "area"])
async def test_a_day_without_a_row_is_a_gap(stand_in: StandIn, visit: Visit, kind: str) -> None:
    """A day alone is a dot. Red with a line from 2 to 9 January, which said that there was something between."""
    shown = await panel_of(stand_in, visit, panel(kind, answer(DAYS)))
    assert [len(part) for part in await path(shown, ".series .line")] == [2, 1, 2]
    assert await shown.locator(".series .dot").count() == 1
    assert [len(part) // 2 for part in await path(shown, ".area")] == ([2, 1, 2] if kind == "area" else [])


@pytest.mark.parametrize("turned", [False, True])
async def test_a_row_without_a_value_is_nothing(stand_in: StandIn, visit: Visit, turned: bool) -> None:
    """Neither a gap beside a value of the same day, nor a value that shares its place or has none. Red when it was each
    of these."""
    told = [["2026-11-03", 5], ["2026-11-04", None], ["2026-11-04", 7], ["2026-11-05", 6], [None, 3], [None, None]]
    given = rows({"day": "date", "n": "integer"}, *(told[::-1] if turned else told))
    shown = await panel_of(stand_in, visit, panel("line", given))
    assert [len(part) for part in await path(shown, ".line")] == [3]
    assert await shown.locator(".chart-note").all_inner_texts() == [
        "1 value has no place on the axis and is not drawn."
    ]


async def test_a_gap_of_a_stack_and_of_a_small_line(stand_in: StandIn, visit: Visit) -> None:
    """In a stack a day is a gap where no layer has it; a layer alone without it is nothing thick. Red when both were
    bridged, and when layers had the page's colour around them: it hid those of thousands of points."""
    given = [[day, key, 5] for day in DAYS for key in "ab" if (day, key) != ("2026-01-02", "b")]
    stack = panel("area", rows({"day": "date", "k": "text", "n": "integer"}, *given), color="k", stack="sum")
    told = rows({"n": "integer"}, [55], sparkline=answer(DAYS))
    shown, figure = await panels_of(stand_in, visit, stack, {"kind": "figure", "figure": "n", "answer": told})
    assert [len(part) for part in await path(shown, ".layer[d]")] == [4, 2, 4] * 2
    stroke = "getComputedStyle(e)"
    assert await shown.locator(".layer").first.evaluate(f"e => {stroke}.stroke === {stroke}.fill")
    assert await runs(figure, ".sparkline .line") == [2, 1, 2]


@pytest.mark.parametrize("by", ["day", "name"])
async def test_a_place_alone_in_a_stack_covers_no_others(stand_in: StandIn, visit: Visit, by: str) -> None:
    """Whatever the width of the page. Red when it was 24 pixels wide: at 390, two days looked like six."""
    days = [date(2026, 1, 1) + timedelta(days=n) for n in range(28)]
    there = {0, 1, 14, 17, 27}
    told = [
        [day.isoformat() if by == "day" else f"n {day:%d}", 5 if n in there else None] for n, day in enumerate(days)
    ]
    given = rows({"day": "date" if by == "day" else "text", "n": "integer"}, *told)
    shown = await panel_of(stand_in, visit, panel("area", given, stack="sum"), width=390)
    (first, second, *_), *_ = await path(shown, ".layer[d]")
    place = second[0] - first[0]
    found = await boxes(shown, "rect.layer")
    assert [each["width"] for each in found] == pytest.approx([place, place, place / 2], abs=0.1)
    assert 2 < place < 20


@pytest.mark.parametrize("kind", ["line", "area"])
async def test_a_name_without_a_row_is_a_gap(stand_in: StandIn, visit: Visit, kind: str) -> None:
    """It is one for the series that lacks it, and the tooltip there names the other series. Red when the line of x went
    on to March through the point of y, and the tooltip said "Feb | 2"."""
    given = rows(
        {"day": "text", "k": "text", "n": "integer"}, ["Jan", "x", 1], ["Jan", "y", 5], ["Feb", "y", 2], ["Mar", "x", 3]
    )
    shown = await panel_of(stand_in, visit, panel(kind, given, color="k"))
    assert [len(part) for part in await path(shown, ".series .line")] == [1, 1, 2]
    assert await shown.locator(".series .dot").count() == 2
    assert [" ".join(each.split()) for each in await titles(shown)] == ["Jan x 1 y 5", "Feb y 2", "Mar x 3"]


@pytest.mark.parametrize(
    ("times", "more"),
    [
        (["2026-01-02", "2026-01-13", "2026-01-20", "2026-02-05"], {}),  # when somebody measured
        ([f"2026-01-02T{hour:02}:17:23" for hour in (1, 2, 3, 6, 7)], {"now": "2026-01-02T07:30:00"}),
        (["2026-01-02T09:00:00", "2026-01-02T09:07:00", "2026-01-02T09:31:00", "2026-01-02T12:05:00"], {}),
    ],
)
async def test_other_times_are_connected(stand_in: StandIn, visit: Visit, times: list[str], more: Message) -> None:
    """They are no buckets: nothing is missing between them, and the last one is whole. Red when the unit was the
    largest divisor of all steps."""
    given = answer(times, kind="datetime", **more)
    line, bars = await panels_of(stand_in, visit, panel("line", given), panel("bar", given))
    assert await runs(line) == [len(times)]
    assert await line.locator(".cut").count() == 0
    assert await bars.locator(".cut").count() == 0


async def test_the_unit_of_the_query_counts(stand_in: StandIn, visit: Visit) -> None:
    """Where a viewer chose it, one row is enough. Red when days far from one another were no days."""
    days = ["2026-01-02", "2026-01-13", "2026-01-20"]
    month = answer(["2026-11-01T00:00:00"], kind="datetime", unit="month", now="2026-11-28T11:00:00")
    shown = [panel("line", answer(days, unit="day")), panel("bar", month), panel("line", month)]
    far, bar, dot = await panels_of(stand_in, visit, *shown)
    assert await runs(far) == [1, 1, 1]
    assert (await titles(bar))[0].splitlines()[0].endswith(", not over")
    assert await dot.locator(".dot.cut").count() == 1


@pytest.mark.parametrize(("start", "first"), [("monday", "Sep 7"), ("sunday", "Sep 6"), (None, "Sep 7")])
async def test_weeks_on_the_axis_of_days(stand_in: StandIn, visit: Visit, start: str | None, first: str) -> None:
    """Red when the ticks of weeks were Sundays, whatever the dashboard says."""
    days = [str(date(2026, 9, 1) + timedelta(days=n)) for n in range(60)]
    shown = await panel_of(stand_in, visit, panel("line", answer(days, week_start=start)))
    assert first in await labels(shown)


@pytest.mark.parametrize(
    ("zone", "first", "count"),
    [
        ("Europe/Vienna", date(2026, 3, 29), 23),
        ("Europe/Vienna", date(2026, 10, 25), 25),
        ("Australia/Lord_Howe", date(2026, 4, 5), 24),
        ("Asia/Kolkata", date(2026, 4, 5), 24),
        ("Pacific/Auckland", date(2026, 9, 27), 23),
    ],
)
async def test_hours_of_a_day_on_which_clocks_change(
    stand_in: StandIn, visit: Visit, zone: str, first: date, count: int
) -> None:
    """Each has a bar of its own beside the one before, and no gap. Red when the clock was the place: two hours were one
    bar in autumn, and one that never was stood empty in spring."""
    given = answer(hours(zone, first, count), kind="datetime")
    bars, line = await panels_of(stand_in, visit, panel("bar", given), panel("line", given))
    places = [box["x"] for box in await boxes(bars)]
    steps = [round(after - before, 1) for before, after in itertools.pairwise(places)]
    assert (len(places), max(steps) - min(steps) < 0.2) == (count, True)
    said = await titles(bars)
    assert (len(said), len({each.splitlines()[0] for each in said})) == (count, count)
    assert await runs(line) == [count]


async def test_an_hour_that_no_clock_showed(stand_in: StandIn, visit: Visit) -> None:
    """Of a query whose hours have no zone: that of the answer says which hours there were. Red when it was a gap."""
    times = [f"2026-03-29T{hour:02}:00:00" for hour in range(8) if hour != 2]
    given = answer(times, kind="datetime", unit="hour", zone="Europe/Vienna")
    shown = [panel("line", given), panel("bar", given), panel("line", given | {"zone": "UTC"})]
    line, bars, of_utc = await panels_of(stand_in, visit, *shown)
    assert await runs(line) == [7]
    assert len(await titles(bars)) == 7
    assert await runs(of_utc) == [2, 5]


@pytest.mark.parametrize(("equal", "parts"), [(True, 2), (False, 1)])
async def test_a_gap_among_many_rows(stand_in: StandIn, visit: Visit, equal: bool, parts: int) -> None:
    """Of a sensor that was off for two days of a month, and of events, which have no steps. Red when the rows that the
    server keeps were connected: the sensor had a straight line."""
    chance = Random(20261129)
    steps = [n * 5 if equal else chance.uniform(0, 43_200) for n in range(8_640)]
    minutes = sorted(each for each in steps if not 14_400 < each < 17_280)
    begin = datetime(2026, 11, 1)  # noqa: DTZ001  # a clock
    given = [((begin + timedelta(minutes=each)).isoformat(), chance.random()) for each in minutes]
    kept = reduce_rows(Result(("day", "n"), given), Plot("day", ("n",), None, 1_280))
    assert kept is not None
    told = rows({"day": "datetime", "n": "float"}, *map(list, kept.rows), reduced=True, zone="Europe/Vienna")
    shown = await panel_of(stand_in, visit, panel("line", told))
    assert len(await path(shown, ".line")) == parts


async def test_a_line_is_as_long_as_its_period(stand_in: StandIn, visit: Visit) -> None:
    """As bars are: what came last on the 15th does not stand where today is. Red when its end was the edge."""
    days = [f"2026-11-{day:02}" for day in range(1, 16)]
    whole = {"whole": {"start": "2026-11-01", "end": "2026-11-30"}}
    given = answer(days, now="2026-11-29T11:00:00", periods=whole)
    shown = await panel_of(stand_in, visit, panel("line", given))
    ((*corners,),) = await path(shown, ".line")
    grid = shown.locator(".grid").first
    left, right = [float(await grid.get_attribute(name) or 0) for name in ("x1", "x2")]
    assert (corners[0][0], corners[-1][0]) == pytest.approx((left, (left + right) / 2), abs=0.6)


async def test_ticks_of_instants_have_their_day(stand_in: StandIn, visit: Visit) -> None:
    """The first one, too, where the others are of other days. Red with "02:00 AM" before "Oct 3, 2:00 AM"."""
    days = [f"2026-10-{day:02}T02:00:00" for day in range(1, 29)]
    first, *_ = await labels(await panel_of(stand_in, visit, panel("line", answer(days, kind="datetime"))))
    assert first.replace("\N{NARROW NO-BREAK SPACE}", " ") == "Oct 1, 2:00 AM"
