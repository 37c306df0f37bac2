"""Piece: a stretch of a template's text of one lexical kind. The pieces of a text follow each other without gaps."""

from __future__ import annotations

from enum import IntEnum, auto
from typing import NamedTuple


class Kind(IntEnum):
    """What a piece is. CODE is everything that is not inside something else; HOLED is a string with tags in it;
    QUOTED is a quoted identifier, a dollar-quoted string or a hint."""

    CODE = auto()
    STRING = auto()
    HOLED = auto()
    QUOTED = auto()
    COMMENT = auto()
    TAG = auto()
    OPEN = auto()
    CLOSE = auto()
    LEFT = auto()
    RIGHT = auto()
    ESCAPE = auto()


class Piece(NamedTuple):
    """``parts`` of a HOLED string are the pieces between its quotes: raw text (STRING), ESCAPE and TAG."""

    kind: Kind
    start: int
    end: int
    parts: tuple[Piece, ...] = ()
    backslash: bool = False
    """Of a string: whether a backslash escapes in it."""
