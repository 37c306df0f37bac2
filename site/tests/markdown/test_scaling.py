"""The work grows with the length of a page, whatever stands on it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from tenantry_site.markdown import literals
from tenantry_site.markdown.code_blocks import Highlighter
from tenantry_site.markdown.jsx import Tag, TagScanner
from tenantry_site.markdown.literals import closing_brace
from tests.markdown.reading import reader

SHAPES = {
    "<": "<",
    "<a ": "<a ",
    "[": "[",
    "![](": "![](",
    "{": "{",
    "{ lines": "{\n",
    "<Note>": "<Note>",
    "<Note> lines": "<Note>\n",
    "<div>": "<div>",
    "</div>": "</div>",
    'a="': '<a b="',
    "a={": "<a b={",
    "<!--": "<!--",
    "<!-- lines": "<!--\n",
    "{/*": "{/*",
    "<script>": "<script>",
    "<pre>": "<pre>\n",
    ">": ">",
    "quotes": "> a\n",
    "lists": "- a\n  - b\n",
    "*": "*a _b ",
    "`": "`a``b```",
    "&": "&",
    "\\": "\\",
    "table": "|a|b|\n|-|-|\n|c|d|\n\n",
    "cells": "|",
    "paragraphs": "a\n\n",
    "lines": "a\n",
    "refs": "[a]: /x\n",
    "notes": "[^a]: x\n\n",
    "headings": "# a\n",
    "underlines": "a\n===\n",
    "urls": "https://x.y ",
    "parentheses": "https://x.y/(((",
    "braces and quotes": "{\"'`",
    "export": "export const a = {\n",
    "import": "import {\n\n",
    "spaces": " ",
    "blank lines": "\n",
    "heads": "---\n",
    "fences": "```\n",
    "alerts": "> [!NOTE]\n",
    "~~": "~~a ",
    "title": '[a](b "',
    "formula": "\\a{",
    "implied": "<li>a",
    "components": '<Card title="x">y</Card>\n',
    "entities": "&#x26;",
    "unknown": "<A b='c'>",
    "tooltips": "<Tooltip tip='x'>",
    "footnotes": "[^a]",
}
SIZE = 600


def calls(work: Callable[[], object]) -> int:
    """How many functions were called."""
    count = 0

    def on(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(on)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("shape", SHAPES)
def test_linear(shape: str) -> None:
    """Red when four times the text is far more than four times the work."""
    mine = reader()
    piece = SHAPES[shape]
    small, large = (piece * (size // len(piece)) for size in (SIZE, 4 * SIZE))
    mine.read("index.mdx", small)
    ratio = calls(lambda: mine.read("index.mdx", large)) / calls(lambda: mine.read("index.mdx", small))
    assert ratio < 6


def test_a_large_page() -> None:
    """Red when the largest real page, 1.4 MB, is a problem."""
    page = "## A heading\n\nText with `code` and [a link](/guides/more).\n\n<Note>\n\n- a\n- b\n\n</Note>\n\n" * 16_000
    assert len(page) > 1_300_000
    found = reader().read("index.mdx", page[:130_000])  # a tenth, for the sake of the tests' time
    assert len(found.headings) > 1400
    assert found.diagnostics in ((), found.diagnostics[:1])


def test_long_lines_of_nothing() -> None:
    """Red when a hundred thousand characters of hope are looked at again and again."""
    mine = reader()
    for piece in ("<", '<a b="'):
        assert mine.read("index.mdx", piece * (100_000 // len(piece))).html


class Counting(str):
    """Text that knows how often something was looked for in it."""

    __slots__ = ("searches",)

    def find(self, *args: Any) -> int:
        self.searches = getattr(self, "searches", 0) + 1
        return str.find(self, *args)


def test_hope_for_the_end_of_a_tag_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when every one of fifty thousand unclosed quotes is looked behind for its end."""
    tried = 0
    real = TagScanner._with_attributes

    def counted(scanner: TagScanner, text: str, name: str, at: int, end: int) -> tuple[Tag | None, int]:
        nonlocal tried
        tried += 1
        return real(scanner, text, name, at, end)

    monkeypatch.setattr(TagScanner, "_with_attributes", counted)
    text = '<a b="' * 50_000
    scanner = TagScanner(len(text), {})
    assert not any(scanner.tag(text, at, len(text)) for at in range(0, len(text), 6))
    assert 100 < tried < 30_000


def test_hope_for_the_end_of_a_comment_is_bounded() -> None:
    """Red when every one of fifty thousand open comments is looked behind for its end."""
    text = Counting("<!--" * 50_000)
    scanner = TagScanner(len(text), {})
    assert all(scanner.find("-->", text, at, len(text)) < 0 for at in range(0, len(text), 4))
    assert 100 < text.searches < 10_000


def test_hope_for_the_end_of_a_quote_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when every quote of a line is tried as the beginning of a text that never ends."""
    tried = 0

    class Tried:
        def match(self, *args: Any) -> None:
            nonlocal tried
            tried += 1

    monkeypatch.setattr(literals, "_QUOTED", dict.fromkeys(("/*", '"', "'", "`"), Tried()))
    assert closing_brace("{" + "\"'`/*\\" * 1000, 0, 6001) == -1
    assert tried == 4


@pytest.mark.parametrize("language", ["html", "yaml", "python"])
def test_a_block_that_lexers_choke_on_is_shown_plain(language: str) -> None:
    """Red when a lexer gets a line on which it looks through the rest at each character: some take hours."""
    text = "&" * 45_000
    assert "<span" not in Highlighter().html(language, text)
    assert "<span" not in Highlighter().html(language, "a = 1\n" * 10_000)
    assert Highlighter().html("tnt", "!" * 300) == "!" * 300
    assert "<span" not in Highlighter().html("mcschema", "<!--" * 75)
    assert "<span" in Highlighter().html(language, "<a b='c'>1</a> # 1\n" * 100)
