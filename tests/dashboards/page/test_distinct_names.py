"""Different values have different names, in the order of what they are."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Page

from tests.dashboards.page.conftest import Visit
from tests.dashboards.page.marks import drawn
from tests.dashboards.page.stand_in import Message, StandIn, rows

pytestmark = pytest.mark.slow

NEAR_NUMBERS = [0.1, 0.104, 0.10000000000000002, 1000.3, 1000.4]
EXACT = ["0.1", "0.104", "0.10000000000000002", "1000.3", "1000.4"]
LONG = ["0.100000000000000000000000000001", "0.100000000000000000000000000002"]
"""Decimals of 30 digits after the point."""


async def legend(page: Page, place: str) -> list[str]:
    return await page.locator(f"[data-panel='{place}'] .legend-name").all_inner_texts()


async def labels(page: Page, place: str) -> list[str]:
    shown = page.locator(f"[data-panel='{place}'] svg.plot")
    return await shown.locator(".axis-bottom .label, .label.name").all_text_contents()


async def titles(page: Page, place: str, count: int) -> list[str]:
    """What the tooltip says of each mark, from the first one on."""
    chart = page.locator(f"[data-panel='{place}'] .chart")
    await chart.focus()
    found = []
    for key in ["Home", *["ArrowRight"] * (count - 1)]:
        await page.keyboard.press(key)
        found.append(await chart.locator(".tip-title").first.inner_text())
    return found


@pytest.mark.parametrize(
    ("kind", "values", "names"), [("float", NEAR_NUMBERS, EXACT), ("decimal", LONG, LONG)], ids=["floats", "decimals"]
)
async def test_numbers_that_are_rounded_alike_are_told_apart(
    stand_in: StandIn, visit: Visit, kind: str, values: list[Any], names: list[str]
) -> None:
    """As bars that stand and lie, slices, cells, points and series. Red when each had the digits of its column: two
    bars of the name 1,000."""
    answer = rows({"k": kind, "n": "integer"}, *[[each, place] for place, each in enumerate(values, 1)])
    over_time = rows(
        {"t": "date", "k": kind, "n": "integer"},
        *[[day, each, 1] for each in values for day in ("2026-01-01", "2026-01-02")],
    )
    views: list[Message] = [
        {"kind": "bar", "bar": ["n"], "by": "k"},
        {"kind": "bar", "bar": ["n"], "by": "k", "horizontal": True},
        {"kind": "donut", "donut": "n", "by": "k", "sort": "name"},
        {"kind": "heatmap", "heatmap": "n", "by": "n", "rows": "k"},
        {"kind": "scatter", "scatter": "n", "by": "k"},
    ]
    series = {"kind": "line", "line": ["n"], "by": "t", "color": "k", "answer": over_time}
    page = (await visit(stand_in.show(*[[view | {"answer": answer}] for view in views], [series]))).page
    assert await titles(page, "1-1", len(values)) == names
    assert await labels(page, "2-1") == names
    assert {*await legend(page, "3-1")} == {*names}
    assert {*(await labels(page, "4-1"))} >= {*names}
    assert {*await titles(page, "5-1", len(values))} == ({*names} if kind == "float" else {names[0], names[1]})
    assert {*await legend(page, "6-1")} == {*names}


async def test_no_value_is_not_a_text_that_says_so(stand_in: StandIn, visit: Visit) -> None:
    """Red when NULL, '' and the texts that stand for them had the same names."""
    values = [None, "", "(no value)", "(empty)"]
    answer = rows({"k": "text", "n": "integer"}, *[[each, 1] for each in values])
    lying = {"kind": "bar", "bar": ["n"], "by": "k", "horizontal": True, "answer": answer}
    page = (await visit(stand_in.show([lying], [{"kind": "donut", "donut": "n", "by": "k", "answer": answer}]))).page
    names = ["(no value)", '""', '"(no value)"', '"(empty)"']
    assert await labels(page, "1-1") == names
    assert {*await legend(page, "2-1")} == {*names}


async def test_times_within_a_second_are_told_apart(stand_in: StandIn, visit: Visit) -> None:
    """As bars, as series, and on the axis of a line. Red when each said 10:00:00 AM."""
    moments = [f"2026-01-01T10:00:00.{part}00" for part in (1, 2, 3)]
    answer = rows({"t": "datetime", "n": "integer"}, *[[each, 1] for each in moments])
    series = rows(
        {"x": "integer", "n": "integer", "t": "datetime"}, *[[x, 1, each] for each in moments for x in (1, 2)]
    )
    bars = {"kind": "bar", "bar": ["n"], "by": "t", "answer": answer}
    line = {"kind": "line", "line": ["n"], "by": "t", "answer": answer}
    several = {"kind": "line", "line": ["n"], "by": "x", "color": "t", "answer": series}
    page = (await visit(stand_in.show([bars], [line], [several]))).page
    whole = [f"Jan 1, 2026, 10:00:00.{part}00 AM" for part in (1, 2, 3)]
    assert [each.replace("\N{NARROW NO-BREAK SPACE}", " ") for each in await titles(page, "1-1", 3)] == whole
    ticks = await page.locator("[data-panel='2-1'] .axis-bottom .label").all_text_contents()
    assert len({*ticks}) == len(ticks) > 1
    assert [each.replace("\N{NARROW NO-BREAK SPACE}", " ") for each in await legend(page, "3-1")] == whole


async def test_what_is_left_has_a_name_of_its_own(stand_in: StandIn, visit: Visit) -> None:
    """Where a value is called so: bars, slices and series. Red when two slices were "Other (2)"."""
    answer = rows({"k": "text", "n": "integer"}, ["Other (2)", 50], ["a", 2], ["b", 1])
    many = [["Other (2)", 50], *[[f"name {n}", 20 - n] for n in range(8)]]
    series = rows({"x": "text", "k": "text", "n": "integer"}, *[["x", *each] for each in many])
    bars = {"kind": "bar", "bar": ["n"], "by": "k", "horizontal": True, "limit": 1, "answer": answer}
    ring = {"kind": "donut", "donut": "n", "by": "k", "limit": 1, "answer": answer}
    several = {"kind": "bar", "bar": ["n"], "by": "x", "color": "k", "answer": series}
    page = (await visit(stand_in.show([bars], [ring], [several]))).page
    assert await labels(page, "1-1") == ["Other (2)", "Other (2), together"]
    assert await legend(page, "2-1") == ["Other (2)", "Other (2), together"]
    assert {"Other (2)", "Other (2), together"} <= {*await legend(page, "3-1")}


@pytest.mark.parametrize("horizontal", [False, True])
@pytest.mark.parametrize(
    ("kind", "values", "names"),
    [
        (
            "integer",
            [10_000, None, -5, 500, -10, 9999],
            ["\N{MINUS SIGN}10", "\N{MINUS SIGN}5", "500", "9999", "10,000", "(no value)"],
        ),
        ("date", ["2026-08-01", "2026-04-01", None, "2026-01-01"], ["Jan 2026", "Apr", "Aug", "(no value)"]),
        ("text", ["2026-10", "2026-09", "2025-12"], ["Dec 2025", "Sep 2026", "Oct"]),
        ("text", ["name 10", "name 9", None], ["name 9", "name 10", "(no value)"]),
    ],
    ids=["numbers", "months", "months as texts", "texts"],
)
async def test_names_are_sorted_by_what_they_are(
    stand_in: StandIn, visit: Visit, kind: str, values: list[Any], names: list[str], horizontal: bool
) -> None:
    """Red when numbers and months were sorted by their letters: 10,000 before 500, April before January."""
    answer = rows({"k": kind, "n": "integer"}, *[[each, 1] for each in values])
    view = {"kind": "bar", "bar": ["n"], "by": "k", "sort": "name", "horizontal": horizontal, "answer": answer}
    ring = {"kind": "donut", "donut": "n", "by": "k", "sort": "name", "answer": answer}
    page = (await visit(stand_in.show([view], [ring]))).page
    shown = await labels(page, "1-1")
    assert [text.split()[0] for text in shown] == [text.split()[0] for text in names]
    assert [text.split()[0] for text in await legend(page, "2-1")] == [text.split()[0] for text in names]


async def test_a_point_without_a_size_says_so(stand_in: StandIn, visit: Visit) -> None:
    """Red when a NULL was drawn as the smallest, without a word."""
    answer = rows({"x": "integer", "y": "integer", "size": "integer"}, [1, 5, 100], [2, 6, None], [3, 7, 1])
    view = {"kind": "scatter", "scatter": "y", "by": "x", "size": "size", "answer": answer}
    page = (await visit(stand_in.show([view], [view | {"size": None}]))).page
    panels = await drawn(page)
    assert panels["1-1"].notes == "1 point has no size and is drawn as the smallest."
    assert panels["2-1"].notes == ""


async def test_texts_that_look_alike_are_told_apart(stand_in: StandIn, visit: Visit) -> None:
    """By spaces at their ends or within, by signs without a width, by an accent of its own. Red when two bars were
    called Ann."""
    values = ["Ann", "Ann ", "A  B", "A B", "C\u200bD", "CD", "\u00e9", "e\u0301", " ", "other"]
    answer = rows({"k": "text", "n": "integer"}, *[[each, 1] for each in values])
    lying = {"kind": "bar", "bar": ["n"], "by": "k", "horizontal": True, "answer": answer}
    page = (await visit(stand_in.show([lying]))).page
    assert await labels(page, "1-1") == [
        *['"Ann"', '"Ann "', '"A\\u0020 B"', '"A B"', '"C\\u200bD"', '"CD"', '"\u00e9"', '"e\\u0301"', '" "', "other"]
    ]


async def test_ids_that_no_double_tells_apart_are_read_one_by_one(stand_in: StandIn, visit: Visit) -> None:
    """Red when a tooltip of a line named one of two ids and said the values of both."""
    ids = ["9007199254740991", 9007199254740992, "9007199254740993"]
    answer = rows({"id": "integer", "n": "integer"}, *[[each, place] for place, each in enumerate(ids, 1)])
    line = {"kind": "line", "line": ["n"], "by": "id", "answer": answer}
    page = (await visit(stand_in.show([line]))).page
    chart = page.locator("[data-panel='1-1'] .chart")
    await chart.focus()
    read = []
    for key in ("Home", "ArrowRight", "ArrowRight"):
        await page.keyboard.press(key)
        read.append((await chart.locator(".tip").inner_text()).split("\n"))
    assert read == [[str(each), str(place)] for place, each in enumerate(ids, 1)]
