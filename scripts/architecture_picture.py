"""Draws the picture of docs/architecture.md: the rooms of ``src/tenantry``, and which room imports which.

    python -m scripts.architecture_picture             writes docs/figures/architecture.svg

A room is drawn as low as its imports allow. The picture leaves out lines from the rooms in ABOVE, lines to the rooms in
BELOW, and lines that follow from others: if A imports B and B imports C, there is no line from A to C.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from html import escape
from typing import Final, NamedTuple

from scripts.distributions import ROOT
from scripts.structure import CORE, Package, parsed

PICTURE: Final = ROOT / "docs" / "figures" / "architecture.svg"

ABOVE: Final = frozenset({"cli", "demo", "testing"})
"""Rooms that import nearly every room."""

BELOW: Final = frozenset({"ports", "groups", "errors", "_lazy", "clock"})
"""Rooms that nearly every room imports."""

_NAMESPACE: Final = "http://www.w3.org/2000/svg"
_WIDTH: Final = 760
_ROW: Final = 60
_BOX: Final = 28
_MARGIN: Final = 20

_STYLE: Final = """
    .ground { fill: #ffffff } .box { fill: #ffffff; stroke: #8aa8ff }
    .line { stroke: #2f5bd8; stroke-opacity: .45; fill: none } .name { fill: #1b1f27 }
    text { font: 14px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
    @media (prefers-color-scheme: dark) {
      .ground { fill: #0f1115 } .box { fill: #0f1115; stroke: #2f5bd8 }
      .line { stroke: #8aa8ff } .name { fill: #e6e9ef }
    }
  """


class Box(NamedTuple):
    """The box of a room: the middle of its upper edge, and its width."""

    x: float
    y: float
    width: float


def imports(package: Package) -> dict[str, set[str]]:
    """Return the imports of each room, without a room that another imported room leads to."""
    direct: dict[str, set[str]] = {}
    for module, imported in package.imports.items():
        targets = direct.setdefault(_first_level(module), set())
        targets |= {_first_level(each) for each in imported}
    graph = {name: {each for each in targets if each not in {name, ""}} for name, targets in direct.items() if name}
    return {
        name: {each for each in targets if not any(each in _reachable(graph, other) for other in targets - {each})}
        for name, targets in graph.items()
    }


def _first_level(module: str) -> str:
    """Return the room of a module: ``tenantry.cli.sql`` -> ``cli``; empty for ``tenantry`` itself."""
    return module.partition(".")[2].partition(".")[0]


def _reachable(graph: Mapping[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for each in graph.get(waiting.pop(), set()) - found:
            found.add(each)
            waiting.append(each)
    return found


def rows(imported: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the rows of rooms, highest first. A room is one row above the highest room that it imports."""
    heights: dict[str, int] = {}
    while len(heights) < len(imported):
        for name in imported.keys() - heights.keys():
            if imported[name] <= heights.keys():
                heights[name] = 1 + max((heights[each] for each in imported[name]), default=-1)
    levels = range(max(heights.values()), -1, -1)
    return [sorted(name for name, height in heights.items() if height == level) for level in levels]


def draw() -> str:
    """Return the picture as SVG."""
    imported = imports(parsed(CORE))
    order = rows(imported)
    boxes = _boxes(order)
    height = len(order) * _ROW + 2 * _MARGIN
    description = "From the highest to the lowest: " + "; ".join(", ".join(row) for row in order) + "."
    return "\n".join(
        [
            f'<svg xmlns="{_NAMESPACE}" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" role="img">',
            "  <title>The rooms of Tenantry</title>",
            f"  <desc>{escape(description)}</desc>",
            f"  <style>{_STYLE}</style>",
            f'  <rect class="ground" width="{_WIDTH}" height="{height}" rx="12"/>',
            *_lines(boxes, imported),
            *_names(boxes),
            "</svg>",
            "",
        ]
    )


def _boxes(order: list[list[str]]) -> dict[str, Box]:
    """Place the boxes. Rows are shifted left and right in turn, so that a long line passes between the boxes."""
    found = {}
    for number, row in enumerate(order):
        widths = [18 + 8 * len(name) for name in row]
        gap = (_WIDTH - 2 * _MARGIN - sum(widths)) / (len(row) + 1)
        left = _MARGIN + gap * (0.6 if number % 2 else 1.4)
        for name, width in zip(row, widths, strict=True):
            found[name] = Box(round(left + width / 2), _MARGIN + number * _ROW + (_ROW - _BOX) / 2, width)
            left += width + gap
    return found


def _lines(boxes: Mapping[str, Box], imported: Mapping[str, set[str]]) -> Iterator[str]:
    for name, targets in sorted(imported.items()):
        for target in sorted(targets - BELOW if name not in ABOVE else ()):
            here, there = boxes[name], boxes[target]
            x, y = here.x, here.y + _BOX
            bend = (there.y - y) / 2
            yield (
                f'  <path class="line" d="M{x:g} {y:g}C{x:g} {y + bend:g} {there.x:g} {there.y - bend:g}'
                f' {there.x:g} {there.y:g}"><title>{name} imports {target}</title></path>'
            )


def _names(boxes: Mapping[str, Box]) -> Iterator[str]:
    for name, box in boxes.items():
        left = box.x - box.width / 2
        yield (
            f'  <rect class="box" x="{left:g}" y="{box.y:g}" width="{box.width:g}" height="{_BOX}" rx="6"/>'
            f'<text class="name" x="{box.x:g}" y="{box.y + 19:g}" text-anchor="middle">{name}</text>'
        )


def main() -> None:
    """Write the picture."""
    argparse.ArgumentParser(prog="python -m scripts.architecture_picture", description="Draws the rooms.").parse_args()
    PICTURE.write_text(draw(), encoding="utf-8")
    print(PICTURE.relative_to(ROOT))


if __name__ == "__main__":
    main()
