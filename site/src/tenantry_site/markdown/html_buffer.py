"""HtmlBuffer collects the HTML and component nodes of one text, and tracks its open elements.

An element's contents are buffered until its closing tag. Then HTML tags are put around the contents, or they become the
children of a component. If a tag is never closed, the tag is dropped and the contents stay, so that no text is lost.
"""

from __future__ import annotations

import re
from html import unescape

from tenantry_site.diagnostic import Severity
from tenantry_site.markdown import raw_html
from tenantry_site.markdown.allowed_html import ALLOWED, IMPLIED, OPTIONAL
from tenantry_site.markdown.jsx import Tag
from tenantry_site.markdown.open_elements import ElementKind, OpenElement, OpenElements
from tenantry_site.markdown.page_context import PageContext, PageDiagnostics, PageSections, escape
from tenantry_site.page import Element, Fragment, Node

_PARAGRAPH = re.compile(r"<p>((?:(?!</?p>).)*)</p>\n?", re.DOTALL)
_INDEXED = ("title", "label", "description", "caption", "tip", "path", "query", "header", "body", "name")
"""Attributes of components that readers see. Their text is added to the search index."""


class HtmlBuffer:
    """The output of rendering one Markdown text. ``out``: HTML strings and nodes in page order."""

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
        """Whether the text is a page. Nodes of a snippet or description have the line 0: their lines are not lines of
        the page."""
        self.has_content: bool = False
        """Whether the open paragraph has visible content. A paragraph without any is not written."""
        self._markdown_elements: list[OpenElement] = []
        self._paragraph_start = -1
        self._tight = self._in_paragraph = False

    def nodes(self) -> tuple[Node, ...]:
        """Close all open elements at the end of the text, and return all nodes."""
        while self.elements.stack:
            self._close_unclosed(self.elements.stack[-1])
        return _merge_fragments(self.out)

    # Paragraphs. A block component inside a paragraph ends it; the text after the component starts a new one.

    def begin_paragraph(self, *, hidden: bool) -> None:
        """Start a paragraph. ``hidden``: write no ``<p>`` around it, as in a list without blank lines."""
        self._tight = hidden
        self._in_paragraph = True
        self._open_paragraph()

    def end_paragraph(self) -> None:
        self._close_paragraph()
        self._in_paragraph = False

    def _open_paragraph(self) -> None:
        """Reserve the position of ``<p>``, which is written when the paragraph ends with visible content."""
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
        """End the paragraph before a block inside it, unless emphasis or a link that began in it is still open."""
        top = self.elements.top
        if top is None or top.start < self._paragraph_start:
            self._close_paragraph()

    # Elements of Markdown. The parser nests them correctly, but an HTML tag may open inside one and close outside.

    def open_markdown(self, name: str, opening: str, closing: str) -> None:
        """Write ``opening`` now, and ``closing`` at the matching ``close_markdown``."""
        element = OpenElement(ElementKind.MARKDOWN, name, len(self.out), 0)
        element.close = closing
        self.elements.push(element)
        self._markdown_elements.append(element)
        self.out.append(opening)

    def close_markdown(self) -> None:
        """Close the element of the matching ``open_markdown``, unless a closing tag has closed it already."""
        element = self._markdown_elements.pop()
        if element.open:
            self._close_down_to(element)

    # Tags that authors write.

    def open_html(self, tag: Tag, line: int, *, within: bool) -> None:
        """Open an allowed HTML element. ``within``: the tag is in a line of text."""
        allowed = ALLOWED[tag.name]
        # Close the elements that this tag ends implicitly, like ``<li>`` after ``<li>``
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
        """Open a component. ``within``: its tag is in a line of text. ``inline``: it is an inline component, so the
        paragraph around it continues."""
        in_line = within and (inline or self._paragraph_start < 0 or self.has_content)
        if within and not inline:
            self._close_paragraph_before_block()
        indexed = [value for name in _INDEXED if isinstance(value := tag.attributes.get(name), str)]
        if indexed:
            self.sections.words += [" ", " ".join(indexed), " "]
        if not tag.self_closing and self.elements.full:
            self._too_deep(tag, line)
            return
        if tag.self_closing:
            self.out.append(Element(tag.name, tag.attributes, (), line if self.is_page else 0, in_line))
            self.has_content = True
            if not inline:
                self._open_paragraph()
            return
        element = OpenElement(ElementKind.COMPONENT, tag.name, len(self.out), line, tag)
        element.block = not inline
        element.within = in_line
        self.elements.push(element)
        self.has_content = True

    def open_ignored(self, tag: Tag, line: int) -> None:
        if not tag.self_closing:
            self.elements.push(OpenElement(ElementKind.IGNORED, tag.name, len(self.out), line, tag))

    def splice(self, nodes: tuple[Node, ...], *, within: bool) -> None:
        """Insert the nodes of a snippet. A snippet of one paragraph continues the line of text around it."""
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
        """Close the innermost open element with the tag's name. Return False if the tag cannot close any element."""
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
        self.diagnostics.add(severity, code, message, fix, line)

    def _close_down_to(self, element: OpenElement) -> None:
        while self.elements.stack[-1] is not element:
            self._close_unclosed(self.elements.stack[-1])
        self._close_element(element)

    def _close_unclosed(self, element: OpenElement) -> None:
        """Close an element that has no closing tag. If HTML requires the closing tag, the opening tag is dropped and
        reported."""
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
        """Add a heading written in HTML to the page's headings. Return the tags to write for it."""
        text = self.sections.take_words(element.indexed)
        level = max(int(element.name[1]), 2)
        wanted = element.tag.attributes.get("id") if element.tag else None
        if ' id="' in opening and isinstance(wanted, str):
            identifier = unescape(opening.partition(' id="')[2].partition('"')[0])
        else:
            identifier = self.context.identifier(text)
            opening = f'{opening[:-1]} id="{escape(identifier)}">'
        self.sections.heading(level, identifier, text)
        return opening, f"</h{level}>"

    def _too_deep(self, tag: Tag, line: int) -> None:
        message = f"<{tag.name}> is nested too deeply: its contents are shown without it"
        self.report(Severity.WARNING, "PAGE016", message, "nest fewer elements", line)
        self.open_ignored(tag, line)


def _merge_fragments(parts: list[str | Node]) -> tuple[Node, ...]:
    """The parts as nodes, with adjacent HTML strings joined to one fragment."""
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
