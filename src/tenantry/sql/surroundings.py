"""Surroundings: the SQL words before and after a tag, read on demand and only as far as a rule needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tenantry.sql.pieces import Kind, Piece

_TOKEN = re.compile(r"[A-Za-z_\x80-\U0010ffff][\w$\x80-\U0010ffff]*|[0-9][\w.]*|::|\S")
_STRETCH = 32  # characters of code that are cut into tokens at first: most rules look at a word or two
_NEAR = 4  # characters: an operator and the space after it
_PLAIN_END = re.compile(r"\s*+(?:[\w),;\]]|\Z)")
_SPACE = re.compile(r"\s")
_FARTHEST = 300  # tokens: a rule that has to look farther back decides nothing

_CLAUSES = frozenset(
    (
        *("select", "from", "where", "having", "by", "limit", "offset", "on", "using", "values", "set", "returning"),
        *("window", "when", "then", "else", "case", "end", "and", "or"),
    )
)
_NAMES_OF_KIND = {
    Kind.STRING: "'",
    Kind.HOLED: "'",
    Kind.QUOTED: '"',
    Kind.TAG: "{{",
    Kind.OPEN: "[[",
    Kind.CLOSE: "]]",
    Kind.LEFT: "[",
    Kind.RIGHT: "]",
    Kind.ESCAPE: "\\",
}


class Token(NamedTuple):
    """A word (lower case), a number or a sign, and where it stands. Quoted things are told by their quote alone."""

    text: str
    start: int
    end: int


class Surroundings:
    """The pieces of a text, asked for the tokens around the piece at ``index``."""

    def __init__(self, text: str, pieces: Sequence[Piece]) -> None:
        self._text = text
        self._pieces = pieces

    def before(self, index: int, count: int) -> list[Token]:
        """Up to ``count`` tokens before the piece, the nearest first; missing ones are empty."""
        tokens = self._backwards(index)
        return [next(tokens, _NOTHING) for _ in range(count)]

    def are_of_a_comparison(self, index: int) -> bool:
        """Whether ``=``, ``<`` or ``>`` stands before the piece, and after it nothing that could make it a name.

        Most tags stand so, and then no rule has to look any farther.
        """
        before = self._pieces[index - 1]  # for the first piece this is the last one, which ends elsewhere
        piece = self._pieces[index]
        if before.kind is not Kind.CODE or before.end != piece.start:
            return False
        near = self._text[max(before.start, piece.start - _NEAR) : piece.start].rstrip()
        return near.endswith(("=", "<", ">")) and _PLAIN_END.match(self._text, piece.end) is not None

    def after(self, index: int) -> Token:
        """The token after the piece, or an empty one."""
        for piece in self._pieces[index + 1 : index + _FARTHEST]:
            if piece.kind is Kind.CODE:
                match = _TOKEN.search(self._text, piece.start, piece.end)
                if match is not None:
                    return Token(match.group().lower(), match.start(), match.end())
            elif piece.kind is not Kind.COMMENT:
                return Token(_NAMES_OF_KIND[piece.kind], piece.start, piece.end)
        return _NOTHING

    def function(self, index: int) -> str:
        """The word before the innermost open parenthesis around the piece: ``extract`` in ``extract(year from``."""
        depth = 0
        tokens = self._backwards(index)
        for _, token in zip(range(_FARTHEST), tokens, strict=False):
            depth += (token.text == ")") - (token.text == "(")
            if depth < 0:
                return next(tokens, _NOTHING).text
        return ""

    def clause(self, index: int) -> str:
        """The word that begins the clause of which the piece is an item: ``order by``, ``limit``, ``select``, …"""
        depth = 0
        tokens = self._backwards(index)
        for _, token in zip(range(_FARTHEST), tokens, strict=False):
            depth += (token.text == ")") - (token.text == "(")
            if depth < 0:
                return "("
            if depth == 0 and token.text in _CLAUSES:
                return token.text
        return ""

    def _backwards(self, index: int) -> Iterator[Token]:
        for at in range(index - 1, -1, -1):
            piece = self._pieces[at]
            if piece.kind is Kind.CODE:
                yield from self._code_backwards(piece)
            elif piece.kind is not Kind.COMMENT:
                yield Token(_NAMES_OF_KIND[piece.kind], piece.start, piece.end)

    def _code_backwards(self, piece: Piece) -> Iterator[Token]:
        end, stretch = piece.end, _STRETCH
        while end > piece.start:
            start = max(piece.start, end - stretch)
            stretch *= 4
            if start > piece.start:  # never cut a word
                space = _SPACE.search(self._text, start, end)
                start = space.start() if space is not None else piece.start
            for match in reversed(list(_TOKEN.finditer(self._text, start, end))):
                yield Token(match.group().lower(), match.start(), match.end())
            end = start


_NOTHING = Token("", 0, 0)
