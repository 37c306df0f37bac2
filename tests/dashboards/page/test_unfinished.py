"""What has not ended where no axis of buckets shows it: cells of weekdays, one bucket alone, parts of the rest."""

from __future__ import annotations

import pytest
from playwright.async_api import Page

from tests.dashboards.page.conftest import Visit
from tests.dashboards.page.marks import panel_of, panels_of
from tests.dashboards.page.stand_in import Message, StandIn, rows
from tests.dashboards.page.test_time import answer, labels, titles

pytestmark = pytest.mark.slow

NOW = "2026-11-25T09:00:00"
"""A Wednesday."""
MONTHS = [f"2026-{month:02}-01" for month in range(8, 12)]


def period(start: str, end: str) -> Message:
    return {"whole": {"start": start, "end": end}}


@pytest.mark.parametrize(
    ("days", "locale"),
    [(["Mon", "Tue", "Wed", "Fri"], "en-US"), (["Montag", "Dienstag", "Mittwoch", "Freitag"], "de-DE")],
)
@pytest.mark.parametrize(
    ("buckets", "said"),
    [(["2026-11-16", "2026-11-23"], ["Wed", "Fri"]), (["2026-10-01", "2026-11-01"], ["Mon", "Wed", "Fri"])],
    ids=["weeks", "months"],
)
@pytest.mark.parametrize("by", ["time", "weekday"])
async def test_a_weekday_ends_before_its_week(
    stand_in: StandIn, visit: Visit, days: list[str], locale: str, buckets: list[str], said: list[str], by: str
) -> None:
    """On Wednesday the 25th, that week's Monday is over and its Friday is not; so are the month's Tuesdays; its last
    Monday is the 30th. The chart's table says so too. Red when all cells of a week that had not ended were unfinished,
    and when a heat map's table said nothing."""
    wanted = {days[["Mon", "Tue", "Wed", "Fri"].index(each)] for each in said}
    told = [[at, day, 5] for at in buckets for day in days]
    given = rows({"time": "date", "weekday": "text", "n": "integer"}, *told, now=NOW)
    view = {"kind": "heatmap", "heatmap": "n", "by": by, "rows": "weekday" if by == "time" else "time", "answer": given}
    page = (await visit(stand_in.show([view], locale=locale))).page
    panel = page.locator("[data-panel='1-1']")
    assert await panel.locator(".cell.cut").count() == len(wanted)
    found = [each for each in await titles(panel) if "not over" in each]
    assert {day for day in days for each in found if day in each} == wanted
    assert len(found) == len(wanted)
    told_rows = await told_in_table(page)
    assert {day for day in days for each in told_rows if day in each} == wanted


async def told_in_table(page: Page) -> list[str]:
    """The rows of the chart's table that say "not over"."""
    await page.get_by_role("button", name="Menu of").click()
    await page.get_by_role("menuitem", name="Show as table").click()
    await page.locator(".twin table").wait_for()
    return [each for each in await page.locator(".twin tbody tr").all_inner_texts() if "not over" in each]


@pytest.mark.parametrize(("by", "down"), [("time", "weekday"), ("weekday", "time")])
async def test_a_weekday_of_a_week_is_a_day(stand_in: StandIn, visit: Visit, by: str, down: str) -> None:
    """The tooltip says which one. Red when it was the first day of the week, beside the weekday's name."""
    told = [[at, day, 5] for at in ("2026-11-15", "2026-11-22") for day in ("Sun", "Wed")]
    given = rows({"time": "date", "weekday": "text", "n": "integer"}, *told, now=NOW, week_start="sunday")
    view = {"kind": "heatmap", "heatmap": "n", "by": by, "rows": down, "answer": given}
    said = [each.splitlines()[0] for each in await titles(await panel_of(stand_in, visit, view))]
    days = {
        ("Sun", "Nov 15, 2026"),
        ("Sun", "Nov 22, 2026"),
        ("Wed", "Nov 18, 2026"),
        ("Wed", "Nov 25, 2026, not over"),
    }
    assert set(said) == {", ".join(each if by == "time" else reversed(each)) for each in days}


@pytest.mark.parametrize("kind", ["bar", "line"])
async def test_what_has_not_begun_has_not_ended(stand_in: StandIn, visit: Visit, kind: str) -> None:
    """Appointments in the months to come. Red when December was a whole month beside November, not over."""
    months = [f"2026-{month:02}-01" for month in range(9, 13)]
    view = {"kind": kind, kind: ["n"], "by": "day", "answer": answer(months, now=NOW)}
    panel = await panel_of(stand_in, visit, view)
    said = [each.splitlines()[0] for each in await titles(panel)]
    assert said == ["Sep 2026", "Oct 2026", "Nov 2026, not over", "Dec 2026, not over"]
    if kind == "bar":
        assert await panel.locator(".bar.cut").count() == 2


async def test_names_that_are_no_weekdays_share_their_week(stand_in: StandIn, visit: Visit) -> None:
    told = [[at, who, 5] for at in ("2026-11-16", "2026-11-23") for who in ("Mon", "Other")]
    given = rows({"time": "date", "who": "text", "n": "integer"}, *told, now=NOW)
    view = {"kind": "heatmap", "heatmap": "n", "by": "time", "rows": "who", "answer": given}
    assert await (await panel_of(stand_in, visit, view)).locator(".cell.cut").count() == 1


ONE_BUCKET: list[tuple[str, str, Message | None, str]] = [
    ("m", "2026-11-01", period("2026-11-01", "2026-11-30"), "Nov 2026, not over"),
    ("m", "2026-11-01", period("2026-11-05", "2026-11-12"), "Nov 2026, in part"),
    ("m", "2026-10-01", period("2026-10-05", "2026-10-12"), "Oct 2026, in part"),
    ("m", "2026-10-01", period("2026-10-05", "2026-11-12"), "Oct 1, 2026"),
    ("m", "2026-01-01", period("2026-01-01", "2026-12-31"), "2026, not over"),
    ("m", "2026-11-01", period("2026-11-01", "2026-11-01"), "Nov 1, 2026"),
    ("m", "2026-11-01", None, "Nov 1, 2026"),
    ("m", "2026-11-05", period("2026-11-01", "2026-11-30"), "Nov 5, 2026"),
    ("order_month", "2026-11-01", None, "Nov 2026, not over"),
    ("Quarter", "2026-10-01", None, "Oct 2026, not over"),
    ("week", "2026-11-23", None, "Nov 23, 2026, not over"),
    ("month", "2026-11-05", None, "Nov 5, 2026"),
    ("day", "2026-11-25", None, "Nov 25, 2026, not over"),
    ("day", "2026-11-01", period("2026-11-01", "2026-11-30"), "Nov 1, 2026"),
]


async def test_one_bucket_alone(stand_in: StandIn, visit: Visit) -> None:
    """Its column says what it is, or the period within it. Red when one month alone was its first day."""
    shown = []
    for name, time, whole, _ in ONE_BUCKET:
        given = rows({name: "date", "n": "integer"}, [time, 5], now=NOW, **({"periods": whole} if whole else {}))
        shown.append({"kind": "bar", "bar": ["n"], "by": name, "answer": given})
    for case, panel in zip(ONE_BUCKET, await panels_of(stand_in, visit, *shown), strict=True):
        said = case[-1]
        found = [each.splitlines()[0] for each in await titles(panel) if not each.endswith("–")]
        assert found == [said], case
        assert await panel.locator(".bar.cut").count() == (", " in said.replace(", 2026", "")), case


ONE_PLACE = [
    ("month", "2026-11-01", "Nov 2026"),
    ("quarter", "2026-10-01", "Oct 2026"),
    ("year", "2026-01-01T00:00:00", "2026"),
    ("week", "2026-11-23", "Nov 23, 2026"),
    ("m", "2026-11-01", "Nov 1, 2026"),
    ("hour", "2026-11-01T00:00:00", "Nov 1, 2026, 12:00 AM"),
]


@pytest.mark.parametrize("view", [{"kind": "area", "area": ["n"]}, {"kind": "scatter", "scatter": "n"}])
async def test_one_place_alone_on_an_axis_of_time(stand_in: StandIn, visit: Visit, view: Message) -> None:
    """Red when a month below an area, and the first hour of a day, were a day."""
    shown = []
    for name, time, _ in ONE_PLACE:
        given = rows({name: "datetime" if "T" in time else "date", "n": "integer"}, [time, 5], now=NOW)
        shown.append(view | {"by": name, "answer": given})
    for case, panel in zip(ONE_PLACE, await panels_of(stand_in, visit, *shown), strict=True):
        assert [each.replace("\u202f", " ") for each in await labels(panel)] == [case[-1]], case


async def test_bars_beyond_the_limit_hold_it(stand_in: StandIn, visit: Visit) -> None:
    """Red when "Other" was solid, and said nothing of November."""
    view = {"kind": "bar", "bar": ["n"], "by": "day", "sort": "largest", "limit": 2}
    falling, rising = (view | {"answer": answer(MONTHS, values, now=NOW)} for values in ([4, 3, 2, 1], [1, 2, 3, 4]))
    panel, whole = await panels_of(stand_in, visit, falling, rising)
    assert [await panel.locator(each).count() for each in (".bar", ".bar.cut")] == [3, 1]
    assert [each.splitlines()[0] for each in await titles(panel)][-1] == "Other (2), not over"
    assert (await labels(panel))[-1] == "Other (2), not over"
    assert [each.splitlines()[0] for each in await titles(whole)] == ["Nov 2026, not over", "Oct 2026", "Other (2)"]


async def test_a_slice_of_the_rest_holds_it(stand_in: StandIn, visit: Visit) -> None:
    view = {"kind": "donut", "donut": "n", "by": "day", "limit": 2}
    panel = await panel_of(stand_in, visit, view | {"answer": answer(MONTHS, [4, 3, 2, 1], now=NOW)})
    assert (await panel.locator(".legend-name").all_inner_texts())[-1] == "Other (2), not over"


async def test_a_table_of_a_chart_says_it_of_a_series(stand_in: StandIn, visit: Visit) -> None:
    """Red when only the column of the axis was asked."""
    given = rows({"who": "text", "month": "date", "n": "integer"}, *[["A", at, 5] for at in MONTHS], now=NOW)
    bars = {"kind": "bar", "bar": ["n"], "by": "who", "color": "month", "answer": given}
    page = (await visit(stand_in.show([bars]))).page
    assert await told_in_table(page) == ["A\tNov 2026, not over\t5"]


async def test_a_series_of_the_rest_holds_it(stand_in: StandIn, visit: Visit) -> None:
    """Of nine months and more as a colour."""
    months = [f"2026-{month:02}-01" for month in range(1, 12)]
    given = rows(
        {"who": "text", "month": "date", "n": "integer"}, *[["A", at, 20 - n] for n, at in enumerate(months)], now=NOW
    )
    view = {"kind": "bar", "bar": ["n"], "by": "who", "color": "month", "stack": "sum", "answer": given}
    panel = await panel_of(stand_in, visit, view)
    assert (await panel.locator(".legend-name").all_inner_texts())[-1] == "Other (4), not over"
