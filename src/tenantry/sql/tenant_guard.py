"""The tenant guard: a viewer's choices cannot change which variables of the group are in the bound SQL.

Locked parameters and all paths except ``params.*`` are guarded. There are two exceptions: properties that the host
declared optional, and tags that the author marked ``not_a_filter``. A marked tag still requires a value.

At any depth, a guarded variable must not be in an optional clause, in SQL that a viewer chooses, or in a filter that
may become ``1 = 1``. This also applies if every choice contains the variable: the choice ``tenant = {{ tenant }}``
restricts the rows, but the choice ``{{ tenant }} is not null`` does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain
from typing import Final

from tenantry.errors import Edit, TemplateError, nearest
from tenantry.sql.dialects import Dialect
from tenantry.sql.moved_conditions import moved_out
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import Clause, Node, Switch, Tree, VariableReference, references_in, walk

_ROOTS: Final = ("params", "user_group")


def is_viewer_input(path: str) -> bool:
    """Whether a path begins with ``params.``. Also true for locked parameters, which no viewer can set."""
    return path.startswith("params.")


def meant_path(path: str) -> str | None:
    """Return the path with its first name corrected: ``params.day`` for ``parms.day``. Return None if the first name
    may be the name of a property."""
    root, dot, rest = path.partition(".")
    if not dot or root in _ROOTS:
        return None
    near = nearest(root, _ROOTS, close=0.8)
    return f"{near}.{rest}" if near is not None else None


@dataclass(frozen=True, slots=True)
class TenantGuard:
    """Decides which variables are guarded."""

    optional: AbstractSet[str] = frozenset()
    """Paths that a group may lack."""
    locked: AbstractSet[str] = frozenset()
    """Paths of locked parameters."""
    declared: AbstractSet[str] = frozenset()
    """Names of declared parameters."""

    def meant(self, path: str) -> str | None:
        """Return ``params.start`` for ``start`` if a parameter ``start`` is declared, otherwise the result of
        ``meant_path``."""
        if not is_viewer_input(path) and path.partition(".")[0] in self.declared:
            return f"params.{path}"
        return meant_path(path)

    def is_locked(self, path: str) -> bool:
        """Whether the path is a locked parameter or a part of one, such as its start."""
        return bool(self.locked) and ".".join(path.split(".", 2)[:2]) in self.locked

    def is_chosen(self, path: str) -> bool:
        return is_viewer_input(path) and not self.is_locked(path)

    def guards_path(self, path: str) -> bool:
        """Whether variables with this path are guarded, except in tags that are marked ``not_a_filter``."""
        return self.is_locked(path) if is_viewer_input(path) else path not in self.optional

    def guards_reference(self, reference: VariableReference) -> bool:
        return not reference.not_a_filter and self.guards_path(reference.path)


def reads_group(tree: Tree) -> bool:
    return any(not is_viewer_input(reference.path) for reference in tree.references)


def enforce_tenant_guard(source: Source, dialect: Dialect, tree: Tree, guard: TenantGuard) -> None:
    """Raise TemplateError for a guarded variable that could be dropped, for a ``not_a_filter`` that has no effect, and
    for a clause that can never be dropped."""
    for reference in tree.references:
        if reference.not_a_filter and guard.is_chosen(reference.path):
            problem, fix = f"a viewer sends {reference.path}, so it needs no not_a_filter", "remove | not_a_filter"
            raise source.error(reference.offset, problem, fix)
        if reference.not_a_filter and not reference.clauses and not reference.choices:
            problem = f"{reference.path} is marked not_a_filter, but is in no optional clause and no choice"
            raise source.error(reference.offset, problem, "remove | not_a_filter")
    nodes = [node for node, _ in walk(tree.nodes)]
    for node in nodes:
        if isinstance(node, Clause):
            _check_clause(source, dialect, node, guard)
        elif isinstance(node, Switch) and not node.uniform and guard.is_chosen(node.reference.path):
            _check_choice(source, node, guard)
    for node in nodes:
        if isinstance(node, Clause) and all(each.required or each.never_absent for each in node.references):
            problem = "nothing in this clause can be absent, so it is never left out"
            fix = "remove [[ and ]], or add a params.* whose absence drops it"
            whole = source.text[node.offset : node.end + 2]
            raise source.error(node.offset, problem, fix, edit=Edit(whole, whole[2:-2].strip()))


def _check_clause(source: Source, dialect: Dialect, clause: Clause, guard: TenantGuard) -> None:
    guarded = list(_guarded(clause.children, guard))
    if guarded:
        reference = guarded[0]
        problem = f"{reference.path} is in an optional clause: when the clause is dropped, its condition is dropped too"
        fixes = [f"move it out of [[ ]]{moved_out(source, clause, guarded)}"]
        if any(guard.is_chosen(each.path) for each in clause.references):  # otherwise nothing could drop the clause
            fixes.append(f"where it restricts no rows, write {{{{ {reference.path} | not_a_filter }}}}")
        declaration = f'SQLTemplate(text, optional={{"{reference.path}"}})'
        fixes.append(f"where a group may lack it, declare it: {declaration}")
        fixes += ["for a nested array, write \\[["] * dialect.arrays
        raise _error(source, reference, guard, problem, "; or, ".join(fixes))


def _check_choice(source: Source, switch: Switch, guard: TenantGuard) -> None:
    reference = next(_guarded(chain.from_iterable(switch.branches), guard), None)
    if reference is not None:
        problem = f"{reference.path} is in SQL that a viewer chooses: a choice would drop or change its condition"
        fix = (
            "write its condition outside of the choice, joined by `and`; or, where it restricts no rows, write "
            f"{{{{ {reference.path} | not_a_filter }}}}"
        )
        raise _error(source, reference, guard, problem, fix)


def _guarded(nodes: Iterable[Node], guard: TenantGuard) -> Iterator[VariableReference]:
    return (each for each in references_in(node for node, _ in walk(nodes)) if guard.guards_reference(each))


def _error(source: Source, reference: VariableReference, guard: TenantGuard, problem: str, fix: str) -> TemplateError:
    if guard.is_locked(reference.path):
        problem = f"{reference.path} is locked, and a viewer's choice could leave it out"
        fix = "move it out of [[ ]], and out of the SQL that a viewer chooses"
    elif reference.path.partition(".")[0] in guard.declared:
        fix = f"write {{{{ params.{reference.path} }}}} for a value that a viewer sends; for the group's {fix}"
    return source.error(reference.offset, problem, fix)


def droppable(tree: Tree, guard: TenantGuard) -> tuple[VariableReference, ...]:
    """Return the variables of the group that are inside clauses or choices that a viewer controls, in text order."""
    found = {
        reference.offset: reference
        for node, around in walk(tree.nodes)
        if any(_decided_by_viewer(each, guard) for each in around)
        for reference in references_in((node,))
        if not reference.of_guard and not guard.is_chosen(reference.path)
    }
    return tuple(found[offset] for offset in sorted(found))


def _decided_by_viewer(node: Clause | Switch, guard: TenantGuard) -> bool:
    references = node.references if isinstance(node, Clause) else (node.reference,)
    return any(guard.is_chosen(reference.path) for reference in references)
