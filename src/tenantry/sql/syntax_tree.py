"""What a template is made of: its text, with errors that show a line of it and a caret, and its syntax tree, before any
value is known.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeAlias

from tenantry.errors import Location, TemplateError

MAX_TEXT = 256 * 1024
"""Characters. A template is written by hand: what is longer is a mistake or an attack."""

_SHOWN = 100  # characters of a long line that an error shows


class Source:
    """The text of a template. Offsets count characters from 0; locations count lines and columns from 1.

    ``file`` is its name in errors: that of a file or a fragment, or empty.
    """

    __slots__ = ("file", "text")

    def __init__(self, text: str, file: str = "") -> None:
        self.text: str = text
        self.file: str = file
        if len(text) > MAX_TEXT:
            head = f"{file}: " if file else ""
            raise TemplateError(f"{head}a SQL template is at most {MAX_TEXT} characters long, this one is {len(text)}")
        if text.isascii() and "\0" not in text:
            return
        for offset, character in enumerate(text):
            if character == "\0" or "\ud800" <= character <= "\udfff":
                raise self.error(offset, "SQL cannot hold a NUL or a lone surrogate", "remove the character")

    @property
    def commas(self) -> frozenset[int]:
        """Offsets of commas that end no argument of a filter, wherever they are."""
        return frozenset()

    def location(self, offset: int) -> Location:
        """Line and column of an offset."""
        start = self.text.rfind("\n", 0, offset) + 1
        return Location(self.text.count("\n", 0, offset) + 1, offset - start + 1, self.file)

    def error(self, offset: int, problem: str, fix: str, included_at: Location | None = None) -> TemplateError:
        """A TemplateError that shows the line of ``offset``, a caret below it, the fix, and what included the text."""
        location = self.location(offset)
        start = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", start)
        line = self.text[start : end if end >= 0 else len(self.text)].rstrip("\r")
        column = offset - start
        if column > _SHOWN // 2:  # the caret stays visible
            cut = column - _SHOWN // 2
            line, column = "…" + line[cut:], column - cut + 1
        line = "".join(c if c.isprintable() or c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in line[:_SHOWN])
        caret = "".join(map(_blank, line[:column])) + "^"
        message = f"{location}: {problem}\n    {line}\n    {caret}\n  fix: {fix}"
        outer = included_at
        while outer is not None:
            message += f"\n  included at {replace(outer, included_at=None)}"
            outer = outer.included_at
        return TemplateError(message, location=replace(location, included_at=included_at))


def _blank(character: str) -> str:
    """Space as wide as a character on a terminal: nothing for a combining mark, two spaces for a wide one."""
    if character == "\t":
        return character
    if unicodedata.category(character) in {"Mn", "Me"}:
        return ""
    return "  " if unicodedata.east_asian_width(character) in {"W", "F"} else " "


class Position(StrEnum):
    """The role that a variable has in the SQL, which decides what it may be. CHOICE: its value only decides which of
    the author's texts are in the SQL; PATTERN: its text is escaped for ``like``."""

    VALUE = "value"
    LIST = "list"
    TEXT = "text"
    PART = "part"
    PATTERN = "pattern"
    LIMIT = "limit"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class VariableReference:
    """One ``{{ tag }}``: a variable's path and its position.

    ``clauses`` counts the optional clauses around it, ``choices`` the branches of Switches. ``not_a_filter``: the
    author wrote so. ``required``: its absence is an error, whatever a viewer chooses. ``never_absent``: it has a
    default or is nullable. What is neither drops the clause that it is in; in no clause but a branch, its absence is
    an error where the branch is chosen. ``nullable``: NULL is bound where it is absent. ``conversion`` is one of
    ``conversions``; ``cast`` the type of a cast that is written directly at it.
    """

    path: str
    offset: int
    position: Position
    clauses: int = 0
    not_a_filter: bool = False
    required: bool = True
    choices: int = 0
    never_absent: bool = False
    default: Any = None
    nullable: bool = False
    conversion: str = ""
    cast: str = ""


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
    cast: str = ""


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


@dataclass(frozen=True, slots=True)
class Switch:
    """One of several branches, of which the value of ``reference`` alone decides: the number of the branch is in the
    key of the text, and the value is nowhere.

    ``choose`` is a pure function of the value (None where it is absent) to the number of a branch. It raises
    LookupError or TypeError for a value that chooses none; ``expected`` says what would ("one of newest, largest").
    """

    reference: VariableReference
    choose: Callable[[Any], int]
    branches: tuple[tuple[Node, ...], ...]
    expected: str


Node: TypeAlias = Text | Value | InList | Concat | Clause | Switch


def placeholder_key(node: Value | Concat | InList) -> Hashable:
    """Equal for nodes that can have one placeholder: of the same variables, in the same position, converted and cast
    alike."""
    if isinstance(node, Concat):
        return tuple(part if isinstance(part, str) else _reference_key(part) for part in node.parts), node.cast
    return _reference_key(node.reference)


def _reference_key(reference: VariableReference) -> Hashable:
    default = reference.default
    return (reference.path, reference.position, reference.conversion, reference.cast) + (
        (type(default), default) if reference.never_absent else ()
    )


def references_in(nodes: Sequence[Node]) -> Iterator[VariableReference]:
    """The variables of some nodes on their own level: not those in a clause or a branch among them."""
    for node in nodes:
        if isinstance(node, Value | InList | Switch):
            yield node.reference
        elif isinstance(node, Concat):
            yield from (part for part in node.parts if isinstance(part, VariableReference))


@dataclass(frozen=True, slots=True)
class PlaceholderConflict:
    """A character in the author's own SQL that some drivers take for a placeholder."""

    character: str
    offset: int


@dataclass(frozen=True, slots=True)
class InertTag:
    """A tag in a comment, as it is written: it is left out together with the comment."""

    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed template: its nodes, its variables in the order of the text, what may be taken for a placeholder, and
    the source that the offsets are in (with fragments, not the one of the template), and the tags in comments."""

    nodes: tuple[Node, ...]
    references: tuple[VariableReference, ...]
    placeholder_conflicts: tuple[PlaceholderConflict, ...]
    source: Source
    inert_tags: tuple[InertTag, ...] = ()
