"""JSX: what a page may hold beside Markdown - tags, comments and expressions - as distinct from text that looks alike.

``List<String>`` and ``<YOUR_KEY>`` are text; ``<Card title="x" cols={2}>`` is a tag, known or not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Mapping
from enum import Enum, auto
from html import unescape
from typing import NamedTuple

from tenantry_site.diagnostic import Severity
from tenantry_site.markdown.allowed_html import ALLOWED, RAW, REMOVED, Allowed
from tenantry_site.markdown.literals import NotLiteral, closing_brace, literal
from tenantry_site.markdown.page_context import PageDiagnostics
from tenantry_site.page import AttributeValue

LONGEST = 20_000
"""Characters of one tag."""


class Tag(NamedTuple):
    """One tag. ``end`` is where it ends in the text; ``expressions`` are the attributes that are not literals."""

    name: str
    attributes: Mapping[str, AttributeValue]
    closing: bool
    self_closing: bool
    end: int
    expressions: tuple[str, ...] = ()

    @property
    def has_values(self) -> bool:
        """Whether an attribute has a value: ``<KEY here>`` is a placeholder, ``<Key at="x">`` is a tag."""
        return any(value is not True for value in self.attributes.values()) or bool(self.expressions)


_OPEN = re.compile(r"<([A-Za-z][\w:.-]*)(?:(/?)>|(?=[\s/{]))")
_ATTRIBUTE = re.compile(
    r"""(?:\s++|(?<=["'}]))([A-Za-z_@:$][\w:.@$-]*+)(?:\s*+=\s*+(?:"([^"]*)"|'([^']*)'|(\{)|([^\s"'=<>`{}/][^\s"'=<>`{}]*)))?"""
)
_SPREAD = re.compile(r"\s*+\{")
_END = re.compile(r"\s*+(/?)>")
_JSX_ICON = re.compile(
    r"[\s(]*+(?:<(?:(?:div|span|i|p|Fragment|React\.Fragment)\b[^<>]*+)?>\s*+){0,8}(<(?:svg|img|Icon)\b.*>)[\s)]*",
    re.DOTALL,
)
"""An icon that is rendered in its attribute, alone or in an element of no meaning: the only JSX in an attribute that is
read."""
CLOSING_TAG = re.compile(r"</([A-Za-z][\w:.-]*)\s*>")

_NO_ATTRIBUTES: Mapping[str, AttributeValue] = {}


class TagScanner:
    """Reads tags and braces out of one text. The work for tags that never end is bounded by the length of the text."""

    __slots__ = ("_budget", "names")

    def __init__(self, length: int, names: Mapping[str, AttributeValue]) -> None:
        self.names: Mapping[str, AttributeValue] = names
        self._budget = 16 * length + 4 * LONGEST

    def tag(self, text: str, at: int, end: int) -> Tag | None:
        """The tag that begins at ``at``, if one does and ends before ``end``."""
        if text.startswith("</", at):
            close = CLOSING_TAG.match(text, at, end)
            return Tag(close[1], _NO_ATTRIBUTES, True, False, close.end()) if close else None
        start = _OPEN.match(text, at, end)
        if start is None:
            return None
        if start[2] is not None:
            return Tag(start[1], _NO_ATTRIBUTES, False, start[2] == "/", start.end())
        if self._budget <= 0:
            return None
        end = min(end, at + LONGEST)
        tag, reached = self._with_attributes(text, start[1], start.end(), end)
        self._budget -= reached - at if tag else max(reached - at, min(end - at, 200))
        return tag

    def brace(self, text: str, at: int, end: int) -> int:
        """Where the brace that opens at ``at`` closes; -1 if it does not before ``end``."""
        if self._budget <= 0:
            return -1
        close = closing_brace(text, at, end)
        self._budget -= (close if close >= 0 else min(end, at + LONGEST)) - at
        return close

    def find(self, wanted: str, text: str, at: int, end: int) -> int:
        """``text.find``; -1, too, once the work for failed searches is used up."""
        found = text.find(wanted, at, end) if self._budget > 0 else -1
        if found < 0:
            self._budget -= (end - at) // 64 + 1
        return found

    def search(self, wanted: re.Pattern[str], text: str, at: int, end: int) -> tuple[int, int] | None:
        """Where ``wanted`` is found next; None, too, once the work for failed searches is used up."""
        found = wanted.search(text, at, end) if self._budget > 0 else None
        if found is None:
            self._budget -= (end - at) // 8 + 1
            return None
        return found.span()

    def _with_attributes(self, text: str, name: str, at: int, end: int) -> tuple[Tag | None, int]:
        attributes: dict[str, AttributeValue] = {}
        expressions: list[str] = []
        while True:
            finish = _END.match(text, at, end)
            if finish is not None:
                self_closing = finish[1] == "/"
                return Tag(name, attributes, False, self_closing, finish.end(), tuple(expressions)), finish.end()
            found = _ATTRIBUTE.match(text, at, end)
            if found is None:
                spread = _SPREAD.match(text, at, end)
                close = self.brace(text, spread.end() - 1, end) if spread else -1
                if close < 0:
                    return None, spread.end() if spread else at
                at = close + 1
                expressions.append("{…}")
                continue
            at = found.end()
            if found[4] is None:
                attributes[found[1]] = True if found.lastindex == 1 else unescape(found[found.lastindex or 1])
                continue
            close = self.brace(text, at - 1, end)
            if close < 0:
                return None, at
            attributes[found[1]] = self._literal(text[at:close], found[1], expressions)
            at = close + 1

    def _literal(self, text: str, name: str, expressions: list[str]) -> AttributeValue:
        if name == "icon" and (rendered := _JSX_ICON.fullmatch(text)) is not None:
            return rendered[1]
        try:
            return literal(text, self.names)
        except NotLiteral:
            expressions.append(name)
            return None


INLINE = frozenset({"Icon", "Tooltip", "Badge", "Latex", "Color"})
"""Components within a line of text; all others are blocks."""


class ConstructKind(Enum):
    """What was found in the text."""

    COMMENT = auto()
    COMPONENT = auto()
    HTML = auto()
    UNKNOWN = auto()
    RAW = auto()
    TEXT = auto()
    EXPRESSION = auto()


class Construct(NamedTuple):
    """One construct, up to ``end``. ``text`` is what it shows, or a raw element contains; ``at`` where it begins."""

    kind: ConstructKind
    at: int
    end: int
    tag: Tag
    text: str = ""

    @property
    def inline(self) -> bool:
        """Whether it belongs to a line of text, also where it begins one."""
        if self.kind is ConstructKind.HTML:
            return not ALLOWED[self.tag.name].block
        return self.kind is ConstructKind.COMPONENT and self.tag.name in INLINE


_NO_TAG = Tag("", {}, False, True, 0)
_ENDS = {name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in RAW}
_FORMULA = re.compile(r"(?:[$^_}]|\\[A-Za-z]{1,20})\Z")


class ConstructScanner:
    """Finds the constructs of one text. ``known`` are the components; ``names`` fills with the text's constants."""

    __slots__ = (
        "_expression_reported",
        "_fragments",
        "_mdx",
        "closing_names",
        "diagnostics",
        "elements",
        "known",
        "names",
        "scanner",
    )

    def __init__(
        self,
        text: str,
        known: Container[str],
        names: Mapping[str, AttributeValue],
        diagnostics: PageDiagnostics,
        *,
        mdx: bool,
        elements: Mapping[str, Allowed] = ALLOWED,
    ) -> None:
        self.names: Mapping[str, AttributeValue] = names
        self.known: Container[str] = known
        self.diagnostics: PageDiagnostics = diagnostics
        self.scanner: TagScanner = TagScanner(len(text), names)
        self.closing_names: frozenset[str] = frozenset(CLOSING_TAG.findall(text) if "</" in text else ())
        self.elements: Mapping[str, Allowed] = elements
        self._mdx = mdx
        self._fragments = mdx and "</>" in text
        self._expression_reported = False

    def at(self, text: str, at: int, end: int, line: int) -> Construct | None:
        """The construct that begins at ``at``, a ``<`` or ``{``; None if that is a letter like any other."""
        if text[at] == "{":
            return self._braced(text, at, end, line)
        if text.startswith("<!--", at):
            close = self.scanner.find("-->", text, at + 4, end)
            if close >= 0:
                return Construct(ConstructKind.COMMENT, at, close + 3, _NO_TAG)
            if text.find("-->", at, at + 6) >= 0:  # "<!-->" and "<!--->" are comments too
                return Construct(ConstructKind.COMMENT, at, text.find("-->", at) + 3, _NO_TAG)
            self.diagnostics.add(Severity.WARNING, "PAGE020", "the comment is not closed", "close it with -->", line)
            return None
        tag = self.scanner.tag(text, at, end)
        if tag is None:
            return self._fragment(text, at)
        name = tag.name
        if name in self.known:
            return Construct(ConstructKind.COMPONENT, at, tag.end, tag)
        lower = name.lower() if name.islower() or name.isupper() else name
        if lower in RAW:
            return self._raw_element(tag._replace(name=lower), text, at, end)
        allowed = self.elements.get(lower)
        if allowed and (self._is_tag(tag) or allowed.void or (allowed.block and name.islower())):
            return Construct(ConstructKind.HTML, at, tag.end, tag._replace(name=lower))
        if lower in REMOVED or self._is_tag(tag):
            return Construct(ConstructKind.UNKNOWN, at, tag.end, tag)
        return None

    def _is_tag(self, tag: Tag) -> bool:
        """Whether an unknown name is a tag, and not a placeholder or the parameter of a type."""
        return tag.self_closing or tag.closing or tag.has_values or tag.name in self.closing_names

    def _raw_element(self, tag: Tag, text: str, at: int, end: int) -> Construct:
        if tag.closing or tag.self_closing:
            return Construct(ConstructKind.RAW, at, tag.end, tag)
        close = self.scanner.search(_ENDS[tag.name], text, tag.end, end)
        if close is None:
            return Construct(ConstructKind.UNKNOWN, at, tag.end, tag)
        return Construct(ConstructKind.RAW, at, close[1], tag, text[tag.end : close[0]])

    def _fragment(self, text: str, at: int) -> Construct | None:
        """``<>`` and ``</>`` put things together without an element; in prose the first is "unequal"."""
        for mark in ("</>", "<>"):
            if self._fragments and text.startswith(mark, at):
                return Construct(ConstructKind.COMMENT, at, at + len(mark), _NO_TAG)
        return None

    def _braced(self, text: str, at: int, end: int, line: int) -> Construct | None:
        if text.startswith("{/*", at):
            close = self.scanner.find("*/", text, at + 3, end)
            after = text.find("}", close, min(close + 80, end)) if close >= 0 else -1
            if after >= 0 and not text[close + 2 : after].strip():
                return Construct(ConstructKind.COMMENT, at, after + 1, _NO_TAG)
        if not (self._mdx or self.names) or _FORMULA.search(text, max(at - 21, 0), at):
            return None
        close = self.scanner.brace(text, at, end)
        inner = text[at + 1 : close].strip() if close >= 0 else ""
        if not inner or not (self._mdx or inner in self.names):
            return None
        try:
            return Construct(ConstructKind.TEXT, at, close + 1, _NO_TAG, as_text(literal(inner, self.names)))
        except NotLiteral:
            # Once for a page: what is left to evaluate there is seldom one expression
            if not self._expression_reported:
                self._expression_reported = True
                message = "an expression is shown as it was written: nothing on a page is evaluated"
                self.diagnostics.add(Severity.INFO, "PAGE008", message, "write its value, or \\{ for a brace", line)
            return Construct(ConstructKind.EXPRESSION, at, close + 1, _NO_TAG, text[at : close + 1])


def as_text(value: AttributeValue) -> str:
    """A value as text: nothing for those that a page would not show."""
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else str(value)
