"""Numbers at the ends of what a double holds, and finer than it can tell apart."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.dashboards.page.conftest import Visit
from tests.dashboards.page.marks import Drawn, drawn
from tests.dashboards.page.stand_in import Message, StandIn, rows

pytestmark = pytest.mark.slow

KINDS: tuple[Message, ...] = (
    {"kind": "bar", "bar": ["n"]},
    {"kind": "line", "line": ["n"]},
    {"kind": "scatter", "scatter": "n"},
)
TOO_LARGE = "These values are too large to be drawn."


def fine(panel: Drawn, values: list[Any]) -> None:
    """Each value has a mark within the drawing, and no two labels of the axis say the same."""
    assert panel.drawing is not None, values
    texts = [text for _, text in panel.ticks]
    assert len({*texts}) == len(texts) >= 2, texts
    marks = [mark for mark in panel.marks if mark.kind in {"bar", "line", "point"}]
    assert len(marks) == (1 if panel.kind == "line" else len(values))
    for mark in marks:
        assert "NaN" not in mark.written
        assert "Infinity" not in mark.written
        assert panel.drawing.holds(mark.box), mark
    heights = [y for y, _ in panel.ticks]
    assert all(math.isfinite(y) for y in heights)


VALUES: list[tuple[str, list[Any]]] = [
    ("float", [5, 1.7e308]),
    ("float", [1.2e308, -4e307]),
    ("float", [-1.7e308]),
    ("float", [5e-324, 1e-310]),
    ("float", [1e-320, 3e-320]),
    ("float", [6.425279293475558e-296, 6.425279293476124e-296]),
    ("float", [1e15, 1e15 + 0.125]),
    ("float", [1.9649462124772497e-14, 1.9649461208261604e-14]),
    ("integer", ["9007199254740993", "9007199254740995", 9007199254740992]),
    ("integer", [10**15, 10**15 + 1, 10**15 + 2]),
]


@pytest.mark.parametrize("view", KINDS, ids=["bar", "line", "scatter"])
async def test_marks_have_heights_and_ticks_different_texts(stand_in: StandIn, visit: Visit, view: Message) -> None:
    """Red when a domain was wider than any double (NaN), when a step was below the least (-Infinity), when an array of
    ticks had an invalid length, and when five ticks of a line said 1E15."""
    shown = []
    for kind, values in VALUES:
        lines = [[f"2026-01-{day:02}", each] for day, each in enumerate(values, 1)]
        shown.append([view | {"by": "k", "answer": rows({"k": "date", "n": kind}, *lines)}])
    panels = await drawn((await visit(stand_in.show(*shown))).page)
    for line, (_, values) in enumerate(VALUES, 1):
        fine(panels[f"{line}-1"], values)


async def test_what_is_no_finite_number_is_not_drawn_as_one(stand_in: StandIn, visit: Visit) -> None:
    """Red when Infinity was a bar of half a pixel in the middle, and a sum beyond doubles made all bars equal."""
    columns = {"k": "text", "n": "float"}
    infinite = rows(columns, ["a", 5], ["b", "Infinity"], ["c", "NaN"], ["d", None])
    large = rows(columns, ["a", 1.7e308], ["b", 1.7e308])
    views: list[Message] = [{"kind": each, each: ["n"], "by": "k"} for each in ("bar", "line")]
    shown = [view | {"answer": answer} for answer in (infinite, large) for view in views]
    page = (await visit(stand_in.show(*[[view] for view in shown]))).page
    panels = await drawn(page)
    for place in ("1-1", "2-1"):
        assert panels[place].notes == "2 values are not finite numbers and are not drawn."
    assert len(panels["1-1"].of("bar")) == 1
    for place in ("3-1", "4-1"):
        assert panels[place].sentence == TOO_LARGE


async def test_one_number_of_decimals_in_one_column(stand_in: StandIn, visit: Visit) -> None:
    """Of a table, a chart, and a figure and what it is compared with. Red when each amount had the digits of its own
    size: $2,625 beside $896.00."""
    view = {"kind": "figure", "figure": "n", "format": "currency"}
    figure = rows({"n": "decimal"}, ["2625.00"], compare=rows({"n": "decimal"}, ["896.00"]))
    column = rows({"k": "text", "n": "decimal"}, ["a", "2625.00"], ["b", "896.00"])
    table = {"kind": "table", "columns": [{"name": "n", "format": "currency"}]}
    bars = {"kind": "bar", "bar": ["n"], "by": "k", "horizontal": True, "format": "currency"}
    shown = [view | {"answer": figure}, *[each | {"answer": column} for each in (table, bars)]]
    page = (await visit(stand_in.show(*[[each] for each in shown]))).page
    assert await page.locator(".figure-number").inner_text() == "$2,625.00"
    assert "from $896.00" in await page.locator(".change").inner_text()
    panels = await drawn(page)
    assert [[cell.text for cell in row] for row in panels["2-1"].cells] == [["$2,625.00"], ["$896.00"]]
    assert panels["3-1"].amounts == ["$2,625.00", "$896.00"]


async def test_amounts_beside_a_small_one_have_cents(stand_in: StandIn, visit: Visit) -> None:
    """Nought is less than 1,000, too. Red when R$ 1.234,50 beside R$ 0 was R$ 1.235."""
    table = {"kind": "table", "columns": [{"name": each, "format": "currency"} for each in ("a", "b", "c")]}
    answer = rows(dict.fromkeys("abc", "decimal"), ["1234.50", "1234.50", "0"], ["0", None, "0"])
    page = (await visit(stand_in.show([table | {"answer": answer}], locale="pt-BR", currency="BRL"))).page
    cells = (await drawn(page))["1-1"].cells
    texts = [[cell.text.replace("\N{NO-BREAK SPACE}", " ") for cell in row] for row in cells]
    assert texts == [["R$ 1.234,50", "R$ 1.235", "R$ 0,00"], ["R$ 0,00", "–", "R$ 0,00"]]
