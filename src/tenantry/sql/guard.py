"""The guard rule: a variable of the group can never make a clause disappear by being absent.

Every path but ``params.*`` (the viewer's own input) is guarded: inside an optional clause it may stand only if it also
stands outside every one in the same template, or if the host program declared it optional.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from tenantry.sql.nodes import Hole, Tree
from tenantry.sql.source import Source


def is_guarded(hole: Hole, optional: AbstractSet[str]) -> bool:
    """Whether the guard rule holds for this path."""
    return not hole.path.startswith("params.") and hole.path not in optional


def enforce(source: Source, tree: Tree, optional: AbstractSet[str]) -> None:
    """Raises TemplateError for the first guarded variable that stands in optional clauses only."""
    outside = {hole.path for hole in tree.holes if hole.clauses == 0}
    for hole in tree.holes:
        if hole.clauses and hole.path not in outside and is_guarded(hole, optional):
            raise source.error(
                hole.offset,
                f"{hole.path} stands in an optional clause only: where it is missing, the clause would vanish",
                f"move it out of [[ ]], use params.* for what the viewer chooses, "
                f'or declare it: SQLTemplate(text, optional={{"{hole.path}"}})',
            )
