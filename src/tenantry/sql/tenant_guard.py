"""The tenant guard: no choice of a viewer changes which variables of the group are in the bound text.

Every path but ``params.*`` (the viewer's own input) is guarded. Whether an optional clause ``[[ ]]`` is rendered
depends on the values in it, so a guarded path is in none, however deep and whatever else is in it or elsewhere; unless
the host program declared the property optional, or the author marked that one tag: ``{{ rate | not_a_filter }}``. A
marked variable is still required: its absence is an error and drops nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from tenantry.sql.dialects import Dialect
from tenantry.sql.syntax_tree import Clause, Node, Source, Tree, VariableReference


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
        if reference.not_a_filter and not reference.clauses:
            problem = f"{reference.path} is marked not_a_filter, and is in no optional clause that could be left out"
            raise source.error(reference.offset, problem, "take | not_a_filter out")
        if reference.clauses and is_guarded(reference, optional) and not reference.not_a_filter:
            raise source.error(
                reference.offset,
                f"{reference.path} is in an optional clause: when the clause is dropped, its condition is dropped too",
                "move it out of [[ ]]; or, where it restricts no rows, write "
                f"{{{{ {reference.path} | not_a_filter }}}}; "
                f'or, where a group may lack it, declare it: SQLTemplate(text, optional={{"{reference.path}"}})'
                + ("; or, for an array in an array, write \\[[" if dialect.arrays else ""),
            )
    for clause in _clauses(tree.nodes):
        if all(reference.required for reference in clause.references):
            problem = "nothing in this clause can be absent, so it is never left out"
            raise source.error(clause.offset, problem, "take [[ and ]] out, or name the params.* that it depends on")


def droppable(tree: Tree) -> tuple[VariableReference, ...]:
    """The variables of the group that a viewer's choice can take out of the text, in the order of the text.

    They are those in a clause that a ``params.*`` decides about, in it or around it: each is marked ``not_a_filter``
    or was declared optional, else ``enforce_tenant_guard`` would have refused it.
    """
    found = {reference.offset: reference for reference in _in_viewers_clauses(tree.nodes, by_viewer=False)}
    return tuple(found[offset] for offset in sorted(found))


def _clauses(nodes: Sequence[Node]) -> Iterator[Clause]:
    for node in nodes:
        if isinstance(node, Clause):
            yield node
            yield from _clauses(node.children)


def _in_viewers_clauses(nodes: Sequence[Node], *, by_viewer: bool) -> Iterator[VariableReference]:
    for node in nodes:
        if isinstance(node, Clause):
            decides = by_viewer or any(is_viewer_input(reference.path) for reference in node.references)
            if decides:
                yield from (reference for reference in node.references if not is_viewer_input(reference.path))
            yield from _in_viewers_clauses(node.children, by_viewer=decides)
