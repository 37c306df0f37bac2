"""HtmlBuffer: HTML and nodes in the order of the page, and the elements that are open among them.

A closing tag takes what came since its opening one: an element of HTML puts its tags around it, a component makes it
its children. A tag that never closes leaves its contents where they are, so that no text is lost.
"""

from __future__ import annotations

import re

from tenantry_site.diagnostic import Severity
from tenantry_site.markdown import raw_html
from tenantry_site.markdown.allowed_html import ALLOWED, IMPLIED, OPTIONAL
from tenantry_site.markdown.jsx import Tag
from tenantry_site.markdown.open_elements import ElementKind, OpenElement, OpenElements
from tenantry_site.markdown.page_context import PageContext, PageDiagnostics, PageSections
from tenantry_site.page import Element, Fragment, Node

_PARAGRAPH = re.compile(r"<p>((?:(?!</?p>).)*)</p>\n?", re.DOTALL)
_INDEXED = ("title", "label", "description", "caption", "tip", "path", "query", "header", "body", "name")
"""Attributes of components that readers see, and search for."""


class HtmlBuffer:
    """What has been rendered of a text so far."""

    __slots__ = (
        "_in_paragraph",
        "_markdown_elements",
        "_paragraph_start",
        "_tight",
        "context",
        "diagnostics",
        "elements",
        "has_content",
        "is_page",
        "out",
        "sections",
    )

    def __init__(
        self, context: PageContext, sections: PageSections, diagnostics: PageDiagnostics, *, is_page: bool = True
    ) -> None:
        self.out: list[str | Node] = []
        self.elements: OpenElements = OpenElements()
        self.context: PageContext = context
        self.diagnostics: PageDiagnostics = diagnostics
        self.sections: PageSections = sections
        self.is_page: bool = is_page
        """Whether lines are lines of the page itself, and not of a snippet."""
        self.has_content: bool = False
        """Whether the paragraph that is open has anything to show."""
        self._markdown_elements: list[OpenElement] = []
        self._paragraph_start = -1
        self._tight = self._in_paragraph = False

    def nodes(self) -> tuple[Node, ...]:
        """Everything, once the text has ended."""
        while self.elements.stack:
            self._close_unclosed(self.elements.stack[-1])
        return _merge_fragments(self.out)

    # Paragraphs: a component within one ends it, and what comes behind begins another.

    def begin_paragraph(self, *, hidden: bool) -> None:
        """``hidden``: as in a list without blank lines, the text has no paragraph around it."""
        self._tight = hidden
        self._in_paragraph = True
        self._open_paragraph()

    def end_paragraph(self) -> None:
        """Ends what ``begin_paragraph`` began."""
        self._close_paragraph()
        self._in_paragraph = False

    def _open_paragraph(self) -> None:
        """Reserves the position of the paragraph's tag, for when there is anything to show."""
        if self._in_paragraph and self._paragraph_start < 0:
            self._paragraph_start = len(self.out)
            self.has_content = False
            self.out.append("")

    def _close_paragraph(self, *, tight: bool = False) -> None:
        if self._paragraph_start < 0:
            return
        if self.has_content:
            top = self.elements.top
            if self._tight or tight or (top is not None and top.phrasing):
                self.out.append("\n")
            else:
                self.out[self._paragraph_start] = "<p>"
                self.out.append("</p>\n")
        self._paragraph_start = -1

    def _close_paragraph_before_block(self) -> None:
        """Before a block within a line of text; emphasis and links that are open stay so."""
        top = self.elements.top
        if top is None or top.start < self._paragraph_start:
            self._close_paragraph()

    # What Markdown opens and closes: the parser nests these well, tags may cross them.

    def open_markdown(self, name: str, opening: str, closing: str) -> None:
        """Writes ``opening`` now, and ``closing`` at the ``close_markdown`` that matches."""
        element = OpenElement(ElementKind.MARKDOWN, name, len(self.out), 0)
        element.close = closing
        self.elements.push(element)
        self._markdown_elements.append(element)
        self.out.append(opening)

    def close_markdown(self) -> None:
        """Closes what ``open_markdown`` opened last, unless a tag has closed it before."""
        element = self._markdown_elements.pop()
        if element.open:
            self._close_down_to(element)

    # Tags.

    def open_html(self, tag: Tag, line: int, *, within: bool) -> None:
        """``within``: it is in a line of text."""
        allowed = ALLOWED[tag.name]
        # Closes the elements that the one that opens leaves no other end for: ``<li>`` after ``<li>``
        closed = IMPLIED.get(tag.name)
        top = self.elements.top
        while closed and top is not None and top.kind is ElementKind.HTML and top.name in closed:
            if self._paragraph_start > top.start:
                self._close_paragraph(tight=self._paragraph_start <= top.start + 1)
            self._close_down_to(top)
            top = self.elements.top
        if within and allowed.block:
            self._close_paragraph_before_block()
        opening, closing = raw_html.render_tag(tag, self.context, line if self.is_page else 0)
        if not closing or tag.self_closing:
            self.out.append(opening + closing)
            self.has_content = True
            if within and allowed.block:
                self._open_paragraph()
            if not allowed.void:
                self.open_ignored(tag, line)
        elif self.elements.full:
            self._too_deep(tag, line)
        else:
            element = OpenElement(ElementKind.HTML, tag.name, len(self.out), line, tag)
            element.opening, element.close = opening, closing
            element.indexed = len(self.sections.words)
            self.elements.push(element)
            self.out.append("")
            self.has_content = self.has_content or not allowed.block

    def open_component(self, tag: Tag, line: int, *, within: bool, inline: bool) -> None:
        """``inline``: this component belongs into a line of text, so the paragraph around it goes on."""
        beside = within and (inline or self._paragraph_start < 0 or self.has_content)
        if within and not inline:
            self._close_paragraph_before_block()
        indexed = [value for name in _INDEXED if isinstance(value := tag.attributes.get(name), str)]
        if indexed:
            self.sections.words += [" ", " ".join(indexed), " "]
        if not tag.self_closing and self.elements.full:
            self._too_deep(tag, line)
            return
        if tag.self_closing:
            self.out.append(Element(tag.name, tag.attributes, (), line if self.is_page else 0, beside))
            self.has_content = True
            if not inline:
                self._open_paragraph()
            return
        element = OpenElement(ElementKind.COMPONENT, tag.name, len(self.out), line, tag)
        element.block = not inline
        element.within = beside
        self.elements.push(element)
        self.has_content = True

    def open_ignored(self, tag: Tag, line: int) -> None:
        """A tag that is known to be left out; its closing tag will be, too."""
        if not tag.self_closing:
            self.elements.push(OpenElement(ElementKind.IGNORED, tag.name, len(self.out), line, tag))

    def splice(self, nodes: tuple[Node, ...], *, within: bool) -> None:
        """Puts the nodes of a snippet in; one paragraph alone goes on with the line of text that it is in."""
        only = nodes[0] if len(nodes) == 1 else None
        if within and isinstance(only, Fragment) and (found := _PARAGRAPH.fullmatch(only.html)) is not None:
            self.out.append(found[1])
            self.has_content = True
            return
        if within:
            self._close_paragraph_before_block()
        self.out.extend(nodes)
        self._open_paragraph()

    def close(self, tag: Tag, line: int, *, within: bool) -> bool:
        """False if nothing of this name is open."""
        element = self.elements.find(tag.name)
        if element is None:
            return False
        if within and (element.block or element.start < self._paragraph_start):
            self._close_paragraph(tight=self._paragraph_start <= element.start + 1)
            self._close_down_to(element)
            self._open_paragraph()
        else:
            self._close_down_to(element)
        return True

    def report(self, severity: Severity, code: str, message: str, fix: str, line: int) -> None:
        """Adds a diagnostic about the page."""
        self.diagnostics.add(severity, code, message, fix, line)

    def _close_down_to(self, element: OpenElement) -> None:
        while self.elements.stack[-1] is not element:
            self._close_unclosed(self.elements.stack[-1])
        self._close_element(element)

    def _close_unclosed(self, element: OpenElement) -> None:
        """Ends what has no closing tag."""
        if element.kind is ElementKind.MARKDOWN or (element.kind is ElementKind.HTML and element.name in OPTIONAL):
            self._close_element(element)
            return
        self.elements.pop()
        if element.kind is not ElementKind.IGNORED:
            message = f"<{element.name}> is not closed: its contents are shown without it"
            self.report(Severity.WARNING, "PAGE004", message, f"close it with </{element.name}>", element.line)

    def _close_element(self, element: OpenElement) -> None:
        self.elements.pop()
        if element.kind is ElementKind.MARKDOWN:
            self.out.append(element.close)
        elif element.kind is ElementKind.HTML:
            opening, closing = element.opening, element.close
            if element.name in raw_html.MEDIA:
                opening, closing = raw_html.playable(opening, closing, self.out[element.start :])
            elif element.name[0] == "h" and element.name[1:].isdigit():
                opening, closing = self._heading(element, opening)
            self.out[element.start] = opening
            self.out.append(closing + ("\n" if element.block else ""))
        elif element.kind is ElementKind.COMPONENT and element.tag is not None:
            children = _merge_fragments(self.out[element.start :])
            del self.out[element.start :]
            line = element.line if self.is_page else 0
            self.out.append(Element(element.name, element.tag.attributes, children, line, element.within))

    def _heading(self, element: OpenElement, opening: str) -> tuple[str, str]:
        """A heading that is written in HTML is one of the page's, too."""
        text = self.sections.since(element.indexed)
        level = max(int(element.name[1]), 2)
        wanted = element.tag.attributes.get("id") if element.tag else None
        if ' id="' in opening and isinstance(wanted, str):
            identifier = opening.partition(' id="')[2].partition('"')[0]
        else:
            identifier = self.context.identifier(text)
            opening = f'{opening[:-1]} id="{identifier}">'
        self.sections.heading(level, identifier, text)
        return opening, f"</h{level}>"

    def _too_deep(self, tag: Tag, line: int) -> None:
        message = f"<{tag.name}> is nested too deeply: its contents are shown without it"
        self.report(Severity.WARNING, "PAGE016", message, "nest fewer elements", line)
        self.open_ignored(tag, line)


def _merge_fragments(parts: list[str | Node]) -> tuple[Node, ...]:
    """Nodes, with neighbouring HTML in one fragment."""
    nodes: list[Node] = []
    text: list[str] = []
    for part in parts:
        if isinstance(part, str):
            text.append(part)
            continue
        if text and (joined := "".join(text)):
            nodes.append(Fragment(joined))
        text.clear()
        nodes.append(part)
    if text and (joined := "".join(text)):
        nodes.append(Fragment(joined))
    return tuple(nodes)
