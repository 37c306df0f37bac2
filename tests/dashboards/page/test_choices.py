"""The values of controls that a query fills: they come, whatever the viewer does meanwhile, or the control says why."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Locator, Page

from engines.chromium import set_hidden
from tests.dashboards.page.conftest import Visit, until
from tests.dashboards.page.gallery import ORIGIN, PERIOD, ROUTE
from tests.dashboards.page.stand_in import BROKEN_OFF, Message, StandIn, rows

BAR: Message = {
    "kind": "bar",
    "bar": ["n"],
    "by": "x",
    "title": "One",
    "reads": ["period"],
    "answer": rows({"x": "text", "n": "integer"}, ["a", 10]),
}
FILLED: Message = ORIGIN | {"choices": None}
ONE: Message = ROUTE | {"choices": None}
VALUES = [{"value": "JFK", "label": "Kennedy"}, {"value": "LGA", "label": "LaGuardia"}]
TOO_LONG: Message = {"error": {"code": "query_timeout", "message": "The data source took too long."}}


async def ready(page: Page) -> None:
    """The panel has its rows."""
    await page.locator("[data-state=ready] rect.bar").first.wait_for()


async def offers(page: Page, label: str, text: str) -> bool:
    """Whether the control has a value of this text."""
    await page.get_by_role("button", name=label).first.click()
    found = await page.locator(".option", has_text=text).count()
    await page.keyboard.press("Escape")
    return found > 0


async def choose_this_year(page: Page) -> None:
    await page.locator(".control-range .choice").click()
    await page.get_by_role("button", name="This year").click()


async def hide_and_show(page: Page) -> None:
    await set_hidden(page, True)
    await set_hidden(page, False)


@pytest.mark.parametrize("act", [choose_this_year, hide_and_show])
async def test_choices_that_had_not_come_are_asked_again(stand_in: StandIn, visit: Visit, act: Any) -> None:
    """A viewer chooses something else, or looks at another tab, while they and a panel are under way: the answer is
    cut off. Red when only panels are kept: the control stays empty until the page is loaded anew."""
    stand_in.choices["origin"] = VALUES
    stand_in.held.update({"origin", "1-1"})
    page = (await visit(stand_in.show([BAR], controls=[PERIOD, FILLED]), settle=False)).page
    await page.locator("[data-state=waiting]").wait_for()
    await act(page)
    await until(lambda: _left(stand_in, ["origin", "1-1"]))
    stand_in.held.clear()
    await ready(page)
    await until(lambda: offers(page, "Origin All", "Kennedy"))
    assert stand_in.asked[-1]["choices"] == ["origin"]


async def test_choices_that_have_come_are_not_asked_again(stand_in: StandIn, visit: Visit) -> None:
    """Red when every choice of a viewer asks for those of all controls."""
    stand_in.choices["origin"] = VALUES
    page = (await visit(stand_in.show([BAR], controls=[PERIOD, FILLED]))).page
    await choose_this_year(page)
    await until(lambda: _asked(stand_in, 2))
    assert "choices" not in stand_in.asked[-1]


async def test_an_older_answer_fills_no_control_any_more(live: StandIn, visit: Visit) -> None:
    """Choices that depend on another control are asked anew when it changes, and come before the older ones. Red when
    an answer that stays open goes on in spite of it: its values, of the choice before, were there at the end."""
    live.choices["route"] = [{"value": "old", "label": "Old one"}]
    live.held.add("route")
    depending = ONE | {"depends": ["period"]}
    page = (await visit(live.show([BAR], controls=[PERIOD, depending]), settle=False)).page
    await ready(page)
    await choose_this_year(page)
    await until(lambda: _left(live, ["route"]))
    live.choices["route"] = [{"value": "new", "label": "New one"}]
    live.held.clear()
    select = page.get_by_label("Route", exact=True)
    await until(lambda: _has(select, "New one"))
    assert await select.locator("option").all_inner_texts() == ["All", "New one"]


@pytest.mark.parametrize(
    ("control", "empty"), [(FILLED, "These values could not be loaded"), (ONE, None)], ids=["several", "one"]
)
async def test_choices_that_failed_are_said_with_a_way_out(
    stand_in: StandIn, visit: Visit, control: Message, empty: str | None
) -> None:
    """Below the control, which says no more when they have come; panels are none of its matter. The list that opens
    does not take it for a search without a hit. Red when the page takes an error for no values."""
    name, label = control["name"], control["label"]
    stand_in.choices[name] = TOO_LONG
    page = (await visit(stand_in.show([BAR], controls=[PERIOD, control]))).page
    problem = page.get_by_role("group", name="Filters").get_by_role("alert")
    assert "The data source took too long." in await problem.inner_text()
    if empty is not None:
        await page.get_by_role("button", name=f"{label} All").click()
        assert empty in await page.locator(".options").inner_text()
        await page.keyboard.press("Escape")
    stand_in.choices[name] = VALUES
    await problem.get_by_role("button", name="Try again").click()
    await until(lambda: _asked_for_choices(stand_in))
    await until(lambda: _count(problem, 0))
    again = next(each for each in reversed(stand_in.asked) if "choices" in each)  # a live answer may have opened since
    assert (again["choices"], again["panels"]) == ([name], [])
    if empty is not None:
        await until(lambda: offers(page, f"{label} All", "Kennedy"))
    else:
        await until(lambda: _has(page.get_by_label(label, exact=True), "Kennedy"))


async def test_choices_of_an_answer_that_broke_off(stand_in: StandIn, visit: Visit) -> None:
    """They come by themselves with the next answer, as its panels do."""
    stand_in.choices["origin"] = VALUES
    stand_in.held.add("origin")
    stand_in.show([BAR], controls=[PERIOD, FILLED])
    stand_in.answers["1-1"] = BROKEN_OFF
    page = (await visit(f"{stand_in.url}/sales", settle=False)).page
    await page.locator(".banner p").wait_for()
    stand_in.answers["1-1"] = BAR["answer"]
    stand_in.held.clear()
    await until(lambda: offers(page, "Origin", "Kennedy"))
    assert await page.get_by_role("group", name="Filters").get_by_role("alert").count() == 0


async def _left(stand_in: StandIn, names: list[str]) -> bool:
    return stand_in.left == names


async def _asked(stand_in: StandIn, count: int) -> bool:
    return len(stand_in.asked) >= count


async def _has(select: Locator, text: str) -> bool:
    return text in await select.locator("option").all_inner_texts()


async def _asked_for_choices(stand_in: StandIn) -> bool:
    return any("choices" in each for each in stand_in.asked)


async def _count(found: Locator, count: int) -> bool:
    return await found.count() == count
