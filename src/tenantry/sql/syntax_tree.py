"""The syntax tree of a template: what it is made of, before any value is known."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from tenantry.sql.source import Source


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
    ``conversions``; ``cast`` the type of a cast that is written directly at it; ``form`` how its
    placeholder is written, ``{placeholder}``, where it does not stand alone.
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
    form: str = ""


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

    @property
    def form(self) -> str:
        """How the placeholder is written: as that of its variables."""
        return next((each.form for each in self.parts if isinstance(each, VariableReference) and each.form), "")


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
    end: int = 0
    """The offset of its ``]]``."""


@dataclass(frozen=True, slots=True)
class Switch:
    """One of several branches, of which the value of ``reference`` alone decides: the number of the branch is in the
    key of the text, and the value is nowhere.

    ``choose`` is a pure function of the value (None where it is absent) to the number of a branch. It raises
    LookupError or TypeError for a value that chooses none; ``expected`` says what would ("one of newest, largest").
    ``uniform``: every branch uses one column alike, so that a variable of the group in it restricts alike in each.
    """

    reference: VariableReference
    choose: Callable[[Any], int]
    branches: tuple[tuple[Node, ...], ...]
    expected: str
    uniform: bool = False


Node: TypeAlias = Text | Value | InList | Concat | Clause | Switch


def placeholder_key(node: Value | Concat | InList) -> Hashable:
    """Equal for nodes that can have one placeholder: of the same variables, in the same position, converted, cast and
    written alike."""
    if isinstance(node, Concat):
        return tuple(part if isinstance(part, str) else _reference_key(part) for part in node.parts), node.cast
    return _reference_key(node.reference)


def _reference_key(reference: VariableReference) -> Hashable:
    return (reference.path, reference.position, reference.conversion, reference.cast, reference.form) + (
        (default_key(reference),) if reference.never_absent else ()
    )


def default_key(reference: VariableReference) -> str:
    """Equal for equal defaults of one type, those of their items too: ``(1,) == (True,)`` and ``1 == 1.0`` in Python,
    and to an engine they are not."""
    return repr(reference.default)


def references_in(nodes: Iterable[Node]) -> Iterator[VariableReference]:
    """The variables of some nodes on their own level: not those in a clause or a branch among them."""
    for node in nodes:
        if isinstance(node, Value | InList | Switch):
            yield node.reference
        elif isinstance(node, Concat):
            yield from (part for part in node.parts if isinstance(part, VariableReference))


def walk(
    nodes: Iterable[Node], around: tuple[Clause | Switch, ...] = ()
) -> Iterator[tuple[Node, tuple[Clause | Switch, ...]]]:
    """Every node, before the nodes in it, with the clauses and Switches that it is in: the outermost comes first."""
    for node in nodes:
        yield node, around
        if isinstance(node, Clause):
            yield from walk(node.children, (*around, node))
        elif isinstance(node, Switch):
            for branch in node.branches:
                yield from walk(branch, (*around, node))


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
