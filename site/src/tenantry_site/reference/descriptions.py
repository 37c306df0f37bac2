"""Renders descriptions in OpenAPI documents, which are untrusted Markdown, to safe HTML or plain text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, Protocol

from markupsafe import Markup

from tenantry_site.markdown.jsx import COMMENT

_MARKS: Final = re.compile(r"[`*#>|]+|\]\([^)]{0,2000}\)|!?\[|<[^<>]*>")
_KEPT: Final = 2_000
"""Maximum number of descriptions in each cache. Descriptions of errors and common fields occur many times."""


_Known = dict[tuple[str, str], Markup]


class Reader(Protocol):
    """Renders untrusted Markdown to safe HTML, without components, scripts and unsafe links."""

    def inline(self, markdown: str, page: str = "") -> str:
        """The HTML of one line, without a paragraph. ``page``: the page that shows it, from which relative links
        start."""

    def block(self, markdown: str, page: str = "") -> str:
        """The HTML of paragraphs, lists and code. ``page``: the page that shows it, from which relative links start."""

    def markdown(self, markdown: str) -> str:
        """The Markdown without comments."""


class Descriptions:
    """Renders descriptions with caches. A description with links is cached for one page only, because links are
    relative."""

    __slots__ = ("_blocks", "_lines", "_page", "_reader", "_rendered")

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._page = ""
        self._blocks: _Known = {}
        self._lines: _Known = {}
        self._rendered: dict[int, tuple[object, Markup]] = {}

    def on(self, page: str) -> Descriptions:
        """A renderer for the page at a path. It shares the caches."""
        descriptions = Descriptions(self._reader)
        descriptions._page, descriptions._blocks, descriptions._lines, descriptions._rendered = (
            page,
            self._blocks,
            self._lines,
            self._rendered,
        )
        return descriptions

    def block(self, markdown: str) -> Markup:
        """A description as paragraphs; empty for an empty description."""
        return self._once(self._blocks, markdown.strip(), self._reader.block)

    def line(self, markdown: str) -> Markup:
        """The first paragraph of a description as one line."""
        first = " ".join(COMMENT.sub("", markdown).strip().partition("\n\n")[0].split())
        return self._once(self._lines, first, self._reader.inline)

    def markdown(self, markdown: str) -> str:
        """A description as Markdown, without the comments that the page hides."""
        return self._reader.markdown(markdown)

    def once(self, what: object, render: Callable[[], Markup]) -> Markup:
        """The cached HTML for an object (by identity), such as the schema of an error, else the HTML from ``render``.
        HTML with links is not cached."""
        found = self._rendered.get(id(what))
        if found is not None and found[0] is what:
            return found[1]
        html = render()
        if " href=" not in html:
            if len(self._rendered) >= _KEPT:
                self._rendered.clear()
            self._rendered[id(what)] = (what, html)  # the reference keeps the object's id from being reused
        return html

    def _once(self, known: _Known, text: str, render: Callable[[str, str], str]) -> Markup:
        if not text:
            return Markup()
        key = (text, self._page if "](" in text or "<" in text else "")
        found = known.get(key)
        if found is None:
            if len(known) >= _KEPT:
                known.clear()
            found = known[key] = Markup(render(text, self._page))  # noqa: S704  # Reader returns safe HTML
        return found


def words(markdown: str) -> str:
    return " ".join(_MARKS.sub(" ", COMMENT.sub(" ", markdown)).split())
