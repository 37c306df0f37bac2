"""The guard rule: no choice of a viewer changes which variables of the group stand in the bound text.

Every path but ``params.*`` (the viewer's own input) is guarded. Whether an optional clause ``[[ ]]`` is kept depends on
the values in it, so a guarded path stands in none, however deep and whatever stands beside it or elsewhere; unless the
host program declared the property optional, or the author marked it at that very place: ``{{ rate | not_a_filter }}``.
A marked variable is still needed: its absence is an error and drops nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from tenantry.sql.dialects import Dialect
from tenantry.sql.nodes import Clause, Hole, Node, Tree
from tenantry.sql.source import Source


def is_viewers(path: str) -> bool:
    """Whether a viewer chooses the value at this path."""
    return path.startswith("params.")


def is_guarded(hole: Hole, optional: AbstractSet[str]) -> bool:
    """Whether the guard rule holds for this path."""
    return not is_viewers(hole.path) and hole.path not in optional


def enforce(source: Source, dialect: Dialect, tree: Tree, optional: AbstractSet[str]) -> None:
    """Raises TemplateError for the first variable that breaks the guard rule, or whose mark says nothing."""
    for hole in tree.holes:
        if hole.not_a_filter and is_viewers(hole.path):
            problem, fix = f"{hole.path} is the viewer's: it needs no not_a_filter", "take | not_a_filter out"
            raise source.error(hole.offset, problem, fix)
        if hole.not_a_filter and not hole.clauses:
            problem = f"{hole.path} is marked not_a_filter, and stands in no optional clause that could be left out"
            raise source.error(hole.offset, problem, "take | not_a_filter out")
        if hole.clauses and is_guarded(hole, optional) and not hole.not_a_filter:
            raise source.error(
                hole.offset,
                f"{hole.path} stands in an optional clause: where the clause goes, its condition would go too",
                f"move it out of [[ ]]; or, where it restricts no rows, write {{{{ {hole.path} | not_a_filter }}}}; "
                f'or, where a group may lack it, declare it: SQLTemplate(text, optional={{"{hole.path}"}})'
                + ("; or, for an array in an array, write \\[[" if dialect.arrays else ""),
            )
    for clause in _clauses(tree.nodes):
        if all(hole.required for hole in clause.holes):
            problem = "nothing in this clause can be absent, so it is never left out"
            raise source.error(clause.offset, problem, "take [[ and ]] out, or name the params.* that it depends on")


def droppable(tree: Tree) -> tuple[Hole, ...]:
    """The variables of the group that a viewer's choice can take out of the text, in the order of the text.

    They are those in a clause that a ``params.*`` decides about, in it or around it: each is marked ``not_a_filter``
    or was declared optional, else ``enforce`` had refused it.
    """
    found = {hole.offset: hole for hole in _in_viewers_clauses(tree.nodes, by_viewer=False)}
    return tuple(found[offset] for offset in sorted(found))


def _clauses(nodes: Sequence[Node]) -> Iterator[Clause]:
    for node in nodes:
        if isinstance(node, Clause):
            yield node
            yield from _clauses(node.children)


def _in_viewers_clauses(nodes: Sequence[Node], *, by_viewer: bool) -> Iterator[Hole]:
    for node in nodes:
        if isinstance(node, Clause):
            decides = by_viewer or any(is_viewers(hole.path) for hole in node.holes)
            if decides:
                yield from (hole for hole in node.holes if not is_viewers(hole.path))
            yield from _in_viewers_clauses(node.children, by_viewer=decides)
