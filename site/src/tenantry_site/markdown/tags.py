"""Tags: ``<Card title="x" cols={2}>`` in the text of a page, taken apart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from typing import NamedTuple

from tenantry_site.markdown.literals import NotLiteral, closing_brace, literal
from tenantry_site.nodes import AttributeValue

LONGEST = 20_000
"""Characters of one tag."""


class Tag(NamedTuple):
    """One tag. ``end`` is where it ends in the text; ``expressions`` are the attributes that are not literals."""

    name: str
    attributes: Mapping[str, AttributeValue]
    closing: bool
    alone: bool
    end: int
    expressions: tuple[str, ...] = ()

    @property
    def valued(self) -> bool:
        """Whether an attribute has a value: ``<KEY here>`` is a placeholder, ``<Key at="x">`` is a tag."""
        return any(value is not True for value in self.attributes.values()) or bool(self.expressions)


_OPEN = re.compile(r"<([A-Za-z][\w:.-]*)(?:(/?)>|(?=[\s/{]))")
_CLOSE = re.compile(r"</([A-Za-z][\w:.-]*)\s*>")
_ATTRIBUTE = re.compile(
    r"""(?:\s++|(?<=["'}]))([A-Za-z_@:$][\w:.@$-]*+)(?:\s*+=\s*+(?:"([^"]*)"|'([^']*)'|(\{)|([^\s"'=<>`{}/][^\s"'=<>`{}]*)))?"""
)
_SPREAD = re.compile(r"\s*+\{")
_END = re.compile(r"\s*+(/?)>")
_DRAWN = re.compile(
    r"[\s(]*+(?:<(?:(?:div|span|i|p|Fragment|React\.Fragment)\b[^<>]*+)?>\s*+){0,8}(<(?:svg|img|Icon)\b.*>)[\s)]*",
    re.DOTALL,
)
"""An icon that is drawn in its attribute, alone or in an element of no meaning: the only JSX in an attribute that is
read."""
CLOSERS = re.compile(r"</([A-Za-z][\w:.-]*)\s*>")

_NONE: Mapping[str, AttributeValue] = {}


class Scanner:
    """Reads tags and braces out of one text. What it may look at in vain is bounded by the length of the text."""

    __slots__ = ("_effort", "names")

    def __init__(self, length: int, names: Mapping[str, AttributeValue]) -> None:
        self.names = names
        self._effort = 16 * length + 4 * LONGEST

    def tag(self, text: str, at: int, end: int) -> Tag | None:
        """The tag that begins at ``at``, if one does and ends before ``end``."""
        if text.startswith("</", at):
            close = _CLOSE.match(text, at, end)
            return Tag(close[1], _NONE, True, False, close.end()) if close else None
        start = _OPEN.match(text, at, end)
        if start is None:
            return None
        if start[2] is not None:
            return Tag(start[1], _NONE, False, start[2] == "/", start.end())
        if self._effort <= 0:
            return None
        end = min(end, at + LONGEST)
        tag, reached = self._with_attributes(text, start[1], start.end(), end)
        self._effort -= reached - at if tag else max(reached - at, min(end - at, 200))
        return tag

    def brace(self, text: str, at: int, end: int) -> int:
        """Where the brace that opens at ``at`` closes; -1 if it does not before ``end``."""
        if self._effort <= 0:
            return -1
        close = closing_brace(text, at, end)
        self._effort -= (close if close >= 0 else min(end, at + LONGEST)) - at
        return close

    def find(self, wanted: str, text: str, at: int, end: int) -> int:
        """``text.find``, as often as the length of the text allows in vain."""
        found = text.find(wanted, at, end) if self._effort > 0 else -1
        if found < 0:
            self._effort -= (end - at) // 64 + 1
        return found

    def search(self, wanted: re.Pattern[str], text: str, at: int, end: int) -> tuple[int, int] | None:
        """Where ``wanted`` is found next, as often as the length of the text allows in vain."""
        found = wanted.search(text, at, end) if self._effort > 0 else None
        if found is None:
            self._effort -= (end - at) // 8 + 1
            return None
        return found.span()

    def _with_attributes(self, text: str, name: str, at: int, end: int) -> tuple[Tag | None, int]:
        attributes: dict[str, AttributeValue] = {}
        expressions: list[str] = []
        while True:
            finish = _END.match(text, at, end)
            if finish is not None:
                alone = finish[1] == "/"
                return Tag(name, attributes, False, alone, finish.end(), tuple(expressions)), finish.end()
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
        if name == "icon" and (drawn := _DRAWN.fullmatch(text)) is not None:
            return drawn[1]
        try:
            return literal(text, self.names)
        except NotLiteral:
            expressions.append(name)
            return None
