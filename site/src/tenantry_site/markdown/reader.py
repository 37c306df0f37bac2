"""PageReader: pages from Markdown to safe HTML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from typing import Any

from markdown_it.token import Token

from tenantry_site.addresses import Addresses, page_path
from tenantry_site.components import COMPONENTS
from tenantry_site.diagnostic import Severity
from tenantry_site.markdown.building import Builder
from tenantry_site.markdown.constructs import Constructs
from tenantry_site.markdown.elements import ALLOWED, PHRASING, Allowed
from tenantry_site.markdown.escaping import escape
from tenantry_site.markdown.front import front_matter
from tenantry_site.markdown.inlines import SPECIAL
from tenantry_site.markdown.notes import Notes
from tenantry_site.markdown.page_context import PageContext
from tenantry_site.markdown.pieces import Pieces
from tenantry_site.markdown.reading import Reading
from tenantry_site.markdown.sections import Sections
from tenantry_site.markdown.shelf import Shelf
from tenantry_site.markdown.syntax import parser
from tenantry_site.markdown.tags import Tag
from tenantry_site.nodes import Component
from tenantry_site.page import Page

_NEWLINE = re.compile(r"\r\n?")
_WORDS = re.compile(r"[-_\s]+")
_MARKUP = re.compile(r"[*_`~]+|!?\[([^\]]*)\]\([^)]*\)|<[^>]*>")
_LONGEST_TITLE = 1_000
"""Characters of a heading that are compared with a title: the work for a pattern grows with their square."""


class PageReader:
    """Reads the pages of one site.

    ``snippets`` are the texts of shared parts by their paths from the site's root. ``external_media`` lets pages show
    images, videos and frames of other hosts. ``components`` draw the elements of a page by their names.
    """

    __slots__ = ("_addresses", "_external_media", "_shelf")

    def __init__(
        self,
        addresses: Addresses,
        snippets: Mapping[str, str],
        *,
        external_media: bool = False,
        components: Mapping[str, Component] = COMPONENTS,
    ) -> None:
        self._addresses = addresses
        self._external_media = external_media
        self._shelf = Shelf(components, snippets)

    def read(self, source: str, text: str) -> Page:
        """The page of the file ``source``, a path from the site's root. Never raises; what is wrong is said."""
        text = _clean(text)
        front, body, said = front_matter(source, text)
        notes = Notes(source, text.count("\n", 0, len(text) - len(body)))
        notes.extend(said)
        path = page_path(source) or source
        sections = Sections()
        context = self._context(path, notes)
        reading = Reading(source, body, self._shelf, context, sections, notes)
        context.shared = reading.snippet
        builder = reading.builder
        tokens = builder.tokens(body)
        heads = [tokens[at + 1].content for at, token in enumerate(tokens) if token.tag == "h1" and token.nesting == 1]
        first = _plain(heads[0][:_LONGEST_TITLE]) if heads else ""
        title = front.title or first or _from_path(path)
        said_twice = bool(heads) and first.casefold() == " ".join(title.split()).casefold()
        builder.build(tokens, first if said_twice else "", shift=1 if len(heads) > said_twice else 0)
        _unclosed_fence(tokens, body, notes)
        html = context.render(builder.pieces.nodes())
        return Page(
            path=path,
            source=source,
            title=title,
            front=front,
            html=html,
            headings=tuple(sections.headings),
            sections=sections.all(),
            links=tuple(context.links),
            markdown=_without(body, reading.imports),
            diagnostics=notes.all(),
        )

    def inline(self, markdown: str, page: str = "") -> str:
        """One line of Markdown that somebody else wrote, as HTML. ``page``: the one that it will stand on."""
        return self.inline_on(self._context(page, Notes("")), _clean(markdown))

    def block(self, markdown: str, page: str = "") -> str:
        """Markdown that somebody else wrote, as HTML: without components, headings from level 3 on and without ids."""
        text = _clean(markdown)
        context = self._context(page, Notes(""))
        builder = self._foreign(text, context, ALLOWED)
        builder.build(builder.tokens(text), shift=2, anchored=False)
        return context.render(builder.pieces.nodes())

    def inline_on(self, context: PageContext, markdown: str) -> str:
        """The same as ``inline`` for a page that is being drawn."""
        if SPECIAL.search(markdown) is None and "://" not in markdown:
            return escape(markdown)
        builder = self._foreign(markdown, context, PHRASING)
        builder.inline(markdown, 0)
        return context.render(builder.pieces.nodes()).strip()

    def _foreign(self, text: str, context: PageContext, elements: Mapping[str, Allowed]) -> Builder:
        constructs = Constructs(text, frozenset(), {}, context.notes, expressive=False, elements=elements)
        env: dict[str, Any] = {"constructs": constructs}
        pieces = Pieces(context, Sections(), context.notes, placed=False)
        return Builder(parser(indented_code=True), env, pieces, self._shelf.highlighter, _no_snippet)

    def _context(self, page: str, notes: Notes) -> PageContext:
        media = self._external_media
        return PageContext(page, self._addresses, notes, self.inline_on, self._shelf.components, external_media=media)


def _no_snippet(_tag: Tag, _line: int, _within: bool) -> bool:
    return False


def _clean(text: str) -> str:
    """Text with one kind of line ends, that any encoding can hold."""
    if "\r" in text:
        text = _NEWLINE.sub("\n", text)
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _plain(markdown: str) -> str:
    """The words of a heading, to compare it with a title."""
    return " ".join(unescape(_MARKUP.sub(r"\1", markdown)).split())


def _from_path(path: str) -> str:
    """The name of a file in words."""
    name = path.removesuffix("/index").rpartition("/")[2]
    words = " ".join(_WORDS.split(name)).strip()
    return words[:1].upper() + words[1:] if words else "Untitled"


def _unclosed_fence(tokens: list[Token], body: str, notes: Notes) -> None:
    """Says so if the last block is code that nothing ends: it takes the rest of a page with it."""
    last = tokens[-1] if tokens else None
    if last is not None and last.type == "fence" and last.map:
        ending = body.rstrip().rpartition("\n")[2].strip(" \t>")
        if not (ending.startswith(last.markup) and set(ending) == {last.markup[0]} and last.map[1] - last.map[0] > 1):
            message = "the block of code is not closed: it reaches to the end of the page"
            notes.add(Severity.WARNING, "PAGE018", message, f"close it with {last.markup}", last.map[0] + 1)


def _without(body: str, ranges: list[tuple[int, int]]) -> str:
    """The text without its lines of imports and exports."""
    if not ranges:
        return body.lstrip("\n")
    lines = body.split("\n")
    for first, end in reversed(ranges):
        del lines[first:end]
    return "\n".join(lines).lstrip("\n")
