from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from tenantry.sql.dialects import Dialect
from tenantry.sql.lexing.lexemes import VARIABLE_PATH, Lexeme, LexemeKind
from tenantry.sql.lexing.lexer import unescape
from tenantry.sql.lexing.tags import Argument
from tenantry.sql.source import Source

BARE: Final = re.compile(r"-?[0-9]+|\w+")
"""A name that needs no quotes."""
_UNQUOTED: Final = re.compile(r"([^'\":()]*[^'\":()\s])\s*:(?!:)\s*(?=\S)")
_FIRST_WORD: Final = re.compile(r"[^\W\d]\w*")
_NAMES: Final = '"`['  # opening quotes of a column
_CLOSING: Final = {"[": "]"}


def name_of(source: Source, dialect: Dialect, argument: Argument) -> str:
    """Return the name of a choice: the name before the argument's colon, else the column that the argument names, else
    an empty string."""
    key = argument.key
    if not key:
        return argument.text if VARIABLE_PATH.fullmatch(argument.text) else _column(argument)
    if key[0] not in "'\"":
        return key
    quoted = Lexeme(LexemeKind.STRING, argument.start, argument.start + len(key), (), dialect.backslash)
    return quoted_text(source, dialect, quoted)


def default_name(source: Source, dialect: Dialect, argument: Argument) -> str:
    if len(argument.lexemes) == 1 and argument.lexemes[0].kind is LexemeKind.STRING and argument.text[0] in "'\"":
        return quoted_text(source, dialect, argument.lexemes[0])
    return _column(argument) or argument.text


def name_of_value(value: Any) -> Any:
    """Return the name of the choice that a value selects. Booleans and integers become the strings that a viewer would
    send."""
    if type(value) is bool:
        return "true" if value else "false"
    return str(value) if type(value) is int else value


def written_name(name: str, dialect: Dialect) -> str:
    if BARE.fullmatch(name):
        return name
    escaped = name.replace("\\", "\\\\") if dialect.backslash else name
    return "'" + escaped.replace("'", "''" if dialect.doubled_quotes else "\\'") + "'"


def yaml_name(name: str) -> str:
    plain = re.fullmatch(r"[^\W\d]\w*", name) is not None and name.lower() not in {"true", "false", "null"}
    return name if plain else "'" + name.replace("'", "''") + "'"


def with_names(source: Source, dialect: Dialect, arguments: Sequence[Argument]) -> str:
    """Return SQL for the arguments of ``one_of``, with a suggested name for each argument that has none."""
    found: dict[str, str] = {}
    for argument in arguments:
        unquoted = None if argument.key else _UNQUOTED.match(argument.text)
        text = argument.text if unquoted is None else argument.text[unquoted.end() :]
        name = name_of(source, dialect, argument) or (
            unquoted[1] if unquoted else _suggested(source, dialect, argument)
        )
        unique, number = name, 1
        while unique in found:
            number += 1
            unique = f"{name}_{number}"
        found[unique] = text
    return ", ".join(f"{written_name(name, dialect)}: {text}" for name, text in found.items())


def _column(argument: Argument) -> str:
    text = argument.text
    alone = len(argument.lexemes) == 1 and argument.lexemes[0].kind is LexemeKind.QUOTED
    if not alone or text[0] not in _NAMES:
        return ""
    closing = _CLOSING.get(text[0], text[0])
    return text[1:-1].replace(closing * 2, closing)


def _suggested(source: Source, dialect: Dialect, argument: Argument) -> str:
    only = argument.lexemes[0] if len(argument.lexemes) == 1 else None
    if only is not None and only.kind is LexemeKind.STRING and argument.text[0] in "'\"":
        return quoted_text(source, dialect, only) or "empty"
    word = _FIRST_WORD.search(argument.text)
    return word.group() if word is not None else argument.text if BARE.fullmatch(argument.text) else "other"


def quoted_text(source: Source, dialect: Dialect, lexeme: Lexeme) -> str:
    """Return the content of a string literal. Raises TemplateError for an unknown escape, a NUL or triple quotes."""
    text, quote = source.text, source.text[lexeme.start]
    if lexeme.end - lexeme.start > 2 and text.startswith(quote * 3, lexeme.start):
        raise source.error(lexeme.start, "this string has triple quotes", "use one pair of quotes")
    parts = lexeme.parts or (Lexeme(LexemeKind.STRING, lexeme.start + 1, lexeme.end - 1),)
    value = "".join(
        text[each.start + 1 : each.end]
        if each.kind is LexemeKind.ESCAPE
        else unescape(source, dialect, each, quote, lexeme.backslash)
        for each in parts
    )
    if "\0" in value:
        raise source.error(lexeme.start, "a parameter cannot contain a NUL", "remove \\0 from the literal")
    return value
