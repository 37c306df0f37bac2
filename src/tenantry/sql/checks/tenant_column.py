"""The lint of the tenant column: each table needs a guarded predicate on that column.

The lint does not recognise row-level security, or predicates in views, functions, row values or ``in (select …)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple, TypeAlias

from tenantry.sql.checks.conditions import guarded_paths, without_cast
from tenantry.sql.checks.findings import Problem, Severity
from tenantry.sql.checks.selects import Join, Select, TableReference, is_query, joins_of, selects_of
from tenantry.sql.parsing.outline import (
    OutlineToken,
    TokenKind,
    Tokens,
    alternatives,
    conjuncts,
)
from tenantry.sql.tenant_guard import Guard

_NO_TABLES = frozenset(("dual",))


class TenantColumn(NamedTuple):
    """The tenant column, and the tables that all tenants share."""

    name: str
    shared: frozenset[str] = frozenset()


class _Predicate(NamedTuple):
    # `alias.customer_id = {{ guarded }}`, where the alias may be empty
    alias: str


class _Same(NamedTuple):
    # `a.customer_id = b.customer_id`
    first: str
    second: str


_Fact: TypeAlias = _Predicate | _Same


def tables_without_predicate(
    selects: Sequence[Select], column: TenantColumn, guard: Guard, suggested: str
) -> Iterator[Problem]:
    """Yield each table without a predicate on the column. The fix names the variable ``suggested``."""
    reader = _SelectReader(column, guard)
    for select in selects:
        found = reader.read(select)
        for table in found.base:
            if table.alias not in found.has:
                yield _unguarded(table, column, suggested, alone=found.alone)


class _Tables(NamedTuple):
    base: Sequence[TableReference]
    has: frozenset[str]
    alone: bool
    derived: bool


class _SelectReader:
    def __init__(self, column: TenantColumn, guard: Guard) -> None:
        self._column = column
        self._facts = _FactReader(column.name, guard)
        self._known: dict[int, frozenset[str]] = {}  # select → aliases with a predicate
        self._own: dict[int, bool] = {}  # query → whether its rows are the tenant's

    def read(self, select: Select) -> _Tables:
        joins = joins_of(select.clauses.get("from", []))
        tables = [table for join in joins for table in join.tables]
        base = [table for table in tables if _is_base(table, select, tables, self._column)]
        outer = self._known.get(id(select.outer), frozenset()) if select.outer is not None else frozenset()
        derived = {table.alias for table in tables if self._is_own(table, select)}
        has = _guarded_aliases(select, joins, self._facts, base, derived, outer)
        self._known[id(select)] = has | outer
        return _Tables(base, has, len(tables) == 1, bool(derived))

    def _is_own(self, table: TableReference, select: Select) -> bool:
        query = table.query
        if query is None and len(table.name) == 1:
            query = select.known_names.get(table.name[0])
        if query is None:
            return False
        if id(query) not in self._own:
            self._own[id(query)] = True  # assumed until it is known, because a recursive CTE joins its own rows
            inner = [each for each in selects_of(query.children, select.known_names) if each.outer is None]
            self._own[id(query)] = bool(inner) and all(map(self._has_own_rows, inner))
        return self._own[id(query)]

    def _has_own_rows(self, select: Select) -> bool:
        found = self.read(select)
        return bool(found.base or found.derived) and all(table.alias in found.has for table in found.base)


def _is_base(table: TableReference, select: Select, tables: Sequence[TableReference], column: TenantColumn) -> bool:
    if not table.name or (len(table.name) == 1 and table.name[0] in select.known_names):
        return False
    if len(table.name) > 1 and any(table.name[0] == other.alias for other in tables if other is not table):
        return False  # an array in a column of another table
    shared = column.shared | _NO_TABLES
    if table.choices:
        return not shared.issuperset(table.choices)
    return not {table.name[-1], ".".join(table.name)} & shared


def _unguarded(table: TableReference, column: TenantColumn, suggested: str, *, alone: bool) -> Problem:
    name = ".".join(table.name)
    written_column = column.name if alone else f"{table.alias}.{column.name}"
    return Problem(
        "tenant-predicate",
        Severity.ERROR,
        table.start,
        f"{name} is read without a predicate on {column.name}, the tenant's column",
        f"add `{written_column} = {{{{ {suggested} }}}}`; where all tenants share {name}, list it under "
        "x-shared-tables in the environment's schema",
    )


def _guarded_aliases(
    select: Select,
    joins: Sequence[Join],
    reader: _FactReader,
    base: Sequence[TableReference],
    derived: AbstractSet[str],
    outer: frozenset[str],
) -> frozenset[str]:
    everything: list[str] = [table.alias for join in joins for table in join.tables]
    has = set(derived)
    edges: set[tuple[str, str]] = set()  # a predicate on the first alias also applies to the second
    for name in ("where", "prewhere"):
        _apply(reader.facts(select.clauses.get(name, [])), everything, has, edges, base)
    _apply_joins(joins, [], reader, has, edges, base)
    return _closure(has, edges, outer)


def _apply_joins(
    joins: Sequence[Join],
    before: list[str],
    reader: _FactReader,
    has: set[str],
    edges: set[tuple[str, str]],
    base: Sequence[TableReference],
) -> None:
    # The condition of an outer join filters only the side whose columns may become NULL.
    for join in joins:
        own = [table.alias for table in join.tables]
        _apply_joins(join.inner, [], reader, has, edges, base)
        filtered = {"left": own, "right": before, "full": []}.get(join.kind, before + own)
        facts = reader.facts(join.on)
        if "*" in join.using or reader.column in join.using:
            facts |= {_Same(first, second) for first in before for second in own}
        _apply(facts, filtered, has, edges, base)
        before = before + own


def _apply(
    facts: Iterable[_Fact],
    filtered: Sequence[str],
    has: set[str],
    edges: set[tuple[str, str]],
    base: Sequence[TableReference],
) -> None:
    guards: set[str] = set()
    same: set[tuple[str, str]] = set()
    for fact in facts:
        if isinstance(fact, _Predicate):
            guards.update(_resolve(fact.alias, base))
            continue
        for first in _resolve(fact.first, base) or [fact.first]:
            for second in _resolve(fact.second, base) or [fact.second]:
                same.update({(first, second), (second, first)})
    has.update(alias for alias in _closure(guards, same, frozenset()) if alias in filtered)
    edges.update((first, second) for first, second in same if second in filtered)


def _resolve(alias: str, base: Sequence[TableReference]) -> list[str]:
    if not alias:
        return [base[0].alias] if base else []
    return [table.alias for table in base if alias in {table.alias, table.name[-1]}] or [alias]


def _closure(has: set[str], edges: set[tuple[str, str]], outer: frozenset[str]) -> frozenset[str]:
    found = set(has)
    while True:
        more = {second for first, second in edges if first in found or first in outer} - found
        if not more:
            return frozenset(found)
        found |= more


class _FactReader:
    def __init__(self, column: str, guard: Guard) -> None:
        self.column = column
        self._guard = guard

    def facts(self, condition: Tokens) -> frozenset[_Fact]:
        branches = alternatives(condition)
        if len(branches) > 1:
            return frozenset.intersection(*map(self.facts, branches))
        found: frozenset[_Fact] = frozenset()
        for conjunct in conjuncts(condition):
            found |= self._of_conjunct(conjunct)
        return found

    def _of_conjunct(self, tokens: Tokens) -> frozenset[_Fact]:
        if any(token.clauses for token in tokens):
            return frozenset()
        if len(tokens) == 1:
            only = tokens[0]
            if only.kind is TokenKind.GROUP and only.text == "(" and not is_query(only):
                return self.facts(only.children)
            return self._of_field_filter(only)
        for index, token in enumerate(tokens):
            if token.is_word("in") or token.text in {"=", "=="}:
                return self._of_sides(tokens[:index], tokens[index + 1 :])
        return frozenset()

    def _of_field_filter(self, tag: OutlineToken) -> frozenset[_Fact]:
        if not tag.has_filter("matches") or not guarded_paths((tag,), self._guard) or not tag.choices:
            return frozenset()
        prefix = self._column_of(tag.choices[0])
        return frozenset() if prefix is None else frozenset({_Predicate(prefix)})

    def _of_sides(self, left: Tokens, right: Tokens) -> frozenset[_Fact]:
        first, second = self._column_of(left), self._column_of(right)
        if first is not None and second is not None:
            return frozenset({_Same(first, second)})
        if first is not None and self._is_guarded(right):
            return frozenset({_Predicate(first)})
        if second is not None and self._is_guarded(left):
            return frozenset({_Predicate(second)})
        return frozenset()

    def _column_of(self, tokens: Tokens) -> str | None:
        plain = without_cast(tokens)
        names = [token.text for token in plain if token.is_name]
        dots = [token for token in plain if token.text == "."]
        if len(names) + len(dots) != len(plain) or len(dots) != len(names) - 1 or names[-1] != self.column:
            return None
        return names[-2] if len(names) > 1 else ""

    def _is_guarded(self, tokens: Tokens) -> bool:
        plain = without_cast(tokens)
        if len(plain) == 2 and plain[0].is_word("any", "some") and plain[1].kind is TokenKind.GROUP:
            plain = without_cast(plain[1].children)
        if len(plain) != 1 or plain[0].kind is TokenKind.GROUP:
            return False
        chosen = any(self._guard.is_chosen(each.path) for each in plain[0].references)
        return not chosen and bool(guarded_paths(plain, self._guard))
