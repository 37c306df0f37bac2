from __future__ import annotations

import re
from enum import IntEnum, auto
from typing import NamedTuple

NAME = r"[^\W\d_]\w*"
VARIABLE_PATH = re.compile(rf"{NAME}(?:\.{NAME})*")
"""A variable's path: names joined by dots."""


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


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
    """A filter, in the ``parts`` of a TAG."""
    ARGUMENT = auto()
    """An argument, in the ``parts`` of a FILTER."""
    # ``tags.flatten`` inserts these three before, between and after the arguments of a filter.
    CHOICE_START = auto()
    CHOICE_NEXT = auto()
    CHOICE_END = auto()


class Lexeme(NamedTuple):
    """A piece of a template. The lexemes of a template contain all of its characters, without gaps."""

    kind: LexemeKind
    start: int
    end: int
    parts: tuple[Lexeme, ...] = ()
    """The lexemes inside this lexeme. An INTERPOLATED_STRING contains STRING, ESCAPE and TAG lexemes. A TAG contains
    all of its FILTERs if at least one filter has arguments, otherwise nothing. A FILTER contains ARGUMENTs. An ARGUMENT
    contains the lexemes of the argument's SQL; the key, and spaces at both ends, are left out."""
    backslash: bool = False
    """Whether backslashes escape characters in this string."""
