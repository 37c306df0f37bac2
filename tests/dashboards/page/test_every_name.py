"""Each name of a chart can be read and told apart; numbers below bars lie as far apart as they are."""

from __future__ import annotations

import pytest

from tests.dashboards.page.conftest import Visit, box_of
from tests.dashboards.page.marks import drawn, faults, panel_of, panels_of
from tests.dashboards.page.stand_in import Message, StandIn, rows
from tests.dashboards.page.test_time import NOWHERE, labels, middles, titles

pytestmark = pytest.mark.slow

CITIES = ["Vienna", "Graz", "Linz", "Salzburg", "Innsbruck", "Klagenfurt", "Villach", "Wels", "Steyr", "Krems"]
BARS: Message = {"kind": "bar", "bar": ["n"], "by": "x"}


def bars(names: list[str | int | None], kind: str = "text") -> Message:
    return BARS | {"answer": rows({"x": kind, "n": "integer"}, *[[name, 50 - n] for n, name in enumerate(names)])}


@pytest.mark.parametrize("count", [12, 20, 28])
async def test_each_of_many_bars_has_its_name(stand_in: StandIn, visit: Visit, count: int) -> None:
    """In a narrow panel. Red when twelve bars stood, and four of them had names."""
    names = [f"{city} {n}" for n in range(3) for city in CITIES][:count]
    panel = await panel_of(stand_in, visit, bars(names), width=390)
    assert await panel.locator(".label.name").all_text_contents() == names
    (measured,) = (await drawn(panel.page)).values()
    assert [*faults(measured)] == []


@pytest.mark.parametrize("width", [1440, 390])
async def test_each_month_out_of_order_has_its_name(stand_in: StandIn, visit: Visit, width: int) -> None:
    """Nobody can guess those between two others. Red when times left out names as on an axis."""
    months = ["2026-01-01", "2025-10-01", None, "2026-11-01", "2025-12-01", "2026-10-01"]
    given = rows({"x": "date", "n": "integer"}, *[[at, 50 - 9 * n] for n, at in enumerate(months)], now="2026-11-29")
    orders: list[Message] = [{"sort": "largest"}, {"sort": "smallest"}, {"limit": 4}]
    panels = await panels_of(stand_in, visit, *[BARS | {"answer": given} | more for more in orders], width=width)
    for more, panel in zip(orders, panels, strict=True):
        names = await panel.locator(".label.name").all_text_contents() or await labels(panel)
        count = 5 if "limit" in more else 6
        assert await panel.locator("rect.bar").count() == len(names) == len(set(names)) == count, more
        assert {"(no value)", "Jan 2026", "Oct 2025"} <= set(names), more
        assert await panel.locator(".chart-note").count() == 0, more
    assert [fault for each in (await drawn(panels[0].page)).values() for fault in faults(each)] == []


@pytest.mark.parametrize("kind", ["text", "date"])
async def test_too_many_bars_for_their_names_say_so(stand_in: StandIn, visit: Visit, kind: str) -> None:
    """Red when 40 bars had three names, without a word. Days in their order are an axis, which a reader counts on."""
    days = [f"2026-0{1 + n // 28}-{1 + n % 28:02}" for n in range(40)]
    names: list[str | int | None] = [*days] if kind == "date" else [f"row number {n}" for n in range(40)]
    sort = {"sort": "smallest"} if kind == "date" else {}
    panel = await panel_of(stand_in, visit, bars(names, kind) | sort)
    assert await panel.locator(".chart-note").all_inner_texts() == ["Some bars have no room for their name."]
    if sort:
        panel = await panel_of(stand_in, visit, bars(names, kind))
        assert await panel.locator(".chart-note").count() == 0


async def test_one_long_name_takes_no_other_name_away(stand_in: StandIn, visit: Visit) -> None:
    """Red when its bar could not have it whole, and only three of nine had a name."""
    long = "Gesellschaft für die Erforschung der Donaudampfschifffahrt " * 3
    panel = await panel_of(stand_in, visit, bars([*CITIES[:8], long]), width=390)
    assert (await panel.locator(".label.name").all_text_contents())[:-1] == CITIES[:8]


async def test_each_line_of_a_heat_map_has_its_name(stand_in: StandIn, visit: Visit) -> None:
    """Red when every third of thirty had one."""
    names = [f"Machine {n}" for n in range(30)]
    told = [[day, name, 5] for name in names for day in ("Mon", "Tue")]
    view = {"kind": "heatmap", "heatmap": "n", "by": "day", "rows": "x"}
    panel = await panel_of(
        stand_in, visit, view | {"answer": rows({"day": "text", "x": "text", "n": "integer"}, *told)}
    )
    assert await panel.locator(".label.name").all_text_contents() == names
    (measured,) = (await drawn(panel.page)).values()
    assert [*faults(measured)] == []


@pytest.mark.parametrize("width", [1440, 820, 390])
async def test_slices_whose_names_begin_alike_are_told_apart(stand_in: StandIn, visit: Visit, width: int) -> None:
    """Red when both were "Ahrensburg & Söhne…"."""
    begins = "Ahrensburg & Söhne Gesellschaft für Industriekältetechnik und Anlagenbau in Norddeutschland mbH, Werk "
    names = [f"{begins * 2}{city}" for city in CITIES[:2]]
    view = {"kind": "donut", "donut": "n", "by": "x"}
    donut = view | {"answer": rows({"x": "text", "n": "integer"}, *[[name, 5] for name in names])}
    page = (await visit(stand_in.show([donut, bars(["a"])]), width=width)).page
    shown = page.locator(".legend-name")
    assert [text.rpartition(" ")[2] for text in await shown.all_text_contents()] == CITIES[:2]
    assert await shown.evaluate_all("all => all.every((each) => each.scrollHeight <= each.clientHeight + 1)")
    assert await shown.evaluate_all("all => all.map((each) => each.title)") == names


async def test_slices_below_a_ring_have_lines_for_their_names(stand_in: StandIn, visit: Visit) -> None:
    """Red on a phone: one line, cut beside an empty place."""
    names = [f"Subscriptions of customers with a contract, region {city}" for city in CITIES[:3]]
    view = {"kind": "donut", "donut": "n", "by": "x"}
    donut = view | {"answer": rows({"x": "text", "n": "integer"}, *[[name, 5] for name in names])}
    panel = await panel_of(stand_in, visit, donut, width=390)
    whole = "all => all.map((each) => each.scrollHeight <= each.clientHeight + 1 && each.textContent)"
    assert await panel.locator(".legend-name").evaluate_all(whole) == names
    assert (await box_of(panel.locator("svg.plot")))["width"] >= 180


async def test_rows_that_can_be_clicked_are_told_apart(stand_in: StandIn, visit: Visit) -> None:
    """As the marks of charts are. Red with two rows "(no value)", and with two "Eta Theta"."""
    names = [None, "(no value)", "Eta Theta", "Eta  Theta"]
    answer = rows({"x": "text", "n": "integer"}, *[[name, 5] for name in names])
    table = {"kind": "table", "click": {"values": {"x": "x"}, "open": ""}, "answer": answer}
    panel = await panel_of(stand_in, visit, table)
    said = await panel.locator("tbody .link").all_text_contents()
    assert said == ["(no value)", '"(no value)"', '"Eta Theta"', '"Eta\\u0020 Theta"']


# --- numbers below bars -----------------------------------------------------------------------------------------------


async def test_bars_of_numbers_stand_where_the_numbers_are(stand_in: StandIn, visit: Visit) -> None:
    """Also in a heat map, in any order. Red when 35 stood beside 15, with every third label: 0, 15, 45."""
    numbers = [0, 5, 10, 15, 35, 40, 45]
    panel = await panel_of(stand_in, visit, bars([None, *numbers], "integer"))
    zero, five, *_, forty_five = await middles(panel)
    assert (forty_five - zero) / (five - zero) == pytest.approx(9, abs=0.05)
    assert await panel.locator(".chart-note").inner_text() == NOWHERE
    assert [each.splitlines()[0] for each in await titles(panel)] == [str(n) for n in range(0, 50, 5)]
    told = [[n, "a", 5] for n in reversed(numbers)]
    heat = {"kind": "heatmap", "heatmap": "n", "by": "x", "rows": "k"}
    panel = await panel_of(
        stand_in, visit, heat | {"answer": rows({"x": "integer", "k": "text", "n": "integer"}, *told)}
    )
    cells = await panel.locator("rect.cell").evaluate_all("all => all.map((each) => Number(each.getAttribute('x')))")
    assert (cells[-1] - cells[0]) / (cells[1] - cells[0]) == pytest.approx(9, abs=0.05)


@pytest.mark.parametrize("width", [1440, 390])
async def test_other_numbers_are_names(stand_in: StandIn, visit: Visit, width: int) -> None:
    """In an order of the author's, or too far apart: each bar has its number, in any width."""
    every = [[5, 1, 4, 2, 3], [200, 301, 404, 500], [1, 2, 3, 4000], [7]]
    panels = await panels_of(stand_in, visit, *[bars([*numbers], "integer") for numbers in every], width=width)
    for numbers, panel in zip(every, panels, strict=True):
        shown = await labels(panel) or await panel.locator(".label.name").all_text_contents()
        assert shown == [str(n) for n in numbers]


async def test_numbers_without_a_scale_say_so(stand_in: StandIn, visit: Visit) -> None:
    """Where there are too many bars for a number below each. Red with labels in equal steps, as an axis has them."""
    panel = await panel_of(stand_in, visit, bars([n * n for n in range(60)], "integer"), width=390)
    assert "at equal distances" in await panel.locator(".chart-note").inner_text()
