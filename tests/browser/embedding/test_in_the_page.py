"""The frame as a part of the host's page: it grows with what opens, is hidden and moved, and has steps in the browser's
history."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.async_api import Frame, Page

from engines.chromium import OpenPage, Watched
from engines.either_browser import IN_CHROMIUM
from tenantry.tokens import KeyRing, SigningKey
from tests.browser.embedding.frames import dashboards, noted, until
from tests.browser.embedding.sites import Sites, serving
from tests.dashboards.served import write_files

FLIGHTS = """{sql: "select day, route, count(*) as flights from flights where carrier = {{ carrier }}
      [[ and route = {{ params.route }} ]] [[ and day >= {{ params.period.start }} ]]
      group by day, route order by day"}"""
CONTROLS = """controls:
  period: {range: last-30-days, presets: [last-7-days, last-30-days]}
  route: {choices: [A-B, A-C]}"""
FILES = {
    "sales/regions.yaml": f"""title: Short
{CONTROLS}
rows:
  - {{figure: flights, query: {FLIGHTS}}}
""",
    "sales/days.yaml": f"""title: Days
{CONTROLS}
rows:
  - bar: flights
    by: route
    query: {FLIGHTS}
    click: {{open: sales/route, with: [route]}}
""",
    "sales/route.yaml": f"""title: One route
{CONTROLS}
rows:
  - {{line: flights, by: day, query: {FLIGHTS}}}
""",
    "sales/colours.yaml": """title: Colours
controls: {status: {text: }}
rows:
  - bar: flights
    by: day
    color: status
    query: {sql: "select day, status, count(*) as flights from
      (select day, carrier, case route when 'A-B' then 'Won' else 'Lost' end as status from flights)
      where carrier = {{ carrier }} [[ and status = {{ params.status }} ]] group by day, status order by day"}
""",
}
DOCUMENT = Path(__file__).parents[3] / "docs" / "embedding.md"
HOST = """
const sales = document.createElement("tenantry-dashboard");
sales.id = "sales";
sales.getToken = async () => (await fetch("/token/acme")).text();
sales.setAttribute("src", document.body.dataset.dashboards);
sales.setAttribute("name", "sales/days");
document.body.append(sales);
"""
HEIGHT = "() => document.querySelector('#acme').getBoundingClientRect().height"


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Sites]:
    with serving(KeyRing([SigningKey("k1", b"7" * 32)]), write_files(tmp_path, FILES)) as served:
        yield served


async def host(open_page: OpenPage, real: Sites, name: str = "sales/regions") -> Watched:
    seen = await open_page()
    await seen.page.goto(f"{real.host}/?{urlencode({'groups': 'acme', 'name': name})}")
    await seen.page.evaluate("customElements.whenDefined('tenantry-dashboard').then(() => null)")
    return seen


async def titled(page: Page, real: Sites, title: str) -> Frame:
    """The frame, once the dashboard of this title has all its panels."""

    async def found() -> Frame | None:
        for frame in dashboards(page, real):
            ready = await frame.locator("[data-state=ready]").count()
            if ready and await frame.get_by_role("heading", level=1, name=title, exact=True).count():
                return frame
        return None

    frame: Frame = await until(found, title)
    return frame


async def events(page: Page, kind: str) -> list[Any]:
    return [event[2] for event in (await noted(page))["events"] if event[1] == kind]


async def test_a_short_frame_grows_with_what_opens(open_page: OpenPage, real: Sites) -> None:
    """To the last line of the choices, and it shrinks again. Red when the height was that of the panels: the presets
    were cut off below the figure."""
    seen = await host(open_page, real)
    frame = await titled(seen.page, real, "Short")
    before = await until(lambda: _low(seen.page, frame), "the height of the page")
    await frame.locator(".control-range .choice").click()
    await until(lambda: _holds(seen.page, frame, ".control-range .popover"), "an element that holds the choices")
    await frame.locator(".preset").first.click()
    await until(lambda: _is_as_tall(seen.page, before, 60), "the height of before, and a line of chips")


async def _low(page: Page, frame: Frame) -> float | None:
    height: float = await page.evaluate(HEIGHT)
    own = await frame.evaluate("document.querySelector('#dashboard').getBoundingClientRect().height")
    return height if height < 300 and abs(own - height) < 1 else None


async def _holds(page: Page, frame: Frame, selector: str) -> bool:
    bottom = await frame.locator(selector).evaluate("(each) => each.getBoundingClientRect().bottom")
    return bool(300 < bottom <= await page.evaluate(HEIGHT) and await frame.evaluate("scrollY") == 0)


async def _is_as_tall(page: Page, height: float, more: float) -> bool:
    return bool(height <= await page.evaluate(HEIGHT) <= height + more)


async def test_a_frame_of_a_fixed_height_scrolls_to_what_opens(open_page: OpenPage, real: Sites) -> None:
    """It stays as tall as its host says. Red when the page in it ended with its panels: the rest was out of reach."""
    seen = await host(open_page, real)
    await seen.page.evaluate("document.querySelector('#acme').setAttribute('height', '290')")
    await seen.page.evaluate("document.querySelector('#acme').reload()")
    await until(lambda: _is_as_tall(seen.page, 290, 0), "the fixed height")
    frame = await titled(seen.page, real, "Short")
    await frame.locator(".control-range .choice").click()
    await until(lambda: _is_in_view(frame, ".control-range .popover"), "the choices")
    assert await seen.page.evaluate(HEIGHT) == 290


async def _is_in_view(frame: Frame, selector: str) -> bool:
    script = "(each) => each.getBoundingClientRect().bottom < innerHeight + 1 && scrollY > 0"
    return bool(await frame.locator(selector).evaluate(script))


async def test_back_and_forward_go_through_what_was_opened(open_page: OpenPage, real: Sites) -> None:
    """In the frame, with the filters of each step, and the host is told; a step of the host's own is not taken for one
    of the frame's. Red when a click replaced the address: back left the host's page."""
    seen = await host(open_page, real, "sales/days")
    await seen.page.evaluate("document.querySelector('#acme').setFilters({period: {preset: 'last-7-days'}})")
    frame = await titled(seen.page, real, "Days")
    await frame.locator("rect.bar").first.click()
    await titled(seen.page, real, "One route")
    await until(lambda: _state(seen.page, "sales/route", "A-B"), "the element")
    await seen.page.evaluate("history.back()")
    assert await titled(seen.page, real, "Days") is frame
    await until(lambda: _state(seen.page, "sales/days", None), "the element after the way back")
    await seen.page.evaluate("history.forward()")
    assert await titled(seen.page, real, "One route") is frame
    await until(lambda: _state(seen.page, "sales/route", "A-B"), "the element again")
    shown = [event["name"] for event in await events(seen.page, "ready")]
    assert shown == ["sales/days", "sales/route", "sales/days", "sales/route"]
    await seen.page.evaluate("history.pushState(null, '', '#own')")
    await frame.get_by_role("button", name="← Days").click()
    await until(lambda: _state(seen.page, "sales/days", None), "the way back in the frame")
    assert seen.page.url.endswith("#own")
    assert seen.console == []


async def _state(page: Page, name: str, route: str | None) -> bool:
    script = (
        "(element) => [element.getAttribute('name'), element.filters.period?.preset, element.filters.route ?? null]"
    )
    return bool(await page.locator("#acme").evaluate(script) == [name, "last-7-days", route])


async def test_an_element_that_was_hidden(open_page: OpenPage, real: Sites) -> None:
    """From the start, as in a tab of the host: once it is shown it is as tall as its page, and its charts as wide. Red
    when a hidden frame told of a height of nothing and never of another one."""
    seen = await open_page()
    await seen.page.goto(f"{real.host}/?groups=")
    await seen.page.evaluate(
        """([src]) => {
            const element = document.createElement("tenantry-dashboard");
            element.id = "acme";
            element.getToken = async () => (await fetch("/token/acme")).text();
            element.setAttribute("src", src);
            element.setAttribute("name", "sales/route");
            const tab = document.createElement("div");
            tab.hidden = true;
            tab.append(element);
            document.body.append(tab);
        }""",
        [real.mount],
    )
    frame = await titled(seen.page, real, "One route")
    await seen.page.evaluate("document.querySelector('#acme').parentNode.hidden = false")
    await until(lambda: _is_drawn(seen.page, frame), "a chart that fills its panel")
    await seen.page.evaluate("document.querySelector('#acme').parentNode.hidden = true")
    await seen.page.set_viewport_size({"width": 700, "height": 800})
    await seen.page.evaluate("document.querySelector('#acme').parentNode.hidden = false")
    await until(lambda: _is_drawn(seen.page, frame), "a chart that fills the narrower panel")


async def _is_drawn(page: Page, frame: Frame) -> bool:
    script = """() => { const plot = document.querySelector(".plot"), body = document.querySelector(".panel-body");
        return plot && body.clientWidth > 300 && Number(plot.getAttribute("width")) === body.clientWidth; }"""
    own = await frame.evaluate("document.querySelector('#dashboard').getBoundingClientRect().height")
    return bool(await frame.evaluate(script) and own > 300 and abs(own - await page.evaluate(HEIGHT)) < 1)


async def test_an_element_that_is_moved(open_page: OpenPage, real: Sites) -> None:
    """To another parent: it shows what it showed, with what was chosen. By ``moveBefore`` Chromium does not even load
    it again (Firefox does). Red when the element forgot the dashboard that a click had opened."""
    seen = await host(open_page, real, "sales/days")
    frame = await titled(seen.page, real, "Days")
    await frame.locator("rect.bar").first.click()
    await titled(seen.page, real, "One route")
    await until(lambda: _named(seen.page, "sales/route"), "the element")
    await seen.page.evaluate(
        """() => { const place = document.createElement("section"); document.body.append(place);
            place.append(document.querySelector("#acme")); }"""
    )
    again = await titled(seen.page, real, "One route")
    assert again is not frame
    assert await again.locator(".chip").all_inner_texts() == ["Route: A-B"]
    browser = seen.page.context.browser
    if browser is not None and browser.browser_type.name == "chromium":
        await again.evaluate("window.same = true")
        await seen.page.evaluate("document.body.moveBefore(document.querySelector('#acme'), document.body.firstChild)")
        assert await (await titled(seen.page, real, "One route")).evaluate("window.same")


SHOWN = """() => Object.fromEntries([...document.querySelectorAll("rect.bar")].map((each) => [
    each.dataset.series ?? each.parentNode.dataset.series, getComputedStyle(each).fill]))"""


@IN_CHROMIUM
async def test_a_moved_element_keeps_the_colours_of_names(open_page: OpenPage, real: Sites) -> None:
    """Of two names with the same hash the one that a filter leaves has the colour that it had beside the other one. Red
    when the new frame was not told."""
    seen = await host(open_page, real, "sales/colours")
    frame = await titled(seen.page, real, "Colours")
    before = await frame.evaluate(SHOWN)
    assert len({*before.values()}) == len(before) == 2
    for name, color in before.items():
        await seen.page.evaluate("(name) => document.querySelector('#acme').setFilters({status: name})", name)
        await seen.page.evaluate("document.body.append(document.querySelector('#acme'))")
        again = await titled(seen.page, real, "Colours")
        assert await again.evaluate(SHOWN) == {name: color}


async def _named(page: Page, name: str) -> bool:
    return await page.locator("#acme").get_attribute("name") == name


@IN_CHROMIUM
async def test_a_host_that_is_loaded_again(open_page: OpenPage, real: Sites) -> None:
    """By the recipe of docs/embedding.md: the dashboard that a click had opened, and its filters. Red
    without ``setFilters`` in it: the page began with its defaults."""
    recipe = DOCUMENT.read_text().partition('```js title="after the script of the element"\n')[2].partition("```")[0]
    seen = await open_page()
    await seen.page.route("**/host.js", lambda route: route.fulfill(body=HOST + recipe, content_type="text/javascript"))
    await seen.page.goto(f"{real.host}/?groups=")
    frame = await titled(seen.page, real, "Days")
    await frame.locator(".control-range .choice").click()
    await frame.locator(".preset").first.click()
    await frame.locator(".chip").wait_for()
    await titled(seen.page, real, "Days")
    await frame.locator("rect.bar").first.click()
    chips = ["Period: Last 7 days", "Route: A-B"]
    await until(lambda: _says(seen.page, real, chips), "the other dashboard")
    await until(lambda: _is_kept(seen.page, "sales%2Froute"), "the address of the host")
    await seen.page.reload()
    await until(lambda: _says(seen.page, real, chips), "the same after a reload")
    await titled(seen.page, real, "One route")


async def _says(page: Page, real: Sites, chips: list[str]) -> bool:
    frame = await titled(page, real, "One route")
    return await frame.locator(".chip").all_inner_texts() == chips


async def _is_kept(page: Page, name: str) -> bool:
    return f"dashboard={name}&filters=%7B%22period" in page.url and "A-B" in page.url
