from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from tenantry.sql.dialects import Dialect
from tenantry.sql.source import Source


class Position(StrEnum):
    """How the SQL around a tag uses the tag's value."""

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

    If both ``required`` and ``never_absent`` are False, the value may be absent. If the value is absent, a clause
    directly around the tag is dropped, and a branch directly around the tag cannot be chosen.
    """

    path: str
    offset: int
    position: Position
    clauses: int = 0
    """Number of optional clauses that contain the tag."""
    not_a_filter: bool = False
    required: bool = True
    """Whether binding always fails if the variable is missing."""
    choices: int = 0
    """Number of Switch branches that contain the tag."""
    never_absent: bool = False
    """Whether the tag works without a value: a default, NULL, or a condition that is always true replaces the absent
    value."""
    default: Any = None
    nullable: bool = False
    conversion: str = ""
    """Filter that converts the value, such as ``array``."""
    cast: str = ""
    """The type in ``{{ x }}::type`` or ``cast({{ x }} as type)``."""
    form: str = ""
    """SQL that contains ``{placeholder}``; empty if the placeholder is used alone."""
    of_guard: str = ""
    """The declared table whose guard contains the variable; empty if the variable is in the author's SQL. If the
    variable is in a guard, ``offset`` is the offset of the table in the template."""


@dataclass(frozen=True, slots=True)
class Text:
    sql: str
    offset: int = field(default=-1, compare=False)
    """Offset of the SQL's first character in the source, or -1 for SQL that a filter generates. From this offset on,
    the source has the same characters as ``sql``. Only the end of ``sql`` can differ: a space or SQL such as ``cast(``
    is added, or an escaping backslash is removed."""
    of_guard: bool = field(default=False, compare=False)
    """Whether the SQL is part of the guard of a table. If so, ``offset`` is the offset of the table."""
    of_condition: bool = field(default=False, compare=False)
    """Whether the SQL is part of the condition of a table's guard."""


@dataclass(frozen=True, slots=True)
class Value:
    """The placeholder of one variable, whose position is VALUE, TEXT, PATTERN or LIMIT."""

    reference: VariableReference


@dataclass(frozen=True, slots=True)
class InList:
    """``in`` or ``not in`` with a placeholder for each item. ``operator`` is the author's spelling."""

    reference: VariableReference
    operator: str
    negated: bool


@dataclass(frozen=True, slots=True)
class Concat:
    """The placeholder of a string literal that contains tags. The parameter is the string with the tags replaced by
    their values."""

    parts: tuple[str | VariableReference, ...]
    cast: str = ""

    @property
    def form(self) -> str:
        return next((each.form for each in self.parts if isinstance(each, VariableReference) and each.form), "")


@dataclass(frozen=True, slots=True)
class Clause:
    """``[[ … ]]``: an optional clause, which is dropped if one of its ``references`` is absent."""

    children: tuple[Node, ...]
    references: tuple[VariableReference, ...]
    """The variables directly in this clause. Variables in inner clauses and branches are left out."""
    opening: str
    """SQL in place of ``[[``: a space if the words on both sides would otherwise merge, or nothing."""
    closing: str
    """SQL in place of ``]]``, as for ``opening``."""
    dropped: str
    """SQL in place of the dropped clause, as for ``opening``."""
    offset: int
    end: int
    """Offset of the ``]]``."""


@dataclass(frozen=True, slots=True)
class Switch:
    """SQL in several branches. The value of the variable ``reference`` chooses one branch."""

    reference: VariableReference
    choose: Callable[[Any], int]
    """Returns the number of the branch for a value. The value None means that the variable is absent. Raises
    LookupError or TypeError if no branch fits the value."""
    branches: tuple[tuple[Node, ...], ...]
    expected: str
    """For error messages: a description of the values for which there is a branch."""
    uniform: bool = False
    """Whether all branches use the author's column in the same way. If so, the column's SQL may contain guarded
    variables."""
    of_column: bool = False
    """Whether a filter wrote the branches around one column of the author. If so, only the SQL
    of this column can name tables."""


Node: TypeAlias = Text | Value | InList | Concat | Clause | Switch


def placeholder_key(node: Value | Concat | InList) -> Hashable:
    """Return the same key for nodes that can share a placeholder."""
    if isinstance(node, Concat):
        return tuple(part if isinstance(part, str) else reference_key(part) for part in node.parts), node.cast
    return reference_key(node.reference)


def reference_key(reference: VariableReference) -> Hashable:
    """Return the same key for variables whose tags can share a placeholder."""
    return (reference.path, reference.position, reference.conversion, reference.cast, reference.form) + (
        (default_key(reference),) if reference.never_absent else ()
    )


def default_key(reference: VariableReference) -> str:
    """Return a key that differs for defaults such as 1, 1.0 and True, which are equal in Python."""
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
    """Yield every node in pre-order, each with the clauses and Switches around it, outermost first."""
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
    """A tag in a comment."""

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
    """The condition that selects the group's rows of the table. Variables are written as tags. Tables that the
    condition reads are replaced by their guards. Empty for a shared table."""
    replacement: str
    """The SQL that replaces the table's name, with variables written as tags. For a shared table, this is the name
    itself."""
    why: str
    """``guarded``, or ``shared`` if every group may read all rows."""


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
    """Proves that the SQL for a key reads guarded tables only through their guards, or raises TemplateError. The
    Renderer calls it before it first uses the SQL for the key."""


class TableGuard(Protocol):
    """Rewrites a tree so that each table in it shows only the group's rows."""

    def rewrite(self, tree: Tree, dialect: Dialect) -> Tree:
        """Return the new tree. Raises TemplateError for SQL that cannot be proved to read only the group's rows."""
