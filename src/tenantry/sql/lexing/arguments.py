"""The arguments of a filter: where each ends among the lexemes after its parenthesis."""

from __future__ import annotations

import re

from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind
from tenantry.sql.source import Source

_SIGN = re.compile(r"[(){},]")
_KEY = re.compile(r"\s*+(?:(?:-[0-9]+|\w+)\s*+:(?![:=])\s*+)?")
_AFTER_QUOTED_KEY = re.compile(r"\s*+:(?![:=])\s*+")
_SPACE = re.compile(r"\s*+")
_QUOTED = frozenset({LexemeKind.STRING, LexemeKind.QUOTED})


class ArgumentReader:
    """Cuts the lexemes after a filter's parenthesis into its arguments, up to the other parenthesis."""

    def __init__(self, source: Source, start: int) -> None:
        self.arguments: list[Lexeme] = []
        self._text = source.text
        self._commas = source.commas
        self._start = start  # of the argument
        self._lexemes: list[Lexeme] = []
        self._open = 0  # brackets within the argument

    def read(self, lexeme: Lexeme) -> int:
        """Takes the next lexeme; where the arguments end in it, the offset after their parenthesis, else 0."""
        if lexeme.kind is LexemeKind.CODE:
            return self._code(lexeme)
        self._lexemes.append(lexeme)
        if lexeme.kind is LexemeKind.RIGHT_BRACKET:
            self._open = max(0, self._open - 1)
        elif lexeme.kind is LexemeKind.LEFT_BRACKET:
            self._open += 1
        elif lexeme.kind in {LexemeKind.CLAUSE_START, LexemeKind.ESCAPE}:
            self._open += self._text.count("[", lexeme.start, lexeme.end)
        return 0

    def _code(self, lexeme: Lexeme) -> int:
        start = lexeme.start
        for match in _SIGN.finditer(self._text, start, lexeme.end):
            sign, at = match.group(), match.start()
            if sign in "({":
                self._open += 1
            elif sign == ")":
                self._open -= 1
            elif sign == "}":
                self._open = max(0, self._open - 1)
            if self._open < 0 or (sign == "," and not self._open and at not in self._commas):
                self._lexemes.append(Lexeme(LexemeKind.CODE, start, at))
                self._end_argument(at)
                start = at + 1
            if self._open < 0:
                return start
        self._lexemes.append(Lexeme(LexemeKind.CODE, start, lexeme.end))
        return 0

    def _end_argument(self, end: int) -> None:
        """Makes an argument of the lexemes so far; nothing at all between the parentheses is no argument."""
        text, start = self._text, self._start
        begin = self._end_of_key()
        parts = [_trimmed(text, lexeme, begin) for lexeme in self._lexemes]
        parts = [lexeme for lexeme in parts if lexeme.start < lexeme.end and lexeme.end > begin]
        while parts and parts[-1].kind is LexemeKind.CODE and text[parts[-1].start : parts[-1].end].isspace():
            parts.pop()
        if parts and parts[-1].kind is LexemeKind.CODE:
            last = parts[-1]
            stripped = len(text[last.start : last.end].rstrip())
            parts[-1] = Lexeme(LexemeKind.CODE, last.start, last.start + stripped)
        start = _SPACE.match(text, start).end()  # type: ignore[union-attr]  # so does this
        if parts or self.arguments or start < end or text[end] == ",":
            self.arguments.append(Lexeme(LexemeKind.ARGUMENT, min(start, end), end, tuple(parts)))
        self._start, self._lexemes = end + 1, []

    def _end_of_key(self) -> int:
        """Where the SQL of the argument begins: after ``name:``, or after a name in quotes, ``'us-east-1':``."""
        text = self._text
        for lexeme in self._lexemes:
            if lexeme.kind in _QUOTED and text[lexeme.start] in "'\"":
                match = _AFTER_QUOTED_KEY.match(text, lexeme.end)
                if match is not None:
                    return match.end()
            if text[lexeme.start : lexeme.end].strip():
                break
        return _KEY.match(text, self._start).end()  # type: ignore[union-attr]  # it matches the empty text too


def _trimmed(text: str, lexeme: Lexeme, begin: int) -> Lexeme:
    """Code without what is before an offset."""
    if lexeme.kind is LexemeKind.CODE and lexeme.start < begin:
        return Lexeme(LexemeKind.CODE, min(begin, lexeme.end), lexeme.end)
    return lexeme
