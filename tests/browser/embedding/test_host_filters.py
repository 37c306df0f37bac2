"""Filters that the host sets, in the real page of a dashboard: they are all the choices, and the rows follow them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.async_api import Frame, Page

from engines.chromium import OpenPage
from engines.either_browser import IN_CHROMIUM
from tenantry.tokens import KeyRing, SigningKey
from tests.browser.embedding.frames import dashboards, noted, until
from tests.browser.embedding.sites import Sites, serving
from tests.dashboards.served import write_files

pytestmark = pytest.mark.slow

FILES = {
    "sales/regions.yaml": """title: Flights
controls:
  route: {choices: {query: routes}}
  least: {number: }
rows:
  - - figure: flights
      query: {sql: "select count(*) as flights from flights where carrier = {{ carrier }}
        [[and route = {{ params.route }}]] [[and delay >= {{ params.least }}]]"}
""",
    "queries/routes.sql": "select distinct route from flights order by route",
}
SET = "(element, filters) => element.setFilters(filters)"


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Sites]:
    with serving(KeyRing([SigningKey("k1", b"7" * 32)]), write_files(tmp_path, FILES)) as served:
        yield served


@IN_CHROMIUM
async def test_they_replace_the_choices(open_page: OpenPage, real: Sites) -> None:
    """What is not named goes back to its default, on the page as in the element, also after ``reload()`` and where the
    choice began in the fragment of ``src``. Red when the page merges: the chips of before stayed, and ``filters`` was
    another thing than what is shown; red when ``reload()`` reads the fragment of ``src`` again."""
    seen = await open_page()
    await seen.page.goto(f"{real.host}/?{urlencode({'groups': 'acme'})}")
    element = seen.page.locator("#acme")
    await element.evaluate("(element) => element.setAttribute('src', element.getAttribute('src') + '#route=A-C')")
    await _shows(seen.page, real, "60", "Route: A-C")
    for filters, flights, chips in (
        ({"route": "A-B", "least": "6"}, "8", ["Route: A-B", "Least: 6"]),
        ({"least": "6"}, "16", ["Least: 6"]),
        ({}, "120", []),
        ({"route": "A-B"}, "60", ["Route: A-B"]),
        (None, "120", []),
    ):
        await element.evaluate(SET, filters)
        frame = await _shows(seen.page, real, flights, *chips)
        assert await element.evaluate("(element) => element.filters") == (filters or {})
        assert (await frame.evaluate("location.hash") == "") is (not filters)
    await element.evaluate("(element) => element.reload()")
    await until(lambda: _is_new(seen.page, real, frame), "the new frame")
    await _shows(seen.page, real, "120")
    assert await element.evaluate("(element) => element.filters") == {}
    assert [event for event in (await noted(seen.page))["events"] if event[1] == "error"] == []


@IN_CHROMIUM
async def test_a_host_that_answers_each_event(open_page: OpenPage, real: Sites) -> None:
    """By setting what it was told, as a form that is bound to a state does: nothing more follows. Red when what is set
    already goes to the page once more: two choices in a row then take each other's place without end."""
    seen = await open_page()
    await seen.page.goto(f"{real.host}/?{urlencode({'groups': 'acme'})}")
    await _shows(seen.page, real, "120")
    bind = "(element) => element.addEventListener('filters', (event) => element.setFilters(event.detail))"
    await seen.page.locator("#acme").evaluate(bind)
    choose = """(field, values) => values.forEach((value) => {
      field.value = value;
      field.dispatchEvent(new Event("change"));
    })"""
    frame = dashboards(seen.page, real)[0]
    await frame.get_by_label("Route", exact=True).evaluate(choose, ["A-B", "A-C"])
    await _shows(seen.page, real, "60", "Route: A-C")
    await frame.get_by_label("Least", exact=True).evaluate(choose, ["6"])
    await _shows(seen.page, real, "8", "Route: A-C", "Least: 6")
    chosen = [event[2] for event in (await noted(seen.page))["events"] if event[1] == "filters"]
    assert chosen == [{"route": "A-B"}, {"route": "A-C"}, {"route": "A-C", "least": "6"}]


async def test_set_while_the_definition_is_on_its_way(open_page: OpenPage, real: Sites) -> None:
    """Between the welcome and the first answer: the panels that were asked with other filters are asked again, and so
    are the values of a control that were to come with that answer. Red when only the controls follow: the figure was
    that of every route, beside a chip that named one."""
    seen = await open_page()
    asked, let_go = asyncio.Event(), asyncio.Event()

    async def held(route: Any) -> None:
        asked.set()
        await let_go.wait()
        await route.continue_()

    await seen.page.route("**/-/panels", held)
    await seen.page.goto(f"{real.host}/?{urlencode({'groups': 'acme'})}")
    await asyncio.wait_for(asked.wait(), 60)
    element = seen.page.locator("#acme")
    await element.evaluate(SET, {"route": "A-B"})
    await element.evaluate("(element) => element.setTheme({mode: 'dark'})")
    (frame,) = dashboards(seen.page, real)
    await until(lambda: frame.evaluate("document.documentElement.dataset.mode === 'dark'"), "what was sent after them")
    let_go.set()
    await _shows(seen.page, real, "60", "Route: A-B")
    options = frame.get_by_label("Route", exact=True).locator("option")
    await until(lambda: _texts(options, ["All", "A-B", "A-C"]), "the values of the control")


async def _shows(page: Page, sites: Sites, flights: str, *chips: str) -> Frame:
    """The frame, once it shows this number under exactly these chips."""

    async def shown() -> Frame | None:
        for frame in dashboards(page, sites):
            figures = await frame.locator("main [data-state=ready] .figure-value").all_inner_texts()
            if figures == [flights] and await frame.locator(".chip").all_inner_texts() == [*chips]:
                return frame
        return None

    frame: Frame = await until(shown, f"{flights} under {chips}")
    return frame


async def _is_new(page: Page, sites: Sites, before: Frame) -> bool:
    return bool(dashboards(page, sites)) and before not in dashboards(page, sites)


async def _texts(found: Any, expected: list[str]) -> bool:
    return bool(await found.all_inner_texts() == expected)


PINS = """(element) => element.addEventListener("filters", (event) => {
  window.told = (window.told ?? 0) + 1;
  element.setFilters(%s);
})"""


@IN_CHROMIUM
@pytest.mark.parametrize(
    ("pinned", "shown"),
    [
        ("{least: '6', ...event.detail, route: ''}", ("16", "Least: 6")),
        ("{least: '6', ...event.detail}", ("8", "Route: A-B", "Least: 6")),
    ],
)
async def test_a_host_that_pins_a_filter(open_page: OpenPage, real: Sites, pinned: str, shown: tuple[str, ...]) -> None:
    """What it sets is not what the page keeps: another order, or a value that is none. It is told of what the viewer
    chose, and once of its own change. Red when the page tells what differs in its text alone: each answers the other
    without end."""
    seen = await open_page()
    await seen.page.goto(f"{real.host}/?{urlencode({'groups': 'acme'})}")
    await _shows(seen.page, real, "120")
    await seen.page.locator("#acme").evaluate(PINS % pinned)
    frame = dashboards(seen.page, real)[0]
    choose = "(field) => { field.value = 'A-B'; field.dispatchEvent(new Event('change')); }"
    await frame.get_by_label("Route", exact=True).evaluate(choose)
    await _shows(seen.page, real, *shown)
    await asyncio.sleep(1)  # as long as nothing more has to come
    assert await seen.page.evaluate("window.told") <= 3
