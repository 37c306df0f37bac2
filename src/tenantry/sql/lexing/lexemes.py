"""Lexemes: the stretches that the lexer cuts a template's text into."""

from __future__ import annotations

import re
from enum import IntEnum, auto
from typing import NamedTuple

NAME = r"[^\W\d_]\w*"
VARIABLE_PATH = re.compile(rf"{NAME}(?:\.{NAME})*")
"""What a variable is named by: names joined by dots."""


class LexemeKind(IntEnum):
    """What a lexeme is.

    CODE is everything that is not inside something else; INTERPOLATED_STRING a string with tags in it; QUOTED a quoted
    identifier, a dollar-quoted string or a hint; TAG ``{{ … }}``; ESCAPE a backslash and the characters it protects.
    FILTER and ARGUMENT are the parts of a TAG whose filters have arguments; CHOICE_START, CHOICE_NEXT and CHOICE_END
    are between them where ``tags.flatten`` has put them in a row.
    """

    CODE = auto()
    STRING = auto()
    INTERPOLATED_STRING = auto()
    QUOTED = auto()
    COMMENT = auto()
    TAG = auto()
    CLAUSE_START = auto()
    CLAUSE_END = auto()
    LEFT_BRACKET = auto()
    RIGHT_BRACKET = auto()
    ESCAPE = auto()
    FILTER = auto()
    ARGUMENT = auto()
    CHOICE_START = auto()
    CHOICE_NEXT = auto()
    CHOICE_END = auto()


class Lexeme(NamedTuple):
    """A stretch of a template's text of one lexical kind. The lexemes of a text follow each other without gaps."""

    kind: LexemeKind
    start: int
    end: int
    parts: tuple[Lexeme, ...] = ()
    """Of an INTERPOLATED_STRING: the lexemes between its quotes, which are raw text (STRING), ESCAPE and TAG. Of a TAG:
    its FILTERs, if one of them has arguments; of a FILTER: its ARGUMENTs; of an ARGUMENT: its SQL, without the name
    before the colon and without space around it."""
    backslash: bool = False
    """Of a string: whether a backslash escapes in it."""
