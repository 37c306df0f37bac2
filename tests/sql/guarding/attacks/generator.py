"""Queries at random, of which most leak unguarded: sources, scopes and CTEs that hide one another, in every clause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Final

from tests.sql.guarding.attacks.databases import Engine
from tests.sql.guarding.attacks.placements import PLACEMENTS, placed
from tests.sql.guarding.attacks.trial import Attack

_TABLES: Final = ("t", "t", "t", "o", "items", "docs")
_HIDING: Final = ("t", "o", "items", "docs", "countries", "q1", "q2", "q3")
_BACKQUOTES: Final = frozenset({"mariadb", "mysql"})
_NESTED_WITH: Final = frozenset({"sqlite", "duckdb", "postgresql", "clickhouse"})
_FROM_FIRST: Final = frozenset({"duckdb", "clickhouse"})
_LATERAL: Final = frozenset({"duckdb", "postgresql"})
_FOLDS: Final = frozenset({"sqlite", "duckdb", "postgresql"})
_SPACES: Final = (" ", " ", " ", "\n", "  ", "\t", "/* */", " /* from t ' */ ", " -- '\n")


@dataclass
class _Scope:
    """Names of CTEs that the place can read, each with the columns ``id`` and ``note``."""

    names: list[str] = field(default_factory=list)


class Generator:
    """The same dice make the same queries."""

    def __init__(self, engine: Engine, dice: Random) -> None:
        self._dialect = engine.dialect
        self._schema = engine.schema
        self._dice = dice
        self._aliases = 0

    def make(self) -> Attack:
        """The next one."""
        self._aliases = 0
        query = Attack(self._respaced(f"select {self._text('w')} as x from ({self._query(3, _Scope())}) w"))
        return placed(query, self._dice.choice(PLACEMENTS)) if self._chance(0.5) else query

    def _chance(self, part: float) -> bool:
        return self._dice.random() < part

    def _one(self, *makers: Callable[[], str]) -> str:
        return self._dice.choice(makers)()

    def _alias(self) -> str:
        self._aliases += 1
        return self._dice.choice(("t", "o", "items", "a", "b")) + ("" if self._chance(0.3) else str(self._aliases))

    def _respaced(self, text: str) -> str:
        if self._chance(0.6):
            return text
        words = text.split(" ")
        return "".join(word + self._dice.choice(_SPACES) for word in words[:-1]) + words[-1]

    def _name(self, table: str) -> str:
        """A table as the author writes it; only ``t`` is declared with its schema."""
        quote = "`" if self._dialect in _BACKQUOTES else '"'
        spelled = f"{quote}{table}{quote}" if self._chance(0.15) else table
        if spelled == table and self._dialect in _FOLDS and self._chance(0.15):
            spelled = table.upper()
        return f"{self._schema}.{spelled}" if table == "t" and self._chance(0.15) else spelled

    def _text(self, alias: str) -> str:
        return self._one(
            lambda: f"{alias}.note",
            lambda: f"{alias}.note",
            lambda: f"coalesce({alias}.note, '-')",
            lambda: f"case when {alias}.id > 3 then {alias}.note else 'k' end",
            lambda: f"upper({alias}.note)",
            lambda: f"max({alias}.note)" if self._chance(0.5) else f"{alias}.note",
        )

    def _query(self, depth: int, scope: _Scope) -> str:
        """A query with the columns ``id`` and ``note``."""
        if depth == 0:
            return self._select(0, scope)
        return self._one(
            lambda: self._select(depth, scope),
            lambda: self._select(depth, scope),
            lambda: self._with(depth, scope),
            lambda: self._union(depth, scope),
            lambda: self._select(depth - 1, scope),
        )

    def _union(self, depth: int, scope: _Scope) -> str:
        word = self._dice.choice(("union all", "union distinct" if self._dialect == "clickhouse" else "union"))
        return f"{self._select(depth - 1, scope)} {word} {self._select(depth - 1, scope)}"

    def _with(self, depth: int, scope: _Scope) -> str:
        """CTEs that may have a table's name; the body of the first may read that table."""
        if self._dialect not in _NESTED_WITH and (scope.names or depth < 3):
            return self._select(depth, scope)
        inner, parts = _Scope(list(scope.names)), []
        recursive = self._dialect != "sqlite" and self._chance(0.15)
        for name in self._dice.sample(_HIDING, self._dice.randint(1, 2)):
            parts.append(f"{name} as ({self._query(depth - 1, inner)})")
            inner.names.append(name)
        return f"with {'recursive ' if recursive else ''}{', '.join(parts)} {self._select(depth - 1, inner)}"

    def _select(self, depth: int, scope: _Scope) -> str:
        alias = self._alias()
        source = self._source(depth, scope, alias)
        joined, others = self._joins(depth, scope, alias)
        shown = self._dice.choice([alias, *others])
        condition = self._condition(depth, scope, alias)
        items, rest = f"{shown}.id as id, {shown}.note as note", f"{source}{joined}"
        if self._chance(0.1):
            items = f"max({shown}.id) as id, max({shown}.note) as note"
        elif self._chance(0.1) and depth:
            items = f"{shown}.id as id, ({self._scalar(depth - 1, scope)}) as note"
        if self._dialect in _FROM_FIRST and self._chance(0.1):
            return f"from {rest} select {items} where {condition}"
        return f"select {items} from {rest} where {condition}"

    def _source(self, depth: int, scope: _Scope, alias: str) -> str:
        written = self._dice.choice(("", "as ")) + alias
        if scope.names and self._chance(0.35):
            return f"{self._dice.choice(scope.names)} {written}"
        if depth and self._chance(0.35):
            return f"({self._query(depth - 1, scope)}) {written}"
        return f"{self._name(self._dice.choice(_TABLES))} {written}"

    def _joins(self, depth: int, scope: _Scope, alias: str) -> tuple[str, list[str]]:
        if depth == 0 or self._chance(0.55):
            return "", []
        other = self._alias() + "j"
        source = self._source(depth - 1, scope, other)
        if self._dialect in _LATERAL and self._chance(0.15):
            inner = f"select * from {self._name('t')} l where l.id >= {alias}.id or {alias}.id > 0"
            return f" cross join lateral ({inner}) {other}", [other]
        if self._chance(0.3):
            return self._dice.choice((", ", " cross join ")) + source, [other]
        kind = self._dice.choice(("join", "left join", "inner join"))
        return f" {kind} {source} on {other}.id = {alias}.id", [other]

    def _condition(self, depth: int, scope: _Scope, alias: str) -> str:
        return self._one(
            lambda: f"{alias}.id > 0",
            lambda: f"{alias}.note <> 'a'",
            lambda: f"{{{{tenant}}}} = 'acme' or {alias}.id > 3",
            lambda: f"not ({alias}.note = {{{{tenant}}}})",
            lambda: f"{alias}.note is not null",
            lambda: f"{alias}.id in (select {self._correlation(alias)}id from {self._table(depth, scope)} s)",
            lambda: f"exists (select 1 from {self._table(depth, scope)} e where e.id > 0)",
            lambda: f"{alias}.note <= ({self._scalar(max(depth - 1, 0), scope)})",
            lambda: f"{alias}.id >= 1 and {alias}.id < 100",
        )

    def _correlation(self, alias: str) -> str:
        return self._dice.choice(("s.", "s.", f"{alias}."))

    def _table(self, depth: int, scope: _Scope) -> str:
        if scope.names and self._chance(0.3):
            return self._dice.choice(scope.names)
        if depth and self._chance(0.3):
            return f"({self._query(depth - 1, scope)})"
        return self._name(self._dice.choice(_TABLES))

    def _scalar(self, depth: int, scope: _Scope) -> str:
        return f"select max(m.note) from {self._table(depth, scope)} m"
