"""The picture of docs/architecture.md: the floors of ``src/tenantry``, and which package imports which.

    python -m scripts.architecture_picture             writes docs/figures/architecture.svg

The floors are the layers of import-linter in pyproject.toml, the lines are the imports that the code makes. Left out
are lines that follow from others (where A imports B and B imports C, none goes from A to C), those from ABOVE and those
to BELOW.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Iterator, Mapping
from html import escape
from typing import Final, NamedTuple

from scripts.distributions import ROOT
from scripts.structure import CORE, Package

PICTURE: Final = ROOT / "docs" / "figures" / "architecture.svg"

FLOORS: Final = {
    "__main__": "command line",
    "demo": "demo",
    "app": "composition",
    "dashboards": "HTTP",
    "resolver": "adapters",
    "keys": "the machine",
    "tokens": "pure",
    "ports": "ports",
    "groups": "records",
    "http": "error responses",
    "errors": "errors",
}
"""The first package of a layer -> the name that stands beside it; a layer without one belongs to the floor above it."""

ABOVE: Final = frozenset({"cli", "demo", "testing"})
"""What knows nearly every package."""

BELOW: Final = frozenset({"ports", "groups", "http", "errors", "_lazy", "suggestions"})
"""What nearly every package knows."""

_NAMESPACE: Final = "http://www.w3.org/2000/svg"
_WIDTH: Final = 760
_LEFT: Final = 140
_ROW: Final = 54
_BOX: Final = 28
_MARGIN: Final = 20

_STYLE: Final = """
    .ground { fill: #ffffff } .band { fill: #f4f6f9 } .box { fill: #ffffff; stroke: #8aa8ff }
    .line { stroke: #2f5bd8; stroke-opacity: .45; fill: none } .name { fill: #1b1f27 } .floor { fill: #5b6472 }
    text { font: 14px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
    @media (prefers-color-scheme: dark) {
      .ground { fill: #0f1115 } .band { fill: #181b22 } .box { fill: #0f1115; stroke: #2f5bd8 }
      .line { stroke: #8aa8ff } .name { fill: #e6e9ef } .floor { fill: #9aa4b2 }
    }
  """


class Box(NamedTuple):
    """A package in the picture: the middle of its upper edge, and its width."""

    x: float
    y: float
    width: float


def layers() -> list[list[str]]:
    """The layers of import-linter, the highest first: the packages and modules of each."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    floors = next(each for each in tools["importlinter"]["contracts"] if each["name"] == "floors")
    return [[name.strip() for name in layer.split("|")] for layer in floors["layers"]]


def imports(package: Package) -> dict[str, set[str]]:
    """Package of the first level -> those that it imports, itself, and what others lead to as well, left out."""
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
    """``tenantry.cli.sql`` -> ``cli``; empty for the package itself."""
    return module.partition(".")[2].partition(".")[0]


def _reachable(graph: Mapping[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for each in graph.get(waiting.pop(), set()) - found:
            found.add(each)
            waiting.append(each)
    return found


def draw() -> str:
    """The picture as SVG."""
    rows = layers()
    boxes = _boxes(rows)
    height = len(rows) * _ROW + 2 * _MARGIN
    return "\n".join(
        [
            f'<svg xmlns="{_NAMESPACE}" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" role="img">',
            "  <title>The floors of Tenantry</title>",
            f"  <desc>{escape(_description(rows))}</desc>",
            f"  <style>{_STYLE}</style>",
            f'  <rect class="ground" width="{_WIDTH}" height="{height}" rx="12"/>',
            *_bands(rows),
            *_lines(boxes),
            *_names(boxes),
            "</svg>",
            "",
        ]
    )


def _boxes(rows: list[list[str]]) -> dict[str, Box]:
    found = {}
    for number, row in enumerate(rows):
        widths = [18 + 8 * len(name) for name in row]
        gap = (_WIDTH - _LEFT - _MARGIN - sum(widths)) / (len(row) + 1)
        left = _LEFT + gap
        for name, width in zip(row, widths, strict=True):
            found[name] = Box(round(left + width / 2), _MARGIN + number * _ROW + (_ROW - _BOX) / 2, width)
            left += width + gap
    return found


def _description(rows: list[list[str]]) -> str:
    return "From the highest to the lowest: " + "; ".join(", ".join(row) for row in rows) + "."


def _bands(rows: list[list[str]]) -> Iterator[str]:
    """A band behind every second floor, and the floor's name."""
    starts = [number for number, row in enumerate(rows) if row[0] in FLOORS]
    for index, (start, end) in enumerate(zip(starts, [*starts[1:], len(rows)], strict=True)):
        top, height = _MARGIN + start * _ROW, (end - start) * _ROW
        if index % 2 == 0:
            yield f'  <rect class="band" x="8" y="{top}" width="{_WIDTH - 16}" height="{height}" rx="8"/>'
        yield f'  <text class="floor" x="18" y="{top + height / 2 + 5:g}">{FLOORS[rows[start][0]]}</text>'


def _lines(boxes: Mapping[str, Box]) -> Iterator[str]:
    for name, targets in sorted(imports(Package(CORE)).items()):
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
    """Writes the picture."""
    argparse.ArgumentParser(prog="python -m scripts.architecture_picture", description="Draws the floors.").parse_args()
    PICTURE.write_text(draw(), encoding="utf-8")
    print(PICTURE.relative_to(ROOT))


if __name__ == "__main__":
    main()
