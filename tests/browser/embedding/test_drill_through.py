"""A click that opens another dashboard in an embedded frame: the element and its host follow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.async_api import Frame, Page

from engines.axe import serious
from engines.chromium import OpenPage
from engines.either_browser import IN_CHROMIUM
from tenantry.tokens import KeyRing, SigningKey
from tests.browser.embedding.frames import dashboards, noted, until
from tests.browser.embedding.sites import Sites, serving
from tests.dashboards.served import write_files

pytestmark = pytest.mark.slow

QUERY = """{sql: "select route, count(*) as flights from flights where carrier = {{ carrier }}
      [[ and delay >= {{ params.least }} ]] [[ and MORE ]] group by route order by route"}"""
CONTROLS = "least: {number: }, route: {choices: [A-B, A-C]}"
FILES = {
    "sales/regions.yaml": f"""title: Regions
controls: {{{CONTROLS}, other: {{text: }}}}
rows:
  - bar: flights
    by: route
    horizontal: true
    query: {QUERY.replace("MORE", "day <> {{ params.other }}")}
    click: {{open: sales/route, with: [route]}}
""",
    "sales/route.yaml": f"""title: One route
controls: {{{CONTROLS}}}
rows:
  - {{figure: flights, query: {QUERY.replace("MORE", "route = {{ params.route }}")}}}
""",
}
CHOSEN = {"least": "2", "route": "A-C", "other": "x"}
KEPT = {"least": "2", "route": "A-B"}


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Sites]:
    with serving(KeyRing([SigningKey("k1", b"7" * 32)]), write_files(tmp_path, FILES)) as served:
        yield served


async def frame_with(page: Page, sites: Sites, title: str) -> Frame:
    """The frame, once it shows the dashboard of this title."""

    async def found() -> Frame | None:
        for frame in dashboards(page, sites):
            if await frame.get_by_role("heading", level=1, name=title).count():
                return frame
        return None

    frame: Frame = await until(found, title)
    return frame


async def state(page: Page) -> dict[str, Any]:
    """What the host's page can read of its element."""
    script = """(element) => ({name: element.getAttribute("name"), src: element.getAttribute("src"),
        filters: element.filters, role: element.getAttribute("role")})"""
    found: dict[str, Any] = await page.locator("#acme").evaluate(script)
    return found


async def test_the_element_follows_to_another_dashboard_and_back(open_page: OpenPage, real: Sites) -> None:
    """Its ``name`` and ``filters`` are those of what is shown, the host is told, the frame is the same one, and an
    element that begins anew shows the dashboard of the click. Red when only the frame knew."""
    seen = await open_page()
    await seen.page.goto(f"{real.host}/?{urlencode({'groups': 'acme'})}")
    await seen.page.evaluate("([filters]) => document.querySelector('#acme').setFilters(filters)", [CHOSEN])
    frame = await frame_with(seen.page, real, "Regions")
    assert (await state(seen.page))["filters"] == CHOSEN
    loads = len([line for line in real.requests if line.startswith("GET /dashboards/sales")])
    await until(lambda: _count(frame, ".chip", 3), "the choice")
    await frame.locator("[data-state=ready] rect.bar").first.wait_for()
    await _open_first(frame)
    assert await frame_with(seen.page, real, "One route") is frame
    await until(lambda: _follows(seen.page, "sales/route", KEPT), "the element")
    ready = [event[2] for event in (await noted(seen.page))["events"] if event[1] == "ready"]
    assert ready == [{"name": "sales/regions", "title": "Regions"}, {"name": "sales/route", "title": "One route"}]
    await frame.get_by_role("button", name="← Regions").click()
    await until(lambda: _follows(seen.page, "sales/regions", CHOSEN), "the element after the way back")
    await frame.locator("rect.bar").first.click()
    await until(lambda: _follows(seen.page, "sales/route", KEPT), "the element again")
    assert len([line for line in real.requests if line.startswith("GET /dashboards/sales")]) == loads
    await seen.page.evaluate("document.querySelector('#acme').reload()")
    again = await frame_with(seen.page, real, "One route")
    await until(lambda: _chips(again, ["Least: 2", "Route: A-B"]), "the choices")
    assert [event for event in (await noted(seen.page))["events"] if event[1] == "error"] == []
    assert seen.console == []


@IN_CHROMIUM
async def test_a_dashboard_without_filters_is_told_too(open_page: OpenPage, real: Sites) -> None:
    """On the way back from one with filters: the element has none, and one that is moved begins with none. Red when
    only filters were told of: the first dashboard began with those of the second one."""
    seen = await open_page()
    await seen.page.goto(f"{real.host}/?{urlencode({'groups': 'acme'})}")
    frame = await frame_with(seen.page, real, "Regions")
    await frame.locator("rect.bar").first.click()
    await until(lambda: _follows(seen.page, "sales/route", {"route": "A-B"}), "the element")
    await seen.page.evaluate("history.back()")
    await until(lambda: _follows(seen.page, "sales/regions", {}), "the element after the way back")
    told = [event[2] for event in (await noted(seen.page))["events"] if event[1] == "filters"]
    assert told == [{"route": "A-B"}, {}]


async def _open_first(frame: Frame) -> None:
    """The first bar, by keyboard; in Firefox by a click, for there keys never reach a frame of another site."""
    browser = frame.page.context.browser
    if browser is not None and browser.browser_type.name == "firefox":
        await frame.locator("rect.bar").first.click()
        return
    await frame.locator(".chart").focus()
    await frame.page.keyboard.press("Home")
    await frame.page.keyboard.press("Enter")


@IN_CHROMIUM
async def test_an_address_without_a_name_follows_too(open_page: OpenPage, real: Sites) -> None:
    """Where ``src`` is the dashboard itself. Red when ``name`` was set: the address would have both."""
    seen = await open_page()
    await seen.page.goto(f"{real.host}/?{urlencode({'groups': 'acme'})}")
    await seen.page.evaluate(
        """() => {
            const element = document.querySelector("#acme");
            element.src = element.getAttribute("src");
            element.removeAttribute("name");
            element.setAttribute("src", element.src + "/sales/regions");
        }"""
    )
    frame = await frame_with(seen.page, real, "Regions")
    await frame.locator("rect.bar").first.click()
    address = f"{real.dashboards}/dashboards/sales/route"
    await until(lambda: _is_at(seen.page, None, address), "the element")


@IN_CHROMIUM
async def test_choices_that_another_dashboard_refuses_are_let_go(open_page: OpenPage, real: Sites) -> None:
    """The host opens another one by ``name``: what both have stays, else it begins with none, and the host is told. Red
    when the refusal was all that was shown."""
    seen = await open_page()
    await seen.page.goto(f"{real.host}/?{urlencode({'groups': 'acme'})}")
    set_filters = "(filters) => document.querySelector('#acme').setFilters(filters)"
    frame = await frame_with(seen.page, real, "Regions")
    for chosen, left in ((KEPT, KEPT), (CHOSEN, {})):
        await seen.page.evaluate(set_filters, chosen)
        await until(lambda frame=frame, chosen=chosen: _count(frame, ".chip", len(chosen)), "the choice")
        await seen.page.evaluate("document.querySelector('#acme').setAttribute('name', 'sales/route')")
        other = await frame_with(seen.page, real, "One route")
        await until(lambda other=other, left=left: _count(other, ".chip", len(left)), "what is left of the choice")
        await until(lambda left=left: _has(seen.page, left), "the choice of the element")
        await seen.page.evaluate("document.querySelector('#acme').setAttribute('name', 'sales/regions')")
        frame = await frame_with(seen.page, real, "Regions")
    assert [event for event in (await noted(seen.page))["events"] if event[1] == "error"] == []
    assert [text for text in seen.console if "422" not in text] == []


async def _has(page: Page, filters: dict[str, Any]) -> bool:
    return bool((await state(page))["filters"] == filters)


async def _count(frame: Frame, selector: str, count: int) -> bool:
    return await frame.locator(selector).count() == count


@IN_CHROMIUM
async def test_an_element_has_a_role_and_its_frame_a_title(open_page: OpenPage, real: Sites) -> None:
    """A label needs a role, which the element gives itself unless the host has; the frame is called as its dashboard.
    Red without the role: axe says that the label is not allowed."""
    seen = await open_page()
    await seen.page.goto(f"{real.host}/?{urlencode({'groups': 'acme', 'more': '<h1>Product</h1>'})}")
    await seen.page.evaluate("document.querySelector('#acme').setAttribute('aria-label', 'Sales of this year')")
    await frame_with(seen.page, real, "Regions")
    assert (await state(seen.page))["role"] == "group"
    assert await serious(seen.page) == []
    tree = await seen.page.locator("body").aria_snapshot()
    assert 'group "Sales of this year"' in tree
    own = await seen.page.evaluate(
        """(src) => {
            const element = document.createElement("tenantry-dashboard");
            element.setAttribute("role", "region");
            element.setAttribute("src", src);
            document.body.append(element);
            return new Promise((done) => setTimeout(() => done(element.getAttribute("role"))));
        }""",
        f"{real.dashboards}/dashboards",
    )
    assert own == "region"


async def _follows(page: Page, name: str, filters: dict[str, Any]) -> bool:
    found = await state(page)
    return bool(found["name"] == name and found["filters"] == filters)


async def _is_at(page: Page, name: str | None, src: str) -> bool:
    found = await state(page)
    return bool(found["name"] == name and found["src"] == src)


async def _chips(frame: Frame, texts: list[str]) -> bool:
    return await frame.locator(".chip").all_inner_texts() == texts
