from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from operator import itemgetter
from typing import Any, Final, TypeAlias

from tenantry.errors import TenantryError
from tenantry.groups import Record
from tenantry.sql.binding.bindable_values import (
    UNREADABLE,
    all_bindable,
    check_of,
    getter,
    getter_or_none,
    is_absent,
    look_up,
)
from tenantry.sql.binding.bound_sql import BoundSQL, TracedSQL
from tenantry.sql.binding.paramstyles import Paramstyle, driver_params
from tenantry.sql.binding.renderer import Renderer
from tenantry.sql.binding.variable_reader import Read, VariableReader
from tenantry.sql.dialects import Dialect
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import (
    Clause,
    Concat,
    InList,
    Node,
    Position,
    Switch,
    Text,
    Tree,
    Value,
    VariableReference,
    placeholder_key,
    references_in,
)
from tenantry.sql.tenant_guard import TenantGuard, reads_group

Bind: TypeAlias = Callable[[Any], BoundSQL]
_Step: TypeAlias = Callable[[Any, list[int], list[Any], set[Hashable]], None]
"""Reads variables. Appends numbers to the key, which Renderer explains, and values to the parameters. The last argument
contains the shared placeholders whose values are already among the parameters."""


_NONE_MET: Final[set[Hashable]] = set()
_FEW: Final = 4  # more values than this are checked in one pass, fewer one by one


class Binder:
    def __init__(self, source: Source, tree: Tree, dialect: Dialect, style: Paramstyle, guard: TenantGuard) -> None:
        self._tree = tree
        self._renderer = Renderer(tree, dialect, style)
        self._reader = VariableReader(source, tree, dialect, guard)
        self._steps = _Compiler(self._reader, shares=style.shares).steps(tree.nodes)
        self.bind: Final[Bind] = self._bind_function(dialect.name, style)
        """Returns a BoundSQL for variables. Raises one MissingVariable that lists all variables without a value, and
        InvalidParameter or UnbindableValue for the first bad value."""

    def trace(self, variables: Any) -> TracedSQL:
        bound = self.bind(variables)
        key: list[int] = []
        for step in self._steps:
            step(variables, key, [], set())
        nodes = self._renderer.parameter_nodes(tuple(key))
        return TracedSQL(bound, tuple(tuple(references_in([node])) for node in nodes))

    def _bind_function(self, dialect: str, style: Paramstyle) -> Bind:
        tree, steps, require, needed = self._tree, self._steps, self._reader.require, self._needed
        always_read = {each.path for each in references_in(node for node in tree.nodes if not isinstance(node, Switch))}
        required = {reference.path for reference in tree.references if reference.required}
        further = [getter(path) for path in required - always_read]
        cached, render = self._renderer.cached, self._renderer.render
        style_name, shares, reads = style.name, style.shares, reads_group(tree)
        is_plain = not style.named and not style.doubles_percent
        new = tuple.__new__  # cheaper than the NamedTuple's constructor

        def bind(variables: Any) -> BoundSQL:
            values = variables._values if type(variables) is Record else variables
            key: list[int] = []
            params: list[Any] = []
            met: set[Hashable] = set() if shares else _NONE_MET
            try:
                for step in steps:
                    step(values, key, params, met)
                for get in further:  # a variable is required even if its clause is dropped
                    if get(values) is None:
                        raise LookupError  # handled like a failed lookup
            except (TenantryError, *UNREADABLE):
                require(variables, needed(tree.nodes, variables))
                raise
            shape = tuple(key)
            sql, names = cached.get(shape) or render(shape)
            given = tuple(params)
            if not is_plain:
                return BoundSQL(sql, driver_params(style, names, given), style_name, dialect, reads)
            return new(BoundSQL, (sql, given, style_name, dialect, reads))

        return bind

    def _needed(self, nodes: Sequence[Node], variables: Any) -> Iterator[VariableReference]:
        for node in nodes:
            if isinstance(node, Clause) and _is_included(node, variables):
                yield from self._needed(node.children, variables)
            elif isinstance(node, Switch):
                if is_absent(look_up(variables, node.reference.path)) and not node.reference.never_absent:
                    continue
                branch = node.branches[self._reader.choice(variables, node)]
                yield from (reference for reference in references_in(branch) if not reference.never_absent)
                yield from self._needed(branch, variables)


class _Compiler:
    def __init__(self, reader: VariableReader, *, shares: bool) -> None:
        self._reader = reader
        self._shares = shares
        self._always: set[Hashable] = set()
        """Placeholders outside of clauses and branches. All rendered SQL contains them."""
        self._sometimes: set[Hashable] = set()

    def steps(self, nodes: Sequence[Node], *, conditional: bool = False) -> list[_Step]:
        found: list[_Step] = []
        run: list[Value] = []  # adjacent plain values with the same parent path
        for node in nodes:
            if isinstance(node, Text):
                continue
            is_new, placeholder = self._sharing(node, conditional=conditional)
            plain = node if is_new and placeholder is None and isinstance(node, Value) and _is_plain(node) else None
            if run and (plain is None or _parent(plain.reference.path) != _parent(run[0].reference.path)):
                found.append(self._run(run))
                run = []
            if plain is not None:
                run.append(plain)
            elif is_new or isinstance(node, InList):
                found.append(self._step(node, is_new, placeholder))
        return [*found, self._run(run)] if run else found

    def _sharing(self, node: Node, *, conditional: bool) -> tuple[bool, Hashable | None]:
        if not self._shares or not isinstance(node, Value | Concat | InList):
            return True, None
        placeholder = placeholder_key(node)
        if placeholder in self._always:
            return False, None
        asks = conditional or placeholder in self._sometimes
        (self._sometimes if conditional else self._always).add(placeholder)
        return True, placeholder if asks else None

    def _step(self, node: Value | Concat | InList | Clause | Switch, is_new: bool, placeholder: Hashable) -> _Step:
        if isinstance(node, Clause):
            return self._clause(node)
        if isinstance(node, Switch):
            return self._switch(node)
        if isinstance(node, InList):
            return self._in_list(node, is_new, placeholder)
        return _value_step(self._reader.read(node), placeholder)

    def _run(self, nodes: list[Value]) -> _Step:
        reads = [self._reader.read(node) for node in nodes]
        path = _parent(nodes[0].reference.path)
        parent = getter(path) if path else None
        names = [_name(node.reference.path) for node in nodes]
        if len(nodes) <= _FEW:
            named_reads = tuple(zip(names, reads, strict=True))

            def step(values: Any, key: list[int], params: list[Any], met: set[Hashable]) -> None:
                owner = values if parent is None else parent(values)
                if type(owner) is Record:
                    owner = owner._values
                for name, read in named_reads:
                    value = owner[name]
                    check = check_of(type(value))
                    params.append(value if check is not None and check(value) else read(values))

            return step
        pick = itemgetter(*names)

        def step_of_many(values: Any, key: list[int], params: list[Any], met: set[Hashable]) -> None:
            owner = values if parent is None else parent(values)
            found = pick(owner._values if type(owner) is Record else owner)
            params += found if all_bindable(found) else [read(values) for read in reads]

        return step_of_many

    def _in_list(self, node: InList, is_new: bool, placeholder: Hashable) -> _Step:
        read = self._reader.items(node.reference)

        def step(values: Any, key: list[int], params: list[Any], met: set[Hashable]) -> None:
            items = read(values)
            key.append(len(items))
            if is_new and (placeholder is None or placeholder not in met):
                params += items
                if placeholder is not None:
                    met.add(placeholder)

        return step

    def _clause(self, node: Clause) -> _Step:
        names_of: dict[str, dict[str, None]] = {}
        for path in (each.path for each in node.references if not each.never_absent):
            names_of.setdefault(_parent(path), {})[_name(path)] = None
        owners = [(getter(path) if path else None, tuple(names)) for path, names in names_of.items()]
        steps, dropped = self.steps(node.children, conditional=True), _key_of_dropped([node])

        def step(values: Any, key: list[int], params: list[Any], met: set[Hashable]) -> None:
            try:
                for get, names in owners:
                    owner = values if get is None else get(values)
                    if type(owner) is Record:
                        owner = owner._values
                    for name in names:
                        if owner[name] is None:
                            raise LookupError  # handled like a failed lookup
            except UNREADABLE:
                key += dropped
                return
            key.append(1)
            for each in steps:
                each(values, key, params, met)

        return step

    def _switch(self, node: Switch) -> _Step:
        get, choose = getter_or_none(node.reference.path), node.choose
        branches = [(self.steps(branch, conditional=True), _key_of_dropped(branch)) for branch in node.branches]

        def step(values: Any, key: list[int], params: list[Any], met: set[Hashable]) -> None:
            chosen = choose(get(values))
            key.append(chosen)
            for index, (steps, dropped) in enumerate(branches):
                if index == chosen:
                    for each in steps:
                        each(values, key, params, met)
                else:
                    key.extend(dropped)

        return step


def _value_step(read: Read, placeholder: Hashable) -> _Step:
    if placeholder is None:

        def step(values: Any, key: list[int], params: list[Any], met: set[Hashable]) -> None:
            params.append(read(values))

    else:

        def step(values: Any, key: list[int], params: list[Any], met: set[Hashable]) -> None:
            if placeholder not in met:
                params.append(read(values))
                met.add(placeholder)

    return step


def _key_of_dropped(nodes: Sequence[Node]) -> list[int]:
    # Return a zero for each clause, Switch and list in dropped SQL: the renderer reads a number for each.
    found: list[int] = []
    for node in nodes:
        if isinstance(node, Clause | Switch | InList):
            found.append(0)
        for children in (node.children,) if isinstance(node, Clause) else getattr(node, "branches", ()):
            found += _key_of_dropped(children)
    return found


def _is_included(node: Clause, variables: Any) -> bool:
    return not any(is_absent(look_up(variables, each.path)) for each in node.references if not each.never_absent)


def _is_plain(node: Value) -> bool:
    reference = node.reference
    return reference.position is Position.VALUE and not reference.conversion and not reference.never_absent


def _parent(path: str) -> str:
    return path.rpartition(".")[0]


def _name(path: str) -> str:
    return path.rpartition(".")[2]
