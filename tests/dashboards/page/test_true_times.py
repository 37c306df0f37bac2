"""Times that a page would have to guess: of missing buckets, of thousands of them, of clocks that changed unseen."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from playwright.async_api import Locator

from tenantry.dashboards.charts.m4 import Plot, reduce_rows
from tenantry.datasources.results import Result
from tests.dashboards.page.conftest import Visit
from tests.dashboards.page.marks import boxes, panel_of, panels_of, path
from tests.dashboards.page.stand_in import Message, StandIn, rows
from tests.dashboards.page.test_time import answer, labels, middles, titles

pytestmark = pytest.mark.slow

LEFT_OUT = "Times without a value are left out: there are too many of them."
NOW = "2026-11-29T09:00:00"


def chart(kind: str, given: Message, **more: Any) -> Message:
    return {"kind": kind, kind: ["n"], "by": "day", "answer": given} | more


def hours(count: int, start: str = "2026-09-01") -> list[str]:
    begin = datetime.fromisoformat(start)
    return [(begin + timedelta(hours=n)).isoformat() for n in range(count)]


async def first_lines(panel: Locator) -> list[str]:
    return [each.splitlines()[0] for each in await titles(panel)]


async def read(panel: Locator, key: str, *further: str) -> str:
    """The tooltip after these keys."""
    shown = panel.locator(".chart")
    await shown.focus()
    for each in (key, *further):
        await shown.press(each)
    return (await panel.locator(".tip").inner_text()).replace("\N{NARROW NO-BREAK SPACE}", " ")


# --- what a bucket is called ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["bar", "line", "area"])
async def test_a_missing_bucket_is_called_by_its_unit(stand_in: StandIn, visit: Visit, kind: str) -> None:
    """Of days that the viewer chose, of which only the first of two months have rows. Red when the rows alone said how
    times are written: each day of October was "Oct 2026"."""
    given = answer(["2026-10-01", "2026-11-01"], unit="day", now=NOW)
    panel = await panel_of(stand_in, visit, chart(kind, given, fill=0))
    said = await first_lines(panel)
    assert said[:2] + said[-1:] == ["Oct 1, 2026", "Oct 2, 2026", "Nov 1, 2026"]
    assert len(set(said)) == len(said) == 32


ONE_BUCKET = [
    ("month", "2026-10-01", "Oct 2026"),
    ("quarter", "2026-10-01", "Oct 2026, not over"),
    ("year", "2025-01-01", "2025"),
    ("week", "2026-11-02", "Nov 2, 2026"),
    ("hour", "2026-11-02T00:00:00", "Nov 2, 2026, 12:00 AM"),
]


async def test_one_bucket_alone(stand_in: StandIn, visit: Visit) -> None:
    """Red when a month alone was its first day, and the hour at midnight a whole day."""
    given = [answer([time], kind="datetime", unit=unit, now=NOW) for unit, time, _ in ONE_BUCKET]
    panels = await panels_of(stand_in, visit, *[chart("bar", each) for each in given])
    for (unit, _, said), panel in zip(ONE_BUCKET, panels, strict=True):
        assert (await read(panel, "Home")).splitlines()[0] == said, unit


# --- many buckets -----------------------------------------------------------------------------------------------------

SPARSE = ["2026-09-01T00:00:00", "2026-09-01T01:00:00", "2026-11-20T02:00:00", "2026-11-20T03:00:00"]
BETWEEN = 80 * 24 + 4
"""Hours from the first to the last one."""


async def test_bars_of_two_thousand_hours(stand_in: StandIn, visit: Visit) -> None:
    """Each has its place, and 0 where the author says so. Red above 1,000: September stood beside November."""
    bars = chart("bar", answer(SPARSE, kind="datetime", unit="hour", now="2026-11-20T03:30:00"))
    panel, filled = await panels_of(stand_in, visit, bars, bars | {"fill": 0})
    first, second, third, last = await middles(panel)
    assert (third - second) / (last - first) == pytest.approx((BETWEEN - 3) / (BETWEEN - 1), abs=0.002)
    assert await panel.locator(".chart-note").count() == 0
    assert (await read(panel, "Home", *["ArrowRight"] * 2)).splitlines() == ["Sep 1, 2026, 2:00 AM", "–"]
    assert (await read(filled, "Home", *["ArrowRight"] * 2)).splitlines() == ["Sep 1, 2026, 2:00 AM", "0"]
    assert await filled.locator(".nought").count() == BETWEEN - 4


async def test_a_heat_map_of_two_thousand_hours(stand_in: StandIn, visit: Visit) -> None:
    view = {"kind": "heatmap", "heatmap": "n", "by": "day", "rows": "who"}
    told = [[at, "A", 1] for at in SPARSE]
    given = rows({"day": "datetime", "who": "text", "n": "integer"}, *told, unit="hour", now=NOW)
    cells = await boxes(await panel_of(stand_in, visit, view | {"answer": given}), "rect.cell")
    first, second, third, last = [each["x"] for each in cells]
    assert (third - second) / (last - first) == pytest.approx((BETWEEN - 3) / (BETWEEN - 1), abs=0.002)


@pytest.mark.parametrize("kind", ["bar", "line", "area"])
async def test_too_many_buckets_are_said(stand_in: StandIn, visit: Visit, kind: str) -> None:
    """A minute of each of two months, of which there are 43,000 between them. Red when they stood beside one another,
    or were connected, without a word."""
    given = answer(["2026-09-01T00:00:00", "2026-10-01T00:00:00"], kind="datetime", unit="minute")
    panel = await panel_of(stand_in, visit, chart(kind, given, fill=0))
    assert await panel.locator(".chart-note").inner_text() == LEFT_OUT
    if kind != "bar":
        assert [len(part) for part in await path(panel, ".line")] == [1, 1]


async def test_the_author_says_that_they_are_buckets(stand_in: StandIn, visit: Visit) -> None:
    """Fewer than half of the hours have a row. Red when a line connected them in spite of `fill: 0`."""
    given = answer([hours(24)[n] for n in (0, 1, 5, 11, 12, 23)], kind="datetime", now=NOW)
    ((*corners,),) = await path(await panel_of(stand_in, visit, chart("line", given, fill=0)), ".line")
    assert len(corners) == 24


# --- some rows of many ------------------------------------------------------------------------------------------------


def reduced(times: list[str], **more: Any) -> Message:
    kept = reduce_rows(
        Result(("day", "n"), [(at, n % 7 + 1) for n, at in enumerate(times)]), Plot("day", ("n",), None, 640)
    )
    assert kept is not None
    told = {"reduced": True, "now": "2026-12-31T22:30:00", **more}
    return rows({"day": "datetime", "n": "integer"}, *map(list, kept.rows), **told)


async def test_a_reduced_line_ends_with_a_bucket_that_has_not_ended(stand_in: StandIn, visit: Visit) -> None:
    """Red when the last hour of many fell like a whole one, and its line ended where the rows do, not the period."""
    times = hours(8_760, "2026-01-01")[:-1]
    period = {"whole": {"start": "2026-01-01", "end": "2026-12-31"}}
    panel, early = await panels_of(
        stand_in, visit, *[chart("line", reduced(each, periods=period)) for each in (times, times[:6_000])]
    )
    assert [len(part) for part in await path(panel, ".line.cut")] == [2]
    assert (await read(panel, "End")).splitlines()[0] == "Dec 31, 2026, 10:00 PM, not over"
    ends = max(x for part in await path(early, ".line") for x, _ in part)
    assert ends < 0.75 * float(await early.locator(".grid").first.get_attribute("x2") or 0)


async def test_a_reduced_line_with_zeros_says_what_it_leaves_out(stand_in: StandIn, visit: Visit) -> None:
    """Beyond the row limit the page does not know which hours have no row. Red when it said nothing."""
    panel = await panel_of(stand_in, visit, chart("line", reduced(hours(4_000)), fill=0))
    assert await panel.locator(".chart-note").inner_text() == LEFT_OUT


# --- a bucket that has not ended, in every kind -----------------------------------------------------------------------

MONTHS = [f"2026-{month:02}-01" for month in range(8, 12)]


ORDERS: list[Message] = [
    {"horizontal": True},
    {"sort": "largest"},
    {"sort": "smallest", "horizontal": True},
    {"limit": 10},
    {"sort": "name"},
]


async def test_bars_in_any_order_mark_it(stand_in: StandIn, visit: Visit) -> None:
    """Red when only bars that stand in time did."""
    given = answer(MONTHS, [1, 2, 3, 4], now=NOW)
    panels = await panels_of(stand_in, visit, *[chart("bar", given, **more) for more in ORDERS])
    for more, panel in zip(ORDERS, panels, strict=True):
        assert [await panel.locator(each).count() for each in (".bar", ".bar.cut")] == [4, 1], more
        said = await titles(panel)
        assert [each for each in said if "not over" in each] == ["Nov 2026, not over\n4"], more


@pytest.mark.parametrize("by", ["day", "who"])
async def test_cells_of_a_heat_map_mark_it(stand_in: StandIn, visit: Visit, by: str) -> None:
    """On both of its axes."""
    told = [[at, who, n] for n, at in enumerate(MONTHS) for who in "AB"]
    given = rows({"day": "date", "who": "text", "n": "integer"}, *told, now=NOW)
    view = {"kind": "heatmap", "heatmap": "n", "by": by, "rows": "who" if by == "day" else "day", "answer": given}
    panel = await panel_of(stand_in, visit, view)
    assert [await panel.locator(each).count() for each in (".cell", ".cell.cut")] == [8, 2]
    assert "Nov 2026, not over" in await read(panel, "End")


@pytest.mark.parametrize("kind", ["donut", "scatter"])
async def test_slices_and_points_say_it(stand_in: StandIn, visit: Visit, kind: str) -> None:
    given = answer(MONTHS, [1, 2, 3, 4], now=NOW)
    panel = await panel_of(stand_in, visit, {"kind": kind, kind: "n", "by": "day", "answer": given})
    assert "Nov 2026, not over" in await read(panel, "Home" if kind == "donut" else "End")


# --- clocks -----------------------------------------------------------------------------------------------------------


async def times_said(stand_in: StandIn, visit: Visit, times: list[str], kind: str = "line", **more: Any) -> list[str]:
    panel = await panel_of(stand_in, visit, chart(kind, answer(times, kind="datetime", **more)))
    return [each.replace("\N{NARROW NO-BREAK SPACE}", " ") for each in await first_lines(panel)]


@pytest.mark.parametrize("zone", ["Europe/Berlin", None])
async def test_no_hour_is_said_again_that_was_not_said_before(
    stand_in: StandIn, visit: Visit, zone: str | None
) -> None:
    """Raw times of the days before and after the one on which clocks were put back. Red when the hour after the first
    time with the other offset was "again"."""
    times = ["2026-10-24T10:00:00+02:00", "2026-10-26T09:10:00+01:00", "2026-10-26T09:40:00+01:00"]
    assert "again" not in str(await times_said(stand_in, visit, times, zone=zone))


async def test_a_time_is_said_again_where_the_zone_tells_it(stand_in: StandIn, visit: Visit) -> None:
    """No row tells that clocks showed 2:40 before. Red when only rows did."""
    times = ["2026-10-25T02:17:00+02:00", "2026-10-25T02:40:00+01:00", "2026-10-25T03:05:00+01:00"]
    said = await times_said(stand_in, visit, times, zone="Europe/Berlin")
    assert said == ["Oct 25, 2026, 2:17 AM", "Oct 25, 2026, 2:40 AM, again", "Oct 25, 2026, 3:05 AM"]


@pytest.mark.parametrize(
    ("zone", "before", "after", "expected"),
    [
        ("Europe/Berlin", "2026-10-25T01:00:00+02:00", "2026-10-25T05:00:00+01:00", ["2", "2", "3", "4"]),
        ("America/Sao_Paulo", "2018-11-03T22:00:00-03:00", "2018-11-04T02:00:00-02:00", ["11", "1"]),
        ("Australia/Lord_Howe", "2026-04-05T00:00:00+11:00", "2026-04-05T03:00:00+10:30", ["1", "2"]),
        ("Asia/Kathmandu", "2026-04-05T00:00:00+05:45", "2026-04-05T02:00:00+05:45", ["1"]),
    ],
)
async def test_hours_without_a_row_while_clocks_changed(
    stand_in: StandIn, visit: Visit, zone: str, before: str, after: str, expected: list[str]
) -> None:
    """They are called by what clocks showed. Red when they were an hour off until the next row."""
    said = await times_said(stand_in, visit, [before, after], "bar", zone=zone, fill=0, unit="hour")
    assert [each.partition(":")[0].rpartition(" ")[2] for each in said[1:-1]] == expected
    assert sum("again" in each for each in said) == (zone == "Europe/Berlin")


async def test_an_hour_that_holds_two_says_so(stand_in: StandIn, visit: Visit) -> None:
    """Of an engine without instants. Red when the bar of twice as much was one like the others."""
    times = [f"2026-11-01T0{hour}:00:00" for hour in range(4)]
    said = await times_said(stand_in, visit, times, "bar", zone="America/New_York", unit="hour")
    assert [each.split(", ", 2)[-1] for each in said] == ["12:00 AM", "1:00 AM, both hours", "2:00 AM", "3:00 AM"]


async def test_an_hour_of_which_clocks_showed_a_half(stand_in: StandIn, visit: Visit) -> None:
    """In Lord Howe clocks go from 2:00 to 2:30. Red when the hour from 2 to 3 was left out."""
    times = [f"2026-10-04T{hour:02}:00:00" for hour in (0, 1, 3, 4)]
    said = await times_said(stand_in, visit, times, "bar", zone="Australia/Lord_Howe", unit="hour", fill=0)
    assert [each.split(", ")[-1] for each in said] == ["12:00 AM", "1:00 AM", "2:00 AM", "3:00 AM", "4:00 AM"]


@pytest.mark.parametrize(
    ("zone", "days", "hours_of_day"),
    [
        ("Europe/Berlin", ["2026-10-24", "2026-10-25", "2026-10-26"], [0, 6, 12, 18]),
        ("Europe/Berlin", ["2026-03-28", "2026-03-29", "2026-03-30"], [0, 6, 12, 18]),
        ("Australia/Lord_Howe", ["2026-04-05"], range(12)),
    ],
)
async def test_buckets_that_a_change_of_clocks_makes_longer(
    stand_in: StandIn, visit: Visit, zone: str, days: list[str], hours_of_day: Sequence[int]
) -> None:
    """Six hours of Berlin, and one of Lord Howe, where clocks change by half an hour. Red when buckets were equally
    long: each one after the change had a missing one beside it."""
    clock = ZoneInfo(zone)
    every = [datetime.fromisoformat(day).replace(hour=hour, tzinfo=clock) for day in days for hour in hours_of_day]
    unit = "hour" if len(hours_of_day) > 4 else None
    given = answer([each.isoformat() for each in every if each != every[-2]], kind="datetime", zone=zone, unit=unit)
    for panel in await panels_of(stand_in, visit, chart("bar", given), chart("bar", given, fill=0)):
        said = await titles(panel)
        assert (len(said), len({*said}), sum(each.endswith(("\n0", "–")) for each in said)) == (12, 12, 1)


@pytest.mark.parametrize(("hours", "count"), [(6, 16), (12, 8), (4, 24)])
@pytest.mark.parametrize("day", ["2026-10-31", "2026-03-07"])
async def test_hours_that_a_query_counts_in_utc(
    stand_in: StandIn, visit: Visit, hours: int, count: int, day: str
) -> None:
    """Each six hours, by New York's clock, which changes between them: three are missing, and the last one goes on.
    Red when buckets were sought by the clock: bars stood beside one another, a line went through the gap, and the last
    one looked whole."""
    begin = datetime.fromisoformat(day).replace(tzinfo=ZoneInfo("UTC"))
    every = [(begin + timedelta(hours=hours * n)).astimezone(ZoneInfo("America/New_York")) for n in range(count)]
    now = (every[-1] + timedelta(hours=1)).replace(tzinfo=None).isoformat()
    there = [each.isoformat() for n, each in enumerate(every) if n not in {2, 3, 4}]
    given = answer(there, kind="datetime", zone="America/New_York", now=now)
    bars, line = await panels_of(stand_in, visit, chart("bar", given), chart("line", given))
    said = await titles(bars)
    assert [each.endswith("–") for each in said] == [n in {2, 3, 4} for n in range(count)]
    assert [each for each in said if "not over" in each] == said[-1:]
    assert [len(part) for part in await path(line, ".line:not(.cut)")] == [2, count - 6]
    assert [len(part) for part in await path(line, ".line.cut")] == [2]


# --- nought and nothing -----------------------------------------------------------------------------------------------


async def test_a_bar_of_nought_is_a_line(stand_in: StandIn, visit: Visit) -> None:
    """A value that is absent has nothing. Red when both had."""
    views: list[Message] = [{}, {"horizontal": True}, {"stack": "sum"}, {"stack": "sum", "horizontal": True}]
    told = [["A", "x", 5], ["B", "x", 0], ["C", "x", None], ["D", "x", -3]]
    given = rows({"day": "text", "k": "text", "n": "integer"}, *told)
    panels = await panels_of(stand_in, visit, *[chart("bar", given, color="k", **more) for more in views])
    for more, panel in zip(views, panels, strict=True):
        assert [await panel.locator(each).count() for each in (".bar", ".nought")] == [2, 1], more
        (nought,) = await boxes(panel, ".nought")
        length, thickness = ("height", "width") if "horizontal" in more else ("width", "height")
        assert (nought[length] > 10, nought[thickness]) == (True, 2), more


async def test_a_part_of_nought_among_others(stand_in: StandIn, visit: Visit) -> None:
    """A stack is nought only where all of it is; bars beside one another each."""
    told = [["A", "x", 5], ["A", "y", 0], ["B", "x", 0], ["B", "y", 0], ["C", "y", None]]
    given = rows({"day": "text", "k": "text", "n": "integer"}, *told)
    stacks: list[Message] = [{}, {"stack": "sum"}, {"stack": "share"}]
    shown = await panels_of(stand_in, visit, *[chart("bar", given, color="k", **more) for more in stacks])
    assert [await panel.locator(".nought").count() for panel in shown] == [3, 1, 1]


async def test_a_stack_of_areas_at_nought_is_a_line(stand_in: StandIn, visit: Visit) -> None:
    """Unlike the days that are not there. Red when both were white."""
    days = [f"2026-01-{day:02}" for day in range(1, 10)]
    told = [[day, key, 0 if place < 4 else 3] for place, day in enumerate(days) for key in "ab" if place not in {6, 7}]
    given = rows({"day": "date", "k": "text", "n": "integer"}, *told)
    panel = await panel_of(stand_in, visit, chart("area", given, color="k", stack="sum"))
    ((*corners,),) = await path(panel, ".line")
    assert len(corners) == 4
    assert {y for _, y in corners} == {max(y for _, y in corners)}


async def test_labels_of_many_bars_do_not_collide(stand_in: StandIn, visit: Visit) -> None:
    panel = await panel_of(stand_in, visit, chart("bar", answer(hours(9_000), kind="datetime", now=NOW)))
    assert 2 <= len(await labels(panel)) < 40
