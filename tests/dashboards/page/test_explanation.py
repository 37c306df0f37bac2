"""The explanation in the menu of a panel: in a preview, and nowhere else."""

from __future__ import annotations

from tests.dashboards.page.conftest import Visit
from tests.dashboards.page.gallery import ROUTE
from tests.dashboards.page.stand_in import Message, StandIn, rows

BAR: Message = {
    "kind": "bar",
    "bar": ["n"],
    "by": "x",
    "title": "Bars",
    "answer": rows({"x": "text", "n": "integer"}, ["a", 1]),
}
PREVIEW = {"id": "acme", "name": "Acme Ltd", "environment": "production"}


async def test_an_entry_of_a_menu_that_could_not_be_loaded(stand_in: StandIn, visit: Visit) -> None:
    """A sentence, and it is asked for again. Red when nothing happened, without a word."""
    page = (await visit(stand_in.show([BAR | {"query": "select 1"}]))).page

    async def choose() -> None:
        await page.get_by_role("button", name="Menu of Bars").click()
        await page.get_by_role("menuitem", name="Show query").click()

    await page.route("**/menu_entries.js", lambda route: route.abort())
    await choose()
    await page.locator(".panel-note", has_text="This could not be loaded. Please try again.").wait_for()
    await page.unroute("**/menu_entries.js")
    await choose()
    await page.get_by_role("dialog", name="Query of Bars").wait_for()


async def test_a_preview_explains_its_panels(stand_in: StandIn, visit: Visit) -> None:
    """For what is chosen, as text. A viewer's menu has no such entry. Red when it stands in every menu."""
    page = (await visit(stand_in.show([BAR], controls=[ROUTE], preview=PREVIEW) + "#route=EWR+%E2%86%92+ORD")).page
    await page.get_by_role("button", name="Menu of Bars").click()
    await page.get_by_role("menuitem", name="Explanation").click()
    dialog = page.get_by_role("dialog", name="Explanation of Bars")
    assert await dialog.locator("pre").inner_text() == "As acme\n\nPanel 1-1 <b>"
    assert stand_in.asked[-1] == {"filters": {"route": "EWR → ORD"}}
    viewer = (await visit(stand_in.show([BAR]))).page
    await viewer.get_by_role("button", name="Menu of Bars").click()
    assert await viewer.get_by_role("menuitem", name="Download CSV").count() == 1
    assert await viewer.get_by_role("menuitem", name="Explanation").count() == 0
