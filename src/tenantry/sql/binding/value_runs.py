"""Runs of values in a template: one call of an itemgetter reads them all. Where placeholders are shared, a value that
has one already is in none.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from tenantry.sql.syntax_tree import (
    Clause,
    Concat,
    InList,
    Node,
    Position,
    Switch,
    Text,
    Value,
    VariableReference,
    placeholder_key,
)

FEW = 4  # scalars that the function reads and checks one by one; more are done at once, which compiles faster


@dataclass(frozen=True, slots=True)
class ValueRun:
    """Values one after the other and of one parent: one call of an itemgetter reads them all."""

    parent: tuple[str, ...]
    references: tuple[VariableReference, ...]


Item: TypeAlias = Node | ValueRun


def parent_of(path: str) -> tuple[str, ...]:
    """The names before the last one of a path."""
    return tuple(path.split(".")[:-1])


def with_runs(nodes: Sequence[Node], *, shares: bool) -> Iterator[Item]:
    """The nodes that have parameters, with a run in place of the values that make one.

    Where placeholders are shared, a value is in no run whose parameter may be in a clause or branch before it, and a
    repeated one is left out.
    """
    repeated = always_repeated(nodes) if shares else set()
    sometimes: set[Hashable] = set()

    def plain_parent(node: Node) -> tuple[str, ...] | None:
        if shares and isinstance(node, Clause | Switch):
            sometimes.update(_keys_within(node))
        if isinstance(node, Value) and _is_plain(node.reference) and placeholder_key(node) not in sometimes:
            return parent_of(node.reference.path)
        return None

    kept = (
        node
        for node in nodes
        if not isinstance(node, Text) and not (isinstance(node, Value) and id(node.reference) in repeated)
    )
    for parent, group in groupby(kept, plain_parent):
        items = list(group)
        if parent is not None and len(items) > FEW:
            yield ValueRun(parent, tuple(item.reference for item in items if isinstance(item, Value)))
        else:
            yield from items


def is_always_read(reference: VariableReference) -> bool:
    """Whether it is in no clause or branch, and has a default."""
    return reference.never_absent and not reference.clauses and not reference.choices


def _is_plain(reference: VariableReference) -> bool:
    return reference.position is Position.VALUE and not reference.conversion and not reference.never_absent


def always_repeated(nodes: Sequence[Node]) -> set[int]:
    """The references (by ``id``) of values in no clause or branch that have a placeholder before them in none."""
    seen: set[Hashable] = set()
    found: set[int] = set()
    for node in nodes:
        if isinstance(node, Value):
            key = placeholder_key(node)
            if key in seen:
                found.add(id(node.reference))
            seen.add(key)
    return found


def _keys_within(node: Node) -> Iterator[Hashable]:
    if isinstance(node, Value | Concat | InList):
        yield placeholder_key(node)
    for branch in (node.children,) if isinstance(node, Clause) else getattr(node, "branches", ()):
        for child in branch:
            yield from _keys_within(child)
