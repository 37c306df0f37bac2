"""A server that does not answer: one banner, rows stay, and what is missing comes by itself."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Page

from engines.axe import serious
from tests.dashboards.page.conftest import Visit, pickers_came, until
from tests.dashboards.page.gallery import ORIGIN
from tests.dashboards.page.stand_in import BROKEN_OFF, Message, StandIn, rows

pytestmark = pytest.mark.slow

ANSWER = rows({"x": "text", "n": "integer"}, ["a", 10], ["b", 30])
OTHERS = rows({"x": "text", "n": "integer"}, ["a", 10], ["b", 30], ["c", 5])
BAR: Message = {"kind": "bar", "bar": ["n"], "by": "x", "title": "One", "answer": ANSWER}


async def bars(page: Page, panel_id: str, count: int) -> None:
    async def drawn() -> bool:
        return await page.locator(f"[data-panel='{panel_id}'][data-state=ready] rect.bar").count() == count

    await until(drawn)


async def banner(page: Page, count: int) -> None:
    async def there() -> bool:
        return await page.locator(".banner p").count() == count

    await until(there)


async def test_offline_and_online_again(stand_in: StandIn, visit: Visit) -> None:
    """One banner and no error in any panel. Rows of the same choice stay, those of another one go; all come when the
    browser is online again, without a click. Red without a listener of `online`: they came up to 30 s later."""
    reading, other = BAR | {"reads": ["origin"]}, BAR | {"reads": [], "refresh": 1}
    page = (await visit(stand_in.show([reading, other], controls=[ORIGIN]))).page
    failed: list[Any] = []
    page.on("requestfailed", lambda request: failed.append(request))
    await pickers_came(page)
    await page.evaluate("Math.random = () => 1000")  # no try but that of `online` comes in the time of a test
    await page.context.set_offline(True)
    await banner(page, 1)
    await page.get_by_role("button", name="Origin All").click()
    await page.get_by_label("Kennedy").check()
    await page.locator("[data-panel='1-1'] .ghost-plot").wait_for()

    async def both() -> bool:  # of the choice, and the refresh of the other panel, which is not tried by its own clock
        return len(failed) >= 2

    await until(both)
    assert await page.get_by_role("alert").count() == 0
    await bars(page, "1-2", 2)
    stand_in.answers["1-1"] = OTHERS
    await page.context.set_offline(False)
    await bars(page, "1-1", 3)
    await banner(page, 0)


async def test_the_banner_is_seen_wherever_the_viewer_reads(stand_in: StandIn, visit: Visit) -> None:
    """At the top of the window, below what the page scrolls, and within a landmark. Red when it stayed above the head
    of a long page, and beside `main`."""
    many = [[BAR] for _ in range(12)]
    page = (await visit(stand_in.show(*many), height=500)).page
    await page.context.set_offline(True)
    await banner(page, 1)
    await page.locator("[data-panel='12-1']").scroll_into_view_if_needed()
    assert await page.evaluate("scrollY > 500 && document.querySelector('.banner').getBoundingClientRect().top === 0")
    assert await serious(page, also=["region"]) == []


async def test_it_is_tried_again_more_and_more_seldom(stand_in: StandIn, visit: Visit) -> None:
    """After 1, 2, 4 … 30 s, or somewhat less. Red when each try begins with a second: a server that comes back was
    asked by all pages each second."""
    page = (await visit(stand_in.show([BAR], controls=[ORIGIN]), clock=True)).page
    stand_in.refusal = (503, {"error": {"code": "draining", "message": "It stops."}})
    before = len(stand_in.asked)
    await page.get_by_role("button", name="Origin All").click()
    await page.get_by_label("Kennedy").check()
    await banner(page, 1)
    for _ in range(120):
        await page.clock.run_for(1_000)
        await page.evaluate("1")
    assert 7 <= len(stand_in.asked) - before <= 15
    stand_in.refusal = None
    await page.clock.run_for(31_000)
    await bars(page, "1-1", 2)
    await banner(page, 0)
    assert stand_in.asked[-1]["filters"] == {"origin": ["JFK"]}


async def test_a_page_that_does_not_load_tries_again(stand_in: StandIn, visit: Visit) -> None:
    """Before anything of the dashboard has come. Red when only the button does."""
    address = stand_in.show([BAR])
    stand_in.refusal = (503, {})
    page = (await visit(address)).page
    assert await page.get_by_role("heading", level=1).all_inner_texts() == ["The dashboard could not be loaded"]
    stand_in.refusal = None
    await bars(page, "1-1", 2)


async def test_an_answer_that_breaks_off(stand_in: StandIn, visit: Visit) -> None:
    """What had come stays, the rest comes with the next answer. Red when an answer without its last line counts as
    whole: the panel would wait for ever."""
    stand_in.show([BAR, BAR])
    stand_in.answers["1-2"] = BROKEN_OFF
    stand_in.held.add("1-2")
    page = (await visit(f"{stand_in.url}/sales", settle=False)).page
    await bars(page, "1-1", 2)
    stand_in.held.clear()
    await banner(page, 1)
    await bars(page, "1-1", 2)
    stand_in.answers["1-2"] = OTHERS
    await bars(page, "1-2", 3)
    await banner(page, 0)
    assert all(asked_for(body) != ["1-1"] for body in stand_in.asked)


async def test_an_open_answer_that_breaks_off_is_no_loss(live: StandIn, visit: Visit) -> None:
    """A proxy ends what is open for long: nothing is missing. Red when it shows the banner."""
    seen = await visit(live.show([BAR]), settle=False)
    page = seen.page
    await bars(page, "1-1", 2)

    async def opened() -> bool:
        return live.open == 1

    await until(opened)
    live.events.append(BROKEN_OFF)

    async def broke_off() -> bool:
        return bool(seen.lost)

    await until(broke_off)
    assert await page.locator(".banner p").count() == 0


def asked_for(body: dict[str, Any]) -> list[str]:
    return [each["id"] for each in body["panels"]]
