"""The demo in a real Chromium: a product's page, which embeds the dashboards of another origin."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from playwright.async_api import Error, Frame, Locator, Page, Request

from engines.axe import serious
from engines.chromium import OpenPage, Watched
from tests.browser.conftest import Served
from tests.browser.embedding.frames import until

NAMES = {"UA": "United Air Lines", "B6": "JetBlue Airways", "HA": "Hawaiian Airlines"}
COME = """() => document.querySelector("main .notice") !== null || (
    document.querySelector("main .dashboard") !== null && document.querySelector("[data-state=waiting]") === null)"""
SIZES = [(width, dark) for width in (1440, 768, 360) for dark in (False, True)]

Visit = Callable[..., Awaitable[Watched]]


@pytest.fixture
def visit(open_page: OpenPage, demo: Served) -> Visit:
    """``await visit("UA", "delays")``: the product, with this customer's dashboard shown whole."""

    async def visited(carrier: str = "UA", name: str = "overview", **options: Any) -> Watched:
        seen = await open_page(**options)
        await seen.page.goto(f"{demo.product}/#{name}")
        await seen.page.get_by_label("Customer").select_option(carrier)
        await frames(seen.page, demo, carriers=list(NAMES) if carrier == "" else [carrier])
        return seen

    return visited


async def frames(page: Page, demo: Served, carriers: list[str]) -> list[Frame]:
    """The frames of these customers, whole, in their order. Those that were looked at before stay on the page."""

    async def whole() -> list[Frame] | None:
        found = []
        for carrier in carriers:
            for frame in page.frames:
                if frame.url.startswith(demo.url) and await frame.evaluate(COME):
                    text = await frame.locator("body").inner_text()
                    if NAMES[carrier] in text:
                        found.append(frame)
        return found if len(found) == len(carriers) else None

    result: list[Frame] = await until(whole, f"the frames of {carriers}")
    return result


def panel(frame: Frame, panel_id: str) -> Locator:
    return frame.locator(f"[data-panel='{panel_id}']")


async def flights(frame: Frame) -> str:
    """The first key figure."""
    return await panel(frame, "1-1").locator(".figure-value").inner_text()


async def test_a_menu_switches_between_three_customers(visit: Visit, demo: Served) -> None:
    """Each has its own numbers; the page reaches both origins and no other, with a clean console."""
    seen = await visit("UA")
    found = {}
    for carrier in NAMES:
        await seen.page.get_by_label("Customer").select_option(carrier)
        (frame,) = await frames(seen.page, demo, [carrier])
        found[carrier] = await flights(frame)
    assert len(set(found.values())) == 3
    assert {f"http://{host}" for host in seen.hosts()} == {demo.url, demo.product}
    assert await seen.violations() == []
    assert seen.console == []


REMEMBERED = """() => JSON.stringify([location.href, document.referrer, document.cookie, localStorage, sessionStorage,
    document.documentElement.outerHTML, performance.getEntries()])"""


async def test_no_browser_sees_a_token(visit: Visit, demo: Served) -> None:
    """The tokens of the customers are in no request, response, script, storage or cookie, and in nothing that scripts
    can read; only passes are, and those in no address or storage. Red when the product gives its page the token."""
    seen = await visit("")
    token, of_pass = re.compile(r"ugt[ct]_"), re.compile(r"ugv[ct]_")
    documents = [frame for frame in seen.page.frames if frame.url]
    assert len(documents) == 4
    remembered = [await document.evaluate(REMEMBERED) for document in documents]
    remembered += [json.dumps(await seen.page.context.storage_state()), *(request.url for request in seen.requests)]
    sent = [f"{await request.all_headers()} {request.post_data}" for request in seen.requests]
    received = [await _received(request) for request in seen.requests]
    assert [text for text in remembered if token.search(text) or of_pass.search(text)] == []
    assert [text for text in sent + received if token.search(text)] == []
    assert any(of_pass.search(text) for text in sent)  # so what is looked at is what there is
    assert any(of_pass.search(text) for text in received)


async def _received(request: Request) -> str:
    """Headers and body; without the body of an answer that stays open."""
    response = await request.response()
    if response is None:
        return ""
    try:
        body = await asyncio.wait_for(response.text(), 1)
    except (TimeoutError, Error):
        body = ""
    return f"{await response.all_headers()} {body}"


@pytest.mark.parametrize("name", ["overview", "route", "delays"])
async def test_every_dashboard_shows_all_its_panels(visit: Visit, demo: Served, name: str) -> None:
    """None has failed, none is empty, and nothing offends the policy: also Vega-Lite's."""
    seen = await visit("B6", name)
    (frame,) = await frames(seen.page, demo, ["B6"])
    states = await frame.locator("[data-state]").evaluate_all("all => all.map((each) => each.dataset.state)")
    assert set(states) == {"ready"}
    assert await frame.locator(".panel-failed, .panel-empty").count() == 0
    if name == "delays":
        bars = frame.locator(".vega svg [aria-roledescription=rect], .vega svg .mark-rect path")
        await until(lambda: bars.count(), "the bars of the Vega-Lite chart")
    assert seen.console == []
    assert await frame.evaluate("window.violations") == []


@pytest.mark.slow
async def test_a_click_on_an_airport_filters_the_page(visit: Visit, demo: Served) -> None:
    """The other panels show the flights of that airport, and a chip says so; a second click takes it back."""
    seen = await visit("B6")
    (frame,) = await frames(seen.page, demo, ["B6"])
    before = await flights(frame)
    donut = panel(frame, "2-2").locator(".chart")
    await donut.focus()
    await seen.page.keyboard.press("ArrowRight")
    await seen.page.keyboard.press("Enter")
    await until(lambda: _differs(frame, before), "fewer flights")
    await until(lambda: frame.evaluate(COME), "all panels")
    assert await frame.get_by_text("From: ").first.is_visible()


async def _differs(frame: Frame, before: str) -> bool:
    return bool(await frame.evaluate(COME)) and await flights(frame) != before


@pytest.mark.slow
async def test_a_route_opens_its_own_dashboard_and_leads_back(visit: Visit, demo: Served) -> None:
    """In the same frame, with the filter set; the product's navigation follows, and its link to the page of before
    leads there. Red when the product looked at its own address alone."""
    seen = await visit("UA")
    current = seen.page.locator("nav a[aria-current]")
    assert await current.all_inner_texts() == ["Overview"]
    (frame,) = await frames(seen.page, demo, ["UA"])
    cell = panel(frame, "5-1").get_by_text("EWR → SFO").first
    await cell.click()
    await until(lambda: frame.get_by_role("heading", name="Routes of United Air Lines").count(), "the other dashboard")
    await until(lambda: frame.evaluate(COME), "all panels")
    assert await frame.get_by_text("Route: EWR → SFO", exact=True).is_visible()
    await until(seen.page.locator("nav a[aria-current]", has_text="Routes").count, "the navigation of the product")
    assert await current.count() == 1
    await seen.page.evaluate("history.back()")
    await until(lambda: frame.get_by_role("heading", name="Every route").count(), "the first one by the browser")
    await until(lambda: seen.page.locator("nav a[aria-current]", has_text="Overview").count(), "the navigation")
    await seen.page.evaluate("history.forward()")
    await until(lambda: frame.get_by_role("heading", name="Routes of United").count(), "the other dashboard again")
    await frame.get_by_role("button", name="Departures of United Air Lines").click()
    await until(lambda: frame.get_by_role("heading", name="Every route").count(), "the first one again")
    await until(lambda: frame.evaluate(COME), "all panels")
    await panel(frame, "5-1").get_by_text("EWR → SFO").first.click()
    await until(lambda: frame.get_by_role("heading", name="Routes of United").count(), "the other dashboard by a click")
    await seen.page.get_by_role("link", name="Overview").click()
    await frames(seen.page, demo, ["UA"])
    await until(lambda: seen.page.locator("nav a[aria-current]", has_text="Overview").count(), "the link's dashboard")


async def test_a_customer_is_cut_off_live(visit: Visit, demo: Served) -> None:
    """Its frame says so without being asked, and stays so while its page asks for passes and when it is loaded again;
    the others go on, and it can be let in again. Red when the product does not suspend, and when a frame does not
    notice."""
    seen = await visit("")
    page = seen.page
    part = page.locator(".tenant", has=page.get_by_role("heading", name="United Air Lines"))
    await part.get_by_role("button", name="Cut this customer off").click()

    async def ended() -> list[str]:
        texts = [await each.locator("body").inner_text() for each in page.frames if each.url.startswith(demo.url)]
        return [text for text in texts if "This access has ended" in text]

    assert len(await until(ended, "the frame of United Air Lines says that its access has ended")) == 1
    await page.reload()
    await page.get_by_label("Customer").select_option("")
    assert len(await until(ended, "it says so after a reload")) == 1
    await until(part.get_by_text("Cut off: it is suspended").is_visible, "the product says so too")
    for frame in await frames(page, demo, ["B6", "HA"]):
        assert await flights(frame)
    await part.get_by_role("button", name="Let it in again").click()
    await frames(page, demo, list(NAMES))


@pytest.mark.slow
@pytest.mark.parametrize(("width", "dark"), SIZES)
async def test_every_size_and_mode(visit: Visit, width: int, dark: bool) -> None:
    """No sideways scrolling, nothing that axe calls serious, a clean console."""
    seen = await visit("B6", width=width, dark=dark)
    assert await seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert await serious(seen.page) == []
    assert seen.console == []
