"""Names of choices: how a text that a viewer sends stands in a template, bare or in quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from tenantry.sql.dialects import Dialect
from tenantry.sql.filters.literals import quoted_text
from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind
from tenantry.sql.lexing.lexer import VARIABLE_PATH
from tenantry.sql.lexing.tags import Argument
from tenantry.sql.source import Source

BARE: Final = re.compile(r"-?[0-9]+|\w+")
"""A name that needs no quotes."""
_UNQUOTED: Final = re.compile(r"([^'\":()]*[^'\":()\s])\s*:(?!:)\s*(?=\S)")
"""A name that needs quotes and has none, with its colon."""
_FIRST_WORD: Final = re.compile(r"[^\W\d]\w*")
_NAMES: Final = '"`['  # what begins a quoted column
_CLOSING: Final = {"[": "]"}


def name_of(source: Source, dialect: Dialect, argument: Argument) -> str:
    """The name of an argument: its key, or the column that it is; empty where it has none."""
    key = argument.key
    if not key:
        return argument.text if VARIABLE_PATH.fullmatch(argument.text) else _column(argument)
    if key[0] not in "'\"":
        return key
    quoted = Lexeme(LexemeKind.STRING, argument.start, argument.start + len(key), (), dialect.backslash)
    return quoted_text(source, dialect, quoted)


def default_name(source: Source, dialect: Dialect, argument: Argument) -> str:
    """The name in ``default(…)``, with or without quotes."""
    if len(argument.lexemes) == 1 and argument.lexemes[0].kind is LexemeKind.STRING and argument.text[0] in "'\"":
        return quoted_text(source, dialect, argument.lexemes[0])
    return _column(argument) or argument.text


def name_of_value(value: Any) -> Any:
    """The name that a value chooses: a boolean and a whole number are written as a viewer sends them."""
    if type(value) is bool:
        return "true" if value else "false"
    return str(value) if type(value) is int else value


def written_name(name: str, dialect: Dialect) -> str:
    """A name as it stands before the colon in a template."""
    if BARE.fullmatch(name):
        return name
    escaped = name.replace("\\", "\\\\") if dialect.backslash else name
    return "'" + escaped.replace("'", "''" if dialect.doubled_quotes else "\\'") + "'"


def yaml_name(name: str) -> str:
    """A name as it stands in a header, where numbers, true and false are texts only in quotes."""
    plain = re.fullmatch(r"[^\W\d]\w*", name) is not None and name.lower() not in {"true", "false", "null"}
    return name if plain else "'" + name.replace("'", "''") + "'"


def with_names(source: Source, dialect: Dialect, arguments: Sequence[Argument]) -> str:
    """The arguments of ``one_of``, each with a name: those that have none take one of their text."""
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
    """The name in the quotes of a column that is alone."""
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
