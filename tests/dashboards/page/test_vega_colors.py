"""The names of a Vega-Lite chart have the colours that they have in the other panels of the page."""

from __future__ import annotations

import pytest

from tests.dashboards.page.conftest import Visit
from tests.dashboards.page.stand_in import Message, StandIn, rows

pytestmark = pytest.mark.slow

ANSWER = rows({"k": "text", "n": "integer"}, ["Won", 5], ["Lost", 3], ["Open", 4], [None, 2])
DONUT: Message = {"kind": "donut", "donut": "n", "by": "k", "answer": ANSWER}
COLOR: Message = {"field": "k", "type": "nominal"}
X: Message = {"field": "n", "type": "quantitative"}
FILLS = """(what) => [...document.querySelectorAll(what)].map((each) => getComputedStyle(each).fill)"""


@pytest.mark.parametrize("sort", [{}, {"sort": "descending"}], ids=str)
@pytest.mark.parametrize("dark", [False, True])
async def test_a_name_has_one_colour_in_a_vega_chart_and_beside_it(
    stand_in: StandIn, visit: Visit, sort: Message, dark: bool
) -> None:
    """By `colors` of the file, and by the hash of the name. Red when Vega took its palette in the order of names."""
    encoding = {"x": X, "y": {"field": "k", "type": "nominal", "sort": None}, "color": COLOR | sort}
    vega = {"kind": "vega", "title": "Free", "vega": {"mark": "bar", "encoding": encoding}, "answer": ANSWER}
    about = {"colors": {"Won": "good", "Lost": "#7a5c00", "Open": "accent"}}
    page = (await visit(stand_in.show([vega, DONUT], **about), dark=dark)).page
    await page.locator(".vega .mark-rect path").last.wait_for()
    await page.locator("path.slice").last.wait_for()
    bars = await page.evaluate(FILLS, ".vega .mark-rect path")
    won, open_, lost, absent = await page.evaluate(FILLS, "path.slice")  # by size
    assert bars == [won, lost, open_, absent]
    assert len({*bars}) == 4
    names = await page.locator(".vega .role-legend-label text").all_text_contents()
    assert names == (["(no value)", "Won", "Open", "Lost"] if sort else ["Lost", "Open", "Won", "(no value)"])


async def test_a_chart_with_its_own_scale_keeps_it(stand_in: StandIn, visit: Visit) -> None:
    """Red when a scale of the author was replaced."""
    own = COLOR | {"scale": {"domain": ["Won", "Lost", "Open"], "range": ["#010203", "#040506", "#070809"]}}
    marks = {"mark": "bar", "encoding": {"x": X, "y": COLOR, "color": own}}
    vega = {"kind": "vega", "title": "Free", "vega": marks, "answer": ANSWER}
    page = (await visit(stand_in.show([vega], colors={"Won": "bad"}))).page
    await page.locator(".vega .mark-rect path").last.wait_for()
    assert "rgb(1, 2, 3)" in await page.evaluate(FILLS, ".vega .mark-rect path")
