"""MaskedSQL: SQL in which quoted parts are simplified, so that every lexer reads it as ours does. Its length stays the
same."""

# Strings keep only plain characters, hints become spaces, and every quoted name has the dialect's usual quotes. Outside
# of quotes, characters that engines read in different ways are refused.

from __future__ import annotations

import re
from typing import Final, NamedTuple

from tenantry.errors import Edit, TemplateError
from tenantry.sql.dialects import Dialect
from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind
from tenantry.sql.lexing.lexer import lex
from tenantry.sql.source import Source

MAX_LENGTH: Final = 64 * 1024
"""Longest SQL in characters."""
MAX_TOKENS: Final = 4_000
"""Maximum number of words and signs."""
MAX_DEPTH: Final = 32
"""Deepest nesting of brackets and ``case``."""

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_ .,:%/+-]")
_ODD: Final = re.compile(r"[^\x20-\x7e\t\r\n]|[\\`$]")
_NUMBER: Final = re.compile(r"(?<![\w$])[0-9][\w$]*(?:\.[^\W\d])?")
_PLAIN_NUMBER: Final = re.compile(r"[0-9][0-9_]*(?:[eE][0-9]*)?|0[xX][0-9a-fA-F]+")
_NAME_CHARACTERS: Final = re.compile(r"[^\"`\[\]'\\\x00-\x1f\x7f]+")
_TOKEN: Final = re.compile(r"\"[^\"]*\"|`[^`]*`|'[^']*'|[^\W\d]\w*|[0-9][\w.]*|::|->|\S")
_OPENING: Final = frozenset({"(", "[", "{", "case"})
_CLOSING: Final = frozenset({")", "]", "}", "end"})
_BRACKETS: Final = frozenset(
    {LexemeKind.LEFT_BRACKET, LexemeKind.RIGHT_BRACKET, LexemeKind.CLAUSE_START, LexemeKind.CLAUSE_END}
)


class Refused(Exception):
    """The SQL cannot be proved to read only the group's rows. ``position`` is an offset in that SQL."""

    def __init__(self, position: int, problem: str, fix: str, edit: Edit | None = None) -> None:
        super().__init__(problem)
        self.position = position
        self.problem = problem
        self.fix = fix
        self.edit = edit


class MaskedToken(NamedTuple):
    """A word, quoted name, string, number or sign. Words are in lower case. Names and strings keep their quotes."""

    text: str
    start: int
    end: int

    @property
    def is_name(self) -> bool:
        return self.text[0] in '"`_' or self.text[0].isalpha()


class MaskedSQL(NamedTuple):
    sql: str
    tokens: list[MaskedToken]


def check_length(characters: int) -> None:
    if characters > MAX_LENGTH:
        raise Refused(0, f"with guarded tables, SQL has at most {MAX_LENGTH} characters", "write a shorter query")


def mask(sql: str, dialect: Dialect) -> MaskedSQL:
    """Return ``sql`` and its tokens, with simpler quoted parts that every lexer reads alike. Raises Refused if ``sql``
    is too large, cannot be lexed, or has parts that engines read in different ways."""
    check_length(len(sql))
    plain = sql.replace("{{", "{ ")  # only a string can contain `{{`, because no engine reads it as SQL
    try:
        lexemes = lex(Source(plain), dialect)
    except TemplateError as error:
        problem = f"the tables of this SQL cannot be determined ({error.problem})"
        raise Refused(0, problem, "write it more plainly") from None
    masked = "".join(_masked(plain, lexeme, dialect) for lexeme in lexemes)
    tokens = [MaskedToken(_text(match[0]), match.start(), match.end()) for match in _TOKEN.finditer(masked)]
    _check_size(tokens)
    return MaskedSQL(masked, tokens)


def _masked(sql: str, lexeme: Lexeme, dialect: Dialect) -> str:
    text = sql[lexeme.start : lexeme.end]
    if lexeme.kind is LexemeKind.CODE:
        _check_code(sql, lexeme, dialect)
        return text
    if lexeme.kind is LexemeKind.STRING or (lexeme.kind is LexemeKind.QUOTED and text[0] == "$"):
        return f"'{_UNSAFE.sub('x', text[1:-1])}'"
    if lexeme.kind is LexemeKind.QUOTED and text[0] in '"`[/':
        return " " * len(text) if text[0] == "/" else _masked_name(text, lexeme.start, dialect)
    if lexeme.kind in _BRACKETS:
        return text
    raise Refused(lexeme.start, "engines read this in different ways", "write it more plainly")


def _masked_name(text: str, start: int, dialect: Dialect) -> str:
    if not _NAME_CHARACTERS.fullmatch(text, 1, len(text) - 1):
        raise Refused(
            start,
            "with guarded tables, a quoted name cannot contain quotes, square brackets, backslashes or "
            "control characters",
            "rename it in the database",
        )
    quote = dialect.name_quote
    return f"{quote}{text[1:-1]}{quote}"


def _check_code(sql: str, lexeme: Lexeme, dialect: Dialect) -> None:
    for match in _ODD.finditer(sql, lexeme.start, lexeme.end):
        character = match[0]
        if dialect.ascii_words or not _is_letter(character):
            problem = "outside of quotes, engines read this character in different ways"
            raise Refused(match.start(), problem, "remove it, or put the name in quotes")
    for match in _NUMBER.finditer(sql, lexeme.start, lexeme.end):
        if not _PLAIN_NUMBER.fullmatch(match[0]):
            raise Refused(match.start(), "engines read this number in different ways", "write a space after the number")


def _is_letter(character: str) -> bool:
    # Letters that become ASCII when their case changes, such as the Kelvin sign, could spell a keyword.
    if not character.isalnum() or character.isascii():
        return False
    return not any(each.isascii() for each in (character.upper() + character.lower() + character.casefold()))


def _text(token: str) -> str:
    return token if token[0] in "\"'`" else token.lower()


def _check_size(tokens: list[MaskedToken]) -> None:
    depth = 0
    if len(tokens) > MAX_TOKENS:
        problem = f"with guarded tables, SQL has at most {MAX_TOKENS} words and signs"
        raise Refused(tokens[MAX_TOKENS].start, problem, "write a shorter query")
    for token in tokens:
        depth += (token.text in _OPENING) - (token.text in _CLOSING)
        if depth > MAX_DEPTH:
            raise Refused(token.start, f"brackets are more than {MAX_DEPTH} deep", "write it with fewer brackets")
