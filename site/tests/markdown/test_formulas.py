"""Formulas between ``$$``: no page sets them, and none loses a character of one."""

from __future__ import annotations

import re
from html import unescape

import pytest

from tests.markdown.reading import codes, read

FORMULAS = [
    r"$$a_1 * b * c$$",
    r"$$\\frac{a}{b} \\\\ \\{x\\}$$",
    "$$a < b$$",
    "$$<x, y>$$",
    "$$a `b` [c](d)$$",
    "$$\na\n=\nb\n$$",
    "$$\na\n---\nb\n$$",
    "$$\n- a\n+ b\n$$",
    "$$\n# a\n> b\n$$",
    "$$\n\\begin{cases}\n{a} & b \\\\\n\\end{cases}\n$$",
    "$$ a\n= b $$",
]


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("around", ["{}", "Before\n\n{}\n\nafter", "<Note>\n{}\n</Note>"])
def test_a_formula_is_shown_as_it_was_written(formula: str, around: str) -> None:
    """Red when it is read as Markdown: backslashes go, and a line of ``=`` makes a heading of what is above it."""
    page = read(around.replace("{}", formula))
    shown = unescape(re.sub(r"<[^>]*>", "", page.html))
    assert " ".join(formula.split()) in " ".join(shown.split())
    assert codes(page) == ["PAGE021"]


@pytest.mark.parametrize(
    "text", ["a $$ and **b**", "$$\n**b**", "$$\n\n**b**\n\n$$", "$$$ **b** $$$", "<b>$$</b> **b** <b>$$</b>"]
)
def test_a_mark_alone_takes_nothing_with_it(text: str) -> None:
    assert "<strong>b</strong>" in read(text).html


def test_in_a_line_with_other_things() -> None:
    page = read("**a** $$x_1 * y$$ *b* [$$z$$](/) and $5")
    assert page.html.strip() == (
        '<p><strong>a</strong> $$x_1 * y$$ <em>b</em> <a href="../index.html">$$z$$</a> and $5</p>'
    )
