"""No number is cut or wider than its place: it becomes smaller, then shorter, and its whole can still be read."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.async_api import Page

from tests.dashboards.page.conftest import Visit, until
from tests.dashboards.page.stand_in import Message, StandIn, rows

pytestmark = pytest.mark.slow

MONEY = ["1234567890.12", "234567890.10", "-98765432.10", "1034567890.50", "1234567.80", 1e300]
WIDTHS = [1440, 1280, 820, 390]

SHORT_NAME = 6
"""Letters of a name in a legend for which there is always room."""
PARTS = ".figure-value, .figure-number, .panel-body, .legend-item, .tip, .key"
OVERFLOWING = f"""() => [...document.querySelectorAll("{PARTS}, .legend-name")]
    .filter((each) => !each.matches(".legend-name") || each.textContent.length <= {SHORT_NAME})
    .filter((each) => each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).display !== "inline")
    .map((each) => [each.className, each.textContent, each.scrollWidth, each.clientWidth])"""
BEYOND = """() => {
    const box = (each) => each.getBoundingClientRect();
    const wide = (each, panel) => box(each).right > panel.right + 0.5 || box(each).left < panel.left - 0.5;
    return [...document.querySelectorAll(".panel")].flatMap((panel) =>
        [...panel.querySelectorAll(".figure-value > *, svg.plot text, .legend-item, .tip")]
            .filter((each) => box(each).width > 0 && wide(each, box(panel)))
            .map((each) => [panel.dataset.panel, each.textContent]));
}"""


def figures(view: Message) -> list[Message]:
    return [
        {"kind": "figure", "figure": "v", "title": f"Value {n}", "format": "currency"}
        | view
        | {"answer": rows({"v": "float" if isinstance(value, float) else "decimal"}, [value], **_more(n))}
        for n, value in enumerate(MONEY)
    ]


def _more(place: int) -> Message:
    line = rows({"d": "date", "v": "integer"}, *[[f"2026-01-0{n}", n * n] for n in range(1, 9)])
    return (
        {"sparkline": line}
        if place == 1
        else {"compare": rows({"v": "decimal"}, ["1034567890.12"])}
        if place == 0
        else {}
    )


async def whole_of(page: Page) -> list[str]:
    """What each figure says to a screen reader."""
    return await page.locator(".figure-number").evaluate_all(
        """all => all.map((each) => each.querySelector(".visually-hidden")?.textContent ?? each.textContent)"""
    )


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dark", [False, True])
async def test_figures_fit_their_cards(stand_in: StandIn, visit: Visit, width: int, dark: bool) -> None:
    """Six in a row, with what may stand beside and below them. The whole is in the title and for a screen reader. Red
    when the number is as wide as it wants: it ran over the next card."""
    page = (await visit(stand_in.show(figures({}), figures({"unit": "per customer"})), width=width, dark=dark)).page
    assert await page.evaluate(OVERFLOWING) == []
    assert await page.evaluate(BEYOND) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    said = await whole_of(page)
    assert said[0] in {"$1,234,567,890", "$1,234,567,890.12"}
    assert said[5] == "$1E300"
    for number in await page.locator(".figure-number:has(.visually-hidden)").all():
        assert await number.get_attribute("title") == await number.locator(".visually-hidden").text_content()


async def test_a_number_grows_again_with_its_card(stand_in: StandIn, visit: Visit) -> None:
    """After the page became wider. Red when a short form is never taken back."""
    seen = await visit(stand_in.show(figures({})[:3]), width=390)
    await seen.page.set_viewport_size({"width": 1440, "height": 900})
    await seen.page.locator(".figure-number", has_text=re.compile(r"^\$1,234,567,890$")).first.wait_for()
    await seen.page.locator(".figure-value.size-3").first.wait_for(state="detached")


def wide_charts() -> list[list[Message]]:
    huge = "12345678901234567890123456789012345678"
    names: list[list[Any]] = [[f"Name {n} that goes on and on for a while", huge] for n in range(4)]
    answer = rows({"k": "text", "v": "decimal"}, *names)
    one: Message = {"by": "k", "answer": answer, "format": "currency"}
    return [
        [
            {"kind": "donut", "donut": "v", "title": "Ring", **one},
            {"kind": "bar", "bar": ["v"], "title": "Bars", **one},
        ],
        [
            {"kind": "bar", "bar": ["v"], "horizontal": True, "title": "Lying", **one},
            {"kind": "bar", "bar": ["v"], "color": "k", "title": "Legend", **one},
        ],
        [{"kind": "line", "line": ["v"], "title": "Line", "reference": {"value": 1e15, "label": "most"}, **one}],
        [{"kind": "table", "title": "Rows", "answer": answer, "columns": [{"name": "v", "format": "currency"}]}],
    ]


@pytest.mark.parametrize("width", WIDTHS)
async def test_labels_and_legends_fit(stand_in: StandIn, visit: Visit, width: int) -> None:
    """A ring's middle, the numbers of bars, an axis, names in a legend, a tooltip. Red when a number of 38 digits is
    written where there is room for six."""
    page = (await visit(stand_in.show(*wide_charts()), width=width)).page
    assert await page.evaluate(OVERFLOWING) == []
    assert await page.evaluate(BEYOND) == []
    ring = await page.locator("[data-panel='1-1'] .total").evaluate("each => each.getBoundingClientRect().width")
    inner = await page.locator("[data-panel='1-1'] svg.plot").evaluate(
        "each => each.getBoundingClientRect().width * 0.64"
    )
    assert ring <= inner
    for chart in await page.locator(".chart").all():
        await chart.focus()
        await page.keyboard.press("Home")
        assert await page.evaluate(OVERFLOWING) == []
        assert await page.evaluate(BEYOND) == []


async def test_charts_are_drawn_for_whole_pixels(stand_in: StandIn, visit: Visit) -> None:
    """Also in columns of other widths, after the page became narrower. Red when a chart is drawn for the fraction, too:
    its first drawing is for the whole width, so each chart was drawn twice."""
    line: Message = {"kind": "line", "line": ["v"], "by": "k", "answer": rows({"k": "integer", "v": "integer"}, [1, 2])}
    page = (await visit(stand_in.show([{**line, "title": f"Line {n}"} for n in range(3)]), width=1440)).page
    await page.set_viewport_size({"width": 1202, "height": 900})
    widths = """() => [...document.querySelectorAll(".panel-body")].map((body) =>
        [body.querySelector("svg.plot").viewBox.baseVal.width, body.clientWidth, body.getBoundingClientRect().width])"""
    await until(lambda: page.evaluate(f"({widths})().every(([drawn, whole]) => drawn === whole)"))
    assert any(exact % 1 for _, _, exact in await page.evaluate(widths))


async def test_a_cell_is_no_wider_than_its_table(stand_in: StandIn, visit: Visit) -> None:
    """So that its number can be read whole on a phone; else it is short, and whole in its title."""
    page = (await visit(stand_in.show(*wide_charts()), width=390)).page
    cell = page.locator("[data-panel='4-1'] tbody .number").first
    room = await page.locator("[data-panel='4-1'] .table-scroller").evaluate("each => each.clientWidth")
    assert await cell.evaluate("each => each.offsetWidth") <= room
    assert (
        await cell.locator(".visually-hidden").text_content() == "$12,345,678,901,234,567,890,123,456,789,012,345,678"
    )


async def words_of(page: Page, place: str) -> str:
    """What is seen of the change under a figure."""
    words = page.locator(f"[data-panel='{place}'] .change span").first
    return await words.evaluate("each => (each.querySelector('[aria-hidden]') ?? each).textContent")


async def test_no_number_of_a_change_is_broken(stand_in: StandIn, visit: Visit) -> None:
    """One that is wider than its card is short, and whole in its title. Red when it went on in the next line."""
    long = "-123456789012345678901234567890.123456"
    answer = rows({"v": "decimal"}, ["-0.5"], compare=rows({"v": "decimal"}, [long]))
    view = {"kind": "figure", "figure": "v", "title": "Change"}
    seen = await visit(stand_in.show([view | {"answer": answer}] * 4), width=1280)
    assert await words_of(seen.page, "1-1") == "Up 1.23E29 from \N{MINUS SIGN}1.23E29 before"
    shown = seen.page.locator("[data-panel='1-1'] .change")
    assert await shown.evaluate("each => each.scrollWidth <= each.clientWidth")
    whole = await shown.locator("span").first.get_attribute("title")
    assert whole is not None
    assert whole.endswith(" from \N{MINUS SIGN}123,456,789,012,345,678,901,234,567,890.123456 before")
    await seen.page.set_viewport_size({"width": 800, "height": 900})
    await until(lambda: _is_whole(seen.page, whole))
    assert await shown.locator("span[title]").count() == 0


async def _is_whole(page: Page, whole: str) -> bool:
    return await words_of(page, "1-1") == whole


async def test_a_long_word_of_a_text_is_no_wider_than_its_panel(stand_in: StandIn, visit: Visit) -> None:
    """Red when the page became wider than the screen."""
    text = {"kind": "text", "title": "Note", "text": "long" * 60}
    page = (await visit(stand_in.show([text]), width=390)).page
    assert await page.locator(".panel-text").count() == 1
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(
    ("locale", "value", "short"),
    [
        ("de-DE", -1025.32, "\N{MINUS SIGN}1.025 €"),
        ("de-AT", 123456.789, "€ 123.457"),
        ("de-CH", 99999.4, "EUR 99’999"),
        ("ja-JP", 1234.5, "€1,235"),
        ("ja-JP", 123456.7, "€12.3万"),
        ("ja-JP", 23309911, "€2331万"),
        ("de-DE", 1234567.8, "1,23 Mio. €"),
        ("en-US", 1234.5, "€1.23K"),
    ],
)
async def test_a_short_number_has_only_digits_of_its_own(
    stand_in: StandIn, visit: Visit, locale: str, value: float, short: str
) -> None:
    """Where a language has no word for its size. Red when three digits and noughts were shown: 123.000, 2330万."""
    bars = {"kind": "bar", "bar": ["v"], "by": "k", "horizontal": True, "format": "currency", "digits": 6}
    bars["answer"] = rows({"k": "text", "v": "float"}, ["a", value])
    figure = {"kind": "figure", "figure": "v", "format": "currency", "digits": 20}
    figure["answer"] = rows({"v": "float"}, [value])
    address = stand_in.show([bars], [figure] * 12, locale=locale, currency="EUR")
    page = (await visit(address, width=820)).page
    number = page.locator("[data-panel='2-1'] .figure-number")
    seen = (await number.locator("[aria-hidden]").inner_text()).replace("\N{NO-BREAK SPACE}", " ")
    assert seen == short
    assert await number.get_attribute("title") == await number.locator(".visually-hidden").text_content()
