"""Descriptions: the Markdown of descriptions, from people who are not trusted, as safe HTML; and its words for
search."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, Protocol

from markupsafe import Markup

_MARKS: Final = re.compile(r"[`*#>|]+|\]\([^)]{0,2000}\)|!?\[|<[^<>]*>")
_KEPT: Final = 2_000
"""Descriptions kept: those of errors and of common fields come again and again."""


_Known = dict[tuple[str, str], Markup]


class Reader(Protocol):
    """What is needed of a reader of Markdown: no raw HTML, no component, no link to run code gets through it."""

    def inline(self, markdown: str, page: str = "") -> str:
        """One line, without a paragraph around it. ``page``: the one that it will stand on, for its links."""

    def block(self, markdown: str, page: str = "") -> str:
        """Paragraphs, lists, code."""


class Descriptions:
    """Descriptions by a reader, each rendered once; those with links once for each page, which they start from."""

    __slots__ = ("_blocks", "_lines", "_page", "_reader", "_rendered")

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._page = ""
        self._blocks: _Known = {}
        self._lines: _Known = {}
        self._rendered: dict[int, tuple[object, Markup]] = {}

    def on(self, page: str) -> Descriptions:
        """The same for another page, by its path; what was rendered is shared."""
        descriptions = Descriptions(self._reader)
        descriptions._page, descriptions._blocks, descriptions._lines, descriptions._rendered = (
            page,
            self._blocks,
            self._lines,
            self._rendered,
        )
        return descriptions

    def block(self, markdown: str) -> Markup:
        """Paragraphs; empty for nothing."""
        return self._once(self._blocks, markdown.strip(), self._reader.block)

    def line(self, markdown: str) -> Markup:
        """One line; what comes after an empty line is left out."""
        first = " ".join(markdown.strip().partition("\n\n")[0].split())
        return self._once(self._lines, first, self._reader.inline)

    def once(self, what: object, render: Callable[[], Markup]) -> Markup:
        """What is rendered of one and the same object, such as the shape of errors; with links, anew for each page."""
        found = self._rendered.get(id(what))
        if found is not None and found[0] is what:
            return found[1]
        html = render()
        if " href=" not in html:
            if len(self._rendered) >= _KEPT:
                self._rendered.clear()
            self._rendered[id(what)] = (what, html)  # it is held, so that its id is no other's
        return html

    def _once(self, known: _Known, text: str, render: Callable[[str, str], str]) -> Markup:
        if not text:
            return Markup()
        key = (text, self._page if "](" in text or "<" in text else "")
        found = known.get(key)
        if found is None:
            if len(known) >= _KEPT:
                known.clear()
            found = known[key] = Markup(render(text, self._page))  # noqa: S704  # safe: the reader's promise
        return found


def words(markdown: str) -> str:
    """The plain text of a description."""
    return " ".join(_MARKS.sub(" ", markdown).split())
