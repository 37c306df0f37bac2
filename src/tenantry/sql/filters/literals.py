"""Literals: the arguments of ``default``. A text, a number, true or false."""

from __future__ import annotations

import math
import re

from tenantry.sql.binding.values import MAX_INTEGER
from tenantry.sql.dialects import Dialect
from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind
from tenantry.sql.lexing.lexer import unescape
from tenantry.sql.lexing.tags import Argument
from tenantry.sql.source import Source

_INTEGER = re.compile(r"[-+]?[0-9]{1,19}")
_FLOAT = re.compile(r"[-+]?[0-9]+\.[0-9]+(?:[eE][-+]?[0-9]+)?")
_BOOLEANS = {"true": True, "false": False}


def literal(source: Source, dialect: Dialect, argument: Argument) -> str | int | float | bool:
    """The value of an argument. Raises TemplateError if it is no literal."""
    text = argument.text
    if not argument.key and len(argument.lexemes) == 1:
        lexeme = argument.lexemes[0]
        if lexeme.kind is LexemeKind.STRING and text[0] in "'\"":
            return quoted_text(source, dialect, lexeme)
        if _INTEGER.fullmatch(text) and abs(int(text)) <= MAX_INTEGER:
            return int(text)
        if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
            return float(text)
        if text.lower() in _BOOLEANS:
            return _BOOLEANS[text.lower()]
    raise source.error(argument.start, "a default is a literal", "write a text in quotes, a number, true or false")


def quoted_text(source: Source, dialect: Dialect, lexeme: Lexeme) -> str:
    """What is in the quotes of a string. Raises TemplateError for an escape that the dialect does not know."""
    text, quote = source.text, source.text[lexeme.start]
    if lexeme.end - lexeme.start > 2 and text.startswith(quote * 3, lexeme.start):
        raise source.error(lexeme.start, "this text is in three quotes", "write it in one pair of quotes")
    parts = lexeme.parts or (Lexeme(LexemeKind.STRING, lexeme.start + 1, lexeme.end - 1),)
    value = "".join(
        text[each.start + 1 : each.end]
        if each.kind is LexemeKind.ESCAPE
        else unescape(source, dialect, each, quote, lexeme.backslash)
        for each in parts
    )
    if "\0" in value:
        raise source.error(lexeme.start, "a parameter cannot hold a NUL", "remove \\0 from the literal")
    return value
