"""Labels of axes where clocks change: each stands where its time is, and says which of two equal hours it means."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from playwright.async_api import Locator

from tests.dashboards.page.conftest import Visit, box_of
from tests.dashboards.page.marks import panel_of, panels_of
from tests.dashboards.page.stand_in import Message, StandIn, rows
from tests.dashboards.page.test_time import answer, labels

pytestmark = pytest.mark.slow

SPACE = "\N{NARROW NO-BREAK SPACE}"


def local(zone: str, first: str, minutes: int, count: int) -> list[datetime]:
    begin = datetime.fromisoformat(first).replace(tzinfo=UTC)
    return [(begin + timedelta(minutes=minutes * n)).astimezone(ZoneInfo(zone)) for n in range(count)]


def said(time: datetime) -> str:
    return f"{time:%I:%M %p}".lstrip("0") + (", again" if time.fold else "")


CHANGES = [
    ("Europe/Vienna", "2026-10-25T00:10", 3, 30),
    ("Europe/Vienna", "2026-10-24T23:00", 15, 16),
    ("America/New_York", "2026-11-01T04:15", 15, 16),
    ("Australia/Lord_Howe", "2026-04-04T14:00", 10, 12),
    ("Europe/Vienna", "2026-03-29T00:00", 15, 12),
]


@pytest.mark.parametrize("kind", ["line", "area", "scatter"])
async def test_ticks_stand_where_their_time_is(stand_in: StandIn, visit: Visit, kind: str) -> None:
    """Each of the two equal hours has its ticks. Red when only the second one had, without a word: all before them was
    read an hour too early."""
    view = {"kind": kind, kind: "n" if kind == "scatter" else ["n"], "by": "day"}
    shown = []
    for zone, first, minutes, count in CHANGES:
        times = [each.isoformat() for each in local(zone, first, minutes, count)]
        shown.append(view | {"answer": answer(times, kind="datetime", zone=zone)})
    for change, panel in zip(CHANGES, await panels_of(stand_in, visit, *shown), strict=True):
        await _ticks_are_true(panel, kind, *change)


async def _ticks_are_true(panel: Locator, kind: str, zone: str, first: str, minutes: int, count: int) -> None:
    left, right = [
        float(await panel.locator(".grid").first.get_attribute(each) or 0) + (4 if kind == "scatter" else 0) * way
        for each, way in (("x1", 1), ("x2", -1))
    ]
    width = (await box_of(panel.locator("svg.plot")))["width"]
    ticks = await panel.locator(".axis-bottom .label").evaluate_all(
        "all => all.map((each) => [each.textContent, each.x.baseVal[0].value, each.getComputedTextLength() / 2])"
    )
    every = local(zone, first, 1, minutes * (count - 1) + 1)
    places = {said(each): left + (right - left) * n / (len(every) - 1) for n, each in enumerate(every)}
    assert len(places) == len(every)
    assert len(ticks) > 2, first
    for text, x, half in ticks:
        place = places[text.replace(SPACE, " ")]
        assert x == pytest.approx(min(max(place, half), width - half), abs=1), text
    folds = {each.fold for each in local(zone, first, minutes, count)}
    assert {"again" in text for text, *_ in ticks} == {fold == 1 for fold in folds}, first


@pytest.mark.parametrize("width", [1440, 390])
async def test_names_of_bars_say_which_hour(stand_in: StandIn, visit: Visit, width: int) -> None:
    """Red when "2:00 AM" stood below two bars."""
    hours = local("Europe/Vienna", "2026-10-24T23:00", 60, 4)
    given = answer(
        [each.isoformat() for each in hours], [4, 3, 2, 1], kind="datetime", zone="Europe/Vienna", unit="hour"
    )
    view: Message = {"kind": "bar", "bar": ["n"], "by": "day", "answer": given}
    views = [view, view | {"horizontal": True}, view | {"sort": "largest"}]
    for panel in await panels_of(stand_in, visit, *views, width=width):
        names = await panel.locator(".label.name").all_text_contents() or await labels(panel)
        found = [each.replace(SPACE, " ").removeprefix("Oct 25, ").removeprefix("2026, ") for each in names]
        assert set(found) <= {said(each) for each in hours}
        assert len(set(found)) == len(found) > 1


async def test_names_of_rows_say_which_hour(stand_in: StandIn, visit: Visit) -> None:
    """Those of a heat map."""
    hours = local("Europe/Vienna", "2026-10-24T22:00", 60, 6)
    told = [[each.isoformat(), who, n] for n, each in enumerate(hours) for who in "ab"]
    given = rows({"h": "datetime", "who": "text", "n": "integer"}, *told, zone="Europe/Vienna")
    view = {"kind": "heatmap", "heatmap": "n", "by": "who", "rows": "h", "answer": given}
    panel = await panel_of(stand_in, visit, view)
    names = [
        each.replace(SPACE, " ").removeprefix("Oct 25, 2026, ")
        for each in await panel.locator(".label.name").all_text_contents()
    ]
    assert names[1:] == [said(each) for each in hours[1:]]


async def test_names_of_rows_say_that_an_hour_is_two(stand_in: StandIn, visit: Visit) -> None:
    """Where a column has no zone. Red when a row without a time broke the drawing."""
    told = [[f"2026-11-01T0{hour}:00:00", 5] for hour in range(4)] + [[None, 5]]
    given = rows({"h": "datetime", "n": "integer"}, *told, zone="America/New_York", unit="hour")
    view = {"kind": "bar", "bar": ["n"], "by": "h", "horizontal": True, "answer": given}
    panel = await panel_of(stand_in, visit, view, width=390)
    names = [each.replace(SPACE, " ") for each in await panel.locator(".label.name").all_text_contents()]
    found = [each.removeprefix("Nov 1, 2026, ") for each in names]
    assert found == ["12:00 AM", "1:00 AM, both hours", "2:00 AM", "3:00 AM", "(no value)"]
