"""Whole clauses: to leave an optional clause out changes nothing in how the text around it is read.

So a clause closes every bracket, ``case`` and ``between`` that it opens, and none that it does not; it ends no
statement; and no string comes to stand directly after another one when clauses or their brackets go, for engines read
two strings with a new line between as one. Characters never grow together: the parser puts a space in a clause's stead.

Which operators and keywords come to stand side by side is not looked at: that is the meaning of SQL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from tenantry.sql.pieces import Kind, Piece
from tenantry.sql.source import Source

_SIGN = re.compile(r"(?<![\w$.])(?:case|end|between|and)(?![\w$])|[(){};]", re.IGNORECASE)
_VALUES = frozenset({Kind.STRING, Kind.HOLED, Kind.TAG})  # some drivers send a variable as a string, too
_OPENED_BY = {")": "(", "]": "[", "}": "{", "end": "case", "and": "between"}
_ALSO_ALONE = frozenset({"end", "and"})  # a column's name, and a condition's `and`
_CLOSED_BY = {opening: closing for closing, opening in _OPENED_BY.items()}


class _Sign(NamedTuple):
    """A bracket, a word in lower case or ``;``, and where it stands."""

    text: str
    offset: int


@dataclass(slots=True)
class _Clause:
    """The template itself or a clause: what is open in it, and whether a string stood directly before it."""

    after_string: bool = False
    opened: list[_Sign] = field(default_factory=list)


def refuse_broken_clauses(source: Source, pieces: Sequence[Piece]) -> None:
    """Raises TemplateError for the first optional clause whose absence would change how the text around it is read."""
    checker = _Checker(source)
    for piece in pieces:
        checker.read(piece)


class _Checker:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._clauses = [_Clause()]
        self._after_string = False  # nothing but space since a string, in one of the texts that this may become
        self._crossed = False  # and a clause or one of its brackets

    def read(self, piece: Piece) -> None:
        if piece.kind is Kind.OPEN:
            self._clauses.append(_Clause(self._after_string))
            self._crossed = True
        elif piece.kind is Kind.CLOSE:
            self._close()
        else:
            self._string(piece)
            for sign in _signs(self._source.text, piece):
                self._sign(sign)

    def _close(self) -> None:
        clause = self._clauses.pop()
        if clause.opened:
            sign = clause.opened[-1]
            self._refuse(sign, f"this optional clause ends before its {_CLOSED_BY[sign.text]}")
        self._after_string |= clause.after_string
        self._crossed = True

    def _string(self, piece: Piece) -> None:
        if piece.kind in _VALUES:
            if piece.kind is not Kind.TAG and self._after_string and self._crossed:
                problem = (
                    "this string would come to stand beside another one, with nothing but an optional clause between"
                )
                raise self._source.error(piece.start, problem, "put an operator between them, outside of [[ ]]")
            self._after_string, self._crossed = True, False
        elif piece.kind is not Kind.COMMENT and not self._source.text[piece.start : piece.end].isspace():
            self._after_string = False

    def _sign(self, sign: _Sign) -> None:
        opened = self._clauses[-1].opened
        inside = len(self._clauses) > 1
        if sign.text in _CLOSED_BY:
            opened.append(sign)
        elif opened and opened[-1].text == _OPENED_BY.get(sign.text):
            opened.pop()
        elif inside and sign.text == ";":
            self._refuse(sign, "a statement cannot end in an optional clause")
        elif inside and (sign.text not in _ALSO_ALONE or self._is_open(_OPENED_BY[sign.text])):
            self._refuse(sign, f"this {sign.text} closes nothing that its optional clause opens")

    def _is_open(self, text: str) -> bool:
        """Whether this is what was opened last, in the clause or around it."""
        opened = next((clause.opened for clause in reversed(self._clauses) if clause.opened), None)
        return opened is not None and opened[-1].text == text

    def _refuse(self, sign: _Sign, problem: str) -> NoReturn:
        fix = "let [[ ]] hold a whole condition or item, with both ends of each bracket, case … end and between … and"
        raise self._source.error(sign.offset, problem, fix)


def _signs(text: str, piece: Piece) -> Iterator[_Sign]:
    if piece.kind is Kind.CODE:
        for match in _SIGN.finditer(text, piece.start, piece.end):
            yield _Sign(match.group().lower(), match.start())
    elif piece.kind is Kind.LEFT or piece.kind is Kind.RIGHT:
        for offset in range(piece.start, piece.end):
            yield _Sign(text[offset], offset)
    elif piece.kind is Kind.ESCAPE:
        for offset in range(piece.start + 1, piece.end):
            if text[offset] in _CLOSED_BY:
                yield _Sign(text[offset], offset)
