"""What opens below a control is a bundle of its own: it is there when it is needed, and a page says where it is not."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, Route

from tests.dashboards.page.conftest import Visit, has_run, loads, pickers_came, until
from tests.dashboards.page.gallery import NAME, ORIGIN, PERIOD, ROUTE
from tests.dashboards.page.stand_in import Message, StandIn, rows
from tests.dashboards.page.test_controls import BAR

FIGURES: list[Message] = [
    {"kind": "figure", "figure": "n", "answer": rows({"n": "integer"}, [1])},
    {"kind": "table", "columns": [{"name": "n"}], "answer": rows({"n": "integer"}, [1], total=1)},
    {"kind": "line", "line": ["n"], "by": "x", "answer": rows({"x": "date", "n": "integer"}, ["2024-01-01", 1])},
    BAR,
]
FOCUSED = "document.activeElement.textContent"


async def test_a_page_loads_it_only_for_such_a_control(stand_in: StandIn, visit: Visit) -> None:
    """Once for several of them. Figures, tables, lines and bars load no other bundle at all but that for paper, and
    other kinds of ours that of their kind: Vega-Lite is for an author's own specification alone."""

    async def loaded(address: str, *, picker: bool = False) -> list[str]:
        seen = await visit(address)
        if picker:
            await pickers_came(seen.page)
        await loads(seen.page, "print.js")
        await seen.page.evaluate("new Promise((done) => requestIdleCallback(() => requestIdleCallback(() => done())))")
        return sorted(each.url.rpartition("/")[2] for each in seen.requests if each.url.endswith(".js"))

    plain = await loaded(stand_in.show(FIGURES, controls=[NAME, ROUTE]))
    assert plain == ["page.js", "print.js"]
    answer = rows({"x": "text", "y": "text", "n": "integer"}, ["a", "b", 1])
    further: list[Message] = [
        {"kind": "donut", "donut": "n", "by": "x", "answer": answer},
        {"kind": "heatmap", "heatmap": "n", "by": "x", "rows": "y", "diverging": False, "answer": answer},
        {"kind": "scatter", "scatter": "n", "by": "x", "answer": answer},
    ]
    assert await loaded(stand_in.show(further)) == ["donut.js", "heatmap.js", "page.js", "print.js", "scatter.js"]
    assert await loaded(stand_in.show([BAR], controls=[PERIOD, ORIGIN]), picker=True) == [
        "page.js",
        "pickers.js",
        "print.js",
    ]


async def test_it_opens_without_a_connection(stand_in: StandIn, visit: Visit) -> None:
    """Once the page is there. Red when the bundle is first asked for by the press of the button."""
    page = (await visit(stand_in.show([BAR], controls=[PERIOD, ORIGIN]))).page
    await pickers_came(page)
    await page.context.set_offline(True)
    await page.locator(".control-range .choice").click()
    await page.locator(".preset").first.wait_for()
    await page.locator(".control-choices .choice").click()
    await page.locator(".option").first.wait_for()


async def test_further_choices_are_not_overlooked(stand_in: StandIn, visit: Visit) -> None:
    """The edge of a long list cuts a choice in its middle. Red when it was between two, where a phone
    shows no scrollbar."""
    many = ORIGIN | {"choices": [{"value": f"{n}", "label": f"Airport {n}"} for n in range(20)]}
    page = (await visit(stand_in.show([BAR], controls=[many]), width=390)).page
    await page.locator(".control-choices .choice").click()
    await page.locator(".option").first.wait_for()
    script = """(list) => {
        const edge = list.getBoundingClientRect().bottom;
        const boxes = [...list.querySelectorAll(".option")].map((each) => each.getBoundingClientRect());
        const { top, bottom } = boxes.find((box) => box.bottom > edge);
        return (edge - top) / (bottom - top);
    }"""
    assert 0.4 < await page.locator(".options").evaluate(script) < 0.6


async def _held(page: Page, address: str) -> list[Route]:
    asked: list[Route] = []
    await page.route("**/pickers.js", lambda route: asked.append(route))
    await page.goto(address)
    await page.locator(".control-range .choice").focus()
    await page.keyboard.press("Enter")

    async def is_asked() -> bool:
        return len(asked) == 1

    await until(is_asked)
    return asked


@pytest.mark.parametrize("goes_on", [False, True])
async def test_it_opens_when_it_comes(stand_in: StandIn, visit: Visit, goes_on: bool) -> None:
    """By keys, with the focus in it; not for a viewer who has gone on to another field. Red when it takes the focus
    from there."""
    address = stand_in.show([BAR], controls=[PERIOD, NAME])
    page = (await visit("about:blank", settle=False)).page
    asked = await _held(page, address)
    if goes_on:
        await page.keyboard.press("Tab")
    await asked[0].continue_()
    if goes_on:
        await has_run(page, "pickers.js")
        assert await page.locator(".range-panel").is_hidden()
        assert await page.evaluate("document.activeElement.type") == "search"
    else:
        await page.locator(".preset").first.wait_for()
        assert await page.evaluate(FOCUSED) == "Last 30 days"
        await page.keyboard.press("Escape")
        assert await page.evaluate("document.activeElement.className") == "choice"


async def test_it_says_that_it_did_not_come(stand_in: StandIn, visit: Visit) -> None:
    """And the next press tries again. Red when a failed load is kept."""
    address = stand_in.show([BAR], controls=[PERIOD, NAME])
    page = (await visit("about:blank", settle=False)).page
    asked = await _held(page, address)
    await asked[0].abort()
    problem = page.get_by_role("dialog", name="Period").get_by_role("alert")
    await problem.wait_for()
    assert await problem.inner_text() == "This could not be loaded. Please try again."
    await page.unroute("**/pickers.js")
    for _ in range(2):
        await page.locator(".control-range .choice").press("Enter")
    await page.locator(".preset").first.wait_for()
    assert await problem.is_hidden()
