"""What a Vega-Lite chart writes comes from the values themselves, as in every other panel."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Locator, Page

from tests.dashboards.page.conftest import Visit, box_of, until
from tests.dashboards.page.stand_in import Message, StandIn, rows
from tests.dashboards.page.test_values import DECIMAL, LARGE, WRITTEN

pytestmark = pytest.mark.slow

Y = {"field": "v", "type": "quantitative"}
X = {"field": "k", "type": "nominal"}


def panel(answer: Message, mark: Any, encoding: Message, **more: Any) -> Message:
    return {"kind": "vega", "title": "Free", "vega": {"mark": mark, "encoding": encoding} | more, "answer": answer}


async def drawn(stand_in: StandIn, visit: Visit, *panels: Message, **options: Any) -> Page:
    page = (await visit(stand_in.show(list(panels), **options.pop("about", {})), **options)).page
    await page.locator(".vega svg").last.wait_for()
    return page


async def tip(shown: Page | Locator, mark: Locator) -> str:
    """What the browser shows for a mark."""
    await mark.hover()
    svg = shown.locator(".vega")
    await until(lambda: svg.get_attribute("title"))
    return await svg.get_attribute("title") or ""


async def texts(page: Page, role: str) -> list[str]:
    return await page.locator(f".vega .{role} text").all_text_contents()


DIGITS: list[tuple[str, Message, str]] = [
    (LARGE, {}, WRITTEN),
    (f"-{LARGE}", {}, f"\N{MINUS SIGN}{WRITTEN}"),
    (DECIMAL, {}, "12,345,678,901,234,567.89"),
    (LARGE, {"format": ",d"}, WRITTEN),
    (LARGE, {"format": "d"}, LARGE),
    (DECIMAL, {"format": "$,.2f"}, "$12,345,678,901,234,567.89"),
    (DECIMAL, {"format": ".3~s"}, "12.3P"),
    ("0.0004", {}, "0.0004"),
    (LARGE, {"aggregate": "max"}, WRITTEN),
]


async def test_labels_and_tooltips_have_every_digit(stand_in: StandIn, visit: Visit) -> None:
    """Also where the author says a format, and of the largest of several. Red when Vega is given the nearest double."""
    shown = []
    for value, channel, _ in DIGITS:
        answer = rows({"k": "text", "v": "decimal"}, ["a", value])
        encoding = {"x": X, "text": Y | channel, "tooltip": [Y | {"title": "Amount"} | channel]}
        shown.append([panel(answer, {"type": "text", "fontSize": 16}, encoding)])
    page = (await visit(stand_in.show(*shown))).page
    for line, (*_, written) in enumerate(DIGITS, 1):
        mark = page.locator(f"[data-panel='{line}-1'] .vega .mark-text.role-mark text")
        await mark.wait_for()
        assert await mark.all_text_contents() == [written]
        assert await tip(page.locator(f"[data-panel='{line}-1']"), mark) == f"Amount: {written}"


@pytest.mark.parametrize("content", ["encoding", "data"])
async def test_a_tooltip_of_the_whole_mark(stand_in: StandIn, visit: Visit, content: str) -> None:
    """What Vega has calculated is rounded where a double has not its digits. Red when Vega writes the values: a double,
    or an object in braces."""
    answer = rows({"k": "text", "v": "integer"}, ["a", LARGE], ["b", 5])
    mark = {"type": "bar", "tooltip": {"content": content}}
    page = await drawn(stand_in, visit, panel(answer, mark, {"x": X, "y": Y}))
    calculated = "\nv_start: 0\nv_end: 9.01E15" if content == "data" else ""
    assert await tip(page, page.locator(".vega .mark-rect path").first) == f"k: a\nv: {WRITTEN}{calculated}"


async def test_a_sum_of_vega_is_rounded(stand_in: StandIn, visit: Visit) -> None:
    """Vega adds doubles. Red when it writes all digits of what it found: the last one is false."""
    answer = rows({"k": "text", "v": "integer"}, ["a", LARGE], ["a", 5])
    page = await drawn(stand_in, visit, panel(answer, "text", {"x": X, "text": Y | {"aggregate": "sum"}}))
    assert await texts(page, "mark-text.role-mark") == ["9.01E15"]


async def test_axes_and_legends(stand_in: StandIn, visit: Visit) -> None:
    """Years have no thousands, ids that differ in the last digit are two, and ticks have the digits that they need. Red
    with Vega's own labels: 2,024, and one bar for both ids."""
    answer = rows(
        {"year": "integer", "order_id": "integer", "v": "float"},
        [2023, "9007199254740992", 10.01],
        [2024, LARGE, 10.02],
        [2026, 7, 10.03],
    )
    y = {"field": "v", "type": "quantitative", "scale": {"zero": False}}
    encoding = {
        "x": {"field": "year", "type": "quantitative", "scale": {"zero": False}, "axis": {"values": [2023, 2024]}},
        "y": y,
        "color": {"field": "order_id", "type": "nominal"},
    }
    page = await drawn(stand_in, visit, panel(answer, "point", encoding))
    labels = await texts(page, "role-axis-label")
    assert labels[:2] == ["2023", "2024"]
    assert "10.015" in labels
    assert len(set(labels)) == len(labels)
    assert await texts(page, "role-legend-label") == ["7", "9007199254740992", LARGE]


@pytest.mark.parametrize("width", [1440, 820, 390])
async def test_a_legend_of_many_names_is_within_its_chart(stand_in: StandIn, visit: Visit, width: int) -> None:
    """It has several lines, and the bars below it keep their room. Red when all names were in one line, of which half
    was cut off at 1440 pixels, and when the lines left no height for bars."""
    answer = rows({"k": "text", "v": "integer"}, *[[f"A kind called {n}", n] for n in range(14)])
    encoding = {"x": Y | {"type": "quantitative"}, "y": X, "color": X}
    page = await drawn(stand_in, visit, panel(answer, "bar", encoding), width=width)
    box = await box_of(page.locator(".vega"))
    labels = page.locator(".vega .role-legend-label text")
    assert await labels.count() == 14
    for place in range(14):
        label = await box_of(labels.nth(place))
        assert box["x"] <= label["x"]
        assert label["x"] + label["width"] <= box["x"] + box["width"]
    bar = await box_of(page.locator(".vega .mark-rect path").last)
    assert bar["height"] > 2
    assert bar["width"] > 50


async def test_a_legend_that_lists_some_names_says_so(stand_in: StandIn, visit: Visit) -> None:
    """Red when the entry that counts the names that are left out was one of these names."""
    answer = rows({"k": "text", "v": "integer"}, *[[f"Kind {n:02}", n] for n in range(44)])
    encoding = {"x": Y | {"type": "quantitative"}, "y": X, "color": X}
    page = await drawn(stand_in, visit, panel(answer, "bar", encoding))
    said = await texts(page, "role-legend-label")
    assert said == [*[f"Kind {n:02}" for n in range(29)], "…15 entries"]


async def test_the_group_s_language(stand_in: StandIn, visit: Visit) -> None:
    """Of the page, in labels and on axes. Red with thousands as an author in English has them."""
    answer = rows({"k": "text", "v": "decimal"}, ["a", DECIMAL], ["b", "1234.5"])
    page = await drawn(stand_in, visit, panel(answer, "text", {"x": X, "text": Y, "y": Y}), about={"locale": "de-DE"})
    assert (await texts(page, "mark-text.role-mark"))[0] == "12.345.678.901.234.567,89"
    assert "10.000.000.000.000.000" in await texts(page, "role-axis-label")


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Pacific/Auckland", "UTC"])
@pytest.mark.parametrize("scale", ["time", "utc"])
async def test_a_day_is_that_day_in_every_browser(stand_in: StandIn, visit: Visit, zone: str, scale: str) -> None:
    """Days and times have the group's zone already. Red when Vega reads a date as midnight of UTC and writes it by the
    browser's clock: December 31 in Los Angeles."""
    answer = rows({"at": "date", "k": "text"}, ["2026-01-01", "a"])
    unit = {"timeUnit": "utcyearmonthdate"} if scale == "utc" else {}
    at = {"field": "at", "type": "temporal", "format": "%Y-%m-%d %H"} | unit
    page = await drawn(stand_in, visit, panel(answer, "text", {"x": X, "text": at}), timezone_id=zone)
    assert await texts(page, "mark-text.role-mark") == ["2026-01-01 00"]
