"""The syntax tree of a template."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from tenantry.sql.source import Source


class Position(StrEnum):
    """Role of a variable. CHOICE selects SQL and is not bound; PATTERN is escaped for ``like``."""

    VALUE = "value"
    LIST = "list"
    TEXT = "text"
    PART = "part"
    PATTERN = "pattern"
    LIMIT = "limit"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class VariableReference:
    """One tag's variable and position.

    ``clauses`` and ``choices`` count the optional clauses and Switch branches around it. ``required``: its absence is
    always an error. ``never_absent``: it has a default or is nullable. Any other absent variable drops its clause, or
    is an error in a chosen branch. ``cast``: type of a direct cast; ``form``: how ``{placeholder}`` is written.
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
    """SQL, rendered as it is."""

    sql: str


@dataclass(frozen=True, slots=True)
class Value:
    """One placeholder: VALUE, TEXT or LIMIT."""

    reference: VariableReference


@dataclass(frozen=True, slots=True)
class InList:
    """``in`` or ``not in`` with a list; ``operator`` is the author's spelling."""

    reference: VariableReference
    operator: str
    negated: bool


@dataclass(frozen=True, slots=True)
class Concat:
    """One placeholder for a string with tags: its parameter concatenates text and values."""

    parts: tuple[str | VariableReference, ...]
    cast: str = ""

    @property
    def form(self) -> str:
        """The form of its variables' placeholders."""
        return next((each.form for each in self.parts if isinstance(each, VariableReference) and each.form), "")


@dataclass(frozen=True, slots=True)
class Clause:
    """``[[ … ]]``: rendered when all ``references`` (of its own level) have values.

    ``opening``, ``closing`` and ``dropped`` are a space or nothing, in place of each bracket and of the dropped clause.
    """

    children: tuple[Node, ...]
    references: tuple[VariableReference, ...]
    opening: str
    closing: str
    dropped: str
    offset: int
    end: int = 0
    """Offset of its ``]]``."""


@dataclass(frozen=True, slots=True)
class Switch:
    """One of several branches, chosen by the value of ``reference``, which is not in the SQL.

    ``choose`` maps a value (None if absent) to a branch number; it raises LookupError or TypeError if there is none,
    and ``expected`` says what it takes. ``uniform``: every branch filters by one column alike.
    """

    reference: VariableReference
    choose: Callable[[Any], int]
    branches: tuple[tuple[Node, ...], ...]
    expected: str
    uniform: bool = False


Node: TypeAlias = Text | Value | InList | Concat | Clause | Switch


def placeholder_key(node: Value | Concat | InList) -> Hashable:
    """Equal for nodes that can share a placeholder."""
    if isinstance(node, Concat):
        return tuple(part if isinstance(part, str) else _reference_key(part) for part in node.parts), node.cast
    return _reference_key(node.reference)


def _reference_key(reference: VariableReference) -> Hashable:
    return (reference.path, reference.position, reference.conversion, reference.cast, reference.form) + (
        (default_key(reference),) if reference.never_absent else ()
    )


def default_key(reference: VariableReference) -> str:
    """Equal for equal defaults of one type; Python has ``1 == 1.0 == True``, engines do not."""
    return repr(reference.default)


def references_in(nodes: Iterable[Node]) -> Iterator[VariableReference]:
    """Yield the variables of nodes, without those in clauses and branches."""
    for node in nodes:
        if isinstance(node, Value | InList | Switch):
            yield node.reference
        elif isinstance(node, Concat):
            yield from (part for part in node.parts if isinstance(part, VariableReference))


def walk(
    nodes: Iterable[Node], around: tuple[Clause | Switch, ...] = ()
) -> Iterator[tuple[Node, tuple[Clause | Switch, ...]]]:
    """Yield every node in pre-order with the clauses and Switches around it, outermost first."""
    for node in nodes:
        yield node, around
        if isinstance(node, Clause):
            yield from walk(node.children, (*around, node))
        elif isinstance(node, Switch):
            for branch in node.branches:
                yield from walk(branch, (*around, node))


@dataclass(frozen=True, slots=True)
class PlaceholderConflict:
    """A character in the author's SQL that some drivers take for a placeholder."""

    character: str
    offset: int


@dataclass(frozen=True, slots=True)
class InertTag:
    """A tag in a comment, dropped with it."""

    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed template; offsets refer to ``source``, which includes fragments."""

    nodes: tuple[Node, ...]
    references: tuple[VariableReference, ...]
    placeholder_conflicts: tuple[PlaceholderConflict, ...]
    source: Source
    inert_tags: tuple[InertTag, ...] = ()
