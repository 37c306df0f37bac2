"""Table guards: the SQL that replaces each declared table in one dialect, and the variables in this SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from threading import RLock
from typing import Final, NamedTuple, TypeAlias, cast

from tenantry.sql.dialects import DIALECTS, Dialect
from tenantry.sql.guarding.declaration import READ_ITSELF, Declaration, InvalidTables, TableEntry, invalid_tables
from tenantry.sql.guarding.names import Path, key_of, path_of, written
from tenantry.sql.guarding.rendered_text import combinations, render
from tenantry.sql.guarding.safe_functions import known_functions, safe_functions, safe_table_functions
from tenantry.sql.guarding.words import Functions
from tenantry.sql.parsing.parser import parse
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import (
    Clause,
    Concat,
    Node,
    PlaceholderConflict,
    Switch,
    Text,
    Tree,
    VariableReference,
    references_in,
    walk,
)
from tenantry.sql.tenant_guard import TenantGuard, enforce_tenant_guard, is_viewer_input

_QUERY: Final = "select * from "
_WHERE: Final = " where "
_UNNEST: Final = frozenset({"unnest"})
RewriteCondition: TypeAlias = "Callable[[Tree, TableGuards, int], RewrittenCondition]"
"""Replaces each table in a guard's query, ``select * from table where condition``, with the guard of that table. The
guarded table itself, at the given offset, is kept."""


class RewrittenCondition(NamedTuple):
    nodes: tuple[Node, ...]
    names: frozenset[str]
    """Names of tables that the condition reads."""
    shown: str
    """The condition as SQL, in which variables are written as tags."""


@dataclass(frozen=True, slots=True)
class TableGuardSQL:
    entry: TableEntry
    table: str
    nodes: tuple[Node, ...]
    """The condition, in which each table is replaced by its guard."""
    condition: str
    reads: frozenset[str]
    """Names of tables that the condition reads, in the form that ``folded`` returns. A CTE with one of these names
    could hide the table."""
    conflicts: tuple[PlaceholderConflict, ...]
    least_length: int
    """Minimum number of characters in the rendered condition."""

    def nodes_at(self, offset: int, alias: str, *, only: bool) -> tuple[Node, ...]:
        head, end = (Text(sql, offset, of_guard=True) for sql in self._around(alias, only=only))
        return (head, *_moved(self.nodes, offset, self.entry.name), end)

    def sql(self, alias: str, *, only: bool) -> str:
        """Return the guard as SQL, in which variables are written as tags. ``only`` adds this keyword before the
        table."""
        return self.condition.join(self._around(alias, only=only))

    def _around(self, alias: str, *, only: bool) -> tuple[str, str]:
        return f"({_QUERY}{'only ' * only}{self.table}{_WHERE}", f") as {alias}" if alias else ")"


class TableGuards:
    """The guards of a declaration in a dialect. Raises InvalidTables if two declared names mean the same table."""

    def __init__(self, declaration: Declaration, dialect: Dialect, rewrite: RewriteCondition) -> None:
        self.declaration = declaration
        self.dialect = dialect
        self.functions = _functions(declaration, dialect)
        self._rewrite = rewrite
        self._entries: dict[tuple[str, ...], TableEntry] = {}
        self._made: dict[str, TableGuardSQL] = {}
        self._open: list[str] = []
        self._lock = RLock()
        for entry in declaration.entries:
            first = self._entries.setdefault(key_of(path_of(entry.name), dialect), entry)
            if first is not entry:
                problem = f"on {dialect.name}, this is the same table as {first.name}"
                raise self.error(entry, problem, "declare it once")

    def find(self, path: Path) -> TableEntry | None:
        return self._entries.get(key_of(path, self.dialect))

    def alike(self, path: Path) -> TableEntry | None:
        """Return a declared table that has the same name but is in another schema, or None."""
        last = key_of(path, self.dialect)[-1]
        return next((entry for key, entry in self._entries.items() if key[-1] == last), None)

    def of(self, entry: TableEntry) -> TableGuardSQL:
        """Return the guard of a table that is not shared. Raises TemplateError for an unusable condition."""
        with self._lock:
            found = self._made.get(entry.name)
            if found is None:
                self._check_not_open(entry)
                self._open.append(entry.name)
                try:
                    found = self._made[entry.name] = self._make(entry)
                finally:
                    self._open.pop()
            return found

    def _check_not_open(self, entry: TableEntry) -> None:
        if entry.name in self._open:
            chain = " → ".join([*self._open[self._open.index(entry.name) :], entry.name])
            problem = f"the condition of this table reads the table itself: {chain}"
            raise self.error(entry, problem, READ_ITSELF)

    def parents_first(self, entry: TableEntry) -> int:
        """Sort key: a table comes after all tables that its condition reads."""
        return [*self._made].index(entry.name)

    def proof_queries(self, entry: TableEntry) -> Iterator[str]:
        """Yield the SQL of the table's TableProofs. Together, the queries contain every branch of the table's
        condition."""
        if entry.is_shared:
            yield f"select 1 from {written(path_of(entry.name), self.dialect)} where 1 = 0"  # noqa: S608
            return
        nodes = self.of(entry).nodes_at(0, written(path_of(entry.name)[-1:], self.dialect), only=False)
        for decide in combinations(nodes, every=True):
            yield f"select 1 from {render(nodes, decide, 'null').sql} where 1 = 0"  # noqa: S608  # of the declaration

    def error(self, entry: TableEntry, problem: str, fix: str) -> InvalidTables:
        return invalid_tables(("tables", entry.name), problem, fix, self.declaration.file)

    def _make(self, entry: TableEntry) -> TableGuardSQL:
        table, condition = written(path_of(entry.name), self.dialect), entry.condition(self.dialect)
        name = self.declaration.file or "tables"
        head = f"{_QUERY}{table}{_WHERE}"
        source = Source(f"{head}{condition}", f"{name}, the condition of {entry.name}")
        tree = parse(source, self.dialect)
        enforce_tenant_guard(source, self.dialect, tree, TenantGuard())
        for reference in tree.references:
            if is_viewer_input(reference.path):
                problem = f"{reference.path} is a value that a viewer sends"
                raise self.error(entry, problem, "name a property of the group: {{ user_group.properties.… }}")
        query, names, shown = self._rewrite(tree, self, len(_QUERY))
        nodes, conflicts = _after(head, query), tree.placeholder_conflicts
        least = sum(len(node.sql) for node in nodes if isinstance(node, Text))
        return TableGuardSQL(entry, table, nodes, shown[len(head) :], names, conflicts, least)


def _functions(declaration: Declaration, dialect: Dialect) -> Functions:
    scalar, tables = safe_functions(dialect), safe_table_functions(dialect)
    if scalar is None:  # no engine of this dialect was checked, so take the functions that all checked engines have
        lists = [found for found in map(safe_functions, DIALECTS.values()) if found is not None]
        scalar, tables = frozenset.intersection(*lists) | _UNNEST, _UNNEST
    declared = frozenset(declaration.functions)
    known = (*known_functions(dialect), *declaration.functions)
    return Functions(scalar | declared, (tables or frozenset()) | declared, known, declaration.where_to_change)


def guard_references(nodes: tuple[Node, ...]) -> Iterator[VariableReference]:
    return (each for each in references_in(node for node, _ in walk(nodes)) if each.of_guard)


def _after(head: str, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    rest = cast(Text, nodes[0]).sql[len(head) :]  # the parser makes one node of SQL without tags
    return (Text(rest), *nodes[1:]) if rest else nodes[1:]


def _moved(nodes: tuple[Node, ...], offset: int, table: str) -> tuple[Node, ...]:
    return tuple(_moved_node(node, offset, table) for node in nodes)


def _moved_node(node: Node, offset: int, table: str) -> Node:
    if isinstance(node, Text):
        return Text(node.sql, offset, of_guard=True, of_condition=True)
    if isinstance(node, Concat):
        parts = (each if isinstance(each, str) else _moved_reference(each, offset, table) for each in node.parts)
        return replace(node, parts=tuple(parts))
    if isinstance(node, Clause):
        references = tuple(_moved_reference(each, offset, table) for each in node.references)
        return replace(node, children=_moved(node.children, offset, table), references=references, offset=offset)
    moved = replace(node, reference=_moved_reference(node.reference, offset, table))
    if isinstance(moved, Switch):
        return replace(moved, branches=tuple(_moved(branch, offset, table) for branch in moved.branches))
    return moved


def _moved_reference(reference: VariableReference, offset: int, table: str) -> VariableReference:
    return replace(reference, offset=offset, of_guard=reference.of_guard or table)
