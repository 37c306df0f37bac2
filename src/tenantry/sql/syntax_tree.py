from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from tenantry.sql.dialects import Dialect
from tenantry.sql.source import Source


class Position(StrEnum):
    """The role of a tag's value in the SQL around the tag."""

    VALUE = "value"
    LIST = "list"
    TEXT = "text"
    """The whole string literal."""
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
    """A variable in a tag, with the tag's position.

    If a variable is absent, and is neither ``required`` nor ``never_absent``, the clause directly around it is dropped.
    If it is directly in a branch, choosing that branch is an error.
    """

    path: str
    offset: int
    position: Position
    clauses: int = 0
    """Number of optional clauses around the tag."""
    not_a_filter: bool = False
    required: bool = True
    """True if a missing variable is an error in every case."""
    choices: int = 0
    """Number of Switch branches around the tag."""
    never_absent: bool = False
    """Whether an absent value is replaced by a default, by NULL or by a condition that is always true."""
    default: Any = None
    nullable: bool = False
    conversion: str = ""
    """Filter that converts the value, such as ``array``."""
    cast: str = ""
    """The type in ``{{ x }}::type`` or ``cast({{ x }} as type)``."""
    form: str = ""
    """SQL with ``{placeholder}`` in it; empty if nothing is added to the placeholder."""
    of_guard: str = ""
    """The declared table whose guard contains the variable; empty if the author's SQL contains it. In a guard,
    ``offset`` is the table's offset in the template."""


@dataclass(frozen=True, slots=True)
class Text:
    sql: str
    offset: int = field(default=-1, compare=False)
    """Offset of its first character in the source. The other characters follow without a gap, except spaces that may
    have been added at the end. -1 for SQL that a filter generates."""
    of_guard: bool = field(default=False, compare=False)
    """Whether the SQL is part of a table's guard. If so, ``offset`` is the table's offset."""
    of_condition: bool = field(default=False, compare=False)
    """Whether the SQL is part of the condition of that guard."""


@dataclass(frozen=True, slots=True)
class Value:
    """The placeholder of one variable, whose position is VALUE, TEXT, PATTERN or LIMIT."""

    reference: VariableReference


@dataclass(frozen=True, slots=True)
class InList:
    """``in`` or ``not in`` with a placeholder for each item. ``operator``: as the author wrote it."""

    reference: VariableReference
    operator: str
    negated: bool


@dataclass(frozen=True, slots=True)
class Concat:
    """The placeholder of a string literal with tags. The parameter is the literal with the values in it."""

    parts: tuple[str | VariableReference, ...]
    cast: str = ""

    @property
    def form(self) -> str:
        return next((each.form for each in self.parts if isinstance(each, VariableReference) and each.form), "")


@dataclass(frozen=True, slots=True)
class Clause:
    """``[[ … ]]``: an optional clause, dropped if one of its ``references`` is absent."""

    children: tuple[Node, ...]
    references: tuple[VariableReference, ...]
    """The variables directly in this clause, without those in inner clauses and branches."""
    opening: str
    """SQL in place of ``[[``: a space if the words on both sides would merge, else nothing."""
    closing: str
    """SQL in place of ``]]``: a space or nothing, as for ``opening``."""
    dropped: str
    """SQL in place of a dropped clause: a space or nothing, as for ``opening``."""
    offset: int
    end: int = 0
    """Offset of its ``]]``."""


@dataclass(frozen=True, slots=True)
class Switch:
    """SQL in several branches. The value of ``reference`` chooses one."""

    reference: VariableReference
    choose: Callable[[Any], int]
    """Maps the value (None if absent) to the number of a branch. Raises LookupError or TypeError for a value without
    a branch."""
    branches: tuple[tuple[Node, ...], ...]
    expected: str
    """Describes the values that have a branch, for error messages."""
    uniform: bool = False
    """Whether all branches use the SQL of the author's column in the same way, so that this SQL may contain guarded
    variables."""


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
    """Return different keys for defaults of different types, although ``1 == 1.0 == True`` in Python."""
    return repr(reference.default)


def references_in(nodes: Iterable[Node]) -> Iterator[VariableReference]:
    """Yield the variables of these nodes, without those inside clauses and branches."""
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
    """A character in the author's SQL that some drivers read as a placeholder."""

    character: str
    offset: int


@dataclass(frozen=True, slots=True)
class InertTag:
    """A tag in a comment. It is removed with the comment."""

    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class AppliedGuard:
    """A declared table that a query names, and the SQL that replaces its name."""

    table: str
    """The name in the declaration."""
    line: int
    column: int
    file: str
    condition: str
    """The condition for the table's rows, with tags for its variables. Tables that it reads are replaced by their
    guards. Empty for a shared table."""
    replacement: str
    """The SQL in place of the name, with tags for its variables; the name itself for a shared table."""
    why: str
    """``guarded`` or ``shared``."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed template. Offsets refer to ``source``, which contains the expanded fragments."""

    nodes: tuple[Node, ...]
    references: tuple[VariableReference, ...]
    placeholder_conflicts: tuple[PlaceholderConflict, ...]
    source: Source
    inert_tags: tuple[InertTag, ...] = ()
    guards: tuple[AppliedGuard, ...] = ()
    prove: Callable[[tuple[int, ...]], None] | None = None
    """Checks the SQL that the Renderer makes for a key, before that SQL is first used. Raises TemplateError if it
    cannot be proved to read guarded tables only through their guards."""


class TableGuard(Protocol):
    """Rewrites a tree so that each table in it shows only the group's rows."""

    def rewrite(self, tree: Tree, dialect: Dialect) -> Tree:
        """Raises TemplateError for SQL that cannot be proved to read only the group's rows."""
