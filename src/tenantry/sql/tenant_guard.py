"""The tenant guard: no choice of a viewer changes which variables of the group are in the bound text.

Every path but ``params.*`` (the viewer's own input) is guarded, unless the host program declared the property
optional or the author marked that one tag: ``{{ rate | not_a_filter }}``. A marked variable is still required: its
absence is an error and drops nothing. A locked parameter is a property of the group, and so it is guarded too.

There is one rule: in each Switch that a viewer's value decides, every branch holds the same guarded paths, each in as
many tags. (A helper may write one tag of the author's more than once: MySQL's week names its column twice.) An optional
clause ``[[ ]]`` is a Switch whose other branch is empty, so a guarded path is in none, however deep and whatever else
is in it or elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

from tenantry.errors import TemplateError
from tenantry.sql.clause_fixes import moved_out
from tenantry.sql.dialects import Dialect
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import Clause, Node, Switch, Tree, VariableReference, references_in, walk
from tenantry.suggestions import nearest

_ROOTS: Final = ("params", "user_group")


def is_viewer_input(path: str) -> bool:
    """Whether a path is ``params.*``: the viewer's input, but for the locked parameters."""
    return path.startswith("params.")


def meant_path(path: str) -> str | None:
    """``params.day`` for ``parms.day``, ``user_group.id`` for ``usergroup.id``; None for what is no such slip. It
    finds what is very near alone: a group may have a property that is called nearly so."""
    root, dot, rest = path.partition(".")
    if not dot or root in _ROOTS:
        return None
    near = nearest(root, _ROOTS, close=0.8)
    return f"{near}.{rest}" if near is not None else None


@dataclass(frozen=True, slots=True)
class Guard:
    """Which variables of a template are guarded. ``optional`` are the paths that the host program declared optional,
    ``locked`` those of the parameters that no viewer can set (``params.region``), ``declared`` the names of all
    parameters."""

    optional: AbstractSet[str] = frozenset()
    locked: AbstractSet[str] = frozenset()
    declared: AbstractSet[str] = frozenset()

    def meant(self, path: str) -> str | None:
        """``params.start`` for ``start``, where that is a declared parameter; else ``meant_path``."""
        if not is_viewer_input(path) and path.partition(".")[0] in self.declared:
            return f"params.{path}"
        return meant_path(path)

    def is_locked(self, path: str) -> bool:
        """Whether it is a locked parameter, or a part of one: ``params.period.start``."""
        return bool(self.locked) and ".".join(path.split(".", 2)[:2]) in self.locked

    def is_chosen(self, path: str) -> bool:
        """Whether a viewer chooses the value at this path."""
        return is_viewer_input(path) and not self.is_locked(path)

    def guards(self, path: str) -> bool:
        """Whether it is guarded wherever its author marked no tag of it. ``optional`` says nothing of a parameter."""
        return self.is_locked(path) if is_viewer_input(path) else path not in self.optional

    def holds(self, reference: VariableReference) -> bool:
        """Whether this very variable is guarded: what it filters is filtered whatever a viewer chooses."""
        return not reference.not_a_filter and self.guards(reference.path)


def reads_group(tree: Tree) -> bool:
    """Whether a template names a variable of the group, whatever its place and its marks: its result is one group's."""
    return any(not is_viewer_input(reference.path) for reference in tree.references)


def enforce_tenant_guard(source: Source, dialect: Dialect, tree: Tree, guard: Guard) -> None:
    """Raises TemplateError for the first variable that breaks the rule, or whose mark has no effect."""
    for reference in tree.references:
        if reference.not_a_filter and guard.is_chosen(reference.path):
            problem, fix = f"{reference.path} is the viewer's: it needs no not_a_filter", "take | not_a_filter out"
            raise source.error(reference.offset, problem, fix)
        if reference.not_a_filter and not reference.clauses and not reference.choices:
            problem = f"{reference.path} is marked not_a_filter, and is in no optional clause that could be left out"
            raise source.error(reference.offset, problem, "take | not_a_filter out")
    _Enforcement(source, dialect, guard).paths(tree.nodes)
    for node, _ in walk(tree.nodes):
        if isinstance(node, Clause) and all(each.required or each.never_absent for each in node.references):
            problem = "nothing in this clause can be absent, so it is never left out"
            raise source.error(node.offset, problem, "take [[ and ]] out, or name the params.* that it depends on")


_T = TypeVar("_T")
_Paths: TypeAlias = frozenset[tuple[Any, int]]
"""Guarded paths, and how often each; for a Switch that the group decides and whose branches differ, its own offset."""


class _Enforcement:
    def __init__(self, source: Source, dialect: Dialect, guard: Guard) -> None:
        self._source = source
        self._dialect = dialect
        self._guard = guard

    def paths(self, nodes: Sequence[Node]) -> _Paths:
        """The guarded paths of some nodes, the same whatever a viewer chooses. Raises TemplateError where they are
        not."""
        nodes = _each_once(nodes)
        found: Counter[Any] = Counter(each.path for each in references_in(nodes) if self._guard.holds(each))
        for node in nodes:
            if isinstance(node, Clause):
                self._check_clause(node)
            elif isinstance(node, Switch):
                branches = [self.paths(branch) for branch in node.branches]
                if len(set(branches)) == 1:
                    found.update(dict(branches[0]))
                elif self._guard.is_chosen(node.reference.path):
                    raise self._differ(node)
                else:  # it is like no other: which value chooses which branch is its own affair
                    found[node.reference.path, node.reference.offset] += 1
        return frozenset(found.items())

    def _guarded(self, nodes: Iterable[Node]) -> Iterator[VariableReference]:
        """Those of some nodes, and of all nodes in them."""
        return (each for each in references_in(node for node, _ in walk(nodes)) if self._guard.holds(each))

    def _check_clause(self, node: Clause) -> None:
        self.paths(node.children)
        guarded = [*self._guarded(node.children)]
        if not guarded:
            return
        reference = guarded[0]
        fixes = [f"move it out of [[ ]]{moved_out(self._source, node, guarded)}"]
        if any(self._guard.is_chosen(each.path) for each in node.references):  # else nothing would drop the clause
            fixes.append(f"where it restricts no rows, write {{{{ {reference.path} | not_a_filter }}}}")
        declaration = f'SQLTemplate(text, optional={{"{reference.path}"}})'
        fixes.append(f"where a group may lack it, declare it: {declaration}")
        fixes += ["for an array in an array, write \\[["] * self._dialect.arrays
        problem = f"{reference.path} is in an optional clause: when the clause is dropped, its condition is dropped too"
        raise self._error(reference, problem, "; or, ".join(fixes))

    def _differ(self, node: Switch) -> TemplateError:
        """The error for the first guarded path that another branch does not hold as often."""
        guarded = [_each_once(self._guarded(branch)) for branch in node.branches]
        counts = [Counter(each.path for each in branch) for branch in guarded]
        everywhere = [each for branch in guarded for each in branch]
        uneven = (each for each in everywhere if len({count[each.path] for count in counts}) > 1)
        reference = next(uneven, everywhere[0])
        return self._error(
            reference,
            f"{reference.path} is in some of the texts to choose from only: a viewer's choice would drop its condition",
            "move it out of the choice, or write it into each text; or, where it restricts no rows, write "
            f"{{{{ {reference.path} | not_a_filter }}}}",
        )

    def _error(self, reference: VariableReference, problem: str, fix: str) -> TemplateError:
        if self._guard.is_locked(reference.path):
            problem = f"{reference.path} is locked, and a viewer's choice could leave it out"
            fix = "move it out of [[ ]], and out of what a viewer chooses from"
        elif reference.path.partition(".")[0] in self._guard.declared:
            fix = f"write {{{{ params.{reference.path} }}}} for what a viewer sends; for the group's {fix}"
        return self._source.error(reference.offset, problem, fix)


def _each_once(items: Iterable[_T]) -> list[_T]:
    """Without repetitions of the very same node or reference: they are one tag of the author's."""
    return list({id(each): each for each in items}.values())


def droppable(tree: Tree, guard: Guard) -> tuple[VariableReference, ...]:
    """The variables of the group that a viewer's choice can take out of the text, in the order of the text.

    They are those in a clause or a choice that a viewer decides about, in it or around it: each is marked
    ``not_a_filter`` or was declared optional, or is in every text of the choice, else ``enforce_tenant_guard`` would
    have refused it.
    """
    found = {
        reference.offset: reference
        for node, around in walk(tree.nodes)
        if any(_decided_by_viewer(each, guard) for each in around)
        for reference in references_in((node,))
        if not guard.is_chosen(reference.path)
    }
    return tuple(found[offset] for offset in sorted(found))


def _decided_by_viewer(node: Clause | Switch, guard: Guard) -> bool:
    references = node.references if isinstance(node, Clause) else (node.reference,)
    return any(guard.is_chosen(reference.path) for reference in references)
