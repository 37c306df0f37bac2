"""Time on an axis: buckets without a row, buckets that are cut off, ticks on buckets, the days of a comparison."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.async_api import Locator

from tests.dashboards.page.conftest import Visit
from tests.dashboards.page.marks import boxes, panel_of, panels_of, path
from tests.dashboards.page.stand_in import Message, StandIn, rows

pytestmark = pytest.mark.slow

NOWHERE = "1 value has no place on the axis and is not drawn."
EACH: list[Message] = [{"kind": "bar", "bar": ["n"]}, {"kind": "line", "line": ["n"]}, {"kind": "donut", "donut": "n"}]


def answer(times: list[str], values: list[float] | None = None, kind: str = "date", **more: Any) -> Message:
    amounts = values or [5.0] * len(times)
    return rows({"day": kind, "n": "integer"}, *map(list, zip(times, amounts, strict=True)), **more)


async def labels(panel: Locator) -> list[str]:
    return await panel.locator(".axis-bottom .label").all_text_contents()


async def middles(panel: Locator) -> list[float]:
    return [each["x"] + each["width"] / 2 for each in await boxes(panel)]


TITLES = """(chart) => {
    const tip = chart.querySelector(".tip");
    const found = [];
    chart.focus();
    while (found.length < 2 || found.at(-1) !== found.at(-2)) {
        if (found.length > 60) throw new Error("there is no last place");
        chart.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }));
        found.push(tip.innerText);
    }
    return found.slice(0, -1);
}"""


async def titles(panel: Locator) -> list[str]:
    """What the tooltip says of each place on the axis, by events of the keyboard in the page: a key that Playwright
    presses takes 10 ms of the processor."""
    found: list[str] = await panel.locator(".chart").evaluate(TITLES)
    return found


async def test_bars_stand_where_their_days_are(stand_in: StandIn, visit: Visit) -> None:
    """Of 1, 2, 9 and 30 January, in any order. Red when bars of a time stand beside one another."""
    days = ["2026-01-09", "2026-01-01", "2026-01-30", "2026-01-02"]
    panel = await panel_of(stand_in, visit, {"kind": "bar", "bar": ["n"], "by": "day", "answer": answer(days)})
    one, two, nine, thirty = sorted(await middles(panel))
    assert (nine - one) / (two - one) == pytest.approx(8, abs=0.05)
    assert (thirty - one) / (two - one) == pytest.approx(29, abs=0.1)
    assert len(await titles(panel)) == 30


@pytest.mark.parametrize(
    ("times", "places"),
    [
        (["2026-01-05", "2026-01-12", "2026-02-02"], 5),  # weeks
        (["2026-01-01", "2026-02-01", "2026-05-01"], 5),  # months
        (["2025-01-01", "2025-04-01", "2026-01-01"], 5),  # quarters
        (["2021-01-01", "2022-01-01", "2026-01-01"], 6),
        (["2026-01-01T09:00:00", "2026-01-01T10:00:00", "2026-01-01T13:00:00"], 5),
        (
            ["2026-03-28T00:00:00+01:00", "2026-03-29T00:00:00+01:00", "2026-03-31T00:00:00+02:00"],
            4,
        ),  # the clock changes
    ],
)
async def test_a_missing_bucket_has_its_place(stand_in: StandIn, visit: Visit, times: list[str], places: int) -> None:
    """It is a gap, or 0 where the author says so."""
    bars = {"kind": "bar", "bar": ["n"], "by": "day", "answer": answer(times, kind="datetime")}
    panel, filled = await panels_of(stand_in, visit, bars, bars | {"fill": 0})
    said = await titles(panel)
    assert (len(said), sum("–" in each for each in said)) == (places, places - 3)
    assert sum("\n0" in each for each in await titles(filled)) == places - 3


@pytest.mark.parametrize(("kind", "written"), [("integer", int), ("text", str)])
async def test_a_year_without_a_row_has_its_place(
    stand_in: StandIn, visit: Visit, kind: str, written: type[int] | type[str]
) -> None:
    """Integers and texts that are years are placed as months are, and a note counts values without a year. Red with
    2023 beside 2020, and with a bar without a label where 2024 would be."""
    lines = [[written(year), n] for year, n in ((2019, 3), (2020, 4), (2023, 6))]
    given = rows({"year": kind, "n": "integer"}, lines[0], [None, 1], *lines[1:])
    bars: Message = {"kind": "bar", "bar": ["n"], "by": "year", "answer": given}
    years = ["2019", "2020", "2021", "2022", "2023"]
    lines_of: Message = {"kind": "line", "line": ["n"], "by": "year", "answer": given}
    panel, filled, line = await panels_of(stand_in, visit, bars, bars | {"fill": 0}, lines_of)
    assert await titles(panel) == [f"{year}\n{n}" for year, n in zip(years, "34––6", strict=True)]
    assert await panel.locator(".chart-note").inner_text() == NOWHERE
    assert await titles(filled) == [f"{year}\n{n}" for year, n in zip(years, "34006", strict=True)]
    assert [len(part) for part in await path(line, ".series .line")] == [2, 1]


@pytest.mark.parametrize("kind", ["integer", "text"])
async def test_the_current_year_is_so_far(stand_in: StandIn, visit: Visit, kind: str) -> None:
    """Of integers as of times, and of texts, which SQLite's strftime gives: in bars, lines and a donut; a year that the
    period cuts is in part. The axis has the number alone. A fiscal year may end in any month. Red when this year's bar
    looked like a whole year."""
    period = {"whole": {"start": "2024-03-01", "end": "2026-12-31"}}
    since = {"now": "2026-11-28T11:00:00", "periods": period}
    written = {"integer": int, "text": str}[kind]
    lines = [[written(year), n] for year, n in ((2024, 3), (2025, 4), (2026, 6))]
    given = rows({"year": kind, "n": "integer"}, *lines, **since)
    bars: Message = {"kind": "bar", "bar": ["n"], "by": "year", "answer": given}
    alone = rows({"year": kind, "n": "integer"}, lines[-1], now=since["now"])
    fiscal = rows({"fiscal_year": kind, "n": "integer"}, *lines, **since)
    panel, one, line, donut, other = await panels_of(
        stand_in,
        visit,
        bars,
        bars | {"answer": alone},
        {"kind": "line", "line": ["n"], "by": "year", "answer": given},
        {"kind": "donut", "donut": "n", "by": "year", "answer": given},
        bars | {"by": "fiscal_year", "answer": fiscal},
    )
    assert await titles(panel) == ["2024, in part\n3", "2025\n4", "2026, not over\n6"]
    assert await labels(panel) == ["2024", "2025", "2026"]
    assert await panel.locator(".bar.cut").count() == 2
    assert await titles(one) == ["2026, not over\n6"]
    assert (await titles(line))[-1] == "2026, not over\n6"
    assert len(await path(line, ".line.cut")) > 0
    assert "2026, not over" in await donut.locator(".legend-name").all_text_contents()
    assert await titles(other) == ["2024\n3", "2025\n4", "2026\n6"]


@pytest.mark.parametrize(
    ("kind", "times"),
    [
        ("integer", [2024, 2026]),
        ("text", ["2014", "2018", "2022", "2026"]),
        ("date", ["2022-01-01", "2026-01-01"]),
        ("date", ["2026-01-01", "2026-02-01", "2026-05-01", "2026-08-01", "2026-11-01"]),
        ("date", ["2026-11-09", "2026-11-14", "2026-11-28"]),
    ],
)
async def test_the_current_bucket_is_so_far_among_few(
    stand_in: StandIn, visit: Visit, kind: str, times: list[int | str]
) -> None:
    """Elections, sales of a small shop. Red when years, months and days of which most are missing looked whole to the
    last one."""
    given = rows({"year": kind, "n": "integer"}, *[[at, 5] for at in times], now="2026-11-28T11:00:00")
    common = {"by": "year", "sort": "name", "answer": given}
    for view, panel in zip(EACH, await panels_of(stand_in, visit, *[each | common for each in EACH]), strict=True):
        said = [each.splitlines()[0].endswith("not over") for each in await titles(panel)]
        assert said == [False] * (len(said) - 1) + [True], view
        assert await panel.locator(".cut").count() == (view["kind"] != "donut"), view


@pytest.mark.parametrize("kind", ["bar", "heatmap"])
async def test_a_value_without_a_time_is_counted(stand_in: StandIn, visit: Visit, kind: str) -> None:
    """Where the times are no buckets, too. Red when it stood after the last month, like the next one."""
    shown = []
    for times in (["2026-01-01", "2026-02-01"], ["2026-01-01T09:00:01", "2026-01-04T13:00:00"]):
        told = [[at, "A", 5] for at in [None, *times]]
        given = rows({"day": "datetime", "who": "text", "n": "integer"}, *told)
        more = {"heatmap": {"heatmap": "n", "rows": "who"}, "bar": {"bar": ["n"]}}[kind]
        shown.append({"kind": kind, "by": "day", "answer": given} | more)
    for panel in await panels_of(stand_in, visit, *shown):
        assert await panel.locator(".mark").count() == 2
        assert len(await titles(panel)) == 2
        assert await panel.locator(".chart-note").inner_text() == NOWHERE


@pytest.mark.parametrize(("kind", "start"), [("integer", 2025), ("text", "2025"), ("date", "2025-01-01")])
async def test_a_series_of_the_current_year_is_so_far(
    stand_in: StandIn, visit: Visit, kind: str, start: int | str
) -> None:
    """Its name says so, in the legend and in tooltips. Red when the bars of 2026 looked like those of 2025."""
    this_year = str(start).replace("2025", "2026")
    years = [start, int(this_year) if kind == "integer" else this_year]
    given = rows(
        {"plan": "text", "year": kind, "n": "integer"}, *[["Pro", year, 5] for year in years], now="2026-11-28T11:00:00"
    )
    views = [
        {"kind": "bar", "bar": ["n"], "by": "plan"},
        {"kind": "line", "line": ["n"], "by": "plan"},
        {"kind": "scatter", "scatter": "n", "by": "n"},
    ]
    common = {"color": "year", "answer": given}
    for view, panel in zip(views, await panels_of(stand_in, visit, *[each | common for each in views]), strict=True):
        assert await panel.locator(".legend-name").all_text_contents() == ["2025", "2026, not over"], view
        assert "2026, not over" in "".join(await titles(panel)), view


async def test_names_are_no_times(stand_in: StandIn, visit: Visit) -> None:
    """Instants that are the starts of nothing stand beside one another, and so do bars in another order."""
    instants = ["2026-01-01T09:00:01", "2026-01-01T09:17:23.5", "2026-01-04T13:00:00"]
    bars = {"kind": "bar", "bar": ["n"], "by": "day"}
    beside = bars | {"answer": answer(instants, kind="datetime")}
    in_order = bars | {"answer": answer(["2026-01-01", "2026-01-05"]), "sort": "largest"}
    assert [len(await titles(panel)) for panel in await panels_of(stand_in, visit, beside, in_order)] == [3, 2]


NOVEMBER = {"now": "2026-11-28T11:00:00", "periods": {"whole": {"start": "2026-01-01", "end": "2026-12-31"}}}


async def test_a_bucket_that_has_not_ended(stand_in: StandIn, visit: Visit) -> None:
    """November is drawn as one that goes on; before March there was nothing. Red when it looks like a whole one."""
    months = [f"2026-{month:02}-01" for month in range(3, 12)]
    bars = {"kind": "bar", "bar": ["n"], "by": "day", "answer": answer(months, **NOVEMBER)}
    lines = {"kind": "line", "line": ["n"], "by": "day", "answer": answer(months, **NOVEMBER)}
    panel, line = await panels_of(stand_in, visit, bars, lines)
    assert [await panel.locator(each).count() for each in (".bar", ".bar.cut")] == [9, 1]
    said = await titles(panel)
    assert (len(said), said[-1].splitlines()[0]) == (11, "Nov 2026, not over")
    assert [len(part) for part in await path(line, ".line:not(.cut)")] == [8]
    assert [len(part) for part in await path(line, ".line.cut")] == [2]
    assert (await titles(line))[-1].startswith("Nov 2026, not over")


async def test_small_lines_and_stacks_say_it_too(stand_in: StandIn, visit: Visit) -> None:
    """Red when the small line of a figure fell at its end, and the last layers of a stack looked whole."""
    months = answer([f"2026-{month:02}-01" for month in range(1, 12)], **NOVEMBER)
    figure = {"kind": "figure", "figure": "n", "answer": rows({"n": "integer"}, [55], sparkline=months, **NOVEMBER)}
    area = {"kind": "area", "area": ["n"], "by": "day", "stack": "sum", "answer": months}
    small, panel = await panels_of(stand_in, visit, figure, area)
    parts = [await path(small, f".sparkline .line{each}") for each in (":not(.cut)", ".cut")]
    assert [[len(run) for run in part] for part in parts] == [[10], [2]]
    assert [await panel.locator(each).count() for each in (".layer", ".layer.cut")] == [2, 1]


async def test_a_heat_map_has_the_days_without_a_row(stand_in: StandIn, visit: Visit) -> None:
    """Red when 2 and 9 January were neighbours."""
    given = [[f"2026-01-{day:02}", "A", 1] for day in (1, 2, 9)]
    view = {"kind": "heatmap", "heatmap": "n", "by": "day", "rows": "who"}
    answered = rows({"day": "date", "who": "text", "n": "integer"}, *given)
    panel = await panel_of(stand_in, visit, view | {"answer": answered})
    one, two, nine = [each["x"] for each in await boxes(panel, "rect.cell")]
    assert (nine - one) / (two - one) == pytest.approx(8, abs=0.05)


async def test_a_bucket_that_the_period_cuts(stand_in: StandIn, visit: Visit) -> None:
    """The week before 30 October begins on the 26th."""
    period = {"now": "2026-11-28T11:00:00", "periods": {"whole": {"start": "2026-10-30", "end": "2026-11-28"}}}
    weeks = ["2026-10-26", "2026-11-02", "2026-11-09", "2026-11-16", "2026-11-23"]
    bars = {"kind": "bar", "bar": ["n"], "by": "day", "answer": answer(weeks, **period)}
    said = [each.splitlines()[0] for each in await titles(await panel_of(stand_in, visit, bars))]
    assert (said[0], said[1], said[-1]) == ("Oct 26, 2026, in part", "Nov 2, 2026", "Nov 23, 2026, not over")


CUT: list[tuple[str, str, str, str | int, str]] = [
    ("2026-11-29 2026-12-05", "2026-11-30", "month", "2026-11-01", "Nov 2026, in part, not over"),
    ("2026-11-29 2026-12-05", "2026-12-02", "month", "2026-12-01", "Dec 2026, in part, not over"),
    ("2026-11-10 2026-11-28", "2026-11-28", "month", "2026-11-01", "Nov 2026, in part, not over"),
    ("2026-11-01 2026-11-28", "2026-11-28", "month", "2026-11-01", "Nov 2026, not over"),
    ("2026-11-01 2026-11-15", "2026-11-28", "month", "2026-11-01", "Nov 2026, in part"),
    ("2026-11-01 2026-11-30", "2026-11-28", "month", "2026-11-01", "Nov 2026, not over"),
    ("2026-11-25 2026-11-30", "2026-11-28", "week", "2026-11-23", "Nov 23, 2026, in part, not over"),
    ("2026-11-01 2026-11-30", "2026-11-28", "year", "2026-01-01", "2026, in part, not over"),
    ("2026-11-01 2026-11-30", "2026-11-28", "year", 2026, "2026, in part, not over"),
]


@pytest.mark.parametrize("view", EACH)
async def test_a_bucket_that_now_and_the_period_cut(stand_in: StandIn, visit: Visit, view: Message) -> None:
    """It is a part at both ends, in a bar, a point of a line and a donut. What follows the period is not awaited. Red
    when this week's eight returns were "Nov 2026, not over", of which there were 386."""
    shown = []
    for period, now, by, start, _ in CUT:
        begin, end = period.split()
        when = {"now": f"{now}T11:00:00", "periods": {"whole": {"start": begin, "end": end}}}
        given = rows({by: "integer" if isinstance(start, int) else "date", "n": "integer"}, [start, 8], **when)
        shown.append(view | {"by": by, "answer": given})
    for case, panel in zip(CUT, await panels_of(stand_in, visit, *shown), strict=True):
        assert (await titles(panel))[-1].splitlines()[0] == case[-1], case
        assert await panel.locator(".bar.cut, .point.cut, .line.cut").count() == (view["kind"] != "donut"), case


async def test_other_is_cut_as_all_its_buckets_are(stand_in: StandIn, visit: Visit) -> None:
    """Red when it named how the first of them is cut off."""
    period = {"now": "2026-11-28T11:00:00", "periods": {"whole": {"start": "2026-08-10", "end": "2026-11-28"}}}
    given = answer([f"2026-{month:02}-01" for month in range(8, 12)], [4, 9, 8, 3], **period)
    donut = {"kind": "donut", "donut": "n", "by": "day", "limit": 2, "answer": given}
    panel = await panel_of(stand_in, visit, donut)
    assert (await panel.locator(".legend-name").all_text_contents())[-1] == "Other (2), in part, not over"


@pytest.mark.parametrize(("kind", "start"), [("date", "2026-11-01"), ("integer", 2026)])
async def test_a_chart_as_a_table_says_it_too(stand_in: StandIn, visit: Visit, kind: str, start: int | str) -> None:
    """Red when its row of November looked like a whole month, beside a dashed bar of the same numbers."""
    before = 2025 if isinstance(start, int) else "2026-10-01"
    given = rows({"year": kind, "n": "integer"}, [before, 5], [start, 3], now="2026-11-28T11:00:00")
    view = {"kind": "bar", "bar": ["n"], "by": "year", "title": "Bars", "answer": given}
    panel = await panel_of(stand_in, visit, view)
    said = [each.splitlines()[0] for each in await titles(panel)]
    await panel.get_by_role("button", name="Menu of Bars").click()
    await panel.page.get_by_role("menuitem", name="Show as table").click()
    await panel.locator(".twin").wait_for()
    assert await panel.locator("td:first-child").all_inner_texts() == said
    assert said[1].endswith(", not over")


@pytest.mark.parametrize(
    ("times", "allowed"),
    [
        (["2026-01-01", "2026-01-02"], {"Jan 1", "Jan 2"}),
        (["2026-01-05", "2026-01-12", "2026-01-19", "2026-01-26"], {"Jan 5", "Jan 12", "Jan 19", "Jan 26"}),
        (["2026-01-01", "2026-02-01", "2026-03-01"], {"2026", "Feb", "Mar"}),
    ],
)
async def test_ticks_lie_on_buckets(stand_in: StandIn, visit: Visit, times: list[str], allowed: set[str]) -> None:
    """Red with the ticks of a plain axis: 12:00 between two days, and Sundays of weeks that begin on Monday."""
    panel = await panel_of(stand_in, visit, {"kind": "line", "line": ["n"], "by": "day", "answer": answer(times)})
    assert set(await labels(panel)) <= allowed
    assert len(await labels(panel)) >= 2


async def test_an_axis_of_times_has_two_labels(stand_in: StandIn, visit: Visit) -> None:
    """Also where weeks are too many and months too few. Red on a phone: "Nov 1, 2026" alone."""
    times = [f"2026-11-{day:02}T{hour:02}:{day:02}:05" for day in range(1, 30) for hour in (1, 5, 14)]
    lines = {"kind": "line", "line": ["n"], "by": "day", "answer": answer(times, kind="datetime")}
    reference = {"value": 7, "label": "standard"}
    panel = await panel_of(stand_in, visit, lines | {"reference": reference}, width=390)
    assert len(await labels(panel)) > 1


async def test_a_line_with_zeros(stand_in: StandIn, visit: Visit) -> None:
    lines = {"kind": "line", "line": ["n"], "by": "day", "fill": 0, "answer": answer(["2026-01-01", "2026-01-04"])}
    ((*corners,),) = await path(await panel_of(stand_in, visit, lines), ".line")
    assert len(corners) == 4
    assert corners[1][1] == corners[2][1] > corners[0][1]


async def test_a_comparison_says_its_days(stand_in: StandIn, visit: Visit) -> None:
    """Red without the periods of the answer: "Against the period of the same length just before"."""
    periods = {
        "shown": {"start": "2026-11-01", "end": "2026-11-28"},
        "before": {"start": "2026-10-01", "end": "2026-10-28"},
    }
    told = rows({"n": "integer"}, [120], compare=rows({"n": "integer"}, [100]), periods=periods)
    panel = await panel_of(stand_in, visit, {"kind": "figure", "figure": "n", "answer": told})
    said = await panel.locator(".change").get_attribute("title")
    assert said == "Nov 1, 2026 – Nov 28, 2026 against Oct 1, 2026 – Oct 28, 2026"


@pytest.mark.parametrize(
    ("locale", "first", "form"),
    [("en-US", "Nov 3, 2:00 AM", r"[1-9]\d?:\d\d [AP]M"), ("de", "3. Nov., 02:00", r"\d\d:\d\d")],
)
async def test_hours_have_one_form_on_an_axis(
    stand_in: StandIn, visit: Visit, locale: str, first: str, form: str
) -> None:
    """With their day or without it. Red with "06:00 AM" beside "Nov 4, 6:00 PM"."""
    times = [f"2026-11-0{day}T{hour:02}:00:00" for day in (3, 4) for hour in range(2, 24, 4)]
    line = {"kind": "line", "line": ["n"], "by": "day", "answer": answer(times, kind="datetime")}
    panel = (await visit(stand_in.show([line], locale=locale), width=1440)).page.locator("[data-panel='1-1']")
    found = [text.replace("\N{NARROW NO-BREAK SPACE}", " ") for text in await labels(panel)]
    assert found[0] == first
    assert all(re.fullmatch(rf"(?:.*, )?{form}", text) for text in found), found
