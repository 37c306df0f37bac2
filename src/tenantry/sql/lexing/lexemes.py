"""Lexemes: the pieces into which the lexer cuts a template."""

from __future__ import annotations

import re
from enum import IntEnum, auto
from typing import NamedTuple

NAME = r"[^\W\d_]\w*"
VARIABLE_PATH = re.compile(rf"{NAME}(?:\.{NAME})*")
"""A variable's path: names joined by dots."""


class LexemeKind(IntEnum):
    """Kind of a lexeme."""

    CODE = auto()
    """Unquoted SQL."""
    STRING = auto()
    INTERPOLATED_STRING = auto()
    """A string that contains tags."""
    QUOTED = auto()
    """A quoted name, a dollar-quoted string or a hint."""
    COMMENT = auto()
    TAG = auto()
    CLAUSE_START = auto()
    CLAUSE_END = auto()
    LEFT_BRACKET = auto()
    RIGHT_BRACKET = auto()
    ESCAPE = auto()
    """A backslash and the sign that it protects."""
    FILTER = auto()
    """A filter; only in the ``parts`` of a TAG."""
    ARGUMENT = auto()
    """An argument; only in the ``parts`` of a FILTER."""
    # Written by ``tags.flatten`` before, between and after the arguments of a filter.
    CHOICE_START = auto()
    CHOICE_NEXT = auto()
    CHOICE_END = auto()


class Lexeme(NamedTuple):
    """A piece of a template. The lexemes of a template follow each other without gaps."""

    kind: LexemeKind
    start: int
    end: int
    parts: tuple[Lexeme, ...] = ()
    """The lexemes inside: STRING, ESCAPE and TAG of a string; FILTERs of a TAG with arguments; ARGUMENTs of a FILTER;
    the SQL of an ARGUMENT, without its name and outer space."""
    backslash: bool = False
    """For a string: whether a backslash escapes the character after it."""
