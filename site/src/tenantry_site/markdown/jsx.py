"""Finds tags, comments and expressions in Markdown, and distinguishes them from text that looks similar.

``List<String>`` and ``<YOUR_KEY>`` are text. ``<Card title="x" cols={2}>`` is a tag, even if no component has this
name.
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
"""Maximum number of characters of a tag."""


class Tag(NamedTuple):
    """A tag. ``end``: the offset after the tag. ``expressions``: names of the attributes whose values are not
    literals."""

    name: str
    attributes: Mapping[str, AttributeValue]
    closing: bool
    self_closing: bool
    end: int
    expressions: tuple[str, ...] = ()

    @property
    def has_values(self) -> bool:
        """Whether an attribute has a value. This distinguishes a tag (``<Key at="x">``) from a placeholder
        (``<KEY here>``)."""
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
"""An attribute value that is JSX for an icon, alone or inside wrapper elements. No other JSX in attributes is read."""
CLOSING_TAG = re.compile(r"</([A-Za-z][\w:.-]*)\s*>")

_NO_ATTRIBUTES: Mapping[str, AttributeValue] = {}


class TagScanner:
    """Finds the ends of tags and braces in one text. A budget proportional to the text's length limits the time spent
    on tags that never end."""

    __slots__ = ("_budget", "names")

    def __init__(self, length: int, names: Mapping[str, AttributeValue]) -> None:
        self.names: Mapping[str, AttributeValue] = names
        self._budget = 16 * length + 4 * LONGEST

    def tag(self, text: str, at: int, end: int) -> Tag | None:
        """The tag that begins at ``at`` and ends before ``end``, or None."""
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
        """The offset of the brace before ``end`` that closes the brace at ``at``; -1 if it is missing, or the budget is
        spent."""
        if self._budget <= 0:
            return -1
        close = closing_brace(text, at, end)
        self._budget -= (close if close >= 0 else min(end, at + LONGEST)) - at
        return close

    def find(self, wanted: str, text: str, at: int, end: int) -> int:
        """``text.find(wanted, at, end)``, but always -1 once the budget is spent."""
        found = text.find(wanted, at, end) if self._budget > 0 else -1
        if found < 0:
            self._budget -= (end - at) // 64 + 1
        return found

    def search(self, wanted: re.Pattern[str], text: str, at: int, end: int) -> tuple[int, int] | None:
        """The span of the next match of ``wanted``; None without a match, or if the budget is spent."""
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


COMMENT = re.compile(r"\{/\*.*?\*/\s*\}|<!--.*?-->", re.DOTALL)

INLINE = frozenset({"Icon", "Tooltip", "Badge", "Latex", "Color"})
"""Components that are part of a line of text; all others are blocks."""


class ConstructKind(Enum):
    COMMENT = auto()
    COMPONENT = auto()
    HTML = auto()
    UNKNOWN = auto()  # a tag that is neither a component nor allowed HTML
    RAW = auto()  # an element of ``allowed_html.RAW``, with its contents
    TEXT = auto()  # an expression whose value is known
    EXPRESSION = auto()  # an expression that would have to be evaluated


class Construct(NamedTuple):
    """A tag, comment or expression. ``at`` and ``end``: where it begins and ends. ``text``: the value or source of an
    expression, or the contents of a raw element."""

    kind: ConstructKind
    at: int
    end: int
    tag: Tag
    text: str = ""

    @property
    def inline(self) -> bool:
        """Whether the construct is part of a line of text, not a block, even at the beginning of a line."""
        if self.kind is ConstructKind.HTML:
            return not ALLOWED[self.tag.name].block
        return self.kind is ConstructKind.COMPONENT and self.tag.name in INLINE


_HIDING = frozenset({ConstructKind.COMMENT, ConstructKind.RAW, ConstructKind.TEXT})
_NO_TAG = Tag("", {}, False, True, 0)
_ENDS = {name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in RAW}
_FORMULA = re.compile(r"(?:[$^_}]|\\[A-Za-z]{1,20})\Z")


class ConstructScanner:
    """Finds the constructs of one text.

    ``known``: names of the components. ``names``: constants and their values; the text's own exports are added while
    the text is parsed. ``mdx``: treat all braces as expressions, not only those around one of ``names``. ``elements``:
    the allowed HTML.
    """

    __slots__ = (
        "_expression_reported",
        "_fragments",
        "_mdx",
        "closing_names",
        "diagnostics",
        "elements",
        "hides_source",
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
        self.hides_source: bool = False
        """Whether the page hides or replaces a part of the text so far: comments, scripts, values of expressions."""
        self._mdx = mdx
        self._fragments = mdx and "</>" in text
        self._expression_reported = False

    def at(self, text: str, at: int, end: int, line: int) -> Construct | None:
        """The construct that begins with the ``<`` or ``{`` at ``at``; None if that character is plain text."""
        found = self._found(text, at, end, line)
        self.hides_source = self.hides_source or (found is not None and found.kind in _HIDING)
        return found

    def _found(self, text: str, at: int, end: int, line: int) -> Construct | None:
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
        """Whether ``<Name`` with an unknown name is a tag, and not a placeholder or a type parameter."""
        return tag.self_closing or tag.closing or tag.has_values or tag.name in self.closing_names

    def _raw_element(self, tag: Tag, text: str, at: int, end: int) -> Construct:
        if tag.closing or tag.self_closing:
            return Construct(ConstructKind.RAW, at, tag.end, tag)
        close = self.scanner.search(_ENDS[tag.name], text, tag.end, end)
        if close is None:
            return Construct(ConstructKind.UNKNOWN, at, tag.end, tag)
        return Construct(ConstructKind.RAW, at, close[1], tag, text[tag.end : close[0]])

    def _fragment(self, text: str, at: int) -> Construct | None:
        """``<>`` or ``</>``, which JSX uses to group elements. If the page has no ``</>``, ``<>`` is plain text."""
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
            # Expressions are reported once for each text: a page that has one expression usually has many
            if not self._expression_reported:
                self._expression_reported = True
                message = "an expression is shown as it was written: nothing on a page is evaluated"
                self.diagnostics.add(Severity.INFO, "PAGE008", message, "write its value, or \\{ for a brace", line)
            return Construct(ConstructKind.EXPRESSION, at, close + 1, _NO_TAG, text[at : close + 1])


def as_text(value: AttributeValue) -> str:
    """The text that a page shows for a value. As in JSX, null, true and false show nothing."""
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else str(value)
