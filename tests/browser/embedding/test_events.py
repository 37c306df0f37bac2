"""What the host's page is told: of a click, and of everything that its customer sees as an error."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.async_api import Frame, Page, Response

from engines.chromium import OpenPage, Watched
from engines.either_browser import IN_CHROMIUM
from tenantry.tokens import KeyRing, SigningKey
from tests.browser.embedding.frames import dashboards, noted, until
from tests.browser.embedding.sites import Sites, serving
from tests.dashboards.served import write_files

ROUTES = """{sql: "select route, count(*) as flights, 9007199254740993 as id, 'not named' as other from flights
      where carrier = {{ carrier }} [[ and route = {{ params.route }} ]] [[ and delay >= {{ params.least }} ]]
      group by route order by route"}"""
FILES = {
    "sales/regions.yaml": f"""title: Flights
controls:
  route: {{choices: [A-B, A-C]}}
  least: {{number: }}
  period: {{range: }}
rows:
  - - table: {ROUTES}
      columns: [route, flights]
      click: {{event: [id, route]}}
    - bar: flights
      by: route
      query: {ROUTES}
      click: {{event: [id, route]}}
""",
    "sales/broken.yaml": """title: Broken
rows:
  - - {figure: flights, query: {sql: select count(*) as flights from flights}}
    - {figure: n, query: {sql: select n from missing}}
""",
}
SET = "(element, filters) => element.setFilters(filters)"
TYPE = "(field, text) => { field.value = text; field.dispatchEvent(new Event('input', { bubbles: true })); }"
"""Playwright cannot type into a frame of another site in Firefox."""
CHIPS = ["Route: A-B"]


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Sites]:
    with serving(KeyRing([SigningKey("k1", b"7" * 32)]), write_files(tmp_path, FILES)) as served:
        yield served


async def visit(open_page: OpenPage, real: Sites, *, new: bool = False, **query: str) -> Watched:
    seen = await open_page(new=new)
    await seen.page.goto(f"{real.host}/?{urlencode({'groups': 'acme', **query})}")
    return seen


async def events(page: Page, kind: str) -> list[Any]:
    return [event[2] for event in (await noted(page))["events"] if event[1] == kind]


async def first_error(page: Page) -> Any:
    found = await until(lambda: events(page, "error"), "an error")
    return found[0]


async def frame_that_says(page: Page, sites: Sites, *words: str) -> Frame:
    async def found() -> Frame | None:
        for frame in dashboards(page, sites):
            text = await frame.locator("body").inner_text()
            if all(word in text for word in words):
                return frame
        return None

    frame: Frame = await until(found, f"{words}")
    return frame


async def test_a_click_gives_the_named_columns_of_its_row(open_page: OpenPage, real: Sites) -> None:
    """Of a table and of a chart, with all digits of a number that JavaScript cannot hold; nothing in the frame changes.
    Red when the columns of ``event`` are not sent to the page, and when the whole row goes to the host."""
    seen = await visit(open_page, real)
    frame = await frame_that_says(seen.page, real, "A-C")
    await frame.locator("tbody tr").nth(1).click()
    await frame.locator("rect.bar").first.click()
    clicks = await until(lambda: _as_many(seen.page, "click", 2), "two clicks")
    row = {"id": "9007199254740993", "route": "A-C"}
    assert clicks == [
        {"dashboard": "sales/regions", "panel": "1-1", "row": row},
        {"dashboard": "sales/regions", "panel": "1-2", "row": row | {"route": "A-B"}},
    ]
    assert await events(seen.page, "filters") == []
    assert await events(seen.page, "error") == []


async def _as_many(page: Page, kind: str, count: int) -> list[Any] | None:
    found = await events(page, kind)
    return found if len(found) >= count else None


@IN_CHROMIUM
async def test_a_token_that_never_settles(open_page: OpenPage, real: Sites) -> None:
    """An error with a code after ten seconds, and the frame says that there is no access. So it is after a rotation.
    Red when the element waits for ever: the frame said after half a minute that its page has not opened it."""
    seen = await open_page(new=True)
    await seen.page.clock.install()
    await seen.page.goto(f"{real.host}/?{urlencode({'groups': 'acme'})}")
    await frame_that_says(seen.page, real, "A-C")
    await seen.page.locator("#acme").evaluate("(element) => { element.getToken = () => new Promise(() => {}); }")
    refused: list[Response] = []
    seen.page.on("response", lambda response: refused.append(response) if response.status == 401 else None)
    await real.rotate("acme")
    await seen.page.locator("#acme").evaluate(SET, {"route": "A-B"})
    await until(lambda: _is_filled(refused), "a refused request")
    await seen.page.clock.fast_forward(10_000)
    assert await first_error(seen.page) == {"code": "token_timeout", "reason": "invalid_token"}
    await frame_that_says(seen.page, real, "This access has ended")
    await seen.page.locator("#acme").evaluate("(element) => element.reload()")
    await until(lambda: _hello(seen.page, real), "another frame")
    await seen.page.clock.fast_forward(10_000)
    found = await until(lambda: _as_many(seen.page, "error", 2), "the second error")
    assert found[1] == {"code": "token_timeout"}
    await frame_that_says(seen.page, real, "There is no access to this dashboard")


async def _is_filled(found: list[Response]) -> bool:
    return bool(found)


async def _hello(page: Page, real: Sites) -> bool:
    """The page in the second frame has asked for its token."""
    return bool((await noted(page))["messages"].count(real.dashboards) == 2)


@IN_CHROMIUM
@pytest.mark.parametrize("name", ["sales/nothing", ""])
async def test_an_unknown_dashboard_is_an_error_at_once(open_page: OpenPage, real: Sites, name: str) -> None:
    """The frame says so too, and also where the host forgot the name. Red when the server answers its address with a
    text: the element learnt of it by waiting for 20 s, and the code was ``no_answer``."""
    seen = await visit(open_page, real, new=True)
    await frame_that_says(seen.page, real, "A-C")
    await seen.page.clock.install()  # nothing that waits comes to its end
    await seen.page.clock.pause_at(2**40)
    await seen.page.locator("#acme").evaluate("(element, name) => element.setAttribute('name', name)", name)
    assert (await first_error(seen.page))["code"] == "unknown_dashboard"
    await frame_that_says(seen.page, real, "There is no such dashboard")


def _questions(real: Sites) -> int:
    """How often the page asked for rows. Bundles do not count: the page loads some when it is idle."""
    return sum("/-/panels" in each for each in real.requests)


async def _asked(real: Sites, times: int) -> bool:
    return _questions(real) == times


async def _has_said(seen: Watched, words: str) -> bool:
    """Another process tells of the console than of the events."""
    return any(words in text for text in seen.console)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"rotue": "A-C"}, "has no filter rotue"),
    ({"route": "A-C", "nope": "1"}, "has no filter nope"),
    ({"route": {"name": "A-C"}}, "params.route"),
    ({"route": "X-Y"}, "params.route"),
    ({"least": "much"}, "params.least"),
    ({"period": {"start": "soon", "end": None}}, "params.period"),
    ({"period": 7}, "params.period"),
]


@IN_CHROMIUM
async def test_wrong_filters_are_an_error_for_the_developer(open_page: OpenPage, real: Sites) -> None:
    """By an event and in the console; the customer sees what was there before. ``filters`` is what is shown, and a host
    that answers each event asks no more than once. Red when the page shows what it was given: a chip of a filter that
    does not exist, and panels that said so to a customer."""
    seen = await visit(open_page, real)
    element = seen.page.locator("#acme")
    frame = await frame_that_says(seen.page, real, "A-C")
    asked = _questions(real)
    await element.evaluate(SET, {"route": "A-B"})
    await until(lambda: _chips(frame, CHIPS), "the chip")
    await until(lambda: _asked(real, asked + 2), "whether it is right, and the rows of A-B")
    for count, (wrong, words) in enumerate(WRONG, 1):
        seen.console.clear()
        await element.evaluate(SET, wrong)
        errors = await until(lambda count=count: _as_many(seen.page, "error", count), f"an error of {wrong}")
        assert len(errors) == count
        assert errors[-1]["code"] == "invalid_filters"
        assert words in errors[-1]["message"]
        await until(lambda words=words: _has_said(seen, words), f"{words} in the console")
        assert await element.evaluate("(element) => element.filters") == {"route": "A-B"}
        assert await _chips(frame, CHIPS)
        assert await frame.get_by_role("alert").count() == 0
        assert _questions(real) == asked + 2 + count
    await element.evaluate(SET, {"route": "A-C"})
    await until(lambda: _chips(frame, ["Route: A-C"]), "what is right")
    assert len(await events(seen.page, "error")) == len(WRONG)


@IN_CHROMIUM
@pytest.mark.parametrize(("fragment", "given"), [("", {"route": "A-B", "nope": "1"}), ("#nope=1", None)])
async def test_wrong_filters_from_the_start(
    open_page: OpenPage, real: Sites, fragment: str, given: dict[str, str] | None
) -> None:
    """Of ``setFilters`` and of the fragment in ``src``: the dashboard is shown without them. Red when the page takes no
    notice: the customer read that the choice cannot be shown, or all the rows came with no word to the developer."""
    seen = await open_page()
    await seen.page.goto(f"{real.host}/?groups=")
    script = """([src, filters]) => {
      const element = document.createElement("tenantry-dashboard");
      element.getToken = async () => (await fetch("/token/acme")).text();
      element.addEventListener("error", (event) => noted.events.push(["acme", "error", event.detail]));
      element.setAttribute("src", src);
      element.setAttribute("name", "sales/regions");
      document.body.append(element);
      if (filters) element.setFilters(filters);
    }"""
    await until(lambda: seen.page.evaluate("customElements.get('tenantry-dashboard') !== undefined"), "the element")
    await seen.page.evaluate(script, [real.mount + fragment, given])
    frame = await frame_that_says(seen.page, real, "A-B", "A-C")
    assert (await first_error(seen.page))["code"] == "invalid_filters"
    assert await _chips(frame, [])
    await until(lambda: _has_said(seen, "has no filter nope"), "the same in the console")
    with pytest.raises(Exception, match="takes an object"):
        await seen.page.locator("tenantry-dashboard").evaluate(SET, ["A-B"])


async def _chips(frame: Frame, texts: list[str]) -> bool:
    return await frame.locator(".chip").all_inner_texts() == texts


@IN_CHROMIUM
async def test_a_panel_that_fails_is_one_error(open_page: OpenPage, real: Sites) -> None:
    """With the panel's id and the sentence that the customer reads; the next failure is none, until it has been mended.
    Red when only what takes the place of the whole page is told."""
    seen = await visit(open_page, real)
    await frame_that_says(seen.page, real, "A-C")
    await seen.page.locator("#acme").evaluate("(element) => element.setAttribute('name', 'sales/broken')")
    frame = await frame_that_says(seen.page, real, "Broken", "240")
    error = await first_error(seen.page)
    assert error["panel"] == "1-2"
    assert error["message"] in await frame.get_by_role("alert").inner_text()
    asked = _questions(real)
    await frame.get_by_role("button", name="Try again").click()
    await until(lambda: _asked(real, asked + 1), "the second try")
    await frame.get_by_role("button", name="Try again").wait_for()
    assert len(await events(seen.page, "error")) == 1


async def test_a_lost_connection_is_one_error(open_page: OpenPage, real: Sites) -> None:
    """In the host too, and the dashboard goes on by itself, with what was chosen meanwhile. Red when the frame keeps it
    to itself."""
    seen = await visit(open_page, real)
    frame = await frame_that_says(seen.page, real, "A-C")
    await _lose_connection(seen.page, frame)
    await frame.get_by_label("Least", exact=True).evaluate(TYPE, "6")
    await until(lambda: _as_many(seen.page, "filters", 1), "the choice, which is told after the losses before it")
    losses = len(await events(seen.page, "error"))
    assert losses
    await until(lambda: _chips(frame, ["Least: 6"]), "the chip")
    await seen.page.context.set_offline(False)
    await until(lambda: _gone(frame), "the end of the banner")
    await frame_that_says(seen.page, real, "Least: 6", "A-C\t8")
    assert [error["code"] for error in await events(seen.page, "error")] == ["unreachable"] * losses


async def _lose_connection(page: Page, frame: Frame) -> None:
    """Ends it until the banner stays. A busy browser tells the frame of it before requests fail: one that is sent at
    once succeeds, and the banner goes."""

    async def is_lost() -> bool:
        await page.context.set_offline(False)
        await page.context.set_offline(True)
        await asyncio.sleep(2)
        return await frame.locator(".banner p").count() == 1

    await until(is_lost, "the banner")


async def _gone(frame: Frame) -> bool:
    return await frame.locator(".banner p").count() == 0
