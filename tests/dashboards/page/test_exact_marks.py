"""Marks whose places are one double, or whose numbers come as texts, are told apart by their values."""

from __future__ import annotations

import pytest

from tests.dashboards.page.conftest import Visit
from tests.dashboards.page.stand_in import StandIn, rows
from tests.dashboards.page.test_values import LARGE, WRITTEN, panel

pytestmark = pytest.mark.slow

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


async def test_a_stack_does_not_add_what_is_at_two_ids(stand_in: StandIn, visit: Visit) -> None:
    """Of ids that are one double the stack says why there is no drawing; of others, and of decimals that are written in
    two ways, there is one. Red when both ids had one place, with the sum of their values."""
    near = rows({"id": "integer", "s": "text", "v": "integer"}, [BEFORE, "a", 1], [LARGE, "a", 2], [LARGE, "b", 3])
    apart = rows({"id": "decimal", "s": "text", "v": "integer"}, ["1.5", "a", 1], ["1.50", "b", 2], [None, "b", 3])
    view = {"by": "id", "color": "s", "stack": "sum"}
    panels = [{"kind": "area", "area": ["v"], "answer": each} | view for each in (near, apart)]
    page = (await visit(stand_in.show(panels))).page
    said = await page.locator("[data-panel='1-1'] .panel-empty").inner_text()
    assert said == "Some of these numbers are too close to each other for places of their own."
    assert await page.locator("[data-panel='1-2'] svg.plot").count() == 1
