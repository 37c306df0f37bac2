"""The syntax tree of a template."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from tenantry.sql.source import Source


class Position(StrEnum):
    """What the SQL around a tag makes of its value."""

    VALUE = "value"
    LIST = "list"
    TEXT = "text"
    """All of a string literal."""
    PART = "part"
    """A piece of a string literal."""
    PATTERN = "pattern"
    """A pattern of ``like``, in which wildcards are escaped."""
    LIMIT = "limit"
    """A number of rows, such as after ``limit`` or ``offset``."""
    CHOICE = "choice"
    """The value selects SQL and is not bound."""


@dataclass(frozen=True, slots=True)
class VariableReference:
    """A variable in a tag, with its position.

    An absent variable that is neither ``required`` nor ``never_absent`` drops its clause. In a branch without a clause
    it is an error if the branch is chosen.
    """

    path: str
    offset: int
    position: Position
    clauses: int = 0
    """Number of optional clauses around it."""
    not_a_filter: bool = False
    required: bool = True
    """Its absence is always an error."""
    choices: int = 0
    """Number of Switch branches around it."""
    never_absent: bool = False
    """If it is absent, a default, NULL or a true condition is used."""
    default: Any = None
    nullable: bool = False
    conversion: str = ""
    """Filter that converts the value, such as ``array``."""
    cast: str = ""
    """The type in ``{{ x }}::type`` or ``cast({{ x }} as type)``."""
    form: str = ""
    """SQL around its ``{placeholder}``; empty for none."""


@dataclass(frozen=True, slots=True)
class Text:
    """SQL without placeholders."""

    sql: str


@dataclass(frozen=True, slots=True)
class Value:
    """The placeholder of one variable, whose position is VALUE, TEXT, PATTERN or LIMIT."""

    reference: VariableReference


@dataclass(frozen=True, slots=True)
class InList:
    """``in`` or ``not in`` with a placeholder for each item; ``operator`` is the author's spelling."""

    reference: VariableReference
    operator: str
    negated: bool


@dataclass(frozen=True, slots=True)
class Concat:
    """The placeholder of a string literal that contains tags. Its parameter joins the literal's text and the values."""

    parts: tuple[str | VariableReference, ...]
    cast: str = ""

    @property
    def form(self) -> str:
        """The ``form`` of the first variable that has one, or empty."""
        return next((each.form for each in self.parts if isinstance(each, VariableReference) and each.form), "")


@dataclass(frozen=True, slots=True)
class Clause:
    """``[[ … ]]``: an optional clause, dropped if one of its ``references`` is absent."""

    children: tuple[Node, ...]
    references: tuple[VariableReference, ...]
    """The variables directly in it, not in an inner clause or branch."""
    opening: str
    """SQL in place of ``[[``: a space if the words on both sides would merge, else nothing."""
    closing: str
    """The same in place of ``]]``."""
    dropped: str
    """The same in place of a dropped clause."""
    offset: int
    end: int = 0
    """Offset of its ``]]``."""


@dataclass(frozen=True, slots=True)
class Switch:
    """Several branches, of which the value of ``reference`` chooses one."""

    reference: VariableReference
    choose: Callable[[Any], int]
    """Maps the value (None if absent) to the number of a branch. Raises LookupError or TypeError if it has none."""
    branches: tuple[tuple[Node, ...], ...]
    expected: str
    """The values that have a branch, described for an error."""
    uniform: bool = False
    """Every branch uses the author's column alike, so guarded variables are allowed in it."""


Node: TypeAlias = Text | Value | InList | Concat | Clause | Switch


def placeholder_key(node: Value | Concat | InList) -> Hashable:
    """Return the same key for nodes that can share a placeholder."""
    if isinstance(node, Concat):
        return tuple(part if isinstance(part, str) else _reference_key(part) for part in node.parts), node.cast
    return _reference_key(node.reference)


def _reference_key(reference: VariableReference) -> Hashable:
    return (reference.path, reference.position, reference.conversion, reference.cast, reference.form) + (
        (default_key(reference),) if reference.never_absent else ()
    )


def default_key(reference: VariableReference) -> str:
    """Return a key that differs for defaults of different types: Python has ``1 == 1.0 == True``, engines do not."""
    return repr(reference.default)


def references_in(nodes: Iterable[Node]) -> Iterator[VariableReference]:
    """Yield the variables of the nodes themselves, not those inside clauses and branches."""
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
    """A tag in a comment, which is removed with it."""

    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed template. Offsets refer to ``source``, in which fragments are expanded."""

    nodes: tuple[Node, ...]
    references: tuple[VariableReference, ...]
    placeholder_conflicts: tuple[PlaceholderConflict, ...]
    source: Source
    inert_tags: tuple[InertTag, ...] = ()
