"""The syntax tree of a template."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from tenantry.sql.source import Source


class Position(StrEnum):
    """What the SQL around a tag makes of its value.

    TEXT is a whole string literal, PART a piece of one; LIMIT is a number of rows; PATTERN is escaped for ``like``. A
    CHOICE selects SQL and is not bound.
    """

    VALUE = "value"
    LIST = "list"
    TEXT = "text"
    PART = "part"
    PATTERN = "pattern"
    LIMIT = "limit"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class VariableReference:
    """A variable in a tag, with its position.

    ``clauses`` and ``choices`` count the optional clauses and Switch branches around the tag. If the variable is
    absent, binding fails (``required``), uses a default, NULL or a true condition (``never_absent``), or else drops the
    clause; in a branch without a clause, it fails if the branch is chosen. ``cast``: the type in ``{{ x }}::type``.
    ``form``: SQL around the ``{placeholder}``.
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
    """``[[ … ]]``: an optional clause, dropped if one of ``references`` is absent, the variables directly in it.

    ``opening`` and ``closing`` replace its brackets, ``dropped`` replaces a dropped clause: by a space where the SQL on
    both sides would merge, else by nothing.
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
    """Several branches, of which the value of ``reference`` chooses one.

    ``choose`` maps the value (None if absent) to the number of a branch. It raises LookupError or TypeError for a value
    without a branch; ``expected`` describes the values that have one. ``uniform``: every branch uses the author's
    column alike, so guarded variables are allowed in it.
    """

    reference: VariableReference
    choose: Callable[[Any], int]
    branches: tuple[tuple[Node, ...], ...]
    expected: str
    uniform: bool = False


Node: TypeAlias = Text | Value | InList | Concat | Clause | Switch


def placeholder_key(node: Value | Concat | InList) -> Hashable:
    """Return a key that is equal for nodes that can share a placeholder."""
    if isinstance(node, Concat):
        return tuple(part if isinstance(part, str) else _reference_key(part) for part in node.parts), node.cast
    return _reference_key(node.reference)


def _reference_key(reference: VariableReference) -> Hashable:
    return (reference.path, reference.position, reference.conversion, reference.cast, reference.form) + (
        (default_key(reference),) if reference.never_absent else ()
    )


def default_key(reference: VariableReference) -> str:
    """Return a key that is equal only for equal defaults of one type: ``1 == 1.0 == True`` in Python, not in SQL."""
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
    """A tag in a comment. It has no effect, since comments are removed."""

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
