"""What a click on a chart of several series takes: the row of what was hit, and never that of another series."""

from __future__ import annotations

import pytest
from playwright.async_api import Locator, Page

from tests.dashboards.page.conftest import Visit, box_of, come, until
from tests.dashboards.page.gallery import ROUTE
from tests.dashboards.page.stand_in import Message, StandIn, rows

pytestmark = pytest.mark.slow

KIND: Message = ROUTE | {"name": "kind", "label": "Kind", "choices": [{"value": each, "label": each} for each in "abc"]}
X: Message = ROUTE | {"name": "x", "label": "X", "choices": [{"value": each, "label": each} for each in "12"]}
ROWS = rows(
    {"x": "integer", "kind": "text", "n": "integer"},
    *([x, kind, n] for x, n in ((1, 20), (2, 30)) for kind, n in (("a", n), ("b", n + 15), ("c", n + 30))),
)
SERIES: Message = {"by": "x", "color": "kind", "click": {"values": {"kind": "kind"}, "open": ""}, "answer": ROWS}
VIEWS: dict[str, Message] = {
    "stacked": {"kind": "bar", "bar": ["n"], "stack": "sum"},
    "beside one another": {"kind": "bar", "bar": ["n"]},
    "lying": {"kind": "bar", "bar": ["n"], "horizontal": True, "stack": "share"},
}


def chart_of(page: Page) -> Locator:
    return page.locator("[data-panel='1-1'] .chart")


async def asked(stand_in: StandIn, count: int) -> Message:
    """The filters of the newest request, once there are so many."""

    async def there() -> bool:
        return len(stand_in.asked) >= count

    await until(there)
    found: Message = stand_in.asked[-1]["filters"]
    return found


@pytest.mark.parametrize("kind", VIEWS)
async def test_a_click_takes_the_row_of_the_bar(stand_in: StandIn, visit: Visit, kind: str) -> None:
    """Of each series, not of the first one; what is chosen stays bright alone. Red when a place on the axis has one row
    for all its bars, as it had."""
    seen = await visit(stand_in.show([SERIES | VIEWS[kind]], controls=[KIND]))
    for count, series in enumerate("bca", 2):
        await seen.page.locator(f"rect.bar[data-series={series}]").last.click()
        assert await asked(stand_in, count) == {"kind": series}
        await come(seen)
        chosen = await seen.page.locator("rect.chosen").evaluate_all("all => all.map((each) => each.dataset.series)")
        assert chosen == [series, series]


@pytest.mark.parametrize("view", [{"kind": "line", "line": ["n"]}, {"kind": "area", "area": ["n"], "stack": "sum"}])
async def test_a_click_takes_the_line_or_layer_that_is_nearest(stand_in: StandIn, visit: Visit, view: Message) -> None:
    """Red when it takes the first one there."""
    seen = await visit(stand_in.show([SERIES | view], controls=[KIND]))
    for count, series in enumerate("bca", 2):
        await _hover_series(seen.page, series)
        await seen.page.mouse.down()
        await seen.page.mouse.up()
        assert await asked(stand_in, count) == {"kind": series}
        await come(seen)


async def _hover_series(page: Page, series: str) -> None:
    """At the right end: on the line, or within the layer."""
    path = page.locator(f".series[data-series={series}] path")
    box, line = await box_of(path), await path.get_attribute("class") == "line"
    down = 0 if line else 0.5 * box["height"]
    await page.mouse.move(box["x"] + box["width"] - 2, box["y"] + down + 2)


async def test_a_touch_reads_a_bar_first_and_then_takes_it(stand_in: StandIn, visit: Visit) -> None:
    """A first touch on another bar of the same place reads that one."""
    page = (await visit(stand_in.show([SERIES | VIEWS["stacked"]], controls=[KIND]), has_touch=True)).page
    for series, text in (("a", "a\n20"), ("b", "b\n35")):
        await page.locator(f"rect.bar[data-series={series}]").first.tap()
        assert await chart_of(page).locator(".tip-line.here").inner_text() == text
    assert len(stand_in.asked) == 1
    await page.locator("rect.bar[data-series=b]").first.tap()
    assert await asked(stand_in, 2) == {"kind": "b"}


@pytest.mark.parametrize(
    ("kind", "down", "up"), [("stacked", "ArrowDown", "ArrowUp"), ("lying", "ArrowRight", "ArrowLeft")]
)
async def test_the_keyboard_takes_the_series_that_it_reads(
    stand_in: StandIn, visit: Visit, kind: str, down: str, up: str
) -> None:
    """The arrows across the axis go through the series of a place, those along it keep the series. A place with several
    series says so, and takes none of them."""
    along = {"ArrowDown": "ArrowRight", "ArrowRight": "ArrowDown"}[down]
    page = (await visit(stand_in.show([SERIES | VIEWS[kind] | {"stack": "sum"}], controls=[KIND]))).page
    await chart_of(page).focus()
    for key, text in (
        ("Home", "1: a 20, b 35, c 50"),
        (
            "Enter",
            f"Several series are here. {'Right' if down == 'ArrowRight' else 'Down'} arrow reads each; Enter takes it.",
        ),
        (down, "1: a 20"),
        (down, "1: b 35"),
        (down, "1: c 50"),
        (down, "1: c 50"),
        (up, "1: b 35"),
        (along, "2: b 45"),
    ):
        await page.keyboard.press(key)
        assert await page.locator("[role=status]").inner_text() == text
    assert len(stand_in.asked) == 1
    await page.keyboard.press("Enter")
    assert await asked(stand_in, 2) == {"kind": "b"}


async def test_a_click_that_is_the_same_for_all_series_needs_none(stand_in: StandIn, visit: Visit) -> None:
    """By the keyboard, and beside the bars of a place."""
    by_x = {"click": {"values": {"x": "x"}, "open": ""}}
    page = (await visit(stand_in.show([SERIES | VIEWS["stacked"] | by_x], controls=[X]))).page
    await chart_of(page).focus()
    for key in ("End", "Enter"):
        await page.keyboard.press(key)
    assert await asked(stand_in, 2) == {"x": "2"}


async def test_a_mark_of_several_rows_takes_what_they_share(stand_in: StandIn, visit: Visit) -> None:
    """A bar or a slice that sums up rows which differ where the click asks filters by none of them. Red when it takes
    the first."""
    summed: Message = {"by": "x", "answer": ROWS}
    kind, x = ({"click": {"values": {name: name}, "open": ""}} for name in ("kind", "x"))
    bar: Message = {"kind": "bar", "bar": ["n"]}
    donut: Message = {"kind": "donut", "donut": "n"}
    shown = [[summed | view | click for click in (kind, x)] for view in (bar, donut)]
    seen = await visit(stand_in.show(*shown, controls=[KIND, X]))
    for line in (1, 2):
        for place in (1, 2):
            await seen.page.locator(f"[data-panel='{line}-{place}'] .chart").focus()
            for key in ("Home", "Enter"):
                await seen.page.keyboard.press(key)
            if place == 1:
                assert (
                    await seen.page.locator("[role=status]").inner_text() == "This combines rows with different values."
                )
        assert await asked(stand_in, line + 1) == {"x": str(line)}  # a donut begins with the largest
        await come(seen)
