"""Scans a query of another tool for comments, quoted regions and brackets.

The SQL is not a template yet, so ``lex`` cannot read it. The scan only proposes replacements; the compiler decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tenantry.sql.inspect import Dialect

_NESTING = re.compile(r"/\*|\*/")
_CLOSING = {"(": ")", "[": "]"}


class Region(NamedTuple):
    """A quoted span or comment. ``quote`` is ``-`` for a comment, else the first character of the span."""

    quote: str
    start: int
    end: int


def regions(text: str, dialect: Dialect) -> list[Region]:
    """Return the comments, strings and quoted names, in order. An unclosed one extends to the end of the text."""
    opening = re.compile(r"--|/\*|['\"`]" + ("|#" if dialect.hash_comment else "") + "|" + _dollar(dialect))
    found: list[Region] = []
    position = 0
    while (match := opening.search(text, position)) is not None:
        sign = match.group()
        if sign in {"--", "#"}:
            region = Region("-", match.start(), _or_end(text, text.find("\n", match.end())))
        elif sign == "/*":
            region = Region("-", match.start(), _comment_end(text, match.end(), dialect.nested_comments))
        elif sign[0] == "$":
            close = text.find(sign, match.end())
            region = Region("$", match.start(), _or_end(text, close + len(sign) if close >= 0 else -1))
        else:
            backslash = dialect.backslash and sign != "`"
            region = Region(sign, match.start(), _string_end(text, match.end(), sign, backslash))
        found.append(region)
        position = region.end
    return found


def region_at(found: list[Region], offset: int) -> Region | None:
    return next((region for region in found if region.start <= offset < region.end), None)


def arguments(text: str, start: int) -> tuple[list[str], int] | None:
    """Return the arguments in the brackets that open at ``start``, and the offset after them; None if unclosed."""
    found: list[str] = []
    begin, closers = start + 1, [")"]
    for offset, character in _code_characters(text, start + 1):
        if character in _CLOSING:
            closers.append(_CLOSING[character])
        elif character == closers[-1]:
            closers.pop()
            if not closers:
                found.append(text[begin:offset].strip())
                return ([] if found == [""] else found), offset + 1
        elif character == "," and len(closers) == 1:
            found.append(text[begin:offset].strip())
            begin = offset + 1
    return None


def balanced(text: str) -> bool:
    closers: list[str] = []
    for _, character in _code_characters(text, 0):
        if character in _CLOSING:
            closers.append(_CLOSING[character])
        elif character in ")]" and (not closers or closers.pop() != character):
            return False
    return not closers


def quoted_name(name: str, dialect: Dialect) -> str:
    if name.isidentifier() and name.isascii() and name.islower():
        return name
    sign = "`" if dialect.double_is_string else '"'
    return sign + name.replace(sign, sign * 2) + sign


def path_name(name: str) -> str:
    """Return a name that is valid in a path: letters, digits and ``_``, with a letter first."""
    plain = re.sub(r"\W+", "_", name.strip(), flags=re.ASCII).strip("_").lower()
    return plain if plain[:1].isalpha() else f"p_{plain}".rstrip("_")


def _code_characters(text: str, start: int) -> Iterator[tuple[int, str]]:
    quote = ""
    for offset in range(start, len(text)):
        character = text[offset]
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"`":
            quote = character
        else:
            yield offset, character


def _dollar(dialect: Dialect) -> str:
    return r"\$(?:[A-Za-z_]\w*)?\$" if dialect.dollar_quotes else r"(?!)"


def _or_end(text: str, offset: int) -> int:
    return offset if offset >= 0 else len(text)


def _comment_end(text: str, start: int, nested: bool) -> int:
    depth = 1
    for match in _NESTING.finditer(text, start):
        if match.group() == "*/":
            depth -= 1
        elif nested:
            depth += 1
        if depth == 0:
            return match.end()
    return len(text)


def _string_end(text: str, start: int, quote: str, backslash: bool) -> int:
    body = re.compile(rf"(?:[^{quote}\\]|{quote}{quote}|\\{'.' if backslash else ''})*", re.DOTALL)
    match = body.match(text, start)
    return min(len(text), (match.end() if match else start) + 1)
