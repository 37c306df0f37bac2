"""What the page is made of: how large its bundles are, and what its sources keep to."""

from __future__ import annotations

import re
from pathlib import Path

from tenantry.dashboards.frame import FURTHER
from tests.dashboards.page.stand_in import BUNDLES

SOURCES = Path(__file__).parents[3] / "frontend" / "src" / "dashboards"
LARGEST_LOAD = 45_000
LARGEST_CHUNK = 25_000
LONGEST = 350


def test_the_bundles_are_small() -> None:
    """By brotli: what a page of figures, tables, lines and bars loads before it draws, and what each other bundle of
    ours adds, which is loaded when it is needed. vega.js is Vega-Lite, for panels of an author's own specification."""
    sizes = [len((BUNDLES / f"{name}.br").read_bytes()) for name in ("page.js", "page.css")]
    assert sum(sizes) <= LARGEST_LOAD, sizes
    added = {name: len((BUNDLES / f"{name}.br").read_bytes()) for name in FURTHER if name != "vega.js"}
    assert max(added.values()) <= LARGEST_CHUNK, added


def test_only_the_tokens_hold_a_colour() -> None:
    """And no unit of the viewport, by which a frame that grows with its content would grow for ever."""
    for path in sorted(SOURCES.rglob("*.css")):
        css = path.read_text(encoding="utf-8")
        assert re.findall(r"#[0-9a-fA-F]{3,8}\b|\brgba?\(|\bhsla?\(|\d(?:vh|vw|dvh|svh)\b", css) == [], path.name


def test_a_panel_that_changes_restyles_no_other() -> None:
    """A rule by ``:has`` for other elements than those that have something makes browsers style all of these, thousands
    of marks of a chart, whenever anything in them changes. Red for ``.row:has(> .panel-donut) > *``. Tips are small."""
    for path in sorted(SOURCES.rglob("*.css")):
        css = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        within = re.findall(r"([^\s,{}]*:has\((?:[^()]|\([^()]*\))*\)[^\s,{>+~]*)[\s>+~]+[^\s,{]", css)
        assert within == [".tip:has(.here)"] * (path.name == "charts.css"), path.name


def test_the_sources_keep_to_the_policy() -> None:
    """No markup in texts, no code in texts, no inline handlers; a file holds one idea."""
    banned = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setAttribute\(\"(?:style|on)"
    )
    for path in sorted(SOURCES.rglob("*.js")):
        text = path.read_text(encoding="utf-8")
        lines = [line for line in text.splitlines() if banned.search(line) and not line.lstrip().startswith("//")]
        assert lines == [], path.name
        assert len(text.splitlines()) <= LONGEST, path.name
