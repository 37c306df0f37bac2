from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from tenantry.sql.dialects import Dialect, dialect_named
from tenantry.sql.guarding.declaration import Declaration, TableEntry
from tenantry.sql.guarding.guards import TableGuards
from tenantry.sql.guarding.rewriting import rewrite_condition, rewrite_tree
from tenantry.sql.syntax_tree import Tree


class TableProof(NamedTuple):
    """A declared table, and SQL that fails if the table, or a column in its condition, is missing."""

    entry: TableEntry
    sql: str


@dataclass(frozen=True, slots=True)
class GuardedTables(Declaration):
    """The guarded tables of a data source, which ``SQLTemplate.guarded`` applies to a template."""

    def rewrite(self, tree: Tree, dialect: Dialect) -> Tree:
        return rewrite_tree(tree, _guards(self, dialect.name, self.file))

    def proof_queries(self, dialect: str) -> tuple[TableProof, ...]:
        """Return queries that fail if a table, or a column in its condition, is missing: at least one for each table.
        They have no parameters and read no rows.

        Raises TemplateError if the condition of a table is not valid SQL in the dialect.
        """
        # A data source runs these queries when it first connects. If a column of a condition were missing, an engine
        # could take a column of the same name from the query around the guard.
        guards = _guards(self, dialect_named(dialect).name, self.file)
        guarded = [guards.of(entry).entry for entry in self.entries if not entry.is_shared]
        guarded.sort(key=guards.parents_first)
        shared = [entry for entry in self.entries if entry.is_shared]
        return tuple(TableProof(entry, sql) for entry in (*guarded, *shared) for sql in guards.proof_queries(entry))


@lru_cache(maxsize=64)
def _guards(tables: GuardedTables, dialect: str, _file: str) -> TableGuards:
    # `_file` is only a part of the cache key: equal declarations may come from different files, and errors name the
    # file.
    return TableGuards(tables, dialect_named(dialect), rewrite_condition)
