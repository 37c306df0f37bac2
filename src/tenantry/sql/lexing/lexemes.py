from __future__ import annotations

import re
from enum import IntEnum, auto
from typing import NamedTuple

NAME = r"[^\W\d_]\w*"
VARIABLE_PATH = re.compile(rf"{NAME}(?:\.{NAME})*")
"""A variable's path: names joined by dots."""


class LexemeKind(IntEnum):
    CODE = auto()
    """Unquoted SQL."""
    STRING = auto()
    INTERPOLATED_STRING = auto()
    """A string that contains tags."""
    QUOTED = auto()
    """A quoted name, a dollar-quoted string or an optimizer hint (``/*+ … */``)."""
    COMMENT = auto()
    TAG = auto()
    CLAUSE_START = auto()
    CLAUSE_END = auto()
    LEFT_BRACKET = auto()
    RIGHT_BRACKET = auto()
    ESCAPE = auto()
    """A backslash and the characters that it escapes."""
    FILTER = auto()
    """A filter of a tag. It occurs only in the ``parts`` of a TAG."""
    ARGUMENT = auto()
    """An argument of a filter. It occurs only in the ``parts`` of a FILTER."""
    # ``tags.flatten`` inserts these three before, between and after the arguments of a filter.
    CHOICE_START = auto()
    CHOICE_NEXT = auto()
    CHOICE_END = auto()


class Lexeme(NamedTuple):
    """A piece of a template. There are no gaps between lexemes."""

    kind: LexemeKind
    start: int
    end: int
    parts: tuple[Lexeme, ...] = ()
    """The lexemes inside this one. A string has STRING, ESCAPE and TAG lexemes. A TAG has its FILTERs, if one of them
    has arguments. A FILTER has ARGUMENTs. An ARGUMENT has the lexemes of its SQL, without its key and without spaces at
    both ends."""
    backslash: bool = False
    """Whether backslashes escape characters in this string."""
