"""Labels of an axis of times leave out what the label before them says, and never more."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import pytest
from playwright.async_api import Locator

from tests.dashboards.page.conftest import Visit
from tests.dashboards.page.marks import panel_of, panels_of
from tests.dashboards.page.stand_in import Message, StandIn, rows

pytestmark = pytest.mark.slow

WRITTEN = re.compile(r"(?P<day>[A-Z][a-z]{2} \d+)?(?:, )?(?P<year>\d{4})?(?:, )?(?P<hour>\d+:\d\d [AP]M)?")


def chart(kind: str, times: list[datetime], unit: str) -> Message:
    told = rows(
        {"at": "datetime", "who": "text", "n": "integer"}, *([at.isoformat(), "A", 1] for at in times), unit=unit
    )
    more = {"heatmap": {"heatmap": "n", "rows": "who"}, "scatter": {"scatter": "n"}}.get(kind, {kind: ["n"]})
    return {"kind": kind, "by": "at", "answer": told} | more


async def said(panel: Locator, times: list[datetime]) -> list[tuple[datetime, datetime]]:
    """For each label the time that it says, with what the labels before it say, and the time of its mark."""
    script = """(panel) => {
        const middle = (each) => { const box = each.getBoundingClientRect(); return box.x + box.width / 2; };
        const marks = [...panel.querySelectorAll("rect.mark, circle.point")].map(middle);
        return [...panel.querySelectorAll(".axis-bottom .label")].map((each) => {
            const far = marks.map((at) => Math.abs(at - middle(each)));
            return [each.textContent, far.indexOf(Math.min(...far))];
        });
    }"""
    found = []
    day = year = ""
    for text, place in await panel.evaluate(script):
        parts = WRITTEN.fullmatch(text.replace("\N{NARROW NO-BREAK SPACE}", " "))
        assert parts is not None, text
        day, year = parts["day"] or day, parts["year"] or year or str(times[place].year)  # a scatter has no first year
        hour = parts["hour"] or "12:00 AM"
        found.append((datetime.strptime(f"{day} {year} {hour}", "%b %d %Y %I:%M %p"), times[place]))  # noqa: DTZ007
    return found


@pytest.mark.parametrize("width", [390, 600, 820])
@pytest.mark.parametrize(
    ("start", "step", "unit"),
    [
        (datetime(2024, 12, 29), timedelta(weeks=1), "week"),  # noqa: DTZ001
        (datetime(2024, 12, 30, 14), timedelta(hours=1), "hour"),  # noqa: DTZ001
    ],
)
async def test_a_label_says_the_time_of_its_mark(
    stand_in: StandIn, visit: Visit, start: datetime, step: timedelta, unit: str, width: int
) -> None:
    """Also where the label before it has no room and is left out. Red when the year or the day was told only by a label
    that nobody saw: "Dec 29, 2024", and then "Aug 24" for a week of 2025."""
    times = [start + step * place for place in range(52)]
    shown = [chart(kind, times, unit) for kind in ("bar", "heatmap", "scatter")]
    for panel in await panels_of(stand_in, visit, *shown, width=width):
        for written, true in await said(panel, times):
            assert abs(written - true) <= 10 * step, (written, true)  # the labels at the ends stand within the drawing


MIDDLES = """(panel) => {
    const middle = (each) => { const box = each.getBoundingClientRect(); return box.x + box.width / 2; };
    const line = panel.querySelector("path.line").getBoundingClientRect();
    return [line.x, line.right,
        [...panel.querySelectorAll(".axis-bottom .label")].map((each) => [each.textContent, middle(each)])];
}"""


@pytest.mark.parametrize("width", [480, 620, 1440])
async def test_the_last_day_stands_below_its_place(stand_in: StandIn, visit: Visit, width: int) -> None:
    """Red when it was moved into the drawing, and stood below the day before it."""
    times = [datetime(2026, 11, day) for day in range(1, 31)]  # noqa: DTZ001
    panel = await panel_of(stand_in, visit, chart("line", times, "day"), width=width)
    first, last, labels = await panel.evaluate(MIDDLES)
    assert len(labels) > 1
    for text, middle in labels:
        place = int(text.split(" ")[1].rstrip(",")) - 1
        assert abs(middle - (first + (last - first) * place / 29)) < (last - first) / 29 / 2, text
