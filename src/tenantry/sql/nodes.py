"""The tree of a parsed template: what its text is made of, before any value is known."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Position(StrEnum):
    """Where in the SQL a variable stands, which decides what it may be."""

    VALUE = "value"
    LIST = "list"
    TEXT = "text"
    PART = "part"
    LIMIT = "limit"


@dataclass(frozen=True, slots=True)
class Hole:
    """One tag: a path and where it stands.

    ``clauses`` counts the optional clauses around it. ``not_a_filter`` is the author's mark. ``required`` tells that
    its absence is an error; where it is not, its absence drops the clause that it stands in.
    """

    path: str
    offset: int
    position: Position
    clauses: int = 0
    not_a_filter: bool = False
    required: bool = True


@dataclass(frozen=True, slots=True)
class Text:
    """SQL that goes out as it stands."""

    sql: str


@dataclass(frozen=True, slots=True)
class Value:
    """One placeholder: VALUE, TEXT or LIMIT."""

    hole: Hole


@dataclass(frozen=True, slots=True)
class Members:
    """``in`` or ``not in`` with a list; ``operator`` is as the author wrote it."""

    hole: Hole
    operator: str
    negated: bool


@dataclass(frozen=True, slots=True)
class Composed:
    """One placeholder for a literal that holds tags: its parameter is put together from text and values."""

    parts: tuple[str | Hole, ...]


@dataclass(frozen=True, slots=True)
class Clause:
    """``[[ … ]]``: there when every variable in ``holes`` (those of its own level) has a value.

    ``opening``, ``closing`` and ``dropped`` are a space or nothing: what stands for each bracket and for the whole
    clause, so that the text on either side never grows together.
    """

    children: tuple[Node, ...]
    holes: tuple[Hole, ...]
    opening: str
    closing: str
    dropped: str
    offset: int


Node: TypeAlias = Text | Value | Members | Composed | Clause


@dataclass(frozen=True, slots=True)
class Mark:
    """A character in the author's own SQL that some drivers take for a placeholder."""

    character: str
    offset: int


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed template: its nodes, its tags in the order of the text, and the marks in it."""

    nodes: tuple[Node, ...]
    holes: tuple[Hole, ...]
    marks: tuple[Mark, ...]
