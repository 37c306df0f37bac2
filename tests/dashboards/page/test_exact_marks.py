"""Marks whose places are one double, or whose numbers come as texts, are told apart by their values."""

from __future__ import annotations

from tests.dashboards.page.conftest import Visit
from tests.dashboards.page.stand_in import StandIn, rows
from tests.dashboards.page.test_values import LARGE, WRITTEN, panel

BEFORE = "9007199254740992"


async def test_points_at_one_place_have_their_own_texts(stand_in: StandIn, visit: Visit) -> None:
    """Red when a text is looked up by the place: both points have the last value of it."""
    answer = rows({"x": "integer", "v": "integer"}, [BEFORE, 1], [LARGE, 2])
    page = (await visit(stand_in.show([panel("scatter", "v", answer, by="x")]))).page
    chart = page.locator(".chart")
    await chart.focus()
    for key, text in (("Home", "9,007,199,254,740,992"), ("End", WRITTEN)):
        await page.keyboard.press(key)
        assert await chart.locator(".tip-title").inner_text() == text
        assert f"X\n{text}" in await chart.locator(".tip").inner_text()


async def test_decimals_of_a_heatmap_are_in_order(stand_in: StandIn, visit: Visit) -> None:
    """Of both axes, though they come as texts. Red when only doubles are sorted."""
    answer = rows({"x": "decimal", "y": "decimal", "v": "integer"}, ["10.5", "20", 1], ["2", "3", 2], ["-1.25", "3", 3])
    page = (await visit(stand_in.show([panel("heatmap", "v", answer, by="x", rows="y")]))).page
    assert await page.locator("text.label.name").all_text_contents() == ["3", "20"]
    assert await page.locator("text.label:not(.name)").all_text_contents() == ["\N{MINUS SIGN}1.25", "2.00", "10.50"]


async def test_both_ends_of_two_colours_are_exact(stand_in: StandIn, visit: Visit) -> None:
    """Also the one that no cell has. Red when it is the double that shades the cells."""
    answer = rows({"x": "text", "v": "integer"}, ["a", f"-{LARGE}"], ["b", 5])
    page = (await visit(stand_in.show([panel("heatmap", "v", answer, by="x", rows="x", diverging=True)]))).page
    assert await page.locator(".key").inner_text() == f"\N{MINUS SIGN}{WRITTEN}\n{WRITTEN}"
