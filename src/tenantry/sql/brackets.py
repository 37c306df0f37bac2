"""Brackets: which ``[[`` opens an optional clause, and which is an array in an array.

``[[`` opens a clause only if its ``]]`` encloses a variable at its own level. PostgreSQL and DuckDB write arrays with
the same characters: there what is no clause stays as it is; elsewhere it is an error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tenantry.sql.dialects import Dialect
from tenantry.sql.pieces import Kind, Piece
from tenantry.sql.source import Source

_ARRAY = re.compile(r"(?<![\w$.])array\s*\Z", re.IGNORECASE)


@dataclass(slots=True)
class _Bracket:
    double: bool
    index: int = -1
    has_hole: bool = False


def match_brackets(source: Source, dialect: Dialect, pieces: list[Piece]) -> list[Piece]:
    """The pieces with OPEN and CLOSE only where a clause opens and closes; other brackets are CODE."""
    matcher = _Matcher(source, dialect, pieces)
    matcher.run()
    return matcher.result()


class _Matcher:
    def __init__(self, source: Source, dialect: Dialect, pieces: list[Piece]) -> None:
        self._source = source
        self._dialect = dialect
        self._pieces = pieces
        self._stack: list[_Bracket] = []
        self._doubles: list[_Bracket] = []
        self._closes: dict[int, int] = {}  # index of the first ] of ]] -> index of its [[

    def run(self) -> None:
        skip = -1
        for index, piece in enumerate(self._pieces):
            if piece.kind is Kind.CODE or piece.kind is Kind.STRING:
                continue
            if (piece.kind is Kind.TAG or piece.kind is Kind.HOLED) and self._doubles:
                self._doubles[-1].has_hole = True
            elif piece.kind is Kind.OPEN:
                self._open(index, piece)
            elif piece.kind is Kind.LEFT:
                self._stack.append(_Bracket(double=False))
            elif piece.kind is Kind.ESCAPE and self._source.text.startswith("[[", piece.start + 1):
                self._stack += [_Bracket(double=False), _Bracket(double=False)]
            elif piece.kind is Kind.RIGHT and index != skip and self._stack and self._close(index, piece):
                skip = index + 1
        for bracket in self._doubles:
            self._not_a_clause(bracket)

    def _open(self, index: int, piece: Piece) -> None:
        if self._dialect.arrays and _ARRAY.search(self._source.text, max(0, piece.start - 12), piece.start):
            self._stack += [_Bracket(double=False), _Bracket(double=False)]
            return
        bracket = _Bracket(double=True, index=index)
        self._stack.append(bracket)
        self._doubles.append(bracket)

    def _close(self, index: int, piece: Piece) -> bool:
        """Closes the innermost bracket; True if the next ``]`` was used up too."""
        bracket = self._stack.pop()
        if not bracket.double:
            return False
        self._doubles.pop()
        following = self._pieces[index + 1] if index + 1 < len(self._pieces) else None
        if following is not None and following.kind is Kind.RIGHT:
            if bracket.has_hole:
                self._closes[index] = bracket.index
            else:
                self._not_a_clause(bracket)
            return True
        self._not_a_clause(bracket)
        self._stack.append(_Bracket(double=False))  # [[ 1 ], … : two arrays, and one of them is closed
        if bracket.has_hole and self._doubles:
            self._doubles[-1].has_hole = True
        return False

    def _not_a_clause(self, bracket: _Bracket) -> None:
        if not self._dialect.arrays:
            problem = "this [[ has no ]] that encloses a variable"
            raise self._source.error(
                self._pieces[bracket.index].start,
                problem,
                "close the clause with ]], and name in it the variable that it depends on",
            )

    def result(self) -> list[Piece]:
        opens = set(self._closes.values())
        result: list[Piece] = []
        used = -1
        for index, piece in enumerate(self._pieces):
            if index == used:
                continue
            if index in self._closes:
                result.append(Piece(Kind.CLOSE, piece.start, piece.start + 2))
                used = index + 1
            elif piece.kind is Kind.OPEN and index not in opens:
                result.append(Piece(Kind.LEFT, piece.start, piece.end))
            else:
                result.append(piece)
        return result
