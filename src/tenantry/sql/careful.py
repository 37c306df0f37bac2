"""Careful: binding node by node, for whatever the generated function does not take: refusals and rare types.

This is the meaning of a template; the generated function is the same for the common case, and faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenantry.sql.bound import BoundSQL, hand_over
from tenantry.sql.dialects import Dialect
from tenantry.sql.nodes import Clause, Composed, Hole, Members, Node, Position, Tree, Value
from tenantry.sql.paramstyles import Paramstyle
from tenantry.sql.shapes import Shapes
from tenantry.sql.source import Source
from tenantry.sql.values import Values, is_absent, look_up


class Careful:
    """Binds one template in one dialect and paramstyle, and raises the errors that name each variable at fault."""

    def __init__(self, source: Source, tree: Tree, dialect: Dialect, style: Paramstyle, shapes: Shapes) -> None:
        self._tree = tree
        self._dialect = dialect
        self._style = style
        self._shapes = shapes
        self._values = Values(source, tree)

    def bind(self, variables: Any) -> BoundSQL:
        """Raises MissingVariable for all variables without a value, else UnbindableValue for the first bad one."""
        self._values.require(variables)
        key: list[int] = []
        params: list[Any] = []
        self._walk(self._tree.nodes, variables, key, params, kept=True)
        sql, names = self._shapes.shape(tuple(key))
        return BoundSQL(sql, hand_over(self._style, names, tuple(params)), self._style.name, self._dialect.name)

    def _walk(self, nodes: Sequence[Node], variables: Any, key: list[int], params: list[Any], *, kept: bool) -> None:
        for node in nodes:
            if isinstance(node, Clause):
                keep = kept and not any(is_absent(look_up(variables, hole.path)) for hole in node.holes)
                key.append(keep)
                self._walk(node.children, variables, key, params, kept=keep)
            elif isinstance(node, Members):
                items = self._values.items(variables, node.hole) if kept else ()
                key.append(len(items))
                params += items
            elif kept and isinstance(node, Value):
                params.append(self._scalar(variables, node.hole))
            elif kept and isinstance(node, Composed):
                parts = (part if isinstance(part, str) else self._values.text(variables, part) for part in node.parts)
                params.append("".join(parts))

    def _scalar(self, variables: Any, hole: Hole) -> Any:
        if hole.position is Position.TEXT:
            return self._values.text(variables, hole)
        if hole.position is Position.LIMIT:
            return self._values.limit(variables, hole)
        return self._values.scalar(variables, hole)
