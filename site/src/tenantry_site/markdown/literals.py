"""Reads JavaScript literals between braces, without running code.

Literals are strings, numbers, true, false, null, undefined, arrays and objects of literals, and names of known
constants with their members (``words.title``, ``words["title"]``). Other JavaScript is an expression, which is not
evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from tenantry_site.page import AttributeValue

MAX_DEPTH = 12
MAX_LENGTH = 20_000

_SPACE = re.compile(r"(?:\s|/\*.*?\*/|//[^\n]*)*", re.DOTALL)
_STRING = re.compile(
    r""""([^"\\\n]*+(?:\\.[^"\\\n]*+)*)"|'([^'\\\n]*+(?:\\.[^'\\\n]*+)*)'"""
    r"""|`([^`\\$]*+(?:(?:\\.|\$(?!\{))[^`\\$]*+)*)`""",
    re.DOTALL,
)
_NUMBER = re.compile(
    r"-?(?:0[xX][0-9a-fA-F]{1,12}|(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})(?:[eE][+-]?\d{1,2})?)(?![\w$])"
)
_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*")
_MEMBER = re.compile(r"""\s*(?:\?\.)?\[\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)'|(\d{1,6}))\s*\]|\??\.([A-Za-z_$][\w$]*)""")
_KEYWORDS: Mapping[str, AttributeValue] = {"true": True, "false": False, "null": None, "undefined": None}
_PLAIN = re.compile(r"[^\"'`/,{}()\[\]]+")
_ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_SIMPLE_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "", "\n": ""}


class NotLiteral(Exception):
    """Raised for text that is not a literal."""


def literal(text: str, names: Mapping[str, AttributeValue], *, skip_expressions: bool = False) -> AttributeValue:
    """The value of a literal. ``names``: the constants to which the text may refer.

    Raises ``NotLiteral`` for anything that would have to be evaluated. With ``skip_expressions``, an object's member
    whose value would have to be evaluated is left out instead of raising.
    """
    if len(text) > MAX_LENGTH:
        raise NotLiteral
    value, end = _value(text, _skip(text, 0), names, 0, skip_expressions=skip_expressions)
    if _skip(text, end) != len(text):
        raise NotLiteral
    return value


def literal_at(text: str, at: int, names: Mapping[str, AttributeValue]) -> tuple[AttributeValue, int]:
    """The value of the literal that begins at ``at``, and the offset of what follows it, without spaces. Raises
    ``NotLiteral``."""
    value, end = _value(text, _skip(text, at), names, 0)
    return value, _skip(text, end)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _value(
    text: str, at: int, names: Mapping[str, AttributeValue], depth: int, *, skip_expressions: bool = False
) -> tuple[AttributeValue, int]:
    start = text[at : at + 1]
    if depth > MAX_DEPTH:
        raise NotLiteral
    if start == "[":
        return _array(text, at + 1, names, depth)
    if start == "{":
        return _object(text, at + 1, names, depth, skip_expressions=skip_expressions)
    if start == "`":
        return _template(text, at + 1, names, depth)
    if (found := _STRING.match(text, at)) is not None:
        return _unescaped(found[found.lastindex or 1]), found.end()
    if (found := _NUMBER.match(text, at)) is not None:
        return _number(found[0]), found.end()
    if (found := _NAME.match(text, at)) is not None and found[0] in _KEYWORDS:
        return _KEYWORDS[found[0]], found.end()
    if found is not None and found[0] in names:
        return _member(names[found[0]], text, found.end())
    name = found[0].partition(".")[0] if found is not None else ""
    if name not in names:
        raise NotLiteral
    return _member(names[name], text, at + len(name))


_TEMPLATE_PART = re.compile(r"[^`\\$]+|\\.|\$(?!\{)", re.DOTALL)


def _template(text: str, at: int, names: Mapping[str, AttributeValue], depth: int) -> tuple[str, int]:
    """The string between backticks, with the values of the names between ``${`` and ``}``."""
    parts: list[str] = []
    while text[at : at + 1] != "`":
        if text.startswith("${", at):
            value, at = _value(text, _skip(text, at + 2), names, depth + 1)
            at = _skip(text, at)
            if text[at : at + 1] != "}" or isinstance(value, (list, dict, bool)):
                raise NotLiteral
            whole = isinstance(value, float) and value.is_integer()
            parts.append("" if value is None else f"{value:.0f}" if whole else str(value))
            at += 1
        elif (found := _TEMPLATE_PART.match(text, at)) is not None:
            parts.append(_unescaped(found[0]))
            at = found.end()
        else:
            raise NotLiteral
    return "".join(parts), at + 1


def _member(value: AttributeValue, text: str, at: int) -> tuple[AttributeValue, int]:
    """Follow member accesses (``.title``, ``["title"]``, ``[0]``) from a constant's value."""
    while (found := _MEMBER.match(text, at)) is not None:
        key = found[found.lastindex or 1]
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            raise NotLiteral
        at = found.end()
    return value, at


def _number(text: str) -> int | float:
    if text.lower().lstrip("-").startswith("0x"):
        return int(text, 16)
    return float(text) if any(letter in text for letter in ".eE") else int(text)


def _array(text: str, at: int, names: Mapping[str, AttributeValue], depth: int) -> tuple[AttributeValue, int]:
    values: list[AttributeValue] = []
    at = _skip(text, at)
    while text[at : at + 1] != "]":
        value, at = _value(text, at, names, depth + 1)
        values.append(value)
        at = _after_element(text, at, "]")
    return values, at + 1


def _object(
    text: str, at: int, names: Mapping[str, AttributeValue], depth: int, *, skip_expressions: bool = False
) -> tuple[AttributeValue, int]:
    values: dict[str, AttributeValue] = {}
    at = _skip(text, at)
    while text[at : at + 1] != "}":
        found = _STRING.match(text, at) or _NAME.match(text, at)
        if found is None:
            raise NotLiteral
        colon = _skip(text, found.end())
        if text[colon : colon + 1] != ":":
            raise NotLiteral
        key = found[found.lastindex] if found.lastindex else found[0]
        start = _skip(text, colon + 1)
        try:
            value, at = _value(text, start, names, depth + 1, skip_expressions=skip_expressions)
            at = _after_element(text, at, "}")
            values[_unescaped(key)] = value
        except NotLiteral:
            if not skip_expressions:
                raise
            at = _after_element(text, _expression_end(text, start), "}")
    return values, at + 1


def _expression_end(text: str, at: int) -> int:
    """The offset of the comma or closing brace after the expression at ``at`` in an object."""
    depth = 0
    while at < len(text):
        found = _PLAIN.match(text, at) or _STRING.match(text, at)
        found = found or _QUOTED["`"].match(text, at) or _QUOTED["/*"].match(text, at)
        if found is not None:
            at = found.end()
            continue
        if depth == 0 and text[at] in ",}":
            return at
        depth += (text[at] in "([{") - (text[at] in ")]}")
        at += 1
    raise NotLiteral


def _after_element(text: str, at: int, close: str) -> int:
    """Skip a comma after an element. Return the offset of the next element or of the bracket ``close``."""
    at = _skip(text, at)
    if text[at : at + 1] == ",":
        return _skip(text, at + 1)
    if text[at : at + 1] != close:
        raise NotLiteral
    return at


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_unescape_one, text) if "\\" in text else text


def _unescape_one(found: re.Match[str]) -> str:
    body = found[1]
    if len(body) == 1:
        return _SIMPLE_ESCAPES.get(body, body)
    code = int(body.strip("ux{}"), 16)
    return "\ufffd" if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF else chr(code)


_MARK: Final = re.compile(r"[{}\"'`]|/\*")
_QUOTED: Final = {
    "/*": re.compile(r"/\*.*?\*/", re.DOTALL),
    '"': re.compile(r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*"', re.DOTALL),
    "'": re.compile(r"'[^'\\\n]*+(?:\\.[^'\\\n]*+)*'", re.DOTALL),
    "`": re.compile(r"`[^`\\]*+(?:\\.[^`\\]*+)*`", re.DOTALL),
}


def closing_brace(text: str, at: int, end: int) -> int:
    """The offset of the brace that closes the brace at ``at``; -1 if no brace before ``end`` closes it.

    A quote without a closing quote is plain text, because expressions contain prose (``{ready && <p>don't</p>}``).
    After one failed search for a closing quote, further quotes of that kind are plain text too, so that the time stays
    linear.
    """
    end = min(end, at + MAX_LENGTH)
    depth, dead = 0, set[str]()
    position = at
    while (found := _MARK.search(text, position, end)) is not None:
        mark, position = found[0], found.end()
        if mark == "{":
            depth += 1
        elif mark == "}":
            depth -= 1
            if depth == 0:
                return found.start()
        elif mark not in dead:
            quoted = _QUOTED[mark].match(text, found.start(), end)
            if quoted is None:
                dead.add(mark)
            else:
                position = quoted.end()
    return -1
