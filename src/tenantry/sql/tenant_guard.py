"""The tenant guard: no choice of a viewer changes which variables of the group are in the bound text.

Every path but ``params.*`` (the viewer's own input) is guarded, unless the host program declared the property
optional or the author marked that one tag: ``{{ rate | not_a_filter }}``. A marked variable is still required: its
absence is an error and drops nothing.

There is one rule: in each Switch that a viewer's value decides, every branch holds the same guarded paths, each in as
many tags. (A helper may write one tag of the author's more than once: MySQL's week names its column twice.) An optional
clause ``[[ ]]`` is a Switch whose other branch is empty, so a guarded path is in none, however deep and whatever else
is in it or elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias, TypeVar

from tenantry.errors import TemplateError
from tenantry.sql.dialects import Dialect
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import Clause, Node, Switch, Tree, VariableReference, references_in


def is_viewer_input(path: str) -> bool:
    """Whether a viewer chooses the value at this path."""
    return path.startswith("params.")


def is_guarded(reference: VariableReference, optional: AbstractSet[str]) -> bool:
    """Whether the tenant guard holds for this path."""
    return not is_viewer_input(reference.path) and reference.path not in optional


def reads_group(tree: Tree) -> bool:
    """Whether a template names a variable of the group, whatever its place and its marks: its result is one group's."""
    return any(not is_viewer_input(reference.path) for reference in tree.references)


def enforce_tenant_guard(source: Source, dialect: Dialect, tree: Tree, optional: AbstractSet[str]) -> None:
    """Raises TemplateError for the first variable that breaks the rule, or whose mark has no effect."""
    for reference in tree.references:
        if reference.not_a_filter and is_viewer_input(reference.path):
            problem, fix = f"{reference.path} is the viewer's: it needs no not_a_filter", "take | not_a_filter out"
            raise source.error(reference.offset, problem, fix)
        if reference.not_a_filter and not reference.clauses and not reference.choices:
            problem = f"{reference.path} is marked not_a_filter, and is in no optional clause that could be left out"
            raise source.error(reference.offset, problem, "take | not_a_filter out")
    _Guard(source, dialect, optional).paths(tree.nodes)
    for clause in _clauses(tree.nodes):
        if all(reference.required or reference.never_absent for reference in clause.references):
            problem = "nothing in this clause can be absent, so it is never left out"
            raise source.error(clause.offset, problem, "take [[ and ]] out, or name the params.* that it depends on")


_T = TypeVar("_T")
_Paths: TypeAlias = frozenset[tuple[Any, int]]
"""Guarded paths, and how often each; for a Switch that the group decides and whose branches differ, its own offset."""


class _Guard:
    def __init__(self, source: Source, dialect: Dialect, optional: AbstractSet[str]) -> None:
        self._source = source
        self._dialect = dialect
        self._optional = optional

    def paths(self, nodes: Sequence[Node]) -> _Paths:
        """The guarded paths of some nodes, the same whatever a viewer chooses. Raises TemplateError where they are
        not."""
        nodes = _each_once(nodes)
        found: Counter[Any] = Counter(each.path for each in references_in(nodes) if self._holds(each))
        for node in nodes:
            if isinstance(node, Clause):
                self._check_clause(node)
            elif isinstance(node, Switch):
                branches = [self.paths(branch) for branch in node.branches]
                if len(set(branches)) == 1:
                    found.update(dict(branches[0]))
                elif is_viewer_input(node.reference.path):
                    raise self._differ(node)
                else:  # it is like no other: which value chooses which branch is its own affair
                    found[node.reference.path, node.reference.offset] += 1
        return frozenset(found.items())

    def _holds(self, reference: VariableReference) -> bool:
        return is_guarded(reference, self._optional) and not reference.not_a_filter

    def _check_clause(self, node: Clause) -> None:
        self.paths(node.children)
        reference = next((each for each in _all_references(node.children) if self._holds(each)), None)
        if reference is not None:
            raise self._source.error(
                reference.offset,
                f"{reference.path} is in an optional clause: when the clause is dropped, its condition is dropped too",
                "move it out of [[ ]]; or, where it restricts no rows, write "
                f"{{{{ {reference.path} | not_a_filter }}}}; "
                f'or, where a group may lack it, declare it: SQLTemplate(text, optional={{"{reference.path}"}})'
                + ("; or, for an array in an array, write \\[[" if self._dialect.arrays else ""),
            )

    def _differ(self, node: Switch) -> TemplateError:
        """The error for the first guarded path that another branch does not hold as often."""
        branches = [_each_once(list(_all_references(branch))) for branch in node.branches]
        guarded = [[each for each in branch if self._holds(each)] for branch in branches]
        counts = [Counter(each.path for each in branch) for branch in guarded]
        everywhere = [each for branch in guarded for each in branch]
        uneven = (each for each in everywhere if len({count[each.path] for count in counts}) > 1)
        reference = next(uneven, everywhere[0])
        return self._source.error(
            reference.offset,
            f"{reference.path} is in some of the texts to choose from only: a viewer's choice would drop its condition",
            "move it out of the choice, or write it into each text; or, where it restricts no rows, write "
            f"{{{{ {reference.path} | not_a_filter }}}}",
        )


def _each_once(items: Sequence[_T]) -> list[_T]:
    """Without repetitions of the very same node or reference: they are one tag of the author's."""
    return list({id(each): each for each in items}.values())


def droppable(tree: Tree) -> tuple[VariableReference, ...]:
    """The variables of the group that a viewer's choice can take out of the text, in the order of the text.

    They are those in a clause or a choice that a ``params.*`` decides about, in it or around it: each is marked
    ``not_a_filter`` or was declared optional, or is in every text of the choice, else ``enforce_tenant_guard`` would
    have refused it.
    """
    found = {reference.offset: reference for reference in _in_viewers_clauses(tree.nodes, by_viewer=False)}
    return tuple(found[offset] for offset in sorted(found))


def _all_references(nodes: Sequence[Node]) -> Iterator[VariableReference]:
    yield from references_in(nodes)
    for node in nodes:
        if isinstance(node, Clause):
            yield from _all_references(node.children)
        elif isinstance(node, Switch):
            for branch in node.branches:
                yield from _all_references(branch)


def _clauses(nodes: Sequence[Node]) -> Iterator[Clause]:
    for node in nodes:
        if isinstance(node, Clause):
            yield node
            yield from _clauses(node.children)
        elif isinstance(node, Switch):
            for branch in node.branches:
                yield from _clauses(branch)


def _in_viewers_clauses(nodes: Sequence[Node], *, by_viewer: bool) -> Iterator[VariableReference]:
    for node in nodes:
        if isinstance(node, Clause):
            decides = by_viewer or any(is_viewer_input(reference.path) for reference in node.references)
            if decides:
                yield from (reference for reference in node.references if not is_viewer_input(reference.path))
            yield from _in_viewers_clauses(node.children, by_viewer=decides)
        elif isinstance(node, Switch):
            decides = by_viewer or is_viewer_input(node.reference.path)
            for branch in node.branches:
                if decides:
                    yield from (each for each in references_in(branch) if not is_viewer_input(each.path))
                yield from _in_viewers_clauses(branch, by_viewer=decides)
