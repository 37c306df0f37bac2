"""Rows that have changed: heard by pages whose answer stays open, and by those that ask from time to time."""

from __future__ import annotations

import pytest
from playwright.async_api import Page

from engines.chromium import set_hidden
from tests.dashboards.page.conftest import Visit, until
from tests.dashboards.page.stand_in import Message, StandIn, rows

OLD = rows({"x": "text", "n": "integer"}, ["a", 1], ["b", 2])
NEW = rows({"x": "text", "n": "integer"}, ["a", 1], ["b", 2], ["c", 3])
BAR: Message = {"kind": "bar", "bar": ["n"], "by": "x", "title": "One", "answer": OLD}
HALF_A_MINUTE = 31_000


def change(stand_in: StandIn) -> None:
    """The rows of a panel, while no answer is open that could say so."""
    stand_in.answers["1-1"] = NEW
    stand_in.changed.append("1-1")


async def shows(page: Page, count: int) -> None:
    async def drawn() -> bool:
        return await page.locator("[data-panel='1-1'] rect.bar").count() == count

    await until(drawn)


async def test_a_page_without_an_open_answer_asks_what_has_changed(stand_in: StandIn, visit: Visit) -> None:
    """Each half minute: a third frame over HTTP/1.1, a page that is one too many for its group, one on plain HTTP, and
    between two answers that stay open. Only what changed is asked again. Red when it asks about its token alone: the
    rows stayed old, with no word."""
    seen = await visit(stand_in.show([BAR, BAR]), clock=True)
    change(stand_in)
    await seen.page.clock.fast_forward(HALF_A_MINUTE)
    await shows(seen.page, 3)
    assert [[each["id"] for each in body["panels"]] for body in stand_in.asked] == [["1-1", "1-2"], [], ["1-1"]]
    assert sorted(stand_in.asked[1]["shown"]) == ["1-1", "1-2"]
    assert seen.console == []


@pytest.mark.parametrize("stays_open", [True, False])
async def test_what_changed_while_the_page_was_hidden_is_asked(
    stand_in: StandIn, visit: Visit, stays_open: bool
) -> None:
    """At once when it is seen again, with what had not come, whether or not an answer stays open then. Red when only
    what had not come is asked."""
    stand_in.stays_open = stays_open
    try:
        stand_in.show([BAR, BAR])
        stand_in.held.add("1-2")
        page = (await visit(f"{stand_in.url}/sales", settle=False)).page
        await shows(page, 2)
        await set_hidden(page, True)
        await until(lambda: _left(stand_in, ["1-2"]))
        change(stand_in)
        stand_in.held.clear()
        await set_hidden(page, False)
        await shows(page, 3)
        bodies = [[[each["id"] for each in body["panels"]], list(body.get("shown", ()))] for body in stand_in.asked]
        assert bodies == [[["1-1", "1-2"], []], [["1-2"], ["1-1"]], [["1-1"], []]]
    finally:
        stand_in.stays_open = False


async def test_a_rotation_loses_nothing_that_was_under_way(live: StandIn, visit: Visit) -> None:
    """The answer ends before its panels have come; they are asked with the next token, nobody has to press a button.
    Red when it counts as a connection that broke."""
    live.show([BAR, BAR])
    live.held.add("1-2")
    live.ends.add("sales")
    page = (await visit(f"{live.url}/sales", settle=False)).page
    await shows(page, 2)
    live.held.clear()
    await page.locator("[data-panel='1-2'] rect.bar").first.wait_for()
    assert await page.get_by_role("alert").count() == 0


async def _left(stand_in: StandIn, names: list[str]) -> bool:
    return stand_in.left == names
