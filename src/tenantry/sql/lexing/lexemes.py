"""Lexemes: what the lexer cuts a template into."""

from __future__ import annotations

import re
from enum import IntEnum, auto
from typing import NamedTuple

NAME = r"[^\W\d_]\w*"
VARIABLE_PATH = re.compile(rf"{NAME}(?:\.{NAME})*")
"""A variable's path: names joined by dots."""


class LexemeKind(IntEnum):
    """Kind of a lexeme.

    CODE is unquoted SQL; INTERPOLATED_STRING a string with tags; QUOTED a quoted name, dollar-quoted string or hint;
    ESCAPE a backslash with what it protects. FILTER and ARGUMENT are parts of a TAG; ``tags.flatten`` puts
    CHOICE_START, CHOICE_NEXT and CHOICE_END around arguments.
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
    """A stretch of text. Lexemes follow each other without gaps."""

    kind: LexemeKind
    start: int
    end: int
    parts: tuple[Lexeme, ...] = ()
    """Of an INTERPOLATED_STRING: STRING, ESCAPE and TAG; of a TAG with arguments: FILTERs; of a FILTER: ARGUMENTs; of
    an ARGUMENT: its SQL without name and outer space."""
    backslash: bool = False
    """Of a string: whether a backslash escapes in it."""
