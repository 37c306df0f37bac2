"""Balanced SQL: it closes each bracket that it opens, so including it does not change the SQL around it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind
from tenantry.sql.source import Source

_AND = re.compile(r"\s*and(?![\w$])", re.IGNORECASE)
_SIGN = re.compile(r"[][(){};]")
_CLOSED_BY = {"(": ")", "{": "}", "[": "]"}
_WITH_SIGNS = frozenset(
    {
        LexemeKind.CODE,
        LexemeKind.LEFT_BRACKET,
        LexemeKind.RIGHT_BRACKET,
        LexemeKind.CLAUSE_START,
        LexemeKind.CLAUSE_END,
        LexemeKind.ESCAPE,
    }
)


def check_balanced(source: Source, lexemes: Sequence[Lexeme], what: str) -> None:
    """Raise TemplateError for an unmatched bracket, a ``;`` or no SQL. ``what`` names the SQL in the message."""
    if all(lexeme.kind is LexemeKind.COMMENT or _is_space(source, lexeme) for lexeme in lexemes):
        raise source.error(0, f"this {what} is empty", "write SQL in it")
    opened: list[tuple[str, int]] = []
    for sign, offset in _signs(source.text, lexemes):
        if sign == ";":
            raise source.error(offset, f"a {what} must not end a statement", "remove the ;")
        if sign in _CLOSED_BY:
            opened.append((_CLOSED_BY[sign], offset))
        elif not opened or opened.pop()[0] != sign:
            raise source.error(offset, f"this {sign} closes nothing that its {what} opens", "remove it, or open it")
    if opened:
        closing, offset = opened[-1]
        raise source.error(offset, f"this {what} ends before its {closing}", f"close it with {closing}")


def begins_with_and(source: Source, lexemes: Sequence[Lexeme]) -> bool:
    """Return whether the first word is ``and``, also within an optional clause."""
    for lexeme in lexemes:
        if lexeme.kind is LexemeKind.CODE and not _is_space(source, lexeme):
            return _AND.match(source.text, lexeme.start, lexeme.end) is not None
        if lexeme.kind not in {LexemeKind.CODE, LexemeKind.COMMENT, LexemeKind.CLAUSE_START}:
            return False
    return False


def _is_space(source: Source, lexeme: Lexeme) -> bool:
    return lexeme.kind is LexemeKind.CODE and source.text[lexeme.start : lexeme.end].isspace()


def _signs(text: str, lexemes: Sequence[Lexeme]) -> Iterator[tuple[str, int]]:
    for lexeme in lexemes:
        if lexeme.kind in _WITH_SIGNS:
            for match in _SIGN.finditer(text, lexeme.start, lexeme.end):
                yield match[0], match.start()
