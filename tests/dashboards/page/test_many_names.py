"""More names than the palette has colours: each has one colour on the page, in every kind of chart."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from playwright.async_api import Page

from tests.dashboards.page.conftest import Visit, come
from tests.dashboards.page.stand_in import Message, StandIn, rows
from tests.dashboards.page.test_colors import by_name, contrast, distance, loads, loads_and_tokens, numbers_of, parts_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("count", [14, 20, 30, 90])
def test_a_name_has_one_colour_in_four_charts(count: int) -> None:
    """Of a column with more names than hues, in whatever order the answers come, and no other name has it. Red when a
    chart gave one of two names with one colour another one."""
    dice = random.Random(count)
    names = [f"name {n}" for n in range(count)]
    charts = [["x", dice.sample(names, 7)] for _ in range(3)] + [["x", dice.sample(names, count)]]
    found = loads(*([dice.sample(charts, len(charts))] for _ in range(20)))
    assert all(each == found[0] for each in found)
    colors = by_name(found[0][0])
    assert all(len(each) == 1 for each in colors.values()), colors
    assert len({color for each in colors.values() for color in each}) == count


def test_a_measure_has_one_colour_in_all_charts() -> None:
    """Of more measures than hues, each chart's have different ones. Red when the first and the twelfth measure of a
    file looked alike until one chart had both."""
    several = [[f"m{n}" for n in range(at, at + 4)] for at in range(0, 16, 4)] + [["m0", "m11", "m12", "m1"]]
    rows_ = [[{"view": {"kind": "line", "line": names}} for names in several]]
    [[found]] = loads([[["", names] for names in several]], rows=rows_)
    assert all(len(each) == 1 for each in by_name(found).values()), by_name(found)
    assert all(len({*colors}) == len(colors) for colors in found.values())


def test_two_controls_may_give_one_place_to_two_names() -> None:
    """Both names in one column: one of them gives way on the whole page. Red when it did so in one chart alone."""
    controls = [{"choices": [{"value": "EWR"}, {"value": "JFK"}]}, {"choices": [{"value": "Basic"}, {"value": "Pro"}]}]
    [[found]] = loads([[["x", ["EWR"]], ["x", ["Basic", "EWR"]], ["x", ["Basic", "Pro"]]]], controls=controls)
    assert all(len(each) == 1 for each in by_name(found).values()), by_name(found)
    assert all(len({*colors}) == len(colors) for colors in found.values())


def test_grey_is_left_for_other() -> None:
    """Red when the eighth name was grey, and looked like "Other"."""
    [[found]] = loads([[["x", [f"name {n}" for n in range(40)]]]])
    assert 8 not in {color for colors in found.values() for color in colors}


def test_a_theme_that_comes_later_leaves_names_apart() -> None:
    """Red when the places were found for the colours that the page had at first: a palette whose colours are all alike
    made names look alike."""
    names = [f"name {n}" for n in range(20)]
    alike = {f"data-{number}": "#cc2200" for number in range(1, 8)}
    [[_, found]], tokens = loads_and_tokens([[["x", names]], [["x", names]]], later=alike)
    assert len({tokens[f"data-{place}"] for places in found.values() for place in places}) == 20


# --- on the page ------------------------------------------------------------------------------------------------------

BRAND = ["#0b5fff", "#ff6b00", "#00a37a", "#8f3fd1", "#d6336c"]
IDS = ("1-1", "1-2", "2-1", "2-2")
COLORS = """() => {
    const found = [];
    const add = (name, color) => found.push([name.closest("[data-panel]").dataset.panel, name.textContent, color]);
    for (const item of document.querySelectorAll("[data-panel] .legend-item"))
        add(item.querySelector(".legend-name"), getComputedStyle(item.querySelector(".swatch")).backgroundColor);
    const symbols = [...document.querySelectorAll(".vega .role-legend-symbol path")];
    for (const [at, label] of document.querySelectorAll(".vega .role-legend-label text").entries())
        add(label, getComputedStyle(symbols[at]).fill);
    return found;
}"""
WATCH = """() => new MutationObserver(() => {
    const colors = (COLORS)().filter(([id]) => id !== "2-2"); // Vega draws a moment later than it is told to
    if (document.querySelector("[aria-busy], [data-state=waiting]")) globalThis.atEnd = null;
    else globalThis.atEnd ??= JSON.stringify(colors);
}).observe(document.body, { attributes: true, childList: true, subtree: true })""".replace("COLORS", COLORS)


def charts(stand_in: StandIn, count: int, **about: Any) -> str:
    names = [f"Name {n}" for n in range(count)]

    def answer(first: int, many: int) -> Message:
        some = [names[(first + step) % count] for step in range(many)]
        return rows(
            {"x": "text", "k": "text", "n": "integer"}, *[["a", name, 100 - at] for at, name in enumerate(some)]
        )

    encoding = {
        "x": {"field": "n", "type": "quantitative"},
        "y": {"field": "k", "type": "nominal", "axis": None},
        "color": {"field": "k", "type": "nominal", "legend": {"columns": 3}},
    }
    bar = {"kind": "bar", "bar": ["n"], "by": "x", "color": "k", "answer": answer(0, 7)}
    donut = {"kind": "donut", "donut": "n", "by": "k", "limit": 60, "answer": answer(5, count - 7)}
    area = {"kind": "area", "area": ["n"], "by": "x", "color": "k", "stack": "sum", "answer": answer(count - 4, 7)}
    vega = {"kind": "vega", "title": "Free", "vega": {"mark": "bar", "encoding": encoding}, "answer": answer(3, 12)}
    return stand_in.show([bar, donut], [area, vega], **about)


@pytest.mark.parametrize("dark", [False, True])
async def test_the_colours_of_twenty_names_are_told_apart(stand_in: StandIn, visit: Visit, dark: bool) -> None:
    """And grey from all of them. Red when a brown and the dark shade of an orange, 45 apart, were two names."""
    answer = rows({"k": "text", "n": "integer"}, *[[f"Name {n}", 100 - n] for n in range(22)])
    donut = {"kind": "donut", "donut": "n", "by": "k", "limit": 20, "answer": answer}
    page = (await visit(stand_in.show([donut]), dark=dark)).page
    colors = ["#" + "".join(f"{part:02x}" for part in numbers_of(color)) for _, _, color in await shown(page)]
    assert len(colors) == 21
    assert min(distance(one, other) for one, other in itertools.combinations(colors, 2)) >= 60


@pytest.mark.parametrize("kind", ["donut", "bar", "line"])
async def test_a_name_keeps_its_colour_when_others_are_the_largest(stand_in: StandIn, visit: Visit, kind: str) -> None:
    """Of forty names in both answers, of which one draws other ones. Red when names within "Other" were unknown until
    they were drawn, and then took colours of those that had been drawn before."""

    def chart(largest: int) -> Message:
        told = [["a", f"Name {n}", 100 - (n - largest) % 40] for n in range(40)]
        view = {"donut": "n", "by": "k"} if kind == "donut" else {kind: ["n"], "by": "x", "color": "k"}
        return {"kind": kind, "answer": rows({"x": "text", "k": "text", "n": "integer"}, *told)} | view

    alone, both = [
        {name: color for panel, name, color in await shown((await visit(stand_in.show(charts))).page) if panel == "1-1"}
        for charts in ([chart(0)], [chart(0), chart(20)])
    ]
    assert len(alone) == 8
    assert alone == both


async def shown(page: Page) -> list[list[str]]:
    found: list[list[str]] = await page.evaluate(COLORS)
    return sorted(found)


@pytest.mark.parametrize(
    ("count", "dark", "palette"),
    [(14, False, None), (20, True, None), (30, False, BRAND), (30, True, BRAND), (60, False, None)],
)
async def test_a_name_has_one_colour_on_the_page(
    stand_in: StandIn, visit: Visit, count: int, dark: bool, palette: list[str] | None
) -> None:
    """In bars, areas, a donut, Vega, and their legends; no other name has it. Loads whose answers come in other orders,
    and a reload, agree, and once no panel is under way nothing changes any more. Each colour has a contrast of 3. Red
    when a chart gave one of two names of one colour another one, and when names were drawn anew after the last panel
    had come."""
    theme = {"palette": palette} if palette else {}
    found = []
    for order in (IDS, random.Random(count).sample(IDS, 4)):
        stand_in.clear()
        address = charts(stand_in, count, theme=theme)
        stand_in.held.update(IDS)
        seen = await visit(address, dark=dark, settle=False)
        page = seen.page
        await page.locator(f"[data-panel='{order[0]}']").wait_for()
        await page.evaluate(WATCH)
        for each in order:
            stand_in.held.discard(each)
            await page.locator(f"[data-panel='{each}'][data-state=ready]").wait_for()
        await page.wait_for_function("globalThis.atEnd")
        found.append(await shown(page))
        await page.evaluate("new Promise((resolve) => setTimeout(resolve, 50))")  # what changes later, does so now
        assert await shown(page) == found[-1]
        at_end = await page.evaluate("JSON.parse(globalThis.atEnd)")
        assert sorted(at_end) == [each for each in found[-1] if each[0] != "2-2"]
        assert seen.console == []
    await page.reload()
    await come(seen)
    found.append(await shown(page))
    assert found[1:] == found[:1] * 2
    names = {name for _, name, _ in found[0]}
    assert len(names) == count
    assert len({(name, color) for _, name, color in found[0]}) == count
    assert len({color for _, _, color in found[0]}) == count
    for token in ("page", "surface"):
        probe = f"""(() => {{ const probe = document.body.appendChild(document.createElement("i"));
            probe.style.background = "var(--{token})"; return getComputedStyle(probe).backgroundColor; }})()"""
        ground = await parts_of(page, probe)
        assert min(contrast(numbers_of(color), ground) for _, _, color in found[0]) >= 3
