"""Pieces: HTML and nodes in the order of the page, and what is open among them.

A tag that closes takes what came since it opened: an element of HTML puts its tags around it, a component makes it its
children. A tag that never closes leaves its contents where they are, so that no text is lost.
"""

from __future__ import annotations

import re

from tenantry_site.diagnostic import Severity
from tenantry_site.markdown import html
from tenantry_site.markdown.elements import ALLOWED, IMPLIED, OPTIONAL
from tenantry_site.markdown.frames import Frame, Frames, Sort
from tenantry_site.markdown.notes import Notes
from tenantry_site.markdown.page_context import PageContext
from tenantry_site.markdown.sections import Sections
from tenantry_site.markdown.tags import Tag
from tenantry_site.nodes import Element, Fragment, Node

_PARAGRAPH = re.compile(r"<p>((?:(?!</?p>).)*)</p>\n?", re.DOTALL)
_SAID = ("title", "label", "description", "caption", "tip", "path", "query", "header", "body", "name")
"""Attributes of components that readers see, and search for."""


class Pieces:
    """What has been made of a text so far."""

    __slots__ = (
        "_closing",
        "_hidden",
        "_segment",
        "_within",
        "context",
        "filled",
        "frames",
        "notes",
        "out",
        "placed",
        "sections",
    )

    def __init__(self, context: PageContext, sections: Sections, notes: Notes, *, placed: bool = True) -> None:
        self.out: list[str | Node] = []
        self.frames = Frames()
        self.context = context
        self.notes = notes
        self.sections = sections
        self.placed = placed
        """Whether lines are lines of the page itself, and not of a snippet."""
        self.filled = False
        """Whether the paragraph that is open has anything to show."""
        self._closing: list[Frame] = []
        self._segment = -1
        self._hidden = self._within = False

    def nodes(self) -> tuple[Node, ...]:
        """Everything, once the text has ended."""
        while self.frames.stack:
            self._end(self.frames.stack[-1])
        return _merged(self.out)

    # Paragraphs: a component within one ends it, and what comes behind begins another.

    def begin_paragraph(self, *, hidden: bool) -> None:
        """``hidden``: as in a list without blank lines, the text stands without a paragraph around it."""
        self._hidden = hidden
        self._within = True
        self._enter()

    def end_paragraph(self) -> None:
        self._leave()
        self._within = False

    def _enter(self) -> None:
        """Where the paragraph's tag will stand, once there is anything to show."""
        if self._within and self._segment < 0:
            self._segment = len(self.out)
            self.filled = False
            self.out.append("")

    def _leave(self, *, tight: bool = False) -> None:
        if self._segment < 0:
            return
        if self.filled:
            top = self.frames.top
            if self._hidden or tight or (top is not None and top.phrasing):
                self.out.append("\n")
            else:
                self.out[self._segment] = "<p>"
                self.out.append("</p>\n")
        self._segment = -1

    def _leave_for_block(self) -> None:
        """Before a block within a line of text; emphasis and links that are open stay so."""
        top = self.frames.top
        if top is None or top.start < self._segment:
            self._leave()

    # What Markdown opens and closes: the parser nests these well, tags may stand across them.

    def open_markdown(self, name: str, opening: str, closing: str) -> None:
        frame = Frame(Sort.MARKDOWN, name, len(self.out), 0)
        frame.close = closing
        self.frames.push(frame)
        self._closing.append(frame)
        self.out.append(opening)

    def close_markdown(self) -> None:
        frame = self._closing.pop()
        if frame.open:
            self._close_down_to(frame)

    # Tags.

    def open_html(self, tag: Tag, line: int, *, within: bool) -> None:
        """``within``: it stands in a line of text."""
        allowed = ALLOWED[tag.name]
        self._imply(tag.name)
        if within and allowed.block:
            self._leave_for_block()
        opening, closing = html.draw_tag(tag, self.context, line if self.placed else 0)
        if not closing or tag.alone:
            self.out.append(opening + closing)
            self.filled = True
            if within and allowed.block:
                self._enter()
            if not allowed.void:
                self.open_nothing(tag, line)
        elif self.frames.full:
            self._too_deep(tag, line)
        else:
            frame = Frame(Sort.HTML, tag.name, len(self.out), line, tag)
            frame.opening, frame.close = opening, closing
            frame.words = len(self.sections.words)
            self.frames.push(frame)
            self.out.append("")
            self.filled = self.filled or not allowed.block

    def open_component(self, tag: Tag, line: int, *, within: bool, inline: bool) -> None:
        """``inline``: this component belongs into a line of text, so the paragraph around it goes on."""
        beside = within and (inline or self._segment < 0 or self.filled)
        if within and not inline:
            self._leave_for_block()
        self._say(tag)
        if not tag.alone and self.frames.full:
            self._too_deep(tag, line)
            return
        if tag.alone:
            self.out.append(Element(tag.name, tag.attributes, (), line if self.placed else 0, beside))
            self.filled = True
            if not inline:
                self._enter()
            return
        frame = Frame(Sort.COMPONENT, tag.name, len(self.out), line, tag)
        frame.block = not inline
        frame.within = beside
        self.frames.push(frame)
        self.filled = True

    def open_nothing(self, tag: Tag, line: int) -> None:
        """A tag that is known to be left out; its closing tag will be, too."""
        if not tag.alone:
            self.frames.push(Frame(Sort.NOTHING, tag.name, len(self.out), line, tag))

    def splice(self, nodes: tuple[Node, ...], *, within: bool) -> None:
        """Puts the nodes of a snippet in; one paragraph alone goes on with the line of text that it stands in."""
        only = nodes[0] if len(nodes) == 1 else None
        if within and isinstance(only, Fragment) and (found := _PARAGRAPH.fullmatch(only.html)) is not None:
            self.out.append(found[1])
            self.filled = True
            return
        if within:
            self._leave_for_block()
        self.out.extend(nodes)
        self._enter()

    def close(self, tag: Tag, line: int, *, within: bool) -> bool:
        """False if nothing of this name is open."""
        frame = self.frames.find(tag.name)
        if frame is None:
            return False
        if within and (frame.block or frame.start < self._segment):
            self._leave(tight=self._segment <= frame.start + 1)
            self._close_down_to(frame)
            self._enter()
        else:
            self._close_down_to(frame)
        return True

    def note(self, severity: Severity, code: str, message: str, fix: str, line: int) -> None:
        self.notes.add(severity, code, message, fix, line)

    def _imply(self, name: str) -> None:
        """Closes the elements that the one that opens leaves no other end for: ``<li>`` after ``<li>``."""
        closed = IMPLIED.get(name)
        top = self.frames.top
        while closed and top is not None and top.sort is Sort.HTML and top.name in closed:
            if self._segment > top.start:
                self._leave(tight=self._segment <= top.start + 1)
            self._close_down_to(top)
            top = self.frames.top

    def _close_down_to(self, frame: Frame) -> None:
        while self.frames.stack[-1] is not frame:
            self._end(self.frames.stack[-1])
        self._finish(frame)

    def _end(self, frame: Frame) -> None:
        """Ends what has no closing tag."""
        if frame.sort is Sort.MARKDOWN or (frame.sort is Sort.HTML and frame.name in OPTIONAL):
            self._finish(frame)
            return
        self.frames.pop()
        if frame.sort is not Sort.NOTHING:
            message = f"<{frame.name}> is not closed: its contents are shown without it"
            self.note(Severity.WARNING, "PAGE004", message, f"close it with </{frame.name}>", frame.line)

    def _finish(self, frame: Frame) -> None:
        self.frames.pop()
        if frame.sort is Sort.MARKDOWN:
            self.out.append(frame.close)
        elif frame.sort is Sort.HTML:
            opening, closing = frame.opening, frame.close
            if frame.name in html.MEDIA:
                opening, closing = html.settled(opening, closing, self.out[frame.start :])
            elif frame.name[0] == "h" and frame.name[1:].isdigit():
                opening, closing = self._heading(frame, opening)
            self.out[frame.start] = opening
            self.out.append(closing + ("\n" if frame.block else ""))
        elif frame.sort is Sort.COMPONENT and frame.tag is not None:
            children = _merged(self.out[frame.start :])
            del self.out[frame.start :]
            place = frame.line if self.placed else 0
            self.out.append(Element(frame.name, frame.tag.attributes, children, place, frame.within))

    def _heading(self, frame: Frame, opening: str) -> tuple[str, str]:
        """A heading that is written in HTML is one of the page's, too."""
        text = self.sections.since(frame.words)
        level = max(int(frame.name[1]), 2)
        wanted = frame.tag.attributes.get("id") if frame.tag else None
        if ' id="' in opening and isinstance(wanted, str):
            identifier = opening.partition(' id="')[2].partition('"')[0]
        else:
            identifier = self.context.identifier(text)
            opening = f'{opening[:-1]} id="{identifier}">'
        self.sections.heading(level, identifier, text)
        return opening, f"</h{level}>"

    def _say(self, tag: Tag) -> None:
        words = [value for name in _SAID if isinstance(value := tag.attributes.get(name), str)]
        if words:
            self.sections.words += [" ", " ".join(words), " "]

    def _too_deep(self, tag: Tag, line: int) -> None:
        message = f"<{tag.name}> is nested too deeply: its contents are shown without it"
        self.note(Severity.WARNING, "PAGE016", message, "nest fewer elements", line)
        self.open_nothing(tag, line)


def _merged(pieces: list[str | Node]) -> tuple[Node, ...]:
    """Nodes, with neighbouring HTML in one fragment."""
    nodes: list[Node] = []
    text: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            text.append(piece)
            continue
        if text and (joined := "".join(text)):
            nodes.append(Fragment(joined))
        text.clear()
        nodes.append(piece)
    if text and (joined := "".join(text)):
        nodes.append(Fragment(joined))
    return tuple(nodes)
