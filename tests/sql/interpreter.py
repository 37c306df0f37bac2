"""A second implementation of binding, node by node, that the tests compare the closures with."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from tenantry.sql.binding.bindable_values import is_absent, look_up
from tenantry.sql.binding.bound_sql import BoundSQL
from tenantry.sql.binding.paramstyles import Paramstyle, driver_params
from tenantry.sql.binding.renderer import Renderer
from tenantry.sql.binding.variable_reader import VariableReader
from tenantry.sql.dialects import Dialect
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import (
    Clause,
    Concat,
    InList,
    Node,
    Switch,
    Tree,
    Value,
    VariableReference,
    placeholder_key,
    references_in,
)
from tenantry.sql.tenant_guard import TenantGuard, reads_group


class Interpreter:
    """Binds one template node by node."""

    def __init__(self, source: Source, tree: Tree, dialect: Dialect, style: Paramstyle, guard: TenantGuard) -> None:
        self.renderer: Renderer = Renderer(tree, dialect, style)
        self._tree = tree
        self._dialect = dialect
        self._style = style
        self._reader = VariableReader(source, tree, dialect, guard)

    def bind(self, variables: Any) -> BoundSQL:
        """Raises MissingVariable for all variables without a value, else UnbindableValue for the first bad one."""
        return self._bind(variables)[0]

    def _bind(self, variables: Any) -> tuple[BoundSQL, Sequence[Node]]:
        self._reader.require(variables, self._needed(self._tree.nodes, variables))
        key: list[int] = []
        params = _Params(self._style)
        self._bind_nodes(self._tree.nodes, variables, key, params, included=True)
        sql, names = self.renderer.render(tuple(key))
        given = driver_params(self._style, names, tuple(params.values))
        return BoundSQL(sql, given, self._style.name, self._dialect.name, reads_group(self._tree)), params.nodes

    def _bind_nodes(
        self, nodes: Sequence[Node], variables: Any, key: list[int], params: _Params, *, included: bool
    ) -> None:
        for node in nodes:
            if isinstance(node, Clause):
                included_here = included and _is_included(node, variables)
                key.append(included_here)
                self._bind_nodes(node.children, variables, key, params, included=included_here)
            elif isinstance(node, Switch):
                chosen = self._reader.choice(variables, node) if included else 0
                key.append(chosen)
                for index, branch in enumerate(node.branches):
                    self._bind_nodes(branch, variables, key, params, included=included and index == chosen)
            elif isinstance(node, InList):
                items = self._reader.items(node.reference)(variables) if included else ()
                key.append(len(items))
                if included:
                    params.add(node, items)
            elif included and isinstance(node, Value):
                params.add(node, [self._reader.read(node)(variables)])
            elif included and isinstance(node, Concat):
                parts = (part if isinstance(part, str) else self._reader.text(part)(variables) for part in node.parts)
                params.add(node, ["".join(parts)])

    def _needed(self, nodes: Sequence[Node], variables: Any) -> Iterator[VariableReference]:
        """What has to have a value because its branch is chosen."""
        for node in nodes:
            if isinstance(node, Clause) and _is_included(node, variables):
                yield from self._needed(node.children, variables)
            elif isinstance(node, Switch):
                value = look_up(variables, node.reference.path)
                if is_absent(value) and not node.reference.never_absent:
                    continue
                branch = node.branches[self._reader.choice(variables, node)]
                yield from (reference for reference in references_in(branch) if not reference.never_absent)
                yield from self._needed(branch, variables)


def _is_included(node: Clause, variables: Any) -> bool:
    """Whether everything has a value that the clause depends on."""
    return not any(
        is_absent(look_up(variables, reference.path)) for reference in node.references if not reference.never_absent
    )


class _Params:
    """The parameters so far, in the order in which the renderer numbers them."""

    def __init__(self, style: Paramstyle) -> None:
        self.values: list[Any] = []
        self.nodes: list[Node] = []  # of each value
        self._shares = style.shares
        self._seen: set[Hashable] = set()

    def add(self, node: Value | Concat | InList, values: Sequence[Any]) -> None:
        """Adds the parameters of a node, unless one placeholder stands for it and an earlier one."""
        key = placeholder_key(node)
        if not self._shares or key not in self._seen:
            self.values += values
            self.nodes += [node] * len(values)
            self._seen.add(key)
