"""What a page has drawn, as numbers: marks, axes, labels and bars of tables, and what must hold for all of them."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import Locator, Page

from tests.dashboards.page.conftest import Visit
from tests.dashboards.page.stand_in import Message, StandIn

NEAR = 0.6
"""Pixels: coordinates are written with two digits, and grid lines lie in the middle of a pixel."""
CUT = 1.0
"""Pixels by which a mark or a label may reach beyond its place: half of a stroke."""

CHARTS = {"line", "area", "bar", "donut", "scatter", "heatmap"}

MEASURE = r"""() => [...document.querySelectorAll(".panel[data-panel]")].map((panel) => {
    const svg = panel.querySelector("svg.plot");
    const away = (box, from) => ({ x: box.x - from.x, y: box.y - from.y, width: box.width, height: box.height });
    const place = (each) => {  // without its stroke, and by the drawing's own units
        const { x, y, width, height } = each.getBBox();
        const { a, d, e, f } = each.getCTM();
        return [x * a + e, y * d + f, width * a, height * d].map((each) => Math.round(each * 1000) / 1000);
    };
    const all = (what, of) => [...panel.querySelectorAll(what)].map(of);
    const text = (each) => each.textContent;
    const kind = / (bar|slice|point|cell|layer|area|line|dot) /;
    const outer = panel.getBoundingClientRect();
    const origin = (svg ?? panel).getBoundingClientRect();
    return {
        id: panel.dataset.panel,
        kind: panel.className.match(/panel-(\w+)/)[1],
        state: panel.dataset.state,
        sentence: all(".panel-empty, .panel-failed", (each) => each.textContent.trim()).join(" "),
        notes: all(".chart-note", text).join(" "),
        drawing: svg && { x: 0, y: 0, width: svg.viewBox.baseVal.width, height: svg.viewBox.baseVal.height },
        marks: svg ? all("svg.plot .mark, svg.plot .series > *", (each) => [
            kind.exec(` ${each.getAttribute("class")} `)?.[1] ?? null,
            each.getAttribute("data-series") ?? each.parentNode.getAttribute("data-series") ?? "",
            place(each),
            each.getAttribute("d") ?? "",
            each.getAttributeNames().map((name) => each.getAttribute(name)).join(" "),
        ]) : [],
        lying: Boolean(panel.querySelector(".plot.lying")),
        ticks: all("svg.plot .axis-value .label", (each) => [Number(each.getAttribute("y")), each.textContent]),
        names: all("svg.plot .axis-bottom .label, svg.plot .label.name", text),
        amounts: all("svg.plot .label.value", text),
        texts: all("svg.plot text", (each) => ({
            text: each.textContent,
            box: away(each.getBoundingClientRect(), origin),
        })),
        panel: away(outer, origin),
        legend: all(".legend-item", (each) => [...each.querySelectorAll(".legend-name, .legend-note")].map(text)),
        cells: all("tbody tr", (row) => [...row.cells].map((cell) => {
            const bar = cell.querySelector(".cell-bar");
            const box = cell.getBoundingClientRect();
            return { text: cell.textContent, width: box.width, bar: bar && away(bar.getBoundingClientRect(), box) };
        })),
        sparkline: all(".sparkline .line", (each) => each.getAttribute("d")).join(" "),
    };
})"""
"""A script that measures each panel of a page."""


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    def holds(self, other: Box) -> bool:
        across = self.x - CUT <= other.x and other.right <= self.right + CUT
        return across and self.y - CUT <= other.y and other.bottom <= self.bottom + CUT

    def overlaps(self, other: Box) -> bool:
        across = self.x < other.right - CUT and other.x < self.right - CUT
        return across and self.y < other.bottom - CUT and other.y < self.bottom - CUT


@dataclass(frozen=True)
class Mark:
    """``kind``: bar, slice, point, cell, layer, area, line or dot. ``parts``: the corners of a path, one list for each
    part without a gap. ``written``: all its attributes."""

    kind: str
    series: str
    box: Box
    parts: list[list[tuple[float, float]]]
    written: str


@dataclass(frozen=True)
class Axis:
    """The axis of numbers as a viewer reads it: the value at a height, from its lowest and highest label."""

    low: tuple[float, float]
    high: tuple[float, float]

    def height(self, value: float) -> float:
        share = (value - self.low[1]) / (self.high[1] - self.low[1])
        return self.low[0] + share * (self.high[0] - self.low[0])

    def value(self, height: float) -> float:
        share = (height - self.low[0]) / (self.high[0] - self.low[0])
        return self.low[1] + share * (self.high[1] - self.low[1])


@dataclass(frozen=True)
class Cell:
    text: str
    width: float
    bar: Box | None


@dataclass(frozen=True)
class Drawn:
    """One panel; all places are by the drawing. ``sentence``: what stands in place of it. ``drawing``: None where there
    is none."""

    id: str
    kind: str
    state: str
    sentence: str
    notes: str
    drawing: Box | None
    marks: list[Mark]
    ticks: list[tuple[float, str]]
    names: list[str]
    amounts: list[str]
    texts: list[tuple[str, Box]]
    panel: Box
    lying: bool = False
    """Whether its bars lie: as their author says, or since their names have no room below them."""
    legend: list[list[str]] = field(default_factory=list)
    cells: list[list[Cell]] = field(default_factory=list)
    sparkline: list[list[tuple[float, float]]] = field(default_factory=list)

    @property
    def axis(self) -> Axis:
        return axis_of(self.ticks)

    def of(self, *kinds: str, series: str | None = None) -> list[Mark]:
        return [each for each in self.marks if each.kind in kinds and series in (None, each.series)]


async def drawn(page: Page) -> dict[str, Drawn]:
    """Each panel of the page, by its id."""
    return {each["id"]: _drawn(each) for each in await measured(page, MEASURE)}


async def measured(page: Page, script: str, argument: Any = None) -> Any:
    """What a function in the page returns, sent as one text: Playwright checks a structure value by value."""
    function = script.strip().removesuffix(";")
    return json.loads(await page.evaluate(f"async (given) => JSON.stringify(await ({function})(given))", argument))


def _drawn(found: dict[str, Any]) -> Drawn:
    box = found["drawing"]
    return Drawn(
        **{key: found[key] for key in ("id", "kind", "state", "sentence", "notes", "names", "amounts", "legend")},
        drawing=box and Box(**box),
        marks=[
            Mark(kind, series, Box(*box), corners(path) if path else [], written)
            for kind, series, box, path, written in found["marks"]
        ],
        ticks=[(float(y), text) for y, text in found["ticks"]],
        lying=found["lying"],
        texts=[(each["text"], Box(**each["box"])) for each in found["texts"]],
        panel=Box(**found["panel"]),
        cells=[
            [Cell(each["text"], each["width"], each["bar"] and Box(**each["bar"])) for each in row]
            for row in found["cells"]
        ],
        sparkline=corners(found["sparkline"]),
    )


def faults(panel: Drawn) -> Iterator[str]:
    """What is wrong in any chart, whatever its data are."""
    if panel.drawing is None:
        if panel.kind in CHARTS and not panel.sentence:
            yield "neither a drawing nor a sentence"
        return
    if panel.sentence:
        yield f"a drawing, and in its place: {panel.sentence}"
    for mark in panel.marks:
        if re.search("NaN|Infinity|undefined", mark.written):
            yield f"a {mark.kind} at no place: {mark.written}"
        if not panel.drawing.holds(mark.box):
            yield f"a {mark.kind} beyond the drawing: {mark.box} in {panel.drawing}"
    for text, box in panel.texts:
        if re.search("NaN|Infinity|undefined", text):
            yield f"a label that says {text}"
        if not panel.panel.holds(box):
            yield f"a label beyond the panel: {text}, {box} in {panel.panel}"
    for text, box in panel.texts:
        if any(box.overlaps(mark.box) for mark in panel.of("bar")):
            yield f"a label over a bar: {text}"
    in_order = sorted(panel.texts, key=lambda each: each[1].x)
    for place, (one, box) in enumerate(in_order, 1):
        for other, beside in itertools.islice(in_order, place, None):
            if beside.x >= box.right:
                break
            if box.overlaps(beside):
                yield f"labels over one another: {one} and {other}"


# --- one panel --------------------------------------------------------------------------------------------------------


def amount(text: str) -> float:
    return float(text.replace("\N{MINUS SIGN}", "-").replace(",", "").rstrip("%")) * (0.01 if text.endswith("%") else 1)


def corners(path: str) -> list[list[tuple[float, float]]]:
    """The corners of a path of straight lines, one list for each part without a gap."""
    parts = [re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", part) for part in path.split("M") if part and "A" not in part]
    return [[(float(x), float(y)) for x, y in zip(each[::2], each[1::2], strict=True)] for each in parts]


def axis_of(ticks: list[tuple[float, str]]) -> Axis:
    read = sorted((y, amount(text)) for y, text in ticks)
    return Axis(read[-1], read[0])


async def axis(panel: Locator) -> Axis:
    return axis_of(
        await panel.locator(".axis-value .label").evaluate_all(
            "all => all.map((each) => [Number(each.getAttribute('y')), each.textContent])"
        )
    )


async def path(panel: Locator, what: str) -> list[list[tuple[float, float]]]:
    """The corners of each path, one list for each part without a gap."""
    found = await panel.locator(what).evaluate_all("all => all.map((each) => each.getAttribute('d'))")
    return [part for each in found for part in corners(each)]


async def boxes(panel: Locator, what: str = "rect.bar") -> list[dict[str, float]]:
    found: list[dict[str, float]] = await panel.locator(what).evaluate_all(
        """all => all.map((each) => Object.fromEntries(
            ["x", "y", "width", "height"].map((name) => [name, Number(each.getAttribute(name))])))"""
    )
    return found


async def panel_of(stand_in: StandIn, visit: Visit, panel: Message, **options: Any) -> Locator:
    """The panel, alone on its page; the console is clean and the policy kept."""
    (found,) = await panels_of(stand_in, visit, panel, **options)
    return found


async def panels_of(stand_in: StandIn, visit: Visit, *panels: Message, **options: Any) -> list[Locator]:
    """Panels below one another on one page, each as wide as one alone: a page costs as much as ten panels."""
    seen = await visit(stand_in.show(*[[panel] for panel in panels]), **options)
    assert seen.console == []
    assert await seen.violations() == []
    return [seen.page.locator(f"[data-panel='{line}-1']") for line in range(1, len(panels) + 1)]
