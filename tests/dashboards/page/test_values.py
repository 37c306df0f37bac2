"""Every value that a page shows is exact, and says what it is."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from playwright.async_api import Locator, Page

from tests.dashboards.page.conftest import Visit
from tests.dashboards.page.stand_in import Message, StandIn, rows

NOWHERE = "1 value has no place on the axis and is not drawn."
LARGE = "9007199254740993"
"""2^53 + 1: the nearest double is one less."""
WRITTEN = "9,007,199,254,740,993"
DECIMAL = "12345678901234567.89"


def panel(kind: str, measure: str, answer: Message, **more: Any) -> Message:
    drawn: Any = measure if kind in {"figure", "donut", "scatter", "heatmap"} else [measure]
    return {"kind": kind, kind: drawn, "title": kind, "answer": answer} | more


async def tip(page: Page, place: str) -> str:
    """What the first stop of a chart says."""
    chart = page.locator(f"[data-panel='{place}'] .chart")
    await chart.focus()
    await page.keyboard.press("Home")
    return await chart.locator(".tip").inner_text()


async def cells(table: Locator) -> list[str]:
    return await table.locator("tbody tr").first.locator("th, td").all_inner_texts()


async def test_a_number_that_no_double_holds_is_shown_as_it_is(stand_in: StandIn, visit: Visit) -> None:
    """In each kind of panel that writes it: red when a chart reads its rows as doubles and writes these."""
    answer = rows({"k": "text", "v": "integer"}, ["a", LARGE], ["b", 2])
    shown = [
        [
            panel("figure", "v", rows({"v": "integer"}, [LARGE])),
            panel("figure", "v", rows({"v": "decimal"}, [DECIMAL])),
        ],
        [panel(kind, "v", answer, by="k") for kind in ("bar", "line", "donut", "scatter")],
        [panel("heatmap", "v", answer, by="k", rows="k"), panel("bar", "v", answer, by="k", horizontal=True)],
        [{"kind": "table", "title": "Rows", "answer": answer}],
    ]
    page = (await visit(stand_in.show(*shown))).page
    assert await page.locator(".figure-value").all_inner_texts() == [WRITTEN, "12,345,678,901,234,567.89"]
    for place in ("2-1", "2-2", "2-3", "2-4", "3-1", "3-2"):
        assert WRITTEN in await tip(page, place), place
    assert await page.locator("[data-panel='2-3'] .total title").text_content() == "9,007,199,254,740,995"
    assert await page.locator("[data-panel='3-1'] .key").inner_text() == f"2\n{WRITTEN}"
    assert await page.locator("[data-panel='3-2'] text.value").first.text_content() == WRITTEN
    assert await cells(page.locator("[data-panel='4-1']")) == ["a", WRITTEN]
    await page.get_by_role("button", name="Menu of line").click()
    await page.get_by_role("menuitem", name="Show as table").click()
    await page.locator("[data-panel='2-2'] table").wait_for()
    assert await cells(page.locator("[data-panel='2-2']")) == ["a", WRITTEN]


async def test_sums_and_comparisons_are_exact(stand_in: StandIn, visit: Visit) -> None:
    """Of what a page adds up or compares by itself. Red when it adds or compares doubles: "As before", and 9…992."""
    parts = rows({"k": "text", "s": "text", "v": "integer"}, ["a", "x", LARGE], ["a", "y", 2], ["b", "x", 1])
    bars = panel("bar", "v", parts, by="k", color="s", stack="sum", horizontal=True)
    before = rows({"v": "integer"}, ["9007199254740992"])
    figure = panel("figure", "v", rows({"v": "integer"}, [LARGE], compare=before))
    page = (await visit(stand_in.show([figure], [bars]))).page
    assert (await page.locator(".change").inner_text()).startswith("Up")
    assert await page.locator("text.value").first.text_content() == "9,007,199,254,740,995"


FIGURES: list[tuple[Any, Message, str]] = [
    (0.0004, {}, "0.0004"),
    ("0.00040", {}, "0.0004"),
    (0.0004, {"format": "currency"}, "$0.0004"),
    (0.00004, {"format": "percent"}, "0.004%"),
    (0.0004, {"digits": 2}, "0.0004"),
    (0.4, {"format": "integer"}, "0.4"),
    (0.4, {"format": "duration"}, "0.4 sec"),
    (0.04, {"format": "compact"}, "0.04"),
    (-0.0004, {}, "\N{MINUS SIGN}0.0004"),
    (1e-300, {}, "1E\N{MINUS SIGN}300"),
    (1e300, {}, "1E300"),
    (1e300, {"format": "bytes"}, "1E285 PB"),
    (-0.0, {"format": "currency"}, "$0.00"),
    ("1234.50", {}, "1,234.5"),
    ("12.6433333333333333", {}, "12.64"),
    (4.2e15, {"format": "bytes"}, "4.2 PB"),
]


async def test_no_number_is_written_as_nought_that_is_none(stand_in: StandIn, visit: Visit) -> None:
    """Whatever digits its format has; and none as three hundred digits. Red when the digits of the format hold for
    each number: 0.00, 0%, 0 sec."""
    shown = []
    for value, view, _ in FIGURES:
        kind = "decimal" if isinstance(value, str) else "float"
        shown.append([panel("figure", "v", rows({"v": kind}, [value]), **view)])
    page = (await visit(stand_in.show(*shown))).page
    assert await page.locator(".figure-value").all_inner_texts() == [text for *_, text in FIGURES]


async def test_all_digits_of_a_tiny_number_are_few(stand_in: StandIn, visit: Visit) -> None:
    """A double is a power of ten, with all its digits; a decimal has those that it was given. Red when a double had
    all its noughts."""
    given = {"float": 7.4123456789e-8, "decimal": "0.000000000000000000000000000001"}
    figures = [panel("figure", "v", rows({"v": kind}, [value])) for kind, value in given.items()]
    page = (await visit(stand_in.show(figures))).page
    titles = [await each.get_attribute("title") for each in await page.locator(".figure-number").all()]
    assert titles == ["7.4123456789E\N{MINUS SIGN}8", given["decimal"]]


async def test_ids_and_years_have_no_thousands(stand_in: StandIn, visit: Visit) -> None:
    """By their names and types, or because the author says so; and an amount of some other name has them. Red when a
    year is a number, or `paid` an id."""
    kinds = dict.fromkeys(("order_id", "year", "paid", "per_year", "account", "since", "amount_id"), "integer")
    line = [1234567, 2013, 1234567, 2013, 1234567, 2013, 1234567]
    columns: list[Message] = [{"name": name} for name in kinds]
    columns[4] |= {"format": "id"}
    columns[5] |= {"format": "year"}
    columns[6] |= {"format": "number"}
    table = {"kind": "table", "title": "Rows", "columns": columns, "answer": rows(kinds, line)}
    by_year = rows({"fiscal_year": "integer", "n": "integer"}, [2013, 1234], [2014, 2])
    by_id = rows({"orderId": "integer", "n": "integer"}, [LARGE, 1234], [1234567, 2])
    charts = [panel("bar", "n", answer, by=by) for answer, by in ((by_year, "fiscal_year"), (by_id, "orderId"))]
    page = (await visit(stand_in.show([table], charts))).page
    expected = ["1234567", "2013", "1,234,567", "2,013", "1234567", "2013", "1,234,567"]
    assert await cells(page.locator("[data-panel='1-1']")) == expected
    assert await tip(page, "2-1") == "2013\n1,234"
    assert await tip(page, "2-2") == f"{LARGE}\n1,234"


async def test_labels_of_an_axis_are_exact(stand_in: StandIn, visit: Visit) -> None:
    """Their texts, read as numbers, lie at equal steps. Red when each has one digit: 10M, 10.1M, 10.1M."""
    answer = rows({"k": "date", "v": "integer"}, ["2026-01-01", 10_000_000], ["2026-01-02", 10_100_000])
    small = rows({"k": "date", "v": "float"}, ["2026-01-01", 0.0], ["2026-01-02", 0.0004])
    lines = [panel("line", "v", each, by="k") for each in (answer, small)]
    page = (await visit(stand_in.show(lines))).page
    for place in ("1-1", "1-2"):
        texts = await page.locator(f"[data-panel='{place}'] .axis-value text").all_text_contents()
        amounts = [float(text.rstrip("M")) for text in texts]
        steps = [high - low for low, high in pairwise(amounts)]
        assert steps == pytest.approx([steps[0]] * len(steps), rel=1e-6), texts
        assert steps[0] > 0, texts


async def test_points_out_of_order_are_put_in_order(stand_in: StandIn, visit: Visit) -> None:
    """A line goes from left to right whatever the order of the rows. Red when it is drawn in theirs."""
    shuffled = [["2026-01-03", 5], ["2026-01-01", 4], ["2026-01-02", 6]]
    answers = [rows({"d": "date", "v": "integer"}, *lines) for lines in (shuffled, sorted(shuffled))]
    page = (
        await visit(stand_in.show([panel(kind, "v", each, by="d") for kind in ("line", "area") for each in answers]))
    ).page
    paths = await page.locator("path.line").evaluate_all("all => all.map((each) => each.getAttribute('d'))")
    assert paths[0] == paths[1]
    assert paths[2] == paths[3]
    assert await page.locator(".chart-note").count() == 0


async def test_rows_that_are_not_seen_are_said(stand_in: StandIn, visit: Visit) -> None:
    """A line with two values for a day, one without a day; a figure of three rows; a chart's table of reduced rows;
    twenty series at a place. Red when any of them says nothing."""
    days = [["2026-01-01", 1], ["2026-01-01", 9], ["2026-01-02", 3], [None, 7]]
    twice = panel("line", "v", rows({"d": "date", "v": "integer"}, *days), by="d")
    cell = panel("heatmap", "v", rows({"a": "integer", "b": "integer", "v": "integer"}, [1, 1, 5], [1, 1, 9]), by="a")
    figure = panel("figure", "v", rows({"v": "integer"}, [1], [2], [3]))
    reduced = panel("area", "v", rows({"d": "date", "v": "integer"}, *days[1:3], reduced=True), by="d")
    many = [[day, f"s{n}", n] for day in ("2026-01-01", "2026-01-02") for n in range(10)]
    measures = ["v", "w"]
    both = rows({"d": "date", "k": "text", "v": "integer", "w": "integer"}, *[[*each, each[2]] for each in many])
    series = {"kind": "bar", "bar": measures, "by": "d", "color": "k", "title": "many", "answer": both}
    page = (await visit(stand_in.show([twice, cell | {"rows": "b"}, figure], [reduced, series]))).page
    notes = await page.locator(".chart-note").all_inner_texts()
    assert notes == [
        f"{NOWHERE} 1 value shares its place on a line with another one.",
        "1 value is under another one in its cell.",
    ]
    assert await page.locator("[data-panel='1-3'] .change").inner_text() == "The first of 3 rows"
    await page.get_by_role("button", name="Menu of area").click()
    await page.get_by_role("menuitem", name="Show as table").click()
    await page.locator(".twin").wait_for()
    assert "These are the rows that the chart needs" in await page.locator("[data-panel='2-1'] .count").inner_text()
