"""Marks: what in the author's own SQL a driver could take for a placeholder (``?``, ``:name``, ``@name``, ``$1``)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tenantry.sql.nodes import Mark
from tenantry.sql.pieces import Kind, Piece

_MARK = re.compile(r"\?|(?<![:\w$]):(?=\w)|(?<=\w):(?=\w)|@(?=\w)|(?<![\w$])\$(?=\w)")
_BRACKET = re.compile(r"[\[\](){}]")
_FARTHEST = 2_000  # characters to look back for the bracket that makes a colon a slice


def find_marks(text: str, pieces: Sequence[Piece]) -> tuple[tuple[Mark, ...], tuple[int, ...]]:
    """The marks in a text, and the offsets of the colons of slices (``a[1:n]``), which are none."""
    if not any(character in text for character in "?:@$"):
        return (), ()
    marks: list[Mark] = []
    slices: list[int] = []
    for index, piece in enumerate(pieces):
        if piece.kind is not Kind.CODE:
            continue
        for match in _MARK.finditer(text, piece.start, piece.end):
            if match.group() == ":" and _in_slice(text, pieces, index, match.start()):
                slices.append(match.start())
            else:
                marks.append(Mark(match.group(), match.start()))
    return tuple(marks), tuple(slices)


def _in_slice(text: str, pieces: Sequence[Piece], index: int, offset: int) -> bool:
    """Whether the innermost bracket that is open at ``offset`` is square, or the curly one of a struct."""
    depth = 0
    farthest = offset - _FARTHEST
    for at in range(index, -1, -1):
        piece = pieces[at]
        if piece.end < farthest:
            return False
        if piece.kind not in {Kind.CODE, Kind.LEFT, Kind.RIGHT}:
            continue
        for match in reversed(list(_BRACKET.finditer(text, max(piece.start, farthest), min(piece.end, offset)))):
            depth += 1 if match.group() in ")]}" else -1
            if depth < 0:
                return match.group() in "[{"
    return False
