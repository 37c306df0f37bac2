"""A click that opens another dashboard: what was clicked and the page that opens say the same number, or the page says
why it does not. test_drill_through.py clicks in Firefox, too."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.async_api import Frame, Locator

from engines.chromium import OpenPage
from engines.either_browser import IN_CHROMIUM
from tenantry.tokens import KeyRing, SigningKey
from tests.browser.embedding.frames import dashboards, until
from tests.browser.embedding.sites import Sites, serving
from tests.dashboards.served import write_files

pytestmark = [IN_CHROMIUM, pytest.mark.slow]

FILTERS = """[[ and route in {{ params.route }} ]] [[ and delay >= {{ params.least }} ]]
        and {{ params.period | within(day) }}"""
COUNT = f"""{{sql: "select count(*) as flights from flights where carrier = {{{{ carrier }}}} {FILTERS}"}}"""


def counts(columns: str, more: str = "", filters: str = FILTERS) -> str:
    return f"""{{sql: "select {columns}, count(*) as flights from flights
        where carrier = {{{{ carrier }}}} {filters} {more} group by 1 order by 1"}}"""


CONTROLS = "route: {choices: {query: routes}, many: true}"
FILES = {
    "queries/routes.sql": "select distinct route from flights where route <> '' order by route",
    "sales/regions.yaml": f"""title: First
controls: {{{CONTROLS}, period: {{range: last 30 days}}, least: {{number: }}, day: {{date: }}}}
rows:
  - - {{table: {counts("route", "[[ and day <> {{ params.day }} ]]")}, click: {{open: detail, with: [route]}}}}
    - {{bar: flights, by: route, sort: largest, limit: 2, query: {counts("route")},
       click: {{open: detail, with: [route]}}}}
  - - {{bar: flights, by: period, query: {counts("strftime('%Y-%m-01', day) as period")},
       click: {{open: detail, with: [period]}}}}
    - {{table: {counts("strftime('%Y-%m-01', day) as period")}, click: {{open: detail, with: [period]}}}}
  - - {{table: {counts("route", filters="")}, click: {{open: detail, with: [route]}}}}
    - {{table: {counts("route || ' ' || (delay > 3) as slow, route")}, click: {{open: detail, with: [route]}}}}
""",
    "detail.yaml": f"""title: Detail
controls: {{{CONTROLS}, period: {{range: this year}}, least: {{number: 3}}}}
rows:
  - {{figure: flights, query: {COUNT}}}
""",
}


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Sites]:
    with serving(KeyRing([SigningKey("k1", b"7" * 32)]), write_files(tmp_path, FILES)) as served:
        with closing(sqlite3.connect(tmp_path / "flights.db")) as connection:
            others = [("X-A", 7), ("X-B", 3), ("X-C", 2), ("", 4), (None, 5)]
            for route, count in others:
                insert = "insert into flights values (date('now', '-3 days'), 'HA', ?, 1)"
                connection.executemany(insert, [(route,)] * count)
            connection.commit()
        yield served


async def visit(open_page: OpenPage, real: Sites, filters: dict[str, Any] | None = None) -> Frame:
    """The first dashboard, with these filters."""
    seen = await open_page()
    await seen.page.goto(f"{real.host}/?{urlencode({'groups': 'acme'})}")
    frame = await until(lambda: titled(real, seen.page, "First"), "the first dashboard")
    if filters:
        await seen.page.locator("#acme").evaluate("(element, filters) => element.setFilters(filters)", filters)
        await until(lambda: settled(frame, len(filters)), "the filters")
    found: Frame = frame
    return found


async def titled(real: Sites, page: Any, title: str) -> Frame | None:
    for frame in dashboards(page, real):
        if await frame.get_by_role("heading", level=1, name=title).count() and await settled(frame):
            return frame
    return None


async def settled(frame: Frame, chips: int = 0) -> bool:
    if await frame.locator(".chip").count() < chips:
        return False
    states = await frame.locator("[data-state]").evaluate_all("all => all.map((each) => each.dataset.state)")
    return {*states} == {"ready"}


async def opened(frame: Frame) -> tuple[str, list[str]]:
    """The number of the second dashboard, and its notes."""
    await frame.get_by_role("heading", level=1, name="Detail").wait_for()
    await until(lambda: settled(frame), "the second dashboard")
    number = await frame.locator(".figure-value").inner_text()
    return number, await frame.get_by_role("note").all_inner_texts()


async def back(frame: Frame) -> None:
    """To the first dashboard."""
    await frame.get_by_role("button", name="← First").click()
    await frame.get_by_role("heading", level=1, name="First").wait_for()
    await until(lambda: settled(frame), "the first dashboard again")


def panel(frame: Frame, panel_id: str) -> Locator:
    return frame.locator(f"[data-panel='{panel_id}']")


async def click_bar(frame: Frame, panel_id: str, place: int) -> str:
    """Clicks a bar; its number."""
    bar = panel(frame, panel_id).locator("rect.bar").nth(place)
    await bar.hover()
    number = await panel(frame, panel_id).locator(".tip-text").inner_text()
    await bar.click()
    return number


async def click_row(frame: Frame, panel_id: str, first: str) -> str:
    """Clicks the row that begins so; its number, in the last cell."""
    row = panel(frame, panel_id).locator("tbody tr").filter(has=frame.locator("th", has_text=first)).first
    number = await row.locator("td").last.inner_text()
    await row.click()
    return number


async def test_the_number_of_a_row(open_page: OpenPage, real: Sites) -> None:
    """The defaults of the first dashboard go along, too, and those of the second one do not count. Red when only what
    the viewer chose goes along: 30 days were opened as a year, and all delays as those of three minutes."""
    frame = await visit(open_page, real)
    number = await click_row(frame, "1-1", "A-B")
    assert number == "30"
    assert await opened(frame) == (number, [])
    chips = await frame.locator(".chip").all_inner_texts()
    assert sorted(chips) == ["Least: All", "Period: Last 30 days", "Route: A-B"]


async def test_the_number_of_what_is_chosen(open_page: OpenPage, real: Sites) -> None:
    """A period that a viewer zoomed to, several routes, a number."""
    today = datetime.now(UTC).date()
    days = {"start": (today - timedelta(45)).isoformat(), "end": (today - timedelta(5)).isoformat()}
    frame = await visit(open_page, real, {"period": days, "route": ["A-B", "A-C"], "least": "2"})
    number = await click_row(frame, "1-1", "A-C")
    assert await opened(frame) == (number, [])
    assert 0 < int(number) < 41


async def test_the_number_of_others(open_page: OpenPage, real: Sites) -> None:
    """A mark that sums up several values sets all of them, where the other dashboard takes several; with a row among
    them that has none it says so and stays. Red when it takes the first: 3 of 12."""
    frame = await visit(open_page, real, {"route": ["A-B", "A-C", "X-A", "X-B", "X-C"]})
    number = await click_bar(frame, "1-2", 2)
    assert number == "12"
    assert await opened(frame) == (number, [])


async def test_a_row_without_a_value_opens_nothing(open_page: OpenPage, real: Sites) -> None:
    """NULL, and the empty text: no filter can ask for them, and the panel says so to everybody. Red when it opened the
    dashboard without that filter: 5 were clicked, and 81 shown."""
    frame = await visit(open_page, real)
    said = "Rows without a value, or with an empty one, cannot be filtered."
    note = panel(frame, "1-1").locator(".panel-note")
    for place in (0, 1):
        await panel(frame, "1-1").locator("tbody tr").nth(place).click()
        assert await note.inner_text() == said
        assert await frame.get_by_role("heading", level=1).inner_text() == "First"
        await note.evaluate("(note) => { note.textContent = ''; }")
    await click_bar(frame, "1-2", 2)
    assert await panel(frame, "1-2").locator(".panel-note").inner_text() == said
    assert await frame.get_by_role("heading", level=1).inner_text() == "First"


async def test_the_number_of_a_month_that_the_period_cuts(open_page: OpenPage, real: Sites) -> None:
    """It opens with those of its days that are in the period, from bars as from rows. Red when its first day is sent as
    if it were a period: the customer read that this choice cannot be shown; red without the period's end: all of the
    month was counted."""
    today = datetime.now(UTC).date()
    days = {"start": (today - timedelta(45)).isoformat(), "end": (today - timedelta(5)).isoformat()}
    frame = await visit(open_page, real, {"period": days})
    for place in (0, -1):
        number = await click_bar(frame, "2-1", place)
        assert await opened(frame) == (number, [])
        await back(frame)
        row = panel(frame, "2-2").locator("tbody tr").nth(place)
        number = await row.locator("td").last.inner_text()
        await row.click()
        assert await opened(frame) == (number, [])
        await back(frame)


async def test_the_only_month_of_a_period(open_page: OpenPage, real: Sites) -> None:
    """Nothing says that it is a month; all its rows are in the period. Red when it is taken for a day."""
    first = datetime.now(UTC).date().replace(day=1) - timedelta(20)
    days = {"start": first.isoformat(), "end": (first + timedelta(5)).isoformat()}
    frame = await visit(open_page, real, {"period": days})
    number = await click_bar(frame, "2-1", 0)
    assert number == "12"
    assert await opened(frame) == (number, [])


async def test_the_page_says_what_it_could_not_take(open_page: OpenPage, real: Sites) -> None:
    """A filter that it lacks; one that it always has; and rows that are like the one that was clicked. Red when it says
    nothing: the two numbers stood beside each other as if they were of the same rows."""
    frame = await visit(open_page, real, {"day": datetime.now(UTC).date().isoformat()})
    assert await click_row(frame, "1-1", "A-B") == "29"
    assert await opened(frame) == ("30", ["What you clicked was also filtered by Day; this page is not."])
    await back(frame)
    assert await click_row(frame, "3-1", "A-B") == "60"
    assert (await opened(frame))[1] == ["This page is also filtered by Period; what you clicked was not."]
    await back(frame)
    number = await click_row(frame, "3-2", "A-B 0")
    found, notes = await opened(frame)
    assert int(number) < int(found) == 30
    assert notes == ["You clicked only a part of this."]
