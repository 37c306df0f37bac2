"""The syntax tree of a template: what its text is made of, before any value is known."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Position(StrEnum):
    """The role that a variable has in the SQL, which decides what it may be."""

    VALUE = "value"
    LIST = "list"
    TEXT = "text"
    PART = "part"
    LIMIT = "limit"


@dataclass(frozen=True, slots=True)
class VariableReference:
    """One ``{{ tag }}``: a variable's path and its position.

    ``clauses`` counts the optional clauses around it. ``not_a_filter``: the author wrote so. ``required``: its absence
    is an error; where it is not, its absence drops the clause that it is in.
    """

    path: str
    offset: int
    position: Position
    clauses: int = 0
    not_a_filter: bool = False
    required: bool = True


@dataclass(frozen=True, slots=True)
class Text:
    """SQL that is rendered as it is."""

    sql: str


@dataclass(frozen=True, slots=True)
class Value:
    """One placeholder: VALUE, TEXT or LIMIT."""

    reference: VariableReference


@dataclass(frozen=True, slots=True)
class InList:
    """``in`` or ``not in`` with a list; ``operator`` is as the author wrote it."""

    reference: VariableReference
    operator: str
    negated: bool


@dataclass(frozen=True, slots=True)
class Concat:
    """One placeholder for a literal that holds tags: its parameter joins text and values."""

    parts: tuple[str | VariableReference, ...]


@dataclass(frozen=True, slots=True)
class Clause:
    """``[[ … ]]``: rendered when every variable in ``references`` (those of its own level) has a value.

    ``opening``, ``closing`` and ``dropped`` are a space or nothing: what replaces each bracket and the whole
    dropped clause, so that the text on either side never grows together.
    """

    children: tuple[Node, ...]
    references: tuple[VariableReference, ...]
    opening: str
    closing: str
    dropped: str
    offset: int


Node: TypeAlias = Text | Value | InList | Concat | Clause


@dataclass(frozen=True, slots=True)
class PlaceholderConflict:
    """A character in the author's own SQL that some drivers take for a placeholder."""

    character: str
    offset: int


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed template: its nodes, its variables in the order of the text, and what may be taken for a placeholder."""

    nodes: tuple[Node, ...]
    references: tuple[VariableReference, ...]
    placeholder_conflicts: tuple[PlaceholderConflict, ...]
