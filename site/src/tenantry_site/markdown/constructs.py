"""Constructs: what a page may hold beside Markdown - tags, comments and expressions - told from text that looks alike.

``List<String>`` and ``<YOUR_KEY>`` are text; ``<Card title="x">`` is a tag, known or not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Mapping
from enum import Enum, auto
from typing import NamedTuple

from tenantry_site.diagnostic import Severity
from tenantry_site.markdown.elements import ALLOWED, REMOVED, SWALLOWED, Allowed
from tenantry_site.markdown.literals import NotLiteral, literal
from tenantry_site.markdown.notes import Notes
from tenantry_site.markdown.tags import CLOSERS, Scanner, Tag
from tenantry_site.nodes import AttributeValue

INLINE = frozenset({"Icon", "Tooltip", "Badge", "Latex", "Color"})
"""Components that stand within a line of text; all others stand by themselves."""


class Kind(Enum):
    """What stands in the text."""

    COMMENT = auto()
    COMPONENT = auto()
    HTML = auto()
    UNKNOWN = auto()
    SWALLOWED = auto()
    TEXT = auto()
    EXPRESSION = auto()


class Construct(NamedTuple):
    """One construct, up to ``end``. ``text`` is what it says or, swallowed, has inside; ``at`` where it begins."""

    kind: Kind
    at: int
    end: int
    tag: Tag
    text: str = ""

    @property
    def inline(self) -> bool:
        """Whether it belongs to a line of text, wherever it stands."""
        if self.kind is Kind.HTML:
            return not ALLOWED[self.tag.name].block
        return self.kind is Kind.COMPONENT and self.tag.name in INLINE


_NO_TAG = Tag("", {}, False, True, 0)
_ENDS = {name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in SWALLOWED}
_FORMULA = re.compile(r"(?:[$^_}]|\\[A-Za-z]{1,20})\Z")


class Constructs:
    """Finds the constructs of one text. ``known`` are the components; ``names`` fills with the text's constants."""

    __slots__ = ("_expressive", "_fragments", "_told", "closers", "elements", "known", "names", "notes", "scanner")

    def __init__(
        self,
        text: str,
        known: Container[str],
        names: Mapping[str, AttributeValue],
        notes: Notes,
        *,
        expressive: bool,
        elements: Mapping[str, Allowed] = ALLOWED,
    ) -> None:
        self.names = names
        self.known = known
        self.notes = notes
        self.scanner = Scanner(len(text), names)
        self.closers = frozenset(CLOSERS.findall(text)) if "</" in text else frozenset[str]()
        self.elements = elements
        self._expressive = expressive
        self._fragments = expressive and "</>" in text
        self._told = False

    def at(self, text: str, at: int, end: int, line: int) -> Construct | None:
        """The construct that begins at ``at``, a ``<`` or ``{``; None if that is a letter like any other."""
        if text[at] == "{":
            return self._braced(text, at, end, line)
        if text.startswith("<!--", at):
            return self._comment(text, at, end, line)
        tag = self.scanner.tag(text, at, end)
        if tag is None:
            return self._fragment(text, at)
        return self._judged(tag, text, at, end)

    def _judged(self, tag: Tag, text: str, at: int, end: int) -> Construct | None:
        name = tag.name
        if name in self.known:
            return Construct(Kind.COMPONENT, at, tag.end, tag)
        lower = name.lower() if name.islower() or name.isupper() else name
        if lower in SWALLOWED:
            return self._swallowed(tag._replace(name=lower), text, at, end)
        allowed = self.elements.get(lower)
        if allowed and (self._real(tag) or allowed.void or (allowed.block and name.islower())):
            return Construct(Kind.HTML, at, tag.end, tag._replace(name=lower))
        if lower in REMOVED or self._real(tag):
            return Construct(Kind.UNKNOWN, at, tag.end, tag)
        return None

    def _real(self, tag: Tag) -> bool:
        """Whether an unknown name is a tag, and not a placeholder or the parameter of a type."""
        return tag.alone or tag.closing or tag.valued or tag.name in self.closers

    def _swallowed(self, tag: Tag, text: str, at: int, end: int) -> Construct:
        if tag.closing or tag.alone:
            return Construct(Kind.SWALLOWED, at, tag.end, tag)
        close = self.scanner.search(_ENDS[tag.name], text, tag.end, end)
        if close is None:
            return Construct(Kind.UNKNOWN, at, tag.end, tag)
        return Construct(Kind.SWALLOWED, at, close[1], tag, text[tag.end : close[0]])

    def _comment(self, text: str, at: int, end: int, line: int) -> Construct | None:
        close = self.scanner.find("-->", text, at + 4, end)
        if close >= 0:
            return Construct(Kind.COMMENT, at, close + 3, _NO_TAG)
        if text.find("-->", at, at + 6) >= 0:  # "<!-->" and "<!--->" are comments too
            return Construct(Kind.COMMENT, at, text.find("-->", at) + 3, _NO_TAG)
        self.notes.add(Severity.WARNING, "PAGE020", "the comment is not closed", "close it with -->", line)
        return None

    def _fragment(self, text: str, at: int) -> Construct | None:
        """``<>`` and ``</>`` put things together without an element; in prose the first is "unequal"."""
        for mark in ("</>", "<>"):
            if self._fragments and text.startswith(mark, at):
                return Construct(Kind.COMMENT, at, at + len(mark), _NO_TAG)
        return None

    def _braced(self, text: str, at: int, end: int, line: int) -> Construct | None:
        if text.startswith("{/*", at):
            close = self.scanner.find("*/", text, at + 3, end)
            after = text.find("}", close, min(close + 80, end)) if close >= 0 else -1
            if after >= 0 and not text[close + 2 : after].strip():
                return Construct(Kind.COMMENT, at, after + 1, _NO_TAG)
        if not (self._expressive or self.names) or _FORMULA.search(text, max(at - 21, 0), at):
            return None
        close = self.scanner.brace(text, at, end)
        inner = text[at + 1 : close].strip() if close >= 0 else ""
        if not inner or not (self._expressive or inner in self.names):
            return None
        try:
            return Construct(Kind.TEXT, at, close + 1, _NO_TAG, shown(literal(inner, self.names)))
        except NotLiteral:
            self._tell(line)
            return Construct(Kind.EXPRESSION, at, close + 1, _NO_TAG, text[at : close + 1])

    def _tell(self, line: int) -> None:
        """Once for a page: what is left to evaluate there is seldom one expression."""
        if not self._told:
            self._told = True
            message = "an expression is shown as it was written: nothing on a page is evaluated"
            self.notes.add(Severity.INFO, "PAGE008", message, "write its value, or \\{ for a brace", line)


def shown(value: AttributeValue) -> str:
    """A value as text: nothing for those that a page would not show."""
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else str(value)
